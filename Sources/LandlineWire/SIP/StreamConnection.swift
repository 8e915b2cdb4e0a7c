import CallModel
import NIOCore
import NIOSSL
import NIOTLS
import SIPCore

/// One TCP or TLS stream, from the first packet to the last.
///
///     connecting ──TCP──▶ handshaking ──TLS──▶ open ──▶ closing ──▶ (gone)
///          └────────────────────────────────────▲
final class StreamConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  enum Phase { case connecting, handshaking, open, closing }

  let id: ConnectionID
  let listener: SIPListener
  let remote: TransportAddress
  /// As the path said that opened it; `nil` for accepted streams.
  let serverName: String?
  let role: StreamFramer.Role
  /// Set for streams of ours on TLS.
  private let policy: TLSClientPolicy?
  private weak var transports: SIPTransports?
  private let limits: TransportLimits

  private(set) var phase = Phase.connecting
  private var channel: (any Channel)?
  private var tls: NIOSSLHandler?
  private var framer: StreamFramer
  private var waiting: [[UInt8]] = []
  private var pendingBytes = 0
  private var requests: [TransactionID] = []
  private var isUnflushed = false

  /// From the first packet to an open TCP stream.
  private(set) var connectMilliseconds: Int64 = 0
  /// How far TLS came, once the stream is open or while it ends; `nil` without TLS and for accepted streams.
  private(set) var handshake: TLSHandshake?
  private var phaseSince: MonotonicInstant
  private var lastActivity: MonotonicInstant
  /// Whether a whole message came.
  private var hasHadMessage = false
  private var messageSince: MonotonicInstant?
  private var lastPing: MonotonicInstant
  private var pongDeadline: MonotonicInstant?
  private var pongs: TokenBucket

  init(
    id: ConnectionID, listener: SIPListener, remote: TransportAddress, serverName: String?, role: StreamFramer.Role,
    policy: TLSClientPolicy?, limits: TransportLimits, gate: GateLimits, now: MonotonicInstant,
    of transports: SIPTransports
  ) {
    self.id = id
    self.listener = listener
    self.remote = remote
    self.serverName = serverName
    self.role = role
    self.policy = policy
    self.limits = limits
    self.transports = transports
    framer = StreamFramer(role: role, transport: listener.transport, limits: gate)
    phaseSince = now
    lastActivity = now
    lastPing = now
    pongs = TokenBucket(perSecond: limits.pongsPerSecond)
  }

  var path: SIPPath { SIPPath(listener: listener.id, remote: remote, connection: id, serverName: serverName) }
  /// Whether more may be written, now or once it is open.
  var isUsable: Bool { phase != .closing }

  /// For waiting until it is closed.
  var channelToClose: (any Channel)? { channel }

  // MARK: Towards the peer

  /// Writes now, or as soon as the stream is open.
  /// - Parameter request: Reported when the stream breaks.
  func write(_ bytes: [UInt8], request: TransactionID?) {
    if let request {
      if requests.count >= 2 * limits.trackedRequests { requests.removeFirst(limits.trackedRequests) }
      requests.append(request)
    }
    pendingBytes += bytes.count
    guard pendingBytes <= limits.pendingBytes else {
      return end(.slowReader, "\(pendingBytes) bytes wait for a peer that does not read")
    }
    guard phase == .open else { return waiting.append(bytes) }
    put(bytes)
  }

  func flush() {
    guard isUnflushed else { return }
    isUnflushed = false
    channel?.flush()
  }

  private func put(_ bytes: [UInt8]) {
    guard let channel, let transports else { return }
    let count = bytes.count
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      pendingBytes -= count
      if case .success = result, let transports = self.transports { lastActivity = transports.now }
    }
    channel.pipeline.syncOperations.write(NIOAny(channel.allocator.buffer(bytes: bytes)), promise: promise)
    isUnflushed = true
    transports.markUnflushed(self)
  }

  // MARK: Events of the channel

  func handlerAdded(context: ChannelHandlerContext) {
    channel = context.channel
    tls = try? context.pipeline.syncOperations.handler(type: NIOSSLHandler.self)
    if context.channel.isActive { becameActive() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    channel = nil
    tls = nil
  }

  func channelActive(context: ChannelHandlerContext) { becameActive() }

  private func becameActive() {
    guard phase == .connecting, let transports else { return }
    connectMilliseconds = transports.now.milliseconds(since: phaseSince)
    phaseSince = transports.now
    phase = .handshaking
    if listener.transport != .tls { becameOpen() }
  }

  private func becameOpen() {
    guard phase == .handshaking, let transports else { return }
    noteHandshake()
    phase = .open
    phaseSince = transports.now
    lastActivity = phaseSince
    lastPing = phaseSince
    for bytes in waiting { put(bytes) }
    waiting = []
    transports.opened(self)
    flush()
  }

  private func noteHandshake() {
    guard phase == .handshaking, role == .opened, let tls, let transports else { return }
    let version: String? =
      switch tls.tlsVersion {
      case .tlsv12: "1.2"
      case .tlsv13: "1.3"
      default: nil
      }
    handshake = TLSHandshake(
      version: version, certificate: tls.peerCertificate.map { CertificateFacts($0) },
      milliseconds: transports.now.milliseconds(since: phaseSince))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted = event as? TLSUserEvent {
      if let problem = identityProblem() { return end(.certificateName, problem) }
      becameOpen()
    }
    if case .inputClosed = event as? ChannelEvent { end(.connectionLost, "the peer closed the connection") }
  }

  /// Nothing of ours was sent before this is answered.
  private func identityProblem() -> String? {
    guard let policy else { return nil }
    if case .fingerprints = policy.trust { return nil }
    guard let certificate = tls?.peerCertificate else { return "the peer showed no certificate" }
    return PeerIdentity.problem(
      with: certificate, serverName: serverName, remote: remote.host, allowsWildcards: policy.allowsWildcardNames)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .open, let transports else { return }
    let now = transports.now
    lastActivity = now
    pongDeadline = nil
    var events: [StreamFramer.Event] = []
    framer.receive(Array(unwrapInboundIn(data).readableBytesView), into: &events)
    var hasMessage = false
    var isPinged = false
    transports.isReading = true
    for event in events {
      // A message may have ended the stream, by an answer that nobody reads.
      guard phase == .open else { break }
      switch event {
      case .message(let bytes):
        hasMessage = true
        hasHadMessage = true
        transports.receivedMessage(bytes, from: path)
      case .ping:
        transports.statistics.pingsReceived += 1
        isPinged = true
      case .pong: break
      case .refusal(let refusal):
        transports.refused(refusal, on: self)
        end(.framing, "the stream cannot be cut into messages: \(refusal)")
      }
    }
    transports.isReading = false
    if framer.bufferedBytes == 0 { messageSince = nil } else if hasMessage || messageSince == nil { messageSince = now }
    if isPinged, phase == .open, pongs.consume(at: now) {
      transports.statistics.pongsSent += 1
      write([0x0D, 0x0A], request: nil)
    }
    transports.flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if phase == .handshaking, listener.transport == .tls {
      end(.handshake, "the peer closed the connection during the TLS handshake")
    }
    end(.connectionLost, "the peer closed the connection")
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard phase != .closing else { return }
    if phase == .handshaking, listener.transport == .tls {
      let failure = TLSFailure(
        error, certificate: tls?.peerCertificate, policy: policy, seconds: transports?.wallClockSeconds() ?? 0,
        isServer: role == .accepted)
      return end(failure.kind, failure.text)
    }
    if case .uncleanShutdown = error as? NIOSSLError { return }
    // In TLS 1.3 a server judges our certificate after the handshake is over for us.
    if listener.transport == .tls, let failure = TLSFailure(afterHandshake: error) {
      return end(failure.kind, failure.text)
    }
    end(.connectionLost, ErrorText.text(error))
  }

  // MARK: Time

  /// Ends what took too long; sends a ping that is due.
  func check(at now: MonotonicInstant) {
    let inPhase = now.milliseconds(since: phaseSince)
    switch phase {
    case .connecting:
      // The system's own limit is the same; this one covers a wait for the loop.
      if inPhase > 2 * limits.connectTimeoutMilliseconds { end(.connectTimeout, "no answer to the connection attempt") }
    case .handshaking:
      if inPhase >= limits.handshakeTimeoutMilliseconds {
        end(.handshakeTimeout, "the TLS handshake took more than \(limits.handshakeTimeoutMilliseconds) ms")
      }
    case .open: checkOpen(at: now)
    case .closing: break
    }
  }

  private func checkOpen(at now: MonotonicInstant) {
    if let messageSince, now.milliseconds(since: messageSince) >= limits.messageTimeoutMilliseconds {
      return end(.partialMessage, "a message took more than \(limits.messageTimeoutMilliseconds) ms to come")
    }
    if let pongDeadline, pongDeadline <= now { return end(.pong, "the peer did not answer a keep-alive") }
    let isMute = role == .accepted && !hasHadMessage
    if now.milliseconds(since: lastActivity) >= limits.idleTimeoutMilliseconds
      || isMute && now.milliseconds(since: phaseSince) >= limits.firstMessageTimeoutMilliseconds
    {
      transports?.statistics.idleTimeouts += 1
      return end(nil, "")
    }
    guard role == .opened, let interval = limits.pingIntervalMilliseconds, pongDeadline == nil,
      now.milliseconds(since: lastPing) >= interval
    else { return }
    lastPing = now
    pongDeadline = limits.pongTimeoutMilliseconds.map { now.advanced(byMilliseconds: $0) }
    write([0x0D, 0x0A, 0x0D, 0x0A], request: nil)
  }

  // MARK: End

  /// Closes behind what was written already and reports every request that was sent here.
  /// - Parameter kind: `nil` where nothing is wrong.
  func end(_ kind: TransportProblem.Kind?, _ text: String) {
    guard phase != .closing else { return }
    let wasOpen = phase == .open
    noteHandshake()
    phase = .closing
    waiting = []
    flush()
    let lost = requests
    requests = []
    if let channel {
      // What the kernel has not taken by now waits behind a peer that does not read.
      channel.close(promise: nil)
    }
    transports?.ended(self, kind, text, wasOpen: wasOpen, requests: lost)
  }
}
