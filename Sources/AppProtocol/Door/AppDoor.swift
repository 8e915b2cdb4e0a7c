public import CallModel
import LandlineDigest

/// The gateway's end of all app connections of one node. Not shared between threads.
///
/// A connection registers or resumes first and then speaks for one session. A session outlives its connection for a
/// while: what the app must know is kept and sent when the session is taken up again.
public final class AppDoor {
  /// Named limits.
  public struct Configuration: Hashable, Sendable {
    /// The gateway's version, told with each registration.
    public var version: String
    /// From the opening of a connection to its first message.
    public var authenticationMilliseconds: Int64 = 5000
    /// From one ping of a connection to the next; a pong tells that the events sent before it have arrived.
    public var pingMilliseconds: Int64 = 20_000
    /// A connection without pong this long after a ping is closed with ``CloseCode/silent``.
    public var pongMilliseconds: Int64 = 10_000
    /// How long a session without connection waits.
    public var resumeMilliseconds: Int64 = 30_000
    /// Connections of the node; more are closed with ``CloseCode/tryAgainLater``.
    public var maximumConnections = 10_000
    /// Connections of one host, an IPv6 /64 counting as one; hosts beyond ``maximumHosts`` are not limited by it.
    public var maximumConnectionsPerHost = 256
    /// Sessions of the node, those without connection and proofs under examination included.
    public var maximumSessions = 10_000
    /// Sessions of one user of an application.
    public var maximumSessionsPerUser = 32
    /// Live calls of one session.
    public var maximumCalls = 64
    /// Requests of one session that wait for their reply.
    public var maximumPendingRequests = 64
    /// Events of one session kept until they are known to have arrived, by number and by bytes.
    public var maximumBufferedEvents = 256
    /// The second limit of ``maximumBufferedEvents``: bytes of these events together.
    public var maximumBufferedBytes = 1_048_576
    /// Messages of one host a second, and at once, over all of its sessions. An IPv6 host is its /64. A proof that is
    /// refused counts as ``costOfRefusedProof`` of them.
    public var requestsPerSecond: Int64 = 200
    /// Messages that one host may send at once after a rest.
    public var requestBurst: Int64 = 600
    /// Messages of a session over that limit, one after the other, before the connection is closed.
    public var maximumMessagesOverLimit = 256
    /// Registrations and resumptions of one host a second, and at once. An IPv6 host is its /64.
    public var registrationsPerSecond: Int64 = 20
    /// Registrations and resumptions that one host may send at once after a rest.
    public var registrationBurst: Int64 = 100
    /// Hosts that are counted one by one.
    public var maximumHosts = 4096
    /// Proofs under examination at a time.
    public var maximumVerifications = 256
    /// A proof without verdict by then counts as unavailable.
    public var verificationMilliseconds: Int64 = 1800
    /// Signatures with a sequence that was passed that one connection may bring: enough for as many devices of a user that
    /// register at once.
    public var maximumSignatures = 16
    /// All limits stand at their defaults until they are set.
    public init(version: String) { self.version = version }
  }

  /// Messages that a refused proof counts as.
  public static let costOfRefusedProof: Int64 = 10

  struct Connection {
    enum Phase {
      case new
      case verifying(VerificationID, RequestNumber, DeviceProfile)
      case session(SessionID)
    }
    let hostKey: SIPHost
    let host: SIPHost
    var phase = Phase.new
    /// Right signatures whose sequence was too low.
    var signatures = 0
    /// Whether a ping waits for its pong, and the last event sent before it.
    var pingedAfter: UInt64?
    var pingedAt: MonotonicInstant
  }

  enum Subject: Hashable, Sendable {
    case connection(ConnectionID)
    case session(SessionID)
    case verification(VerificationID)
  }

  struct UserKey: Hashable {
    let application: String
    let user: UserID
  }

  /// Relays for the sound of apps. A change reaches each session with its next ping.
  public var turn: TURNService?

  let configuration: Configuration
  let draw: () -> UInt64
  var connections: [ConnectionID: Connection] = [:]
  var sessions: [SessionID: AppSession] = [:]
  var sessionNames: [String: SessionID] = [:]
  var sessionsOfUser: [UserKey: Int] = [:]
  /// The connections whose proofs are under examination.
  var verifications: [VerificationID: ConnectionID] = [:]
  var hosts: HostTable
  var deadlines = DeadlineQueue<Subject>()
  var isDraining = false
  private var lastSession: UInt64 = 0
  private var lastVerification: UInt64 = 0

  /// - Parameter draw: 64 bits from the system's generator; resumption tokens are made of them.
  public init(_ configuration: Configuration, draw: @escaping () -> UInt64) {
    self.configuration = configuration
    self.draw = draw
    hosts = HostTable(configuration)
  }

  /// Those that have not registered yet included.
  public var connectionCount: Int { connections.count }
  /// Absent ones included.
  public var sessionCount: Int { sessions.count }
  /// Proofs under examination.
  public var verificationCount: Int { verifications.count }

  /// When ``advance(to:clock:into:)`` has something to do; `nil` for never.
  public var nextDeadline: MonotonicInstant? { deadlines.next }

  /// What happened, and what is to be done about it.
  public func handle(
    _ input: AppDoorInput, at now: MonotonicInstant, clock: Instant, into effects: inout [AppDoorEffect]
  ) {
    switch input {
    case .opened(let id, let host): open(id, host, now, &effects)
    case .text(let id, let bytes): receive(bytes, on: id, now, clock, &effects)
    case .violation(let id, let code, let reason):
      close(id, CloseCode(rawValue: code), reason, now, &effects)
    case .pong(let id): pong(id, now)
    case .clogged(let id): close(id, .policyViolation, "the reader does not read", now, &effects)
    case .closed(let id): forget(id, now, &effects)
    case .verified(let id, let verdict): verified(id, verdict, now, clock, &effects)
    case .event(let id, let event): tell(id, event, now, &effects)
    case .drain: drain(now, &effects)
    case .shutDown: shutDown(&effects)
    }
  }

  /// Lets deadlines pass that have come.
  public func advance(to now: MonotonicInstant, clock: Instant, into effects: inout [AppDoorEffect]) {
    while let subject = deadlines.popDue(at: now) {
      switch subject {
      case .connection(let id): connectionDue(id, now, clock, &effects)
      case .session(let id): end(id, &effects)
      case .verification(let id): verified(id, .unavailable, now, clock, &effects)
      }
    }
  }

  // MARK: - Deadlines

  private func connectionDue(
    _ id: ConnectionID, _ now: MonotonicInstant, _ clock: Instant, _ effects: inout [AppDoorEffect]
  ) {
    guard var connection = connections[id] else { return }
    guard case .session(let session) = connection.phase else {
      // A proof under examination has its own deadline.
      if case .new = connection.phase { close(id, .silent, "no first message in time", now, &effects) }
      return
    }
    guard connection.pingedAfter == nil else {
      close(id, .silent, "no pong in time", now, &effects)
      return
    }
    if let session = sessions[session], session.relays.service != turn || session.relays.renewal <= clock {
      effects.append(.send(id, AppMessageCoder.encode(.relays(renewRelays(of: session, clock)))))
    }
    connection.pingedAfter = sessions[session]?.sequence ?? 0
    connection.pingedAt = now
    connections[id] = connection
    deadlines.set(.connection(id), now.advanced(byMilliseconds: configuration.pongMilliseconds))
    effects.append(.ping(id))
  }

  private func pong(_ id: ConnectionID, _ now: MonotonicInstant) {
    guard var connection = connections[id], case .session(let session) = connection.phase,
      let sequence = connection.pingedAfter
    else { return }
    // Frames come in order: what was sent before the ping has arrived.
    sessions[session]?.acknowledge(sequence)
    sessions[session]?.formerToken = nil
    connection.pingedAfter = nil
    connections[id] = connection
    let due = connection.pingedAt.advanced(byMilliseconds: configuration.pingMilliseconds)
    deadlines.set(.connection(id), max(due, now.advanced(byMilliseconds: 1)))
  }

  /// What a session is told of relays; it is remembered with it.
  func renewRelays(of session: AppSession, _ clock: Instant) -> TURNAccess? {
    session.relays = (turn, turn?.renewal(at: clock) ?? .distantFuture)
    return turn?.access(of: session.identity.user, at: clock)
  }

  // MARK: - Connections

  private func open(
    _ id: ConnectionID, _ host: SIPHost, _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]
  ) {
    guard connections[id] == nil else { return }
    guard connections.count < configuration.maximumConnections, let key = hosts.open(host, at: now) else {
      effects.append(
        .close(id, code: CloseCode.tryAgainLater.rawValue, reason: "too many connections"))
      return
    }
    connections[id] = Connection(hostKey: key, host: host, pingedAt: now)
    deadlines.set(.connection(id), now.advanced(byMilliseconds: configuration.authenticationMilliseconds))
  }

  /// Closes a connection; its session, if it has one, becomes absent.
  func close(
    _ id: ConnectionID, _ code: CloseCode, _ reason: String, _ now: MonotonicInstant,
    _ effects: inout [AppDoorEffect]
  ) {
    guard connections[id] != nil else { return }
    effects.append(.close(id, code: code.rawValue, reason: reason))
    forget(id, now, &effects)
  }

  private func forget(_ id: ConnectionID, _ now: MonotonicInstant, _ effects: inout [AppDoorEffect]) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    deadlines.set(.connection(id), nil)
    hosts.closed(connection.hostKey)
    guard case .session(let sessionID) = connection.phase, sessions[sessionID]?.connection == id else { return }
    sessions[sessionID]?.connection = nil
    deadlines.set(.session(sessionID), now.advanced(byMilliseconds: configuration.resumeMilliseconds))
    effects.append(.absent(sessionID))
    if isDraining, sessions[sessionID]?.isIdle == true { end(sessionID, &effects) }
  }

  // MARK: - Ends

  /// A session is over; nothing is sent.
  func end(_ id: SessionID, _ effects: inout [AppDoorEffect]) {
    guard let session = sessions.removeValue(forKey: id) else { return }
    deadlines.set(.session(id), nil)
    sessionNames[session.name] = nil
    let user = UserKey(application: session.identity.application, user: session.identity.user)
    let count = (sessionsOfUser[user] ?? 1) - 1
    sessionsOfUser[user] = count > 0 ? count : nil
    if let connection = session.connection, let removed = connections.removeValue(forKey: connection) {
      deadlines.set(.connection(connection), nil)
      hosts.closed(removed.hostKey)
    }
    effects.append(.ended(id))
  }

  /// Tells the app, closes its connection and ends the session.
  func finish(_ id: SessionID, _ code: CloseCode, _ reason: String, _ effects: inout [AppDoorEffect]) {
    if let connection = sessions[id]?.connection {
      if code != .normal {
        effects.append(.send(connection, AppMessageCoder.encode(.closing(reason: reason))))
      }
      effects.append(.close(connection, code: code.rawValue, reason: reason))
    }
    end(id, &effects)
  }

  private var sessionsInOrder: [SessionID] { sessions.keys.sorted { $0.number < $1.number } }

  private func drain(_ now: MonotonicInstant, _ effects: inout [AppDoorEffect]) {
    guard !isDraining else { return }
    isDraining = true
    for id in sessionsInOrder {
      if let connection = sessions[id]?.connection {
        effects.append(.send(connection, AppMessageCoder.encode(.draining)))
      }
      finishIfDrained(id, &effects)
    }
  }

  func finishIfDrained(_ id: SessionID, _ effects: inout [AppDoorEffect]) {
    guard isDraining, sessions[id]?.isIdle == true else { return }
    finish(id, .serviceRestart, "the gateway drains", &effects)
  }

  private func shutDown(_ effects: inout [AppDoorEffect]) {
    isDraining = true
    for id in sessionsInOrder { finish(id, .goingAway, "the gateway stops", &effects) }
    for id in connections.keys.sorted(by: { $0.number < $1.number }) {
      effects.append(.close(id, code: CloseCode.goingAway.rawValue, reason: "the gateway stops"))
    }
    connections = [:]
    verifications = [:]
    deadlines.removeAll()
    hosts = HostTable(configuration)
  }

  // MARK: - Names

  func newSessionID() -> SessionID {
    lastSession += 1
    return SessionID(lastSession)
  }

  func newVerificationID() -> VerificationID {
    lastVerification += 1
    return VerificationID(lastVerification)
  }

  /// 128 bits as 32 hexadecimal digits.
  func newToken() -> String { AppDoor.hexadecimal(draw()) + AppDoor.hexadecimal(draw()) }

  func newSessionName() -> String {
    while true {
      let name = "s-" + AppDoor.hexadecimal(draw())
      if sessionNames[name] == nil { return name }
    }
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
