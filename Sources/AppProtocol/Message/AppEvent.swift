public import CallModel

/// What an app is told inside its session.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
public enum AppEvent: Hashable, Sendable {
  // Replies: exactly one for each request.

  /// The call exists; the answer to the app's offer, so that ICE and DTLS finish while it rings.
  case placed(RequestNumber, CallID, answer: String)
  case done(RequestNumber)
  /// The answer to an offer inside a call.
  case answered(RequestNumber, CallID, String)
  /// The request was refused and changed nothing; a call that was asked for does not exist.
  indirect case refused(RequestNumber, CallFailure)

  // A call for the user.

  /// Somebody calls this device's user: the first event of its id. ``AppRequest/alert(_:offer:)``,
  /// ``AppRequest/accept(_:offer:headers:)`` or ``AppRequest/decline(_:_:_:)`` answers it.
  indirect case incoming(CallID, Invitation)

  // What happens to a call.

  /// The other side's device is there: it alerts, or sends sound before the answer. Never for a 100.
  case progressing(CallID, headers: CustomHeaders)
  /// The other side rings.
  case ringing(CallID, headers: CustomHeaders)
  /// Sound from the network comes before the answer.
  case earlyMedia(CallID)
  /// The other side answered; headers are those of the answer.
  case accepted(CallID, headers: CustomHeaders)
  /// Sound flows between both.
  case established(CallID)
  /// The price that rules the whole call; told before it is answered.
  indirect case price(CallID, CallPrice)
  /// The credit ends after this many seconds; `nil` when it no longer does.
  case creditEnds(CallID, inSeconds: Int?)
  /// A key pressed on the other side.
  case digit(CallID, Character, milliseconds: Int)
  /// The other side put the call on hold, or took it back.
  case held(CallID, Bool)
  /// How a transfer goes that the app asked for, or that the other side has put it through.
  indirect case transfer(CallID, TransferProgress)
  /// The gateway offers a change of the session: wants ``AppRequest/answer(_:_:)``.
  case offered(CallID, String)
  /// How the call sounds, once a second.
  indirect case quality(CallID, CallQuality)
  /// A limit of quality was crossed, or is kept again.
  case warning(CallID, QualityWarning, isRaised: Bool)
  /// Who is in the conference, or what has changed.
  indirect case members(CallID, RoomMembers)
  /// Whether what is said in the call, or in the conference that it is in, is recorded from now on.
  case recording(CallID, RecordingState)
  /// Who speaks in the conference.
  case speakers(CallID, RoomSpeakers)
  /// The call is over: the last event of its id.
  indirect case ended(CallID, CallSummary)
}

/// What an app is told of a call for its user.
public struct Invitation: Hashable, Sendable {
  /// Whoever calls.
  public var from: CallerIdentity
  /// Whom the call is for: the app's own user.
  public var user: UserID
  /// The number of the gateway's that was called; `nil` for a call of another app.
  public var number: String?
  /// As the caller gave them.
  public var headers: CustomHeaders
  /// Whether the caller offers video, which the gateway does not carry.
  public var wantsVideo: Bool
  /// Whether the device is in another call.
  public var isWaiting: Bool
  /// When it rings no longer.
  public var expiresAt: Instant

  /// Without headers, video or another call unless they are given.
  public init(
    from: CallerIdentity, to user: UserID, number: String? = nil, headers: CustomHeaders = CustomHeaders(),
    wantsVideo: Bool = false, isWaiting: Bool = false, expiresAt: Instant
  ) {
    self.from = from
    self.user = user
    self.number = number
    self.headers = headers
    self.wantsVideo = wantsVideo
    self.isWaiting = isWaiting
    self.expiresAt = expiresAt
  }
}

/// How a transfer goes.
public struct TransferProgress: Hashable, Sendable {
  public enum Step: String, Hashable, Sendable, CaseIterable {
    /// To the app that asked: it rings there.
    case ringing
    /// To the app that asked to talk first: they are there, and the other side waits.
    case answered
    /// To the app that asked: the two others talk, and the call is over for it.
    case completed
    /// To the app that asked: nobody was reached, and it talks with the other side again.
    case failed
    /// To the app that asked: as it wished, it talks with the other side again.
    case takenBack = "taken-back"
    /// To the side that was put through: it talks with somebody else now.
    case connected
  }
  public var step: Step
  /// What ``target`` is.
  public var kind: Destination.Kind
  /// To whom, in canonical form: `+46701234567`, `alice@example.com`, `bob`.
  public var target: String
  /// Why nobody was reached; `nil` where nothing went wrong.
  public var failure: CallFailure?

  public init(_ step: Step, to kind: Destination.Kind, _ target: String, _ failure: CallFailure? = nil) {
    self.step = step
    self.kind = kind
    self.target = target
    self.failure = failure
  }
}

/// The price of a call, as frozen when it was authorised.
public struct CallPrice: Hashable, Sendable {
  /// ISO 4217 code.
  public var currency: String
  /// Price of a minute in billionths of a unit.
  public var ratePerMinuteNano: NanoUnits
  /// Once a call, in micro-units.
  public var connectionFeeMicro: MicroUnits
  /// Seconds billed at least, and in which steps afterwards.
  public var initialSeconds: Int64
  /// Steps in which seconds after ``initialSeconds`` are billed.
  public var incrementSeconds: Int64
  /// Seconds that the credit buys as things stand.
  public var secondsAvailable: Int64

  /// The rate is in nano-units a minute, the fee in micro-units.
  public init(
    currency: String, ratePerMinuteNano: NanoUnits, connectionFeeMicro: MicroUnits, initialSeconds: Int64,
    incrementSeconds: Int64, secondsAvailable: Int64
  ) {
    self.currency = currency
    self.ratePerMinuteNano = ratePerMinuteNano
    self.connectionFeeMicro = connectionFeeMicro
    self.initialSeconds = initialSeconds
    self.incrementSeconds = incrementSeconds
    self.secondsAvailable = secondsAvailable
  }
}

/// What one second of a call was like, from both legs.
public struct CallQuality: Hashable, Sendable {
  /// One direction of sound, as received by the gateway. A second in which nothing came has no measures.
  public struct Direction: Hashable, Sendable {
    /// Mean opinion score, 1 to 4.5 (ITU-T G.107); `nil` where nothing came in the last second.
    public var meanOpinionScore: Double?
    /// Milliseconds; `nil` where nothing came in the last second.
    public var jitter: Double?
    /// Share of packets lost in the last second, 0 to 1; `nil` where nothing came in it.
    public var loss: Double?
    /// Since the start.
    public var packets: UInt64

    /// Whether anything came in the last second.
    public var isHeard: Bool { meanOpinionScore != nil }

    /// A second without a packet.
    public static func nothing(packets: UInt64) -> Direction {
      Direction(meanOpinionScore: nil, jitter: nil, loss: nil, packets: packets)
    }

    /// Jitter in milliseconds, loss from 0 to 1; all three measures are `nil` for a second in which nothing came.
    public init(meanOpinionScore: Double?, jitter: Double?, loss: Double?, packets: UInt64) {
      self.meanOpinionScore = meanOpinionScore
      self.jitter = jitter
      self.loss = loss
      self.packets = packets
    }
  }
  /// From the app.
  public var sent: Direction
  /// From the other side.
  public var received: Direction
  /// Milliseconds between the gateway and the app; `nil` until a report came.
  public var roundTrip: Double?

  /// The round trip is in milliseconds, and `nil` until a report came.
  public init(sent: Direction, received: Direction, roundTrip: Double?) {
    self.sent = sent
    self.received = received
    self.roundTrip = roundTrip
  }
}

/// A limit of quality.
public enum QualityWarning: String, Hashable, Sendable, CaseIterable {
  /// Round trip above 400 ms.
  case highRoundTrip = "high-rtt"
  /// Jitter above 30 ms in 3 of 5 seconds.
  case highJitter = "high-jitter"
  /// More than 3 % lost over 7 seconds, of what came to the gateway from either side.
  case highLoss = "high-packet-loss"
  /// More than 3 % lost over 7 seconds of what the app was sent, as its own reports say.
  case highSentLoss = "high-downlink-loss"
  /// Mean opinion score below 3.5.
  case lowScore = "low-mos"
  /// Nothing comes from the app, though it is neither on hold nor muted: told with the first whole second without a packet.
  case noSound = "no-audio"
  /// What the app is sent was cut to what its link carries.
  case thinLink = "thin-link"
}

/// How a call went: times, end and cost.
public struct CallSummary: Hashable, Sendable {
  /// When the gateway took the request; all times are by its clock.
  public var startedAt: Instant
  /// When the other side's device was first there; `nil` if it never was.
  public var progressedAt: Instant?
  /// When the other side first rang; `nil` if it never did.
  public var rungAt: Instant?
  /// When the other side answered; `nil` if it never did.
  public var answeredAt: Instant?
  /// When sound could flow both ways; `nil` if it never could.
  public var establishedAt: Instant?
  /// When the call was over, before its cost was known.
  public var endedAt: Instant
  /// How it ended; ``failure`` has the details where something went wrong.
  public var cause: CallEndCause
  /// `nil` where nothing went wrong.
  public var failure: CallFailure?
  /// Of the other side's failure response or BYE.
  public var headers: CustomHeaders
  /// Answer to end; 0 when it was never answered.
  public var durationMilliseconds: Int64
  /// Of the other side's leg alone, where ``costMicro`` is that of all legs; 0 when it was never answered.
  public var billedSeconds: Int64
  /// Micro-units; `nil` while the ledger is away.
  public var costMicro: MicroUnits?
  /// ISO 4217 code of ``costMicro``.
  public var currency: String
  /// To a device that was called: whether nobody of its user took the call or declined it.
  public var isMissed: Bool
  /// To a device that was called: the user's device that answered or declined; `nil` where none did.
  public var device: String?

  /// By default a call that was never answered and cost nothing.
  public init(
    startedAt: Instant, progressedAt: Instant? = nil, rungAt: Instant? = nil, answeredAt: Instant? = nil,
    establishedAt: Instant? = nil, endedAt: Instant, cause: CallEndCause, failure: CallFailure? = nil,
    headers: CustomHeaders = CustomHeaders(), durationMilliseconds: Int64 = 0, billedSeconds: Int64 = 0,
    costMicro: MicroUnits? = 0, currency: String, isMissed: Bool = false, device: String? = nil
  ) {
    self.startedAt = startedAt
    self.progressedAt = progressedAt
    self.rungAt = rungAt
    self.answeredAt = answeredAt
    self.establishedAt = establishedAt
    self.endedAt = endedAt
    self.cause = cause
    self.failure = failure
    self.headers = headers
    self.durationMilliseconds = durationMilliseconds
    self.billedSeconds = billedSeconds
    self.costMicro = costMicro
    self.currency = currency
    self.isMissed = isMissed
    self.device = device
  }
}
