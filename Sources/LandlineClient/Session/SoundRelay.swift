import AppProtocol
import CallModel
import NIOCore
import NIOSSL
import SecureTransport

/// A way for sound through a TURN server, for a network that lets no UDP through: the first of the gateway's servers that
/// gives one, reached over TCP or TLS. On the client's loop.
final class SoundRelay {
  /// What the gateway told of relays, and how TLS to them is judged.
  struct Terms {
    let access: TURNAccess
    let trust: ClientOptions.Trust
  }

  enum Event {
    case ready(RelayConnection, relayed: MediaAddress)
    case datagram(PacketBuffer, MediaAddress, RelayConnection)
    /// The last server that was left has failed; why, in words.
    case failed(String)
  }

  /// How long the direct way has before a relay is asked at all. A path that loses much may need two checks, half a second
  /// apart; who waits for sound should not wait longer.
  static let patienceMilliseconds: Int64 = 1_500
  /// From one server to the next while none has answered: a firewall may let an attempt just hang.
  static let staggerMilliseconds: Int64 = 500
  /// Servers that are tried.
  static let maximumServers = 4

  private let eventLoop: any EventLoop
  private let terms: Terms
  private let peers: [MediaAddress]
  private let track: (any Channel) -> Void
  private let tell: (Event) -> Void
  private var servers: ArraySlice<TURNServer>
  private var attempts: [(server: TURNServer, connection: RelayConnection)] = []
  private var chosen: RelayConnection?
  private var next: Scheduled<Void>?
  private var problems: [String] = []
  private var isOver = false

  init(
    on eventLoop: any EventLoop, _ terms: Terms, peers: [MediaAddress], track: @escaping (any Channel) -> Void,
    tell: @escaping (Event) -> Void
  ) {
    self.eventLoop = eventLoop
    self.terms = terms
    self.peers = peers
    self.track = track
    self.tell = tell
    servers = SoundRelay.usable(terms.access)
  }

  /// UDP to a server would be stopped where UDP to the gateway is.
  private static func usable(_ access: TURNAccess) -> ArraySlice<TURNServer> {
    access.servers.filter { $0.transport == .tcp }.prefix(maximumServers)
  }

  /// Whether any of these servers could be asked.
  static func isOffered(_ access: TURNAccess?) -> Bool { access.map { !usable($0).isEmpty } ?? false }

  func begin() {
    guard !isOver, chosen == nil else { return }
    next?.cancel()
    next = nil
    guard let server = servers.popFirst() else {
      if attempts.isEmpty { end(problems.joined(separator: "; ")) }
      return
    }
    let configuration = TURNClient.Configuration(
      username: terms.access.username, password: terms.access.password, peers: peers,
      draw: { UInt64.random(in: 0...(.max)) })
    let connection = RelayConnection(on: eventLoop, configuration, track: track) { [weak self] connection, event in
      self?.took(event, connection)
    }
    do {
      // Its own name in ALPN (RFC 7443): a server may share its port with others.
      let context = server.isSecure ? try terms.trust.context(protocols: ["stun.turn"]) : nil
      attempts.append((server, connection))
      connection.connect(to: server, context: context)
      next = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(SoundRelay.staggerMilliseconds)) { [weak self] in
        self?.begin()
      }
    } catch {
      problems.append("\(server.host): \(ErrorText.text(error))")
      begin()
    }
  }

  private func took(_ event: RelayConnection.Event, _ connection: RelayConnection) {
    guard !isOver else { return }
    switch event {
    case .ready(let relayed):
      guard chosen == nil else { return }
      chosen = connection
      next?.cancel()
      for attempt in attempts where attempt.connection !== connection { attempt.connection.close() }
      tell(.ready(connection, relayed: relayed))
    case .datagram(let packet, let source): tell(.datagram(packet, source, connection))
    case .failed(let words):
      guard let place = attempts.firstIndex(where: { $0.connection === connection }) else { return }
      problems.append("\(attempts.remove(at: place).server.host): \(words)")
      if chosen === connection { return end(words) }
      if chosen == nil { begin() }
    }
  }

  private func end(_ words: String) {
    guard !isOver else { return }
    isOver = true
    tell(.failed(words))
  }

  /// Nothing is told any more.
  func close() {
    isOver = true
    next?.cancel()
    for attempt in attempts { attempt.connection.close() }
    attempts = []
  }
}
