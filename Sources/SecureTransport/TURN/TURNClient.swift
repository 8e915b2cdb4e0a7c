public import CallModel
import LandlineDigest

/// One allocation on a TURN server (RFC 8656), over a byte stream: what an app in a network without UDP sends its sound by.
///
/// ```
///   start ─▶ Allocate ─▶ 401 with a nonce ─▶ Allocate, signed ─▶ a channel to each peer ─▶ ready ─▶ data, and refreshes
/// ```
/// Sans-IO: bytes and deadlines in, bytes and events out; TCP or TLS below it is the shell's. The long-term credentials are
/// those of RFC 8489 section 9.2 with MD5 and HMAC-SHA1, which is what servers of shared secrets speak. Over a stream
/// nothing is repeated (RFC 8489 section 6.2.2): an answer that is late ends it. Belongs to one thread.
public final class TURNClient {
  /// What an allocation is made from.
  public struct Configuration: Sendable {
    public var username: String
    public var password: Redacted<String>
    /// Whom data is for, by addresses that the server reaches: at most ``TURNClient/maximumPeers`` of one family count.
    public var peers: [MediaAddress]
    /// Milliseconds that an answer may take.
    public var answerTimeout: Int64 = 5_000
    /// Random numbers for transactions, from the system's generator.
    public var draw: @Sendable () -> UInt64

    /// The family of the relayed address is that of the first peer.
    public init(
      username: String, password: Redacted<String>, peers: [MediaAddress], draw: @escaping @Sendable () -> UInt64
    ) {
      self.username = username
      self.password = password
      self.peers = peers
      self.draw = draw
    }
  }

  /// What it tells upwards. Nothing follows ``failed(_:)``.
  public enum Event: Hashable, Sendable {
    /// Data can go to a peer at least, and comes from this address of the server's.
    case ready(relayed: MediaAddress)
    case failed(TURNFailure)
  }

  /// Peers of one allocation.
  public static let maximumPeers = 8
  /// Bytes of a realm and of a nonce: shorter than RFC 8489 allows (763), so that a request fits into a packet.
  static let maximumRealm = 256
  static let maximumNonce = 512
  /// Nonces that one request may be told are stale, one after the other.
  static let maximumChallenges = 3
  /// Milliseconds from one refresh of a channel to the next: its permission lasts 300 s (RFC 8656 section 9).
  static let channelRefresh: Int64 = 240_000
  /// Seconds of an allocation that are believed; a shorter one is of no use.
  static let lifetimes: ClosedRange<Int64> = 30...3_600
  private static let firstChannel: UInt16 = 0x4000
  /// The protocol of REQUESTED-TRANSPORT (RFC 8656 section 18.7): UDP between server and peers.
  private static let udp: UInt32 = 17 << 24
  private static let familyIPv6: UInt32 = 2 << 24

  private enum Purpose: Hashable {
    case allocate
    case refresh
    case bind(Int)
  }

  private struct Request {
    let transaction: STUNTransaction
    let purpose: Purpose
    let isSigned: Bool
    let challenges: Int
    let due: MonotonicInstant
  }

  private struct Peer {
    let address: MediaAddress
    let channel: UInt16
    var isBound = false
    var refresh: MonotonicInstant?
  }

  /// The server's view of long-term credentials.
  private struct Challenge {
    let realm: [UInt8]
    let nonce: [UInt8]
    let key: STUNIntegrity
  }

  private let configuration: Configuration
  private var peers: [Peer] = []
  private var reader = TURNStreamReader()
  private let writing = PacketBuffer()
  private var output: [UInt8] = []
  private var requests: [Request] = []
  private var challenge: Challenge?
  private var relayed: MediaAddress?
  private var refresh: MonotonicInstant?
  private var isReady = false
  private var isOver = false

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    let isIPv4 = configuration.peers.first?.ipv4 != nil
    for address in configuration.peers
    where (address.ipv4 != nil) == isIPv4 && peers.count < TURNClient.maximumPeers
      && !peers.contains(where: { $0.address == address })
    {
      peers.append(Peer(address: address, channel: TURNClient.firstChannel + UInt16(peers.count)))
    }
  }

  /// Bytes for the server, in order; they are handed out once.
  public func drainOutput() -> [UInt8] {
    defer { output.removeAll(keepingCapacity: true) }
    return output
  }

  /// The connection stands.
  public func start(at now: MonotonicInstant, events: inout [Event]) {
    guard !isOver, relayed == nil, requests.isEmpty else { return }
    guard !peers.isEmpty, configuration.username.utf8.count <= STUNMessage.maximumUserName else {
      return fail(.credentials, &events)
    }
    ask(.allocate, at: now)
  }

  /// The connection is gone.
  public func disconnected(events: inout [Event]) { fail(.closed, &events) }

  /// The allocation ends on the server too, by the last bytes of ``drainOutput()`` (RFC 8656 section 7.2).
  public func close() {
    guard !isOver else { return }
    isOver = true
    if relayed != nil { write(.refresh, transaction(), isSigned: true, lifetime: 0) }
    requests = []
  }

  // MARK: Data

  /// Sends a datagram to a peer. `false`: it has no channel, as yet or ever.
  public func send(_ packet: PacketBuffer, to address: MediaAddress) -> Bool {
    guard !isOver, let peer = peers.first(where: { $0.address == address }), peer.isBound,
      packet.count <= PacketBuffer.maximumDatagram
    else { return false }
    for value in [peer.channel, UInt16(packet.count)] {
      output.append(UInt8(value >> 8))
      output.append(UInt8(value & 0xFF))
    }
    for offset in 0..<packet.count { output.append(packet[offset]) }
    // RFC 8656 section 12.5: over a stream it ends on a multiple of four.
    output.append(contentsOf: repeatElement(0, count: -packet.count & 3))
    return true
  }

  /// Takes bytes of the server.
  /// - Parameter deliver: a datagram of a peer; the buffer may be changed, and is used again afterwards.
  public func receive(
    _ bytes: some Sequence<UInt8>, at now: MonotonicInstant, events: inout [Event],
    deliver: (PacketBuffer, MediaAddress) -> Void
  ) {
    guard !isOver else { return }
    let datagram = reader.packet
    let isStream = reader.read(bytes) { frame in
      // What was read before may have ended it.
      guard !isOver else { return }
      switch frame {
      case .message(let packet): answered(packet, at: now, &events)
      case .data(let channel):
        if let peer = peers.first(where: { $0.channel == channel }), peer.isBound {
          deliver(datagram, peer.address)
        }
      }
    }
    if !isStream { fail(.malformed, &events) }
  }

  // MARK: Time

  /// When ``advance(to:events:)`` is due; `nil` once it is over.
  public var nextDeadline: MonotonicInstant? {
    guard !isOver else { return nil }
    return (requests.map(\.due) + peers.compactMap(\.refresh) + [refresh].compactMap { $0 }).min()
  }

  /// Refreshes what is due, and gives up what was not answered.
  public func advance(to now: MonotonicInstant, events: inout [Event]) {
    guard !isOver else { return }
    if requests.contains(where: { $0.due <= now }) { return fail(.timeout, &events) }
    if let refresh, refresh <= now {
      self.refresh = nil
      ask(.refresh, at: now)
    }
    for index in peers.indices {
      guard let refresh = peers[index].refresh, refresh <= now else { continue }
      peers[index].refresh = nil
      ask(.bind(index), at: now)
    }
  }

  // MARK: Requests

  private func ask(_ purpose: Purpose, challenges: Int = 0, at now: MonotonicInstant) {
    let request = Request(
      transaction: transaction(), purpose: purpose, isSigned: challenge != nil, challenges: challenges,
      due: now.advanced(byMilliseconds: configuration.answerTimeout))
    requests.append(request)
    write(purpose, request.transaction, isSigned: request.isSigned)
  }

  private func transaction() -> STUNTransaction {
    STUNTransaction(high: UInt32(truncatingIfNeeded: configuration.draw()), low: configuration.draw())
  }

  private func write(_ purpose: Purpose, _ transaction: STUNTransaction, isSigned: Bool, lifetime: UInt32? = nil) {
    let method: TURNMethod =
      switch purpose {
      case .allocate: .allocate
      case .refresh: .refresh
      case .bind: .channelBind
      }
    let writer = STUNWriter(writing, .request, method: method.rawValue, transaction: transaction)
    switch purpose {
    case .allocate:
      writer.append(TURNAttribute.transport, integer: TURNClient.udp)
      if peers.first?.address.ipv4 == nil { writer.append(TURNAttribute.addressFamily, integer: TURNClient.familyIPv6) }
    case .refresh: if let lifetime { writer.append(TURNAttribute.lifetime, integer: lifetime) }
    case .bind(let index):
      writer.append(TURNAttribute.channelNumber, integer: UInt32(peers[index].channel) << 16)
      writer.append(TURNAttribute.peerAddress, xored: peers[index].address)
    }
    if isSigned, let challenge {
      writer.append(.userName, configuration.username.utf8)
      writer.append(.realm, challenge.realm)
      writer.append(.nonce, challenge.nonce)
      writer.appendIntegrity(challenge.key)
    }
    output.append(contentsOf: writing.bytes)
  }

  // MARK: Answers

  private func answered(_ packet: PacketBuffer, at now: MonotonicInstant, _ events: inout [Event]) {
    guard let message = STUNMessage(packet), message.kind == .success || message.kind == .failure,
      let place = requests.firstIndex(where: { $0.transaction == message.transaction })
    else { return }
    let request = requests[place]
    if message.kind == .success {
      // Only whoever knows the password can say yes; a refusal from anybody on the way is no worse than a cut line.
      guard request.isSigned, let challenge, message.hasIntegrity(challenge.key) else { return }
      requests.remove(at: place)
      succeeded(request.purpose, message, at: now, &events)
    } else {
      requests.remove(at: place)
      refused(request, message, at: now, &events)
    }
  }

  private func succeeded(
    _ purpose: Purpose, _ message: STUNMessage, at now: MonotonicInstant, _ events: inout [Event]
  ) {
    switch purpose {
    case .allocate:
      guard let value = message.value(TURNAttribute.relayedAddress), let address = message.address(value),
        address.port != 0, (address.ipv4 == nil) == (peers.first?.address.ipv4 == nil)
      else { return fail(.malformed, &events) }
      relayed = address
      guard adoptLifetime(message, at: now) else { return fail(.malformed, &events) }
      for index in peers.indices { ask(.bind(index), at: now) }
    case .refresh: if !adoptLifetime(message, at: now) { fail(.malformed, &events) }
    case .bind(let index):
      peers[index].isBound = true
      peers[index].refresh = now.advanced(byMilliseconds: TURNClient.channelRefresh)
      guard !isReady, let relayed else { return }
      isReady = true
      events.append(.ready(relayed: relayed))
    }
  }

  /// The next refresh comes with half of the lifetime left.
  private func adoptLifetime(_ message: STUNMessage, at now: MonotonicInstant) -> Bool {
    guard let value = message.value(TURNAttribute.lifetime), value.count == 4 else { return false }
    let seconds = Int64(message.packet.integer(at: value.lowerBound, as: UInt32.self))
    guard seconds >= TURNClient.lifetimes.lowerBound else { return false }
    refresh = now.advanced(byMilliseconds: min(seconds, TURNClient.lifetimes.upperBound) * 500)
    return true
  }

  private func refused(
    _ request: Request, _ message: STUNMessage, at now: MonotonicInstant, _ events: inout [Event]
  ) {
    switch message.errorCode {
    case TURNError.unauthenticated where !request.isSigned, TURNError.staleNonce:
      guard request.challenges < TURNClient.maximumChallenges else { return fail(.credentials, &events) }
      guard adopt(message) else { return fail(.malformed, &events) }
      ask(request.purpose, challenges: request.challenges + 1, at: now)
    case TURNError.unauthenticated, TURNError.wrongCredentials: fail(.credentials, &events)
    case let code?:
      if case .bind(let index) = request.purpose {
        // A peer that the server does not reach, or must not: others may do.
        peers[index].isBound = false
        let isHopeful = peers.contains(where: \.isBound) || requests.contains { $0.purpose != .refresh }
        if isHopeful { return }
      }
      fail(.refused(code), &events)
    case nil: fail(.malformed, &events)
    }
  }

  /// RFC 8489 section 9.2.2: the key is MD5 over user, realm and password.
  private func adopt(_ message: STUNMessage) -> Bool {
    guard let nonce = text(message, .nonce, atMost: TURNClient.maximumNonce) else { return false }
    // RFC 8489 section 9.2.4 has the realm with 438 too; some leave it out.
    guard let realm = text(message, .realm, atMost: TURNClient.maximumRealm) ?? challenge?.realm else { return false }
    if let challenge, challenge.realm == realm {
      self.challenge = Challenge(realm: realm, nonce: nonce, key: challenge.key)
      return true
    }
    guard let digest = MessageDigest(.md5) else { return false }
    let colon = [UInt8(ascii: ":")]
    let text = Array(configuration.username.utf8) + colon + realm + colon + Array(configuration.password.exposed.utf8)
    let key = STUNIntegrity(text.withUnsafeBytes { digest.digest(of: $0) })
    challenge = Challenge(realm: realm, nonce: nonce, key: key)
    return true
  }

  private func text(_ message: STUNMessage, _ type: STUNAttribute, atMost most: Int) -> [UInt8]? {
    guard let value = message.value(type.rawValue), !value.isEmpty, value.count <= most else { return nil }
    return value.map { message.packet[$0] }
  }

  private func fail(_ failure: TURNFailure, _ events: inout [Event]) {
    guard !isOver else { return }
    isOver = true
    requests = []
    events.append(.failed(failure))
  }
}
