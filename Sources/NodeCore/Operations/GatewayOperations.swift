public import CallEngine
public import CallModel
public import CallStory
public import LedgerCore

/// What the REST door and the command line may ask of a running gateway. Every answer is a value; nothing here blocks a
/// call.
public protocol GatewayOperations: Sendable {
  /// Live calls, oldest first; of one environment, or of all.
  func liveCalls(environment: String?) async -> [CallSnapshot]
  /// What was seen of a call that is up or was a moment ago.
  func trace(of call: CallID) async -> CallTrace?
  func liveCall(_ id: CallID) async -> CallSnapshot?
  /// A snapshot for each change of a live call from now on. The stream ends with the gateway; a reader that is too slow
  /// misses the oldest.
  func callChanges() async -> AsyncStream<CallSnapshot>
  /// - Parameter cause: that trunks are told, one of ``HangUpCause/range``.
  /// - Returns: `false` when there is no such live call.
  func hangUp(_ id: CallID, by actor: String, cause: Int) async -> Bool
  /// - Parameter actor: who asked for it, for the call's story.
  /// - Returns: why nothing was done; `nil` where it was.
  func order(_ order: CallOrder, _ id: CallID, by actor: String) async -> CallFailure?
  func originate(_ order: OriginateOrder) async -> Result<CallID, CallFailure>
  /// Conferences that somebody is in, by application and id.
  func conferences(environment: String) async -> [RoomReport]
  /// - Parameter actor: who asked for it, for the log and the calls' stories.
  func conference(_ room: RoomKey, _ order: RoomOrder, by actor: String) async -> RoomOutcome
  /// Has a sound or a text said in a call or a conference.
  /// - Parameter actor: who asked for it, for the log and the call's story.
  func say(_ words: SpokenWords, in place: SayingPlace, by actor: String) async -> SayingOutcome
  func trunks() async -> [TrunkReport]
  func status() async -> NodeStatus
  /// The ledger and the records of an environment; `nil` for a name that is not configured.
  func environment(_ name: String) -> EnvironmentStores?
  /// What a call of an account to a number would cost now, or why its price would be refused.
  /// - Throws: what the ledger or the rates threw.
  func quote(_ number: E164Number, account: AccountName, environment: String) async throws -> NumberQuote
  /// Short codes that are free for whoever shows `callerNumber`.
  func emergencyCodes(environment: String, callerNumber: E164Number?) async -> Set<String>
  /// Country calling codes that an account without a list of its own may call; `nil` for every one.
  func defaultCountries(of account: AccountName, environment: String) async -> [Int]?
  /// Whether a call for a user of an application would find somebody now; `unknown` for an application that is not
  /// configured.
  func presence(of user: UserID, application: String) async -> UserPresence
  /// Numbers that trunks bring calls to, ascending: those of the configuration, and those that operators made.
  func numbers(environment: String) async -> [NumberReport]
  /// Makes a row or replaces it; calls that are up go on. What is answered is kept, and holds for the next call.
  /// - Parameter actor: who asked for it, for the log.
  /// - Throws: ``InvalidValue``, or what the store threw.
  func setNumber(_ number: InboundNumber, environment: String, by actor: String) async throws -> RowChange
  /// As ``setNumber(_:environment:by:)``.
  func removeNumber(_ number: E164Number, environment: String, by actor: String) async throws -> RowChange
  /// Desk phones, ascending by name, with where each can be reached: those of the configuration, and those that operators
  /// made.
  func deskPhones(environment: String) async -> [DeskPhoneReport]
  /// Makes a desk phone or replaces it; calls that are up go on. With another password or user it has to register again.
  /// - Parameter actor: who asked for it, for the log.
  /// - Throws: ``InvalidValue``, with rule `phone.password` where a new one has none, or what the store threw.
  func setDeskPhone(_ order: DeskPhoneOrder, environment: String, by actor: String) async throws -> RowChange
  /// As ``setDeskPhone(_:environment:by:)``.
  func removeDeskPhone(_ name: String, environment: String, by actor: String) async throws -> RowChange
  var environmentNames: [String] { get }
}

/// What is to be said.
public enum SpokenWords: Hashable, Sendable {
  /// The file of this name, without its ending, in the environment's folder of sounds.
  case sound(String)
  /// Words for the speech engine.
  case text(String)
}

/// Where something is said.
public enum SayingPlace: Hashable, Sendable {
  /// To sides of a call of an environment, in place of the other side.
  case call(CallID, environment: String, Set<CallSide>)
  /// To both sides of a call of an environment, beneath their talk.
  case beneath(CallID, environment: String)
  /// To all of a conference, together with what they say.
  case conference(RoomKey)
}

/// What became of words that were to be said.
public enum SayingOutcome: Hashable, Sendable {
  /// They sound from now on, for so many milliseconds.
  case said(milliseconds: Int64)
  /// Nobody is in the conference.
  case unknown
  /// The call or the conference does not take them as it stands.
  case refused(CallFailure)
  case unusable(SoundProblem)
}

/// Why there is no sound to play.
public struct SoundProblem: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// What was asked for cannot be a sound.
    case invalid
    /// There is none of that name, or no engine.
    case missing
    /// It could not be read or spoken.
    case failed
    /// The engine speaks other texts.
    case busy
  }
  public let kind: Kind
  public let problem: String
  public let fix: String

  public init(_ kind: Kind, _ problem: String, fix: String) {
    self.kind = kind
    self.problem = problem
    self.fix = fix
  }
}

/// What became of an order to a conference.
public enum RoomOutcome: Hashable, Sendable {
  case done
  /// Nobody is in it.
  case unknown
  /// It cannot be done as the conference stands.
  case refused(CallFailure)
}

/// Whether a user of an application can be called now.
public enum UserPresence: String, Sendable, CaseIterable {
  /// No device of the user has ever registered.
  case unknown
  /// None is there now, or none that takes calls.
  case unreachable
  /// A device listens for calls, whether or not it is in one.
  case reachable
}

/// A call between two destinations, as asked for; texts are checked by the gateway. With a conference as one of them, the
/// other is called at once and takes part in it.
public struct OriginateOrder: Hashable, Sendable {
  /// `production`, `sandbox` or another name of the configuration; a name that is not there is refused.
  public var environment: String
  /// The account that pays for both legs.
  public var account: AccountName
  /// Called first; the text as it was written.
  public var first: (kind: Destination.Kind, target: String) { (firstKind, firstTarget) }
  /// Called once the first has answered; the text as it was written.
  public var second: (kind: Destination.Kind, target: String) { (secondKind, secondTarget) }
  private var firstKind: Destination.Kind
  private var firstTarget: String
  private var secondKind: Destination.Kind
  private var secondTarget: String
  /// Number to show, E.164 with +; `nil` names no caller.
  public var callerNumber: String?
  /// Values by names that begin with `x-`; sent in the alphabetical order of the names.
  public var headers: [String: String]
  /// Key of the application whose conference and users are meant; `nil` where neither is.
  public var application: String?
  /// Whether whoever takes part in the conference is not heard at first.
  public var beginsMuted = false
  /// The call that the other is brought in to, in place of a conference.
  public private(set) var host: CallID?

  /// Somebody is brought in to a call that is up.
  public init(
    environment: String, account: AccountName, guestOf host: CallID, _ other: (kind: Destination.Kind, target: String),
    callerNumber: String? = nil, headers: [String: String] = [:]
  ) {
    self.init(
      environment: environment, account: account, first: (.conference, host.text), second: other,
      callerNumber: callerNumber, headers: headers)
    self.host = host
  }

  /// Takes texts as they are: the gateway checks them when the call is asked for.
  public init(
    environment: String, account: AccountName, first: (kind: Destination.Kind, target: String),
    second: (kind: Destination.Kind, target: String), callerNumber: String? = nil, headers: [String: String] = [:]
  ) {
    self.environment = environment
    self.account = account
    firstKind = first.kind
    firstTarget = first.target
    secondKind = second.kind
    secondTarget = second.target
    self.callerNumber = callerNumber
    self.headers = headers
  }
}

/// The price of a call to a number, before any call.
public enum NumberQuote: Hashable, Sendable {
  /// One of the built-in test numbers, which cost nothing.
  case test(TestNumber)
  /// Answered by the built-in far end; what it costs is part of what it tries out.
  case sandbox(SandboxNumber)
  case rated(RateSnapshot)
  case refused(LedgerRefusal)
}

/// How a trunk does.
public struct TrunkReport: Hashable, Sendable {
  /// As the configuration names it.
  public var name: String
  /// `sip:carrier.example:5060;transport=tcp`; empty for a trunk that is no longer configured.
  public var uri: String
  /// Names of those that list it under `trunks`; trunks for emergency calls alone have none.
  public var environments: [String]
  /// `up`, `down`, `resting`, `draining`, with the reason in words.
  public var standing: String
  /// Why no call may go there now; empty when one may.
  public var explanation: String
  /// Calls that hold a place under ``maximumCalls``.
  public var liveCalls: Int
  /// Most calls at a time; `nil` for any number.
  public var maximumCalls: Int?
  /// What became of its calls lately.
  public var figures: TrunkFigures
  /// From the last OPTIONS to its answer; `nil` where none was sent or answered.
  public var optionsMilliseconds: Double?

  public init(
    name: String, uri: String, environments: [String], standing: String, explanation: String, liveCalls: Int,
    maximumCalls: Int?, figures: TrunkFigures = TrunkFigures(),
    optionsMilliseconds: Double? = nil
  ) {
    self.figures = figures
    self.optionsMilliseconds = optionsMilliseconds
    self.name = name
    self.uri = uri
    self.environments = environments
    self.standing = standing
    self.explanation = explanation
    self.liveCalls = liveCalls
    self.maximumCalls = maximumCalls
  }
}

/// How the node does.
public struct NodeStatus: Hashable, Sendable {
  /// Of the gateway's software.
  public var version: String
  /// The node's name in the configuration.
  public var node: String
  /// When the node began.
  public var startedAt: Instant
  /// Whether it can take calls: there are no ``problems``.
  public var isReady: Bool
  /// Takes no new calls; those that are up go on.
  public var isDraining: Bool
  /// Calls that are being reached or are up.
  public var liveCalls: Int
  /// Sessions of apps, those that wait for their connection included.
  public var sessions: Int
  /// Why it is not ready; empty when it is.
  public var problems: [String]

  /// A node is ready exactly when `problems` is empty; whoever makes the value sees to that.
  public init(
    version: String, node: String, startedAt: Instant, isReady: Bool, isDraining: Bool, liveCalls: Int, sessions: Int,
    problems: [String]
  ) {
    self.version = version
    self.node = node
    self.startedAt = startedAt
    self.isReady = isReady
    self.isDraining = isDraining
    self.liveCalls = liveCalls
    self.sessions = sessions
    self.problems = problems
  }
}

/// What an environment keeps.
public struct EnvironmentStores: Sendable {
  /// Accounts, holds and postings.
  public var ledger: any LedgerStore
  /// Records of calls that are over.
  public var records: any CallRecordStore
  /// Answers of REST requests that carried an idempotency key.
  public var idempotency: any IdempotencyStore
  /// `nil` where traces of calls are not kept.
  public var traces: (any CallTraceStore)?
  /// `nil` where there are no numbers but those of the configuration.
  public var numbers: (any InboundNumberStore)?
  /// `nil` where there are no desk phones but those of the configuration.
  public var deskPhones: (any DeskPhoneStore)?
  /// `nil` where nothing is recorded.
  public var recordings: (any RecordingLibrary)?
  /// Micro-units that may be topped up or corrected at once.
  public var largestAmountMicros: MicroUnits = MoneyMovement.standardLargest

  /// Without `traces` no traces of calls are kept; without `numbers` and `deskPhones` operators can make none.
  public init(
    ledger: any LedgerStore, records: any CallRecordStore, idempotency: any IdempotencyStore,
    traces: (any CallTraceStore)? = nil, numbers: (any InboundNumberStore)? = nil,
    deskPhones: (any DeskPhoneStore)? = nil
  ) {
    self.ledger = ledger
    self.records = records
    self.idempotency = idempotency
    self.traces = traces
    self.numbers = numbers
    self.deskPhones = deskPhones
  }
}
