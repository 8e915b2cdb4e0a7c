package import CallModel
import Glibc
package import NIOCore
import NIOPosix
import NIOSSL
package import SIPCore

/// Who uses the transports; called on their loop.
package protocol SIPTransportsDelegate: AnyObject {
  /// One datagram, or one message of a stream.
  func received(_ bytes: [UInt8], from path: SIPPath)
  /// A request could not be sent, or its stream broke. Never called from inside ``SIPTransports/send(_:on:for:)`` for
  /// a stream that is still being opened.
  func failed(_ transaction: TransactionID)
  func report(_ problem: TransportProblem)
  func opened(_ stream: StreamOpening)
  /// Whether what cannot be framed may be answered there.
  func knows(_ host: SIPHost) -> Bool
}

extension SIPTransportsDelegate {
  package func opened(_ stream: StreamOpening) {}
  package func knows(_ host: SIPHost) -> Bool { true }
}

/// All sockets of one event loop: listeners, the streams they accepted, and the streams that were opened. Used on that
/// loop only.
package final class SIPTransports {
  /// Streams that may carry a request nobody bound to one.
  private struct PeerKey: Hashable {
    let listener: ListenerID
    let remote: TransportAddress
    let serverName: String?
  }

  /// Who is counted as one source.
  private enum SourceKey: Hashable {
    case ipv4(UInt32)
    case ipv6(prefix: UInt64)
    case name

    init(_ host: SIPHost) {
      self =
        switch host {
        case .name: .name
        case .ipv4(let address): .ipv4(address)
        case .ipv6(let high, _): .ipv6(prefix: high)
        }
    }
  }

  /// A port that is asked whether it is closed, and the requests that wait for its peer.
  private struct PortProbe {
    let probe: ClosedPortProbe
    var requests: [TransactionID]
  }

  package let eventLoop: any EventLoop
  package weak var delegate: (any SIPTransportsDelegate)?
  private let listeners: [ListenerID: SIPListener]
  private let limits: TransportLimits
  private let gate: GateLimits
  private let identifiers: IdentifierSource
  private var contexts: TLSContexts

  /// Sockets that listen, by listener, with what they are bound to.
  private var sockets: [ListenerID: any Channel] = [:]
  private var datagramListeners: [ListenerID: DatagramListener] = [:]
  package private(set) var addresses: [ListenerID: TransportAddress] = [:]
  private var connections: [ConnectionID: StreamConnection] = [:]
  private var byPeer: [PeerKey: ConnectionID] = [:]
  private var bySource: [SourceKey: Int] = [:]
  private var handshakes = 0
  private var unflushed: [StreamConnection] = []
  private var nextConnection: UInt64
  /// The last requests over UDP: one that comes again has had no answer.
  private var sentDatagrams: Set<TransactionID> = []
  private var sentDatagramOrder = CircularBuffer<TransactionID>()
  private var portProbes: [SIPPath: PortProbe] = [:]
  private var sweep: Scheduled<Void>?
  private var isShutDown = false
  private var problems: TokenBucket
  private var refusals: TokenBucket
  private var strangerReportedAt: MonotonicInstant?
  /// Between two reports of requests that are not answered.
  private static let strangerReportMilliseconds: Int64 = 10_000
  /// Whether a stream is in the middle of its messages, and flushes at their end.
  var isReading = false
  package internal(set) var statistics = TransportStatistics()

  /// - Parameter shard: Makes connection numbers unique among the loops of a process.
  package init(
    _ listeners: [SIPListener], contexts: TLSContexts, limits: TransportLimits = .standard,
    gate: GateLimits = .standard, identifiers: IdentifierSource = .system, shard: UInt16 = 0,
    on eventLoop: any EventLoop
  ) {
    self.listeners = Dictionary(listeners.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.contexts = contexts
    self.limits = limits
    self.gate = gate
    self.identifiers = identifiers
    self.eventLoop = eventLoop
    nextConnection = UInt64(shard) << 48
    problems = TokenBucket(perSecond: limits.problemsPerSecond)
    refusals = TokenBucket(perSecond: limits.refusalsPerSecond)
  }

  package var now: MonotonicInstant {
    MonotonicInstant(milliseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000))
  }

  func wallClockSeconds() -> Int { time(nil) }

  /// New handshakes use what was read again; open connections go on as they are.
  package func install(_ contexts: TLSContexts) { self.contexts = contexts }

  var policies: TLSClientPolicies { contexts.policies }

  // MARK: Listening

  /// Opens every listener; fails when one of them cannot be opened.
  package func open() -> EventLoopFuture<Void> {
    let all = listeners.values.map(open)
    return EventLoopFuture.andAllSucceed(all, on: eventLoop)
  }

  private func open(_ listener: SIPListener) -> EventLoopFuture<Void> {
    guard let address = SocketAddress(listener.host, port: listener.port) else {
      return eventLoop.makeFailedFuture(SocketAddressError.unsupported)
    }
    guard listener.accepts || listener.transport == .udp else {
      addresses[listener.id] = TransportAddress(listener.transport, listener.host, port: listener.port)
      return eventLoop.makeSucceededVoidFuture()
    }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let future = listener.transport == .udp ? openDatagrams(listener, address) : openStreams(listener, address)
    return future.map { channel in
      bound.value.opened(listener, channel)
    }.flatMapErrorThrowing { error in
      // NIO leaves a datagram socket open that it could not bind.
      bound.value.datagramListeners.removeValue(forKey: listener.id)?.close()
      throw InvalidValue(
        kind: "SIP listener", rule: "listener.bind", offset: nil,
        problem: "\(listener.transport.rawValue) cannot be bound to \(listener.host):\(listener.port): "
          + SIPTransports.reason(error),
        accepted: "an address of this machine and a port that nobody uses; ports under 1024 need the privilege for it")
    }
  }

  /// One socket speaks one family, so that an address has one spelling.
  private static let ipv6Only = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)

  private static let userTimeout = ChannelOptions.Types.SocketOption(
    level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))
  private var userTimeout: SocketOptionValue {
    SocketOptionValue(max(1, min(limits.acknowledgementTimeoutMilliseconds, Int64(CInt.max))))
  }

  private func openDatagrams(_ listener: SIPListener, _ address: SocketAddress) -> EventLoopFuture<any Channel> {
    // One byte above the limit shows that a datagram was longer.
    let slot = gate.datagramBytes + 1
    let batch = max(1, limits.datagramBatch)
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let bootstrap = DatagramBootstrap(group: eventLoop)
      .channelOption(.datagramVectorReadMessageCount, value: batch)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: slot * batch))
      .channelOption(.socketOption(.so_rcvbuf), value: min(limits.datagramBufferBytes, Int(CInt.max)))
      .channelOption(.socketOption(.so_sndbuf), value: min(limits.datagramBufferBytes, Int(CInt.max)))
    return (listener.host.isIPv6 ? bootstrap.channelOption(SIPTransports.ipv6Only, value: 1) : bootstrap)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = DatagramListener(listener, of: bound.value)
          try channel.pipeline.syncOperations.addHandler(handler)
          bound.value.datagramListeners[listener.id] = handler
        }
      }
      .bind(to: address)
  }

  private func openStreams(_ listener: SIPListener, _ address: SocketAddress) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let bootstrap = ServerBootstrap(group: eventLoop, childGroup: eventLoop)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(SIPTransports.userTimeout, value: userTimeout)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try bound.value.accept(channel, on: listener) }
      }
    return (listener.host.isIPv6 ? bootstrap.serverChannelOption(SIPTransports.ipv6Only, value: 1) : bootstrap)
      .bind(to: address)
  }

  private func opened(_ listener: SIPListener, _ channel: any Channel) {
    guard !isShutDown else { return channel.close(promise: nil) }
    sockets[listener.id] = channel
    addresses[listener.id] = channel.localAddress?.transportAddress(listener.transport)
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.lost(listener) }
  }

  /// A listener is not meant to close: it is opened again, at the same port.
  private func lost(_ listener: SIPListener) {
    sockets[listener.id] = nil
    datagramListeners[listener.id] = nil
    guard !isShutDown else { return }
    report(.listenerClosed, listener.id, "the listener broke and is opened again")
    reopen(listener)
  }

  private func reopen(_ listener: SIPListener) {
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(limits.reopenMilliseconds)) { [weak self] in
      guard let self, !isShutDown else { return }
      var again = listener
      again.port = addresses[listener.id]?.port ?? listener.port
      open(again).assumeIsolated().whenFailure { [weak self] error in
        self?.report(.listener, listener.id, ErrorText.text(error))
        self?.reopen(listener)
      }
    }
  }

  // MARK: Accepting

  /// Why an accepted stream is closed at once.
  private struct Refused: Error {}

  private func accept(_ channel: any Channel, on listener: SIPListener) throws {
    guard !isShutDown, let remote = channel.remoteAddress?.transportAddress(listener.transport) else { throw Refused() }
    let source = SourceKey(remote.host)
    let refusal: (TransportProblem.Kind, String)? =
      if connections.count >= limits.connections {
        (.connections, "\(limits.connections) connections are open")
      } else if bySource[source, default: 0] >= limits.connectionsPerSource {
        (.connectionsPerSource, "\(limits.connectionsPerSource) connections of this source are open")
      } else if DescriptorReserve.isReached {
        (.descriptors, DescriptorReserve.advice)
      } else if listener.transport == .tls, handshakes >= limits.handshakes {
        (.handshakes, "\(limits.handshakes) handshakes are under way")
      } else {
        nil
      }
    if let refusal {
      statistics.connectionsRefused += 1
      report(refusal.0, listener.id, "refused: \(refusal.1)", remote: remote)
      throw Refused()
    }
    let connection = make(listener, remote, serverName: nil, role: .accepted, policy: nil)
    if listener.transport == .tls {
      guard let context = contexts.servers[listener.id] else { throw Refused() }
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }
    try channel.pipeline.syncOperations.addHandler(connection)
    add(connection, channel)
    statistics.connectionsAccepted += 1
  }

  private func make(
    _ listener: SIPListener, _ remote: TransportAddress, serverName: String?, role: StreamFramer.Role,
    policy: TLSClientPolicy?
  ) -> StreamConnection {
    nextConnection += 1
    return StreamConnection(
      id: ConnectionID(nextConnection), listener: listener, remote: remote, serverName: serverName, role: role,
      policy: policy, limits: limits, gate: gate, now: now, of: self)
  }

  private func add(_ connection: StreamConnection, _ channel: any Channel) {
    connections[connection.id] = connection
    statistics.connections = connections.count
    if connection.role == .accepted {
      bySource[SourceKey(connection.remote.host), default: 0] += 1
      if connection.listener.transport == .tls { handshakes += 1 }
    }
    // A TLS client has not shown any name that a request of ours could ask for.
    if connection.role == .opened || connection.listener.transport == .tcp {
      let key = key(connection)
      if byPeer[key].flatMap({ connections[$0] })?.isUsable != true { byPeer[key] = connection.id }
    }
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.remove(connection) }
    scheduleSweep()
  }

  private func remove(_ connection: StreamConnection) {
    connection.end(.connectionLost, "the connection broke")
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    statistics.connections = connections.count
    if connection.role == .accepted {
      let source = SourceKey(connection.remote.host)
      let rest = bySource[source, default: 1] - 1
      bySource[source] = rest == 0 ? nil : rest
    }
    if connections.isEmpty {
      sweep?.cancel()
      sweep = nil
    }
  }

  private func key(_ connection: StreamConnection) -> PeerKey {
    PeerKey(listener: connection.listener.id, remote: connection.remote, serverName: connection.serverName)
  }

  // MARK: Sending

  /// Sends on the stream of the path, on another one to the same peer, or on a new one. What cannot be sent is reported
  /// to the delegate.
  package func send(_ bytes: [UInt8], on path: SIPPath, for transaction: TransactionID?) {
    guard let listener = listeners[path.listener], listener.transport == path.remote.transport, !isShutDown else {
      report(
        .listener, path.listener, "there is no such listener for \(path.remote.transport.rawValue)",
        remote: path.remote)
      return fail(transaction)
    }
    statistics.messagesSent += 1
    guard listener.transport.isStream else { return sendDatagram(bytes, on: path, for: transaction) }
    // A response that was written has arrived or is asked for again; only requests wait for something to come back.
    let request = bytes.starts(with: SIPTransports.responseStart) ? nil : transaction
    let open = path.connection.flatMap { connections[$0] }
    let peer = PeerKey(listener: path.listener, remote: path.remote, serverName: path.serverName)
    if let open, open.isUsable, open.listener.id == path.listener {
      open.write(bytes, request: request)
    } else if let other = byPeer[peer].flatMap({ connections[$0] }), other.isUsable {
      other.write(bytes, request: request)
    } else if let connection = connect(listener, path) {
      connection.write(bytes, request: transaction)
    } else {
      fail(transaction)
    }
  }

  private static let responseStart = Array("SIP/2.0 ".utf8)

  private func sendDatagram(_ bytes: [UInt8], on path: SIPPath, for transaction: TransactionID?) {
    guard let socket = datagramListeners[path.listener] else { return fail(transaction) }
    switch socket.send(bytes, to: path.remote) {
    case .sent:
      statistics.datagramsSent += 1
      if let transaction, !bytes.starts(with: SIPTransports.responseStart) { sentRequest(transaction, on: path) }
    case .dropped: statistics.datagramsDropped += 1
    case .failed(let code):
      statistics.datagramsFailed += 1
      let reason = String(cString: strerror(code))
      let kind: TransportProblem.Kind =
        switch code {
        case EMSGSIZE: .messageTooLarge
        case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT: .unreachable
        default: .send
        }
      report(kind, path.listener, "a datagram of \(bytes.count) bytes cannot be sent: \(reason)", remote: path.remote)
      fail(transaction)
    }
  }

  /// A request over UDP that goes out again: nobody answers, or nobody is there.
  private func sentRequest(_ transaction: TransactionID, on path: SIPPath) {
    guard !sentDatagrams.insert(transaction).inserted else {
      sentDatagramOrder.append(transaction)
      if sentDatagramOrder.count > limits.trackedRequests, let oldest = sentDatagramOrder.popFirst() {
        sentDatagrams.remove(oldest)
      }
      return
    }
    if var asked = portProbes[path] {
      guard asked.requests.count < limits.trackedRequests, !asked.requests.contains(transaction) else { return }
      asked.requests.append(transaction)
      portProbes[path] = asked
      return
    }
    guard portProbes.count < limits.portProbes, !DescriptorReserve.isReached, let listener = listeners[path.listener],
      let probe = ClosedPortProbe(path.remote, from: listener.isWildcard ? nil : listener.host)
    else { return }
    portProbes[path] = PortProbe(probe: probe, requests: [transaction])
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(limits.portProbeMilliseconds)) { [weak self] in
      self?.endProbe(of: path)
    }
  }

  private func endProbe(of path: SIPPath) {
    guard let asked = portProbes.removeValue(forKey: path), let code = asked.probe.refusal, !isShutDown else { return }
    statistics.datagramsRefused += UInt64(asked.requests.count)
    report(
      code == ECONNREFUSED ? .connectRefused : .unreachable, path.listener,
      code == ECONNREFUSED
        ? "nobody listens there: the host says that the UDP port is closed"
        : "the network says that the host cannot be reached: \(String(cString: strerror(code)))",
      remote: path.remote)
    for transaction in asked.requests { fail(transaction) }
  }

  private func connect(_ listener: SIPListener, _ path: SIPPath) -> StreamConnection? {
    guard let address = SocketAddress(path.remote.host, port: path.remote.port),
      path.remote.host.isIPv6 == listener.host.isIPv6
    else {
      report(
        .unreachable, listener.id, "\(path.remote.host) cannot be reached from a listener on \(listener.host)",
        remote: path.remote)
      return nil
    }
    guard connections.count < limits.connections else {
      statistics.connectionsRefused += 1
      report(.connections, listener.id, "\(limits.connections) connections are open", remote: path.remote)
      return nil
    }
    guard !DescriptorReserve.isReached else {
      statistics.connectionsRefused += 1
      report(.descriptors, listener.id, DescriptorReserve.advice, remote: path.remote)
      return nil
    }
    let policy =
      listener.transport == .tls
      ? contexts.policies.policy(serverName: path.serverName, host: path.remote.host) : nil
    let connection = make(listener, path.remote, serverName: path.serverName, role: .opened, policy: policy)
    let context = policy.flatMap { contexts.clients[$0] }
    let bound = NIOLoopBound((transports: self, connection: connection), eventLoop: eventLoop)
    var bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(.milliseconds(limits.connectTimeoutMilliseconds))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(SIPTransports.userTimeout, value: userTimeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let (transports, connection) = bound.value
          if connection.listener.transport == .tls {
            let handler = try SIPTransports.clientHandler(connection, policy: policy, context: context)
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          try channel.pipeline.syncOperations.addHandler(connection)
          transports.watch(connection, channel)
        }
      }
    if !listener.isWildcard, let local = SocketAddress(listener.host, port: 0) { bootstrap = bootstrap.bind(to: local) }
    connections[connection.id] = connection
    byPeer[key(connection)] = connection.id
    statistics.connections = connections.count
    scheduleSweep()
    bootstrap.connect(to: address).assumeIsolated().whenFailure { [weak self] error in
      self?.connectFailed(connection, error)
    }
    return connection
  }

  private func watch(_ connection: StreamConnection, _ channel: any Channel) {
    channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.remove(connection) }
  }

  private func connectFailed(_ connection: StreamConnection, _ error: any Error) {
    let kind: TransportProblem.Kind
    let text: String
    switch error {
    case ChannelError.connectTimeout:
      kind = .connectTimeout
      text = "no answer to the connection attempt in \(limits.connectTimeoutMilliseconds) ms"
    case let error as IOError where error.errnoCode == ECONNREFUSED:
      kind = .connectRefused
      text = "nobody listens there: the connection was refused"
    case let failure as TLSFailure:
      kind = failure.kind
      text = failure.text
    default:
      kind = .connect
      text = "cannot connect: \(SIPTransports.reason(error))"
    }
    connection.end(kind, text)
    remove(connection)
  }

  private static func clientHandler(
    _ connection: StreamConnection, policy: TLSClientPolicy?, context: NIOSSLContext?
  ) throws -> NIOSSLClientHandler {
    guard let policy, let context else { throw TLSFailure(.handshake, "there are no TLS settings for this peer") }
    // An address is no name: SNI carries names only (RFC 6066 section 3).
    let name = connection.serverName.flatMap { PeerIdentity.host($0) == nil ? $0 : nil }
    do {
      guard case .fingerprints(let fingerprints) = policy.trust else {
        return try NIOSSLClientHandler(context: context, serverHostname: name)
      }
      return try NIOSSLClientHandler(
        context: context, serverHostname: name,
        customVerificationCallback: { certificates, promise in
          let found = certificates.first.flatMap(PeerIdentity.fingerprint)
          promise.succeed(found.map(fingerprints.contains) == true ? .certificateVerified : .failed)
        })
    } catch {
      throw TLSFailure(.handshake, "\(connection.serverName ?? "") cannot be asked for as a server name")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError:
      error.connectionErrors.first.map { reason($0.error) } ?? ErrorText.text(error)
    default: ErrorText.text(error)
    }
  }

  /// Ends a stream whose peer has nothing to look for here.
  /// A request of a host that is nobody's peer gets no answer, and its stream an end. Who scans sends many: one of them is
  /// enough to see why a trunk that was forgotten gets no answer.
  package func ignoreStranger(on path: SIPPath) {
    if let connection = path.connection { close(connection) }
    let now = now
    if let strangerReportedAt, now.milliseconds(since: strangerReportedAt) < Self.strangerReportMilliseconds { return }
    strangerReportedAt = now
    report(
      .stranger, path.listener, "a request is not answered: this host is no trunk's", remote: path.remote)
  }

  func close(_ connection: ConnectionID) { connections[connection]?.end(nil, "") }

  private func fail(_ transaction: TransactionID?) {
    guard let transaction else { return }
    statistics.requestsFailed += 1
    delegate?.failed(transaction)
  }

  // MARK: Flushing

  func markUnflushed(_ connection: StreamConnection) { unflushed.append(connection) }

  /// Writes out what was sent on streams since the last time.
  package func flush() {
    guard !isReading, !unflushed.isEmpty else { return }
    let all = unflushed
    unflushed.removeAll(keepingCapacity: true)
    for connection in all { connection.flush() }
  }

  // MARK: What sockets report

  func receivedDatagram(_ bytes: [UInt8], from path: SIPPath) {
    statistics.datagramsReceived += 1
    // RFC 5626 answers empty lines on streams only.
    guard let first = bytes.first(where: { $0 != 0x0D && $0 != 0x0A }) else {
      statistics.keepAlives += 1
      return
    }
    // A method or SIP/2.0 begins with a visible character; STUN, RTP and TLS do not.
    guard (0x21...0x7E).contains(first) else {
      statistics.junkDatagrams += 1
      return
    }
    statistics.messagesReceived += 1
    // Whoever sends is there, whatever was said of the port.
    if !portProbes.isEmpty { portProbes = portProbes.filter { $0.key.remote != path.remote } }
    delegate?.received(bytes, from: path)
  }

  func receivedMessage(_ bytes: [UInt8], from path: SIPPath) {
    statistics.messagesReceived += 1
    delegate?.received(bytes, from: path)
  }

  /// Answers what broke the framing, where it can be answered.
  func refused(_ refusal: GateRefusal, on connection: StreamConnection) {
    statistics.framingRefusals += 1
    guard case .answer(let status, let reason) = refusal.action, let message = refusal.message,
      delegate?.knows(connection.remote.host) ?? true, refusals.consume(at: now),
      let bytes = ErrorResponse.bytes(
        to: message, status: status, reason: reason, tag: identifiers.token(),
        source: PacketSource(host: connection.remote.host, port: connection.remote.port))
    else { return }
    connection.write(bytes, request: nil)
  }

  func opened(_ connection: StreamConnection) {
    guard connection.role == .opened else { return finishHandshake(connection) }
    statistics.connectionsOpened += 1
    delegate?.opened(
      StreamOpening(
        listener: connection.listener.id, remote: connection.remote, connection: connection.id,
        connectMilliseconds: connection.connectMilliseconds, handshake: connection.handshake))
  }

  private func finishHandshake(_ connection: StreamConnection) {
    if connection.role == .accepted, connection.listener.transport == .tls { handshakes -= 1 }
  }

  func ended(
    _ connection: StreamConnection, _ kind: TransportProblem.Kind?, _ text: String, wasOpen: Bool,
    requests: [TransactionID]
  ) {
    if !wasOpen {
      finishHandshake(connection)
      if connection.role == .opened { statistics.connectionsFailed += 1 }
    }
    let peer = key(connection)
    if byPeer[peer] == connection.id { byPeer[peer] = nil }
    switch kind {
    case .slowReader: statistics.slowReaders += 1
    case .partialMessage: statistics.messageTimeouts += 1
    case let kind? where kind.rawValue.hasPrefix("tls."): statistics.handshakesFailed += 1
    default: break
    }
    // The ordinary end of a stream is no problem, unless somebody waits on it.
    if let kind, kind != .connectionLost || !requests.isEmpty || !wasOpen {
      report(
        kind, connection.listener.id, text, remote: connection.remote, connection: connection.id,
        handshake: wasOpen ? nil : connection.handshake)
    }
    for request in requests { fail(request) }
  }

  func report(
    _ kind: TransportProblem.Kind, _ listener: ListenerID, _ text: String, remote: TransportAddress? = nil,
    connection: ConnectionID? = nil, handshake: TLSHandshake? = nil
  ) {
    statistics.problems += 1
    guard problems.consume(at: now) else {
      statistics.problemsUnreported += 1
      return
    }
    delegate?.report(
      TransportProblem(
        kind: kind, listener: listener, remote: remote, connection: connection, text: text, handshake: handshake))
  }

  // MARK: Time

  /// Often enough that nothing lasts a quarter longer than it may, seldom enough to cost nothing.
  private var sweepInterval: Int64 {
    let all = [
      limits.handshakeTimeoutMilliseconds, limits.messageTimeoutMilliseconds, limits.idleTimeoutMilliseconds,
      limits.pingIntervalMilliseconds, limits.pongTimeoutMilliseconds,
    ]
    return min(1000, max(10, (all.compactMap(\.self).min() ?? 1000) / 4))
  }

  private func scheduleSweep() {
    guard sweep == nil, !isShutDown else { return }
    sweep = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(sweepInterval)) { [weak self] in
      guard let self else { return }
      sweep = nil
      let now = now
      for connection in Array(connections.values) { connection.check(at: now) }
      flush()
      if !connections.isEmpty { scheduleSweep() }
    }
  }

  // MARK: End

  /// Closes every socket; done when the last one is closed. Streams end with what was written to them.
  package func shutdown() -> EventLoopFuture<Void> {
    isShutDown = true
    sweep?.cancel()
    sweep = nil
    portProbes.removeAll()
    let channels = Array(sockets.values) + connections.values.compactMap(\.channelToClose)
    for connection in Array(connections.values) { connection.end(nil, "") }
    for socket in sockets.values { socket.close(promise: nil) }
    return EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: eventLoop)
  }
}
