public import AppProtocol
public import CallModel
public import LedgerCore
public import RoutingCore
public import SDPCore
public import SIPCore

/// What the engine is told.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
public enum EngineInput: Sendable {
  /// An app asks something.
  indirect case request(SessionID, RequestNumber, AppRequest, AppCaller)
  /// An app calls a user of its application.
  indirect case callUser(SessionID, RequestNumber, PlaceCall, AppCaller, CalledUser)
  /// A device has begun to listen: calls for its user that ring now ring here too.
  indirect case deviceListens(CalledDevice)
  /// The connection of a session is lost; its calls go on until it is resumed or ends.
  case sessionAbsent(SessionID)
  case sessionResumed(SessionID)
  /// A session is over: its calls end.
  case sessionEnded(SessionID)
  /// A call between two destinations, asked for over REST.
  indirect case originate(OriginationID, Origination)
  /// An operator ends a call, for a cause that its trunks are told: see ``HangUpCause``.
  case hangUp(CallID, by: String, cause: Int = HangUpCause.normal)
  /// Something is done to a call that is up; answered with ``EngineEffect/ordered(_:_:)``.
  indirect case order(CallOrderID, CallID, CallOrder, by: String)
  /// An operator does something to a conference.
  case room(RoomKey, RoomOrder, by: String)
  /// The recording of a conference is over, by our word or for the reason that its state tells.
  indirect case roomRecordingEnded(RoomKey, RecordingID, Recording.State)
  /// What ``EngineEffect/prepare(_:_:)`` asked for.
  indirect case prepared(CallID, Result<PreparedMedia, MediaShortage>)
  case media(CallID, MediaNotice)
  indirect case ledger(CallID, LedgerStep, Result<LedgerReceipt, LedgerUnavailable>)
  case sip(UserAgentEvent)
  /// An account was topped up, or its rules changed: calls in their last grant ask again.
  case accountChanged(AccountName, environment: String)
  /// An account was locked: its calls end now.
  case accountLocked(AccountName, environment: String)
  /// Answers ``EngineEffect/findPayer(_:environment:_:)``; `nil` where that cannot be read.
  indirect case payerFound(CallHandle, Payer?)
  /// Answers ``EngineEffect/findCertificates(_:_:)``.
  indirect case certificatesFound(CallHandle, [WebAddress: IdentityExamination.Certificate])
  /// Answers ``EngineEffect/findUser(_:application:_:)``.
  indirect case userFound(CallID, CalledUser)
  /// A telephone that has proved who it is calls.
  indirect case phoneCalls(CallHandle, IncomingCall, PhoneCaller)
  /// All numbers of an environment, in place of those before.
  indirect case numbers(environment: String, [InboundNumber])
  /// What became of ``EngineEffect/lock(_:environment:reason:)``.
  case lockAnswered(AccountName, environment: String, isLocked: Bool)
  /// The node's lease on its calls is lost: they end, whatever their grants.
  case fenced(environment: String)
  indirect case configure(EngineConfiguration)
  /// No new calls; those that are up go on.
  case drain
  /// How long something that came in waited: ``AdmissionGate`` decides by it.
  case waited(AdmissionGate.Observation)
}

/// Who asks for a call, and who pays.
public struct AppCaller: Sendable {
  /// The app's user and device, whose registration was good.
  public var identity: AppIdentity
  /// Whose credit the call uses.
  public var payer: Payer
  /// Numbers the application may show; the first is shown when the app names none.
  public var callerNumbers: [E164Number]
  /// What the device calls itself, for users that it calls; empty for none.
  public var name: String
  /// Whether the device is told who is in its conferences (``AppFeature/rooms``).
  public var followsRooms: Bool
  /// How its apps have calls recorded; `nil`: they may not.
  public var recording: RecordingOptions?

  /// Without caller numbers its calls name no caller.
  public init(
    identity: AppIdentity, payer: Payer, callerNumbers: [E164Number] = [], name: String = "", followsRooms: Bool = false
  ) {
    self.identity = identity
    self.payer = payer
    self.callerNumbers = callerNumbers
    self.name = name
    self.followsRooms = followsRooms
  }
}

/// Whose credit a call uses and at which prices, as of now.
public struct Payer: Sendable {
  /// `production`, `sandbox` or another name of the configuration.
  public var environment: String
  /// The ledger's name of it.
  public var account: AccountName
  /// The account's; `.none` for an account that the ledger does not have.
  public var currency: Currency
  /// `nil` when the account has no plan: nothing that costs can be called.
  public var plan: RatePlan?
  /// Prefixes that nobody may call, and exceptions from the number plan; looked at before any price.
  public var denyRanges: DenyRanges
  /// Prices of calls that come in, by the number that was called; `nil`: they are free.
  public var inboundPlan: RatePlan?
  /// What the account's own list of countries has; `nil` without a list.
  public var countries: [Int]?
  /// Whether the ledger has the account. Without it only what the gateway gives away can be called, and no ledger is asked.
  public var isInLedger = true

  /// Takes the account as one that the ledger has; see ``missing(_:environment:)`` for the others.
  public init(
    environment: String, account: AccountName, currency: Currency, plan: RatePlan?, denyRanges: DenyRanges = .none
  ) {
    self.environment = environment
    self.account = account
    self.currency = currency
    self.plan = plan
    self.denyRanges = denyRanges
  }

  /// An account that the ledger does not have.
  public static func missing(_ account: AccountName, environment: String) -> Payer {
    var payer = Payer(environment: environment, account: account, currency: .none, plan: nil)
    payer.isInLedger = false
    return payer
  }
}

/// Names a call asked for over REST until ``EngineEffect/originated(_:_:)`` answers it.
public struct OriginationID: Hashable, Sendable {
  /// Counted up by the shell.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// Two destinations to be joined: the first is called, then the second. With a conference as one of them the other is
/// called at once.
public struct Origination: Sendable {
  /// Called first; never an emergency service. It is the calling side of the record.
  public var first: Destination
  /// Called once the first has answered.
  public var second: Destination
  /// Key of the application whose conference it is; `nil` where none is asked for.
  public var application: String?
  /// The user that takes part, where it is one.
  public var called: CalledUser?
  /// Whether whoever takes part is not heard at first.
  public var beginsMuted = false
  /// Sent with the INVITEs of both legs.
  public var headers: CustomHeaders
  /// E.164 number to show; `nil` to name no caller.
  public var callerNumber: E164Number?
  /// Pays for both legs.
  public var payer: Payer

  public init(
    first: Destination, second: Destination, headers: CustomHeaders = CustomHeaders(), callerNumber: E164Number? = nil,
    payer: Payer
  ) {
    self.first = first
    self.second = second
    self.headers = headers
    self.callerNumber = callerNumber
    self.payer = payer
  }
}

/// What a call's media has to talk with, as the shell reserved it.
public struct PreparedMedia: Sendable {
  /// Addresses, ports, certificate and ICE credentials of each leg that ``MediaNeeds`` names. Key material is fresh.
  public var legs: [LegID: LocalMedia]
  /// The mixer's room that is the call's own, for those who are brought in to it.
  public var ownRoom: UInt64?

  public init(_ legs: [LegID: LocalMedia], ownRoom: UInt64? = nil) {
    self.legs = legs
    self.ownRoom = ownRoom
  }
}

/// Why no media could be prepared.
public enum MediaShortage: String, Error, Hashable, Sendable {
  /// No ports are left.
  case ports
  /// The media thread is overloaded or gone.
  case overload
}

/// What is told of a call's media; never one a packet.
public enum MediaNotice: Hashable, Sendable {
  /// Keys of a leg are agreed; plain RTP counts as soon as it is planned.
  case secured(LegID)
  /// The leg cannot be reached any more, or its handshake failed: the reason in a word.
  case failed(LegID, String)
  case firstMedia(LegID)
  case digit(LegID, Character, milliseconds: Int)
  case silence(LegID)
  case soundAgain(LegID)
  /// Nothing can come from an app any more, nor go to it; for so long nothing had come at all, muted or not.
  case wayLost(LegID, milliseconds: Int64)
  /// Media can go both ways again between the app and the gateway.
  case wayBack(LegID)
  /// Packets of the leg come from another address, which is proved, and go there.
  case moved(LegID)
  /// What goes to a leg was cut, for its link carries no more; or is whole again.
  case thinLink(LegID, Bool)
  /// Sound that came in from a leg, once a second. `sentLoss`: the part of what it was sent that it lost, 0 to 1, as its
  /// newest report says; `roundTrip` in milliseconds; `level`: dBov of what comes from a leg in a conference.
  case quality(LegID, CallQuality.Direction, sentLoss: Double? = nil, roundTrip: Double?, level: Int? = nil)
  /// What was to be said or played to a leg is over.
  case playEnded(LegID, finished: Bool)
  /// A leg in a conference speaks, or no longer.
  case speaking(LegID, Bool)
  /// A leg leads the talk of its conference.
  case leadsTalk(LegID)
  /// A recording is over, by our word or for the reason that its state tells.
  indirect case recordingEnded(RecordingID, Recording.State)
  /// All is released.
  case closed

  /// The same of another leg.
  func about(_ leg: LegID) -> MediaNotice {
    switch self {
    case .secured: .secured(leg)
    case .failed(_, let reason): .failed(leg, reason)
    case .firstMedia: .firstMedia(leg)
    case .digit(_, let digit, let milliseconds): .digit(leg, digit, milliseconds: milliseconds)
    case .silence: .silence(leg)
    case .soundAgain: .soundAgain(leg)
    case .wayLost(_, let milliseconds): .wayLost(leg, milliseconds: milliseconds)
    case .wayBack: .wayBack(leg)
    case .moved: .moved(leg)
    case .thinLink(_, let isThin): .thinLink(leg, isThin)
    case .quality(_, let direction, let sentLoss, let roundTrip, let level):
      .quality(leg, direction, sentLoss: sentLoss, roundTrip: roundTrip, level: level)
    case .playEnded(_, let finished): .playEnded(leg, finished: finished)
    case .speaking(_, let isSpeaking): .speaking(leg, isSpeaking)
    case .leadsTalk: .leadsTalk(leg)
    case .recordingEnded, .closed: self
    }
  }

  /// Which leg it is about; `nil` for the end of all.
  var leg: LegID? {
    switch self {
    case .secured(let leg), .failed(let leg, _), .firstMedia(let leg), .digit(let leg, _, _), .silence(let leg),
      .soundAgain(let leg), .wayLost(let leg, _), .wayBack(let leg), .moved(let leg), .thinLink(let leg, _),
      .quality(let leg, _, _, _, _), .playEnded(let leg, _), .speaking(let leg, _), .leadsTalk(let leg):
      leg
    case .recordingEnded, .closed: nil
    }
  }
}

/// The operations of a call on the ledger, each once, but extensions.
public enum LedgerStep: Hashable, Sendable {
  case authorise
  case answer
  case extend(Int64)
  /// Settle or void.
  case end
}
