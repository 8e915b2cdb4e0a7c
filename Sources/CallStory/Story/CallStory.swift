/// The story of one call, ready to be shown: as text by `landline explain`, as JSON for the page of the call.
public struct CallStory: Codable, Hashable, Sendable {
  public var call: String
  public var environment: String
  public var account: String
  public var application: String?
  public var user: String?
  /// `phone`, `sip`, `user`, `conference`.
  public var kind: String
  public var destination: String
  public var callerNumber: String?
  public var isLive: Bool
  public var state: String
  /// How it ended: a cause; `nil` while it is up.
  public var cause: String?
  /// RFC 3339, UTC, milliseconds.
  public var startedAt: String
  public var endedAt: String?
  /// One or two sentences for anybody.
  public var conclusion: String
  /// What rules found, the most likely first.
  public var findings: [Finding]
  public var failure: Failure?
  public var timing: [Phase]
  public var lanes: [Lane]
  public var ladder: [Row]
  public var descriptions: [Description]
  public var codecs: CodecPath?
  public var media: [Leg]
  public var quality: [CallTrace.Second]
  public var attempts: [Attempt]
  public var money: CallMoney?
  /// What is not known, and why: no trace kept, messages left out.
  public var gaps: [String]

  /// What a rule found.
  public struct Finding: Codable, Hashable, Sendable {
    /// `noCommonCodec`; stable.
    public var rule: String
    public var title: String
    /// What happened and why it is believed, in a sentence or two.
    public var explanation: String
    /// Lines of messages, figures and settings that show it.
    public var evidence: [String]
    /// Who has to act: `app`, `gateway`, `trunk`, `callee`, `account`, `nobody`.
    public var owner: String
    /// Commands or lines of configuration.
    public var fixes: [String]
    /// 0 to 100: how sure the rule is.
    public var confidence: Int

    public init(
      rule: String, title: String, explanation: String, evidence: [String], owner: String, fixes: [String],
      confidence: Int
    ) {
      self.rule = rule
      self.title = title
      self.explanation = explanation
      self.evidence = evidence
      self.owner = owner
      self.fixes = fixes
      self.confidence = confidence
    }
  }

  public struct Failure: Codable, Hashable, Sendable {
    public var code: String
    public var meaning: String
    public var refusal: String?
    public var sipStatus: Int?
    public var phrase: String?
    public var q850: Int?
    public var q850Name: String?
    public var warning: String?
    public var reasons: [String]
    public var saidBy: String
    public var retry: String
    public var retryAfterSeconds: Int?
    public var documentation: String

    public init(
      code: String, meaning: String, refusal: String?, sipStatus: Int?, phrase: String?, q850: Int?, q850Name: String?,
      warning: String?, reasons: [String], saidBy: String, retry: String, retryAfterSeconds: Int?, documentation: String
    ) {
      self.code = code
      self.meaning = meaning
      self.refusal = refusal
      self.sipStatus = sipStatus
      self.phrase = phrase
      self.q850 = q850
      self.q850Name = q850Name
      self.warning = warning
      self.reasons = reasons
      self.saidBy = saidBy
      self.retry = retry
      self.retryAfterSeconds = retryAfterSeconds
      self.documentation = documentation
    }
  }

  /// A stretch of the call's time: `set-up`, `ringing`, `talking`.
  public struct Phase: Codable, Hashable, Sendable {
    public var name: String
    public var fromMilliseconds: Int64
    public var toMilliseconds: Int64

    public init(name: String, fromMilliseconds: Int64, toMilliseconds: Int64) {
      self.name = name
      self.fromMilliseconds = fromMilliseconds
      self.toMilliseconds = toMilliseconds
    }
  }

  /// A party of the ladder, from left to right: the app, the gateway, a trunk.
  public struct Lane: Codable, Hashable, Sendable {
    public var id: String
    public var title: String
    public var detail: String

    public init(id: String, title: String, detail: String) {
      self.id = id
      self.title = title
      self.detail = detail
    }
  }

  /// A line of the ladder.
  public struct Row: Codable, Hashable, Sendable {
    public enum Kind: String, Codable, Hashable, Sendable { case sip, app, media, ledger, note }
    public var microseconds: Int64
    /// Ids of lanes; the same for a note beside one lane.
    public var from: String
    public var to: String
    public var label: String
    /// What stands behind it: the whole message, secrets blotted out; empty for none.
    public var detail: String
    public var kind: Kind
    public var isRepeated: Bool
    /// SIP status of 300 or more, or a failure.
    public var isFailure: Bool

    public init(
      microseconds: Int64, from: String, to: String, label: String, detail: String, kind: Kind, isRepeated: Bool,
      isFailure: Bool
    ) {
      self.microseconds = microseconds
      self.from = from
      self.to = to
      self.label = label
      self.detail = detail
      self.kind = kind
      self.isRepeated = isRepeated
      self.isFailure = isFailure
    }
  }

  /// A session description that was exchanged.
  public struct Description: Codable, Hashable, Sendable {
    public var side: CallTrace.Side
    /// `offer` or `answer`.
    public var role: String
    /// `app`, `gateway`, or the trunk's name.
    public var from: String
    public var microseconds: Int64
    public var text: String
    /// `opus/48000, PCMU, PCMA · DTLS-SRTP`.
    public var summary: String

    public init(side: CallTrace.Side, role: String, from: String, microseconds: Int64, text: String, summary: String) {
      self.side = side
      self.role = role
      self.from = from
      self.microseconds = microseconds
      self.text = text
      self.summary = summary
    }
  }

  /// Which way the sound went, and why.
  public struct CodecPath: Codable, Hashable, Sendable {
    public var near: String?
    public var far: String?
    public var isTranscoded: Bool
    public var reasons: [String]

    public init(near: String?, far: String?, isTranscoded: Bool, reasons: [String]) {
      self.near = near
      self.far = far
      self.isTranscoded = isTranscoded
      self.reasons = reasons
    }
  }

  /// The sound of one leg over the whole call.
  public struct Leg: Codable, Hashable, Sendable {
    public var side: CallTrace.Side
    public var received: CallTrace.Direction
    public var sent: CallTrace.Direction
    /// Mean of the seconds.
    public var meanScore: Double?
    public var worstScore: Double?

    public init(
      side: CallTrace.Side, received: CallTrace.Direction, sent: CallTrace.Direction, meanScore: Double?,
      worstScore: Double?
    ) {
      self.side = side
      self.received = received
      self.sent = sent
      self.meanScore = meanScore
      self.worstScore = worstScore
    }
  }

  public struct Attempt: Codable, Hashable, Sendable {
    public var trunk: String
    public var milliseconds: Int64
    public var sipStatus: Int?
    public var code: String?
    public var sipCallID: String?

    public init(trunk: String, milliseconds: Int64, sipStatus: Int?, code: String?, sipCallID: String?) {
      self.trunk = trunk
      self.milliseconds = milliseconds
      self.sipStatus = sipStatus
      self.code = code
      self.sipCallID = sipCallID
    }
  }

  public init(call: String, environment: String, account: String, kind: String, destination: String, startedAt: String)
  {
    self.call = call
    self.environment = environment
    self.account = account
    self.kind = kind
    self.destination = destination
    self.startedAt = startedAt
    isLive = false
    state = ""
    conclusion = ""
    findings = []
    timing = []
    lanes = []
    ladder = []
    descriptions = []
    media = []
    quality = []
    attempts = []
    gaps = []
  }
}
