public import CallModel

/// The client's end of a session: registers, numbers requests, matches replies, takes the session up again after a loss.
public final class AppSessionClient {
  /// Times and limits; all have defaults but the software's name.
  public struct Configuration: Hashable, Sendable {
    /// Name and version of the app's software, for records.
    public var client: String
    /// A request without reply is given up after this long.
    public var replyMilliseconds: Int64 = 15_000
    /// A connection that is not open and registered by then is given up and tried anew.
    public var connectMilliseconds: Int64 = 10_000
    /// Nothing from the gateway for this long: a ping is sent; nothing for the second while either: the connection
    /// counts as lost.
    public var pingMilliseconds: Int64 = 20_000
    /// How long the gateway may be silent after a ping; see ``pingMilliseconds``.
    public var pongMilliseconds: Int64 = 10_000
    /// The wait before the second attempt; doubles with each, up to the longest.
    public var firstBackoffMilliseconds: Int64 = 250
    /// The longest wait between two attempts; each is drawn from its half to all of it.
    public var longestBackoffMilliseconds: Int64 = 30_000
    /// How long a new signature may take.
    public var signingMilliseconds: Int64 = 30_000
    /// Signatures whose sequence was passed, one after the other, before the registration counts as refused: enough for as
    /// many devices of a user that register at once.
    public var maximumSignatures = 16
    /// Most requests without reply at a time.
    public var maximumPending = 64
    /// All times and limits stand at their defaults until they are set.
    public init(client: String) { self.client = client }
  }

  /// How far the session is.
  public enum State: Hashable, Sendable {
    case idle
    case connecting
    case registering
    /// Requests may be sent.
    case ready
    /// The connection is lost and being made anew; requests wait for it as long as the session stands.
    case reconnecting
    /// `nil` after ``AppSessionClientInput/stop``.
    case ended(CallFailure?)
  }

  struct Pending {
    let number: RequestNumber
    let request: AppRequest
    let due: MonotonicInstant
  }

  /// What the connection is at, with the deadline of that.
  enum Phase {
    case none
    case opening(MonotonicInstant)
    /// The first message is sent under this number.
    case greeting(RequestNumber, MonotonicInstant)
    /// The gateway wants a higher sequence and whoever signs is asked; the connection waits, if it stands.
    case signing(MonotonicInstant)
    /// Nothing heard since `pinged`, or before the deadline for a ping.
    case standing(MonotonicInstant, isPinged: Bool)
    /// No connection; the next attempt is at this time.
    case waiting(MonotonicInstant)
  }

  /// What takes the session up again.
  struct Session {
    let name: String
    var token: String
    var lastEvent: UInt64 = 0
    /// When the gateway gives it up; `nil` while the connection stands.
    var due: MonotonicInstant?
    var resumeMilliseconds: Int64
  }

  /// Each change is told as ``AppSessionClientEffect/state(_:)``.
  public internal(set) var state = State.idle
  /// The latest answer to a registration.
  public internal(set) var registered: Registered?
  /// Relays for sound, as the gateway told of them last; `nil` where it has none.
  public internal(set) var relays: TURNAccess?
  /// Calls that were placed and have not ended.
  public internal(set) var liveCalls: Set<CallID> = []

  let configuration: Configuration
  let draw: () -> UInt64
  var registration: Registration?
  var phase = Phase.none
  var connection: ConnectionID?
  var session: Session?
  /// In the order of their numbers and deadlines.
  var pending: [Pending] = []
  /// What the gateway said of the first message.
  var refusal: CallFailure?
  var attempts = 0
  /// Signatures whose sequence was too low, since the last registration.
  var signatures = 0
  private var lastConnection: UInt64 = 0
  private var lastNumber: UInt64 = 0

  /// - Parameter draw: 64 random bits, for the jitter of the waits.
  public init(_ configuration: Configuration, draw: @escaping () -> UInt64) {
    self.configuration = configuration
    self.draw = draw
  }

  /// When ``advance(to:into:)`` has something to do; `nil` for never.
  public var nextDeadline: MonotonicInstant? {
    let ofPhase: MonotonicInstant? =
      switch phase {
      case .none: nil
      case .opening(let due), .greeting(_, let due), .signing(let due), .standing(let due, _), .waiting(let due): due
      }
    return [ofPhase, session?.due, pending.first?.due].compactMap { $0 }.min()
  }

  /// What happened, and what is to be done about it.
  public func handle(
    _ input: AppSessionClientInput, at now: MonotonicInstant, into effects: inout [AppSessionClientEffect]
  ) {
    switch input {
    case .start(let registration): start(registration, now, &effects)
    case .opened(let id) where id == connection: greet(id, now, &effects)
    case .text(let id, let bytes) where id == connection: receive(bytes, on: id, now, &effects)
    case .closed(let id, let code) where id == connection:
      closed(code.map(CloseCode.init(rawValue:)), now, &effects)
    case .violation(let id) where id == connection:
      effects.append(.close(id, code: CloseCode.protocolError.rawValue))
      reconnect(now, &effects)
    case .proof(let proof): greetAgain(proof, now, &effects)
    case .networkChanged: networkChanged(now, &effects)
    case .stop: stop(&effects)
    case .opened, .text, .closed, .violation: break  // Late news of a connection that was given up.
    }
  }

  /// Sends a request, or keeps it until the connection stands again.
  ///
  /// The reply comes as ``AppEvent/placed(_:_:answer:)``, ``AppEvent/done(_:)``, ``AppEvent/answered(_:_:_:)`` or
  /// ``AppEvent/refused(_:_:)`` with this number; exactly one, a timeout included. A request that was lost with its
  /// connection is sent again under its number, which the gateway takes once.
  /// - Returns: `nil` unless the session stands, or when too many requests wait.
  public func send(
    _ request: AppRequest, at now: MonotonicInstant, into effects: inout [AppSessionClientEffect]
  ) -> RequestNumber? {
    guard session != nil, pending.count < configuration.maximumPending else { return nil }
    // A session that has to be begun anew begins as this one stands.
    if case .listen(let isOn) = request { registration?.profile.isListening = isOn }
    let number = nextNumber()
    pending.append(
      Pending(
        number: number, request: request, due: now.advanced(byMilliseconds: configuration.replyMilliseconds)))
    if case .standing = phase { transmit(.request(number, request), &effects) }
    return number
  }

  /// Lets deadlines pass that have come.
  public func advance(to now: MonotonicInstant, into effects: inout [AppSessionClientEffect]) {
    while let first = pending.first, first.due <= now {
      pending.removeFirst()
      effects.append(.event(.refused(first.number, CallFailure(.networkTimeout, leg: .app))))
    }
    if let due = session?.due, due <= now {
      loseSession(&effects)
      if case .greeting = phase {
        // The resumption under way comes too late; the next attempt registers.
        abandon(.normal, &effects)
        reconnect(now, &effects)
      }
    }
    switch phase {
    case .opening(let due) where due <= now, .greeting(_, let due) where due <= now, .signing(let due) where due <= now:
      abandon(.normal, &effects)
      reconnect(now, &effects)
    case .standing(let due, let isPinged) where due <= now:
      if isPinged {
        abandon(.silent, &effects)
        reconnect(now, &effects)
      } else {
        phase = .standing(now.advanced(byMilliseconds: configuration.pongMilliseconds), isPinged: true)
        transmit(.ping(nextNumber()), &effects)
      }
    case .waiting(let due) where due <= now: connect(now, &effects)
    case .none, .opening, .greeting, .signing, .standing, .waiting: break
    }
  }

  func nextNumber() -> RequestNumber {
    lastNumber += 1
    return RequestNumber(lastNumber)
  }

  func nextConnection() -> ConnectionID {
    lastConnection += 1
    return ConnectionID(lastConnection)
  }

  func transmit(_ message: ClientMessage, _ effects: inout [AppSessionClientEffect]) {
    guard let connection else { return }
    effects.append(.send(connection, AppMessageCoder.encode(message)))
  }

  func enter(_ state: State, _ effects: inout [AppSessionClientEffect]) {
    guard state != self.state else { return }
    self.state = state
    effects.append(.state(state))
  }
}
