public import CallModel

/// The story of one call, ready to be shown: as text by `landline explain`, as JSON for the page of the call.
public struct CallStory: Codable, Hashable, Sendable {
  /// The id that `landline explain` takes.
  public var call: String
  /// Empty where only a trace is known.
  public var environment: String
  /// Who pays; empty where neither the call nor its money is known.
  public var account: String
  /// `nil` where neither a record nor the live call names one.
  public var application: String?
  /// The app's user; `nil` where neither a record nor the live call names one.
  public var user: String?
  /// `phone`, `sip`, `user`, `conference`.
  public var kind: String
  /// A number with +, a SIP address or a name, by ``kind``; empty where only a trace is known.
  public var destination: String
  /// Only the record has it, so `nil` while the call is up.
  public var callerNumber: String?
  /// What a caller from a trunk calls itself; `nil` for other calls, and where it gives no name.
  public var callerName: String?
  /// What is known of the signature of a caller from a trunk, in words; `nil` where there is none (RFC 8224).
  public var signature: String?
  /// Whether it is up: it has no record yet and has not ended.
  public var isLive: Bool
  /// `ringing`, `established`, `ended`; empty where only a trace is known.
  public var state: String
  /// How it ended: a cause; `nil` while it is up.
  public var cause: String?
  /// RFC 3339, UTC, milliseconds.
  public var startedAt: String
  /// As ``startedAt``; `nil` without a record.
  public var endedAt: String?
  /// One or two sentences for anybody.
  public var conclusion: String
  /// What rules found, the most likely first.
  public var findings: [Finding]
  /// `nil` where nothing failed.
  public var failure: Failure?
  /// In order, each one beginning where the one before ends; empty where no time is known.
  public var timing: [Phase]
  /// From left to right; the gateway is always among them.
  public var lanes: [Lane]
  /// By time. Without a trace, the lines that the record keeps for people.
  public var ladder: [Row]
  /// Offers and answers of all legs, by time.
  public var descriptions: [Description]
  /// `nil` where neither a codec nor a session description is known.
  public var codecs: CodecPath?
  /// The near leg first; a leg without figures is left out. Without a trace, the few figures of the record.
  public var media: [Leg]
  /// The trace's seconds of both legs; empty without a trace.
  public var quality: [CallTrace.Second]
  /// In order of time; from the record, else as far as the trace tells.
  public var attempts: [Attempt]
  /// `nil` where nothing is known from the ledger.
  public var money: CallMoney?
  /// What is not known, and why: no trace kept, messages left out.
  public var gaps: [String]

  /// What a rule found.
  public struct Finding: Codable, Hashable, Sendable {
    /// `noCommonCodec`; stable.
    public var rule: String
    /// What the rule is about; that of the first finding ends ``CallStory/conclusion`` from a confidence of 60 on.
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

    /// Stored as given; ``CallRule`` keeps `confidence` within 0 to 100.
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

  /// Why the call failed, who said so, and whether to try again.
  public struct Failure: Codable, Hashable, Sendable {
    /// `gw.limit`: one of the codes that `/errors` explains.
    public var code: String
    /// One sentence for people, from the catalogue of codes.
    public var meaning: String
    /// Why routing or the ledger refused: `concurrencyCap`; `nil` where neither did.
    public var refusal: String?
    /// The status that came, or the one the gateway answers with; `nil` where SIP had no part.
    public var sipStatus: Int?
    /// Of the final response; `nil` where none is known.
    public var phrase: String?
    /// 0 to 127, of the first Q.850 reason; `nil` where there is none.
    public var q850: Int?
    /// `nil` without a cause, or for one that the catalogue does not have.
    public var q850Name: String?
    /// Text of the Warning header (RFC 3261 section 20.43).
    public var warning: String?
    /// Each Reason header (RFC 3326) in words: `Q.850 cause 17 (user busy)`.
    public var reasons: [String]
    /// In words: `the gateway`, `trunk acme at 192.0.2.1:5060`.
    public var saidBy: String
    /// Whether to try again, in words: `no`, `later`, `fix and retry`.
    public var retry: String
    /// From Retry-After; `nil` where none was given.
    public var retryAfterSeconds: Int?
    /// Path of the page that explains the code: `/errors/gw.limit`.
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
    /// `set-up` lasts until it rings, is answered or ends, whichever comes first.
    public var name: String
    /// Since the call's start.
    public var fromMilliseconds: Int64
    /// Since the call's start.
    public var toMilliseconds: Int64

    public init(name: String, fromMilliseconds: Int64, toMilliseconds: Int64) {
      self.name = name
      self.fromMilliseconds = fromMilliseconds
      self.toMilliseconds = toMilliseconds
    }
  }

  /// A party of the ladder, from left to right: the app, the gateway, a trunk.
  public struct Lane: Codable, Hashable, Sendable {
    /// What ``Row/from`` and ``Row/to`` name: `app`, `gateway`, `near1`, `far2`.
    public var id: String
    /// A trunk's name, the host that was called, `app` or `gateway`.
    public var title: String
    /// `192.0.2.1:5060 UDP` of a SIP peer, application and user of the app; may be empty.
    public var detail: String

    public init(id: String, title: String, detail: String) {
      self.id = id
      self.title = title
      self.detail = detail
    }
  }

  /// A line of the ladder.
  public struct Row: Codable, Hashable, Sendable {
    /// What a row tells of: a SIP message, the app's session, the sound, the money, or anything else.
    public enum Kind: String, Codable, Hashable, Sendable { case sip, app, media, ledger, note }
    /// Since the call began.
    public var microseconds: Int64
    /// Ids of lanes; the same for a note beside one lane.
    public var from: String
    /// The same as ``from`` where nothing was sent.
    public var to: String
    /// Short, without control characters: `180 Ringing`, `INVITE (SDP)`.
    public var label: String
    /// What stands behind it: the whole message, secrets blotted out; empty for none.
    public var detail: String
    /// Messages are `sip`, lines of the app's session `app`; a note has the kind of what it tells.
    public var kind: Kind
    /// The same SIP message went the same way before.
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
    /// The leg that it belongs to.
    public var side: LegID
    /// `offer` or `answer`.
    public var role: String
    /// `app`, `gateway`, or the trunk's name.
    public var from: String
    /// Since the call began.
    public var microseconds: Int64
    /// The SDP itself, secrets blotted out.
    public var text: String
    /// `opus/48000, PCMU, PCMA · DTLS-SRTP`.
    public var summary: String

    public init(side: LegID, role: String, from: String, microseconds: Int64, text: String, summary: String) {
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
    /// Codec of the near leg: `opus`, `PCMA`; `nil` where it is not known.
    public var near: String?
    /// Codec of the far leg; `nil` where it is not known.
    public var far: String?
    /// Also false where one of the two codecs is not known.
    public var isTranscoded: Bool
    /// Sentences for people: what was offered, what was answered, what came of it.
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
    public var side: LegID
    /// What the gateway received of this leg; counts are totals.
    public var received: CallTrace.Direction
    /// What the gateway sent to this leg; counts are totals, and all are 0 for a call without a trace.
    public var sent: CallTrace.Direction
    /// Mean of the seconds.
    public var meanScore: Double?
    /// Lowest score of what was received in a second; `nil` without a trace, or where no second has a score.
    public var worstScore: Double?

    public init(
      side: LegID, received: CallTrace.Direction, sent: CallTrace.Direction, meanScore: Double?,
      worstScore: Double?
    ) {
      self.side = side
      self.received = received
      self.sent = sent
      self.meanScore = meanScore
      self.worstScore = worstScore
    }
  }

  /// One INVITE towards the called side.
  public struct Attempt: Codable, Hashable, Sendable {
    /// Its name in the configuration; for a SIP address that was called directly, the host.
    public var trunk: String
    /// From its start to its final response, or to the last that is known of it.
    public var milliseconds: Int64
    /// Of the final response; `nil` where none came.
    public var sipStatus: Int?
    /// The failure's code; `nil` for the attempt that connected.
    public var code: String?
    /// Finds the attempt in the trunk's own traces; `nil` where no dialog of it was kept.
    public var sipCallID: String?

    public init(trunk: String, milliseconds: Int64, sipStatus: Int?, code: String?, sipCallID: String?) {
      self.trunk = trunk
      self.milliseconds = milliseconds
      self.sipStatus = sipStatus
      self.code = code
      self.sipCallID = sipCallID
    }
  }

  /// A call of which nothing more is told yet: lists are empty, and it is not live.
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
