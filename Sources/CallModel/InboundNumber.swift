/// A number of the gateway's own, and where calls to it lead.
public struct InboundNumber: Hashable, Sendable {
  /// Most targets of one number.
  public static let maximumTargets = 5
  /// Most callers, by number or by prefix, that one number turns away.
  public static let maximumBlockedCallers = 1_000
  /// Most numbers of one environment.
  public static let maximumNumbers = 10_000
  /// Most calls to one number at a time that ``channels`` may allow.
  public static let maximumChannels = 10_000

  /// Whom a call goes to, and after which ends to the next target.
  public struct Target: Hashable, Sendable {
    /// Shortest and longest ring, in seconds.
    public static let ringSeconds = 5...120
    /// Where nothing else is said, in seconds.
    public static let standardRingSeconds = 45

    /// Kinds of targets.
    public static let kinds: [Destination.Kind] = [.user, .phone, .sip, .conference]

    /// A user or a conference of ``InboundNumber/application``, a phone number or a SIP address.
    public var destination: Destination
    /// How long it rings, in seconds.
    public var ringSeconds: Int
    /// Outcomes after which the next target is tried; with any other the call ends.
    public var leadsOn: Set<Outcome>

    /// By default the next target is tried unless a person declined.
    public init(
      _ destination: Destination, ringSeconds: Int = standardRingSeconds,
      leadsOn: Set<Outcome> = [.busy, .noAnswer, .unreachable]
    ) {
      self.destination = destination
      self.ringSeconds = ringSeconds
      self.leadsOn = leadsOn
    }
  }

  /// How a target that did not answer ended.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    case busy
    /// It rang out.
    case noAnswer = "no-answer"
    /// Nobody is there, or the trunk could not reach it.
    case unreachable
    case declined
  }

  /// Whom the number turns away.
  public struct Callers: Hashable, Sendable {
    /// Callers that withhold their number get 433 (RFC 5079).
    public var refusesAnonymous: Bool
    /// Numbers, or beginnings of numbers, in international form: `+4670` blocks all that begin so.
    public var blocked: [String]

    /// By default nobody is turned away.
    public init(refusesAnonymous: Bool = false, blocked: [String] = []) {
      self.refusesAnonymous = refusesAnonymous
      self.blocked = blocked
    }

    /// The entry that turns a caller away; `nil` where none does.
    public func entry(against caller: E164Number) -> String? {
      let text = caller.description
      return blocked.first { text.hasPrefix($0) }
    }
  }

  /// What a caller hears whose call nobody took: carriers fail over by it.
  public static let noAnswerStatuses: Set<Int> = [408, 480, 486, 503]

  /// As carriers call it.
  public let number: E164Number
  /// Key of the application whose users and conferences may be targets; `nil` where no target is either.
  public var application: String?
  /// Pays for the calls.
  public var account: AccountName
  /// Whether calls are taken; otherwise the number counts as none of ours.
  public var isActive: Bool
  /// Tried one after the other; at most ``maximumTargets``.
  public var targets: [Target]
  /// One of ``noAnswerStatuses``.
  public var noAnswerStatus: Int
  /// Most calls to it at a time; `nil` for no limit of its own.
  public var channels: Int?
  /// Whether calls are answered, and billed, before anybody takes them: the caller hears our ringing tone.
  public var answersFirst: Bool
  /// Whom it turns away.
  public var callers: Callers
  /// Whether its calls are recorded; `nil`: they are not. In a conference nobody is by this alone.
  public var recording: RecordingOptions?

  /// By default it is active, without a limit of its own, and a call that nobody takes ends with 480.
  public init(
    _ number: E164Number, application: String? = nil, account: AccountName, isActive: Bool = true,
    targets: [Target] = [], noAnswerStatus: Int = 480, channels: Int? = nil, answersFirst: Bool = false,
    callers: Callers = Callers(), recording: RecordingOptions? = nil
  ) {
    self.number = number
    self.application = application
    self.account = account
    self.isActive = isActive
    self.targets = targets
    self.noAnswerStatus = noAnswerStatus
    self.channels = channels
    self.answersFirst = answersFirst
    self.callers = callers
    self.recording = recording
  }
}
