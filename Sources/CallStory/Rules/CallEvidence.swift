import AppProtocol
import CallEngine
public import CallModel
import SDPCore
import SIPCore

/// What rules look at: a call's sources, read once.
public struct CallEvidence: Sendable {
  /// As they were given.
  public let sources: CallStorySources
  /// Why the call failed, or was refused.
  let failure: CallFailure?
  /// Dialogs in the order in which they began.
  let attempts: [EvidenceAttempt]
  /// The last one with the side that failed, else the last one.
  let last: EvidenceAttempt?
  /// The last figures of each side.
  let near: CallTrace.Second?
  let far: CallTrace.Second?
  /// Of each leg, what came in and what was sent.
  let losses: [EvidenceLoss]
  let thinLinks: [EvidenceThinLink]
  /// The longest of each leg.
  let interruptions: [EvidenceInterruption]
  /// Everything that responses and reasons say in words, in lower case.
  let words: String
  let warningCodes: [Int]
  /// The lines of the call's own story that say something to decide by.
  let story: [(line: CallRecord.StoryLine, event: CallRecord.StoryLine.Event)]
  /// What went wrong on the way to a peer.
  let pathProblems: [(note: CallTrace.Note, problem: CallTrace.PathProblem)]

  /// The failure is the record's, else that of the live call.
  public init(_ sources: CallStorySources) {
    self.init(sources, failure: sources.record?.summary.failure ?? sources.live?.failure)
  }

  /// A request for a call that was refused: there is no call, and nothing is known but why.
  public init(refusal: CallFailure) { self.init(CallStorySources(), failure: refusal) }

  private init(_ sources: CallStorySources, failure: CallFailure?) {
    self.sources = sources
    self.failure = failure
    let trace = sources.trace
    let messages = (trace?.messages ?? []).prefix(CallTrace.maximumMessages).map(EvidenceMessage.init)
    attempts = (trace?.dialogs ?? []).prefix(CallTrace.maximumMessages).enumerated().map { place, dialog in
      EvidenceAttempt(
        dialog, messages.filter { $0.dialog == place }, facts: dialog.trunk.flatMap { sources.trunks[$0] })
    }
    last = attempts.last
    near = trace?.seconds.last { $0.side == .near }
    far = trace?.seconds.last { $0.side == .far }
    let legs = (trace?.soundingLegs ?? []).map { side in
      (side: side, seconds: (trace?.seconds ?? []).filter { $0.side == side })
    }
    losses = legs.flatMap { leg in
      [false, true].map { EvidenceLoss(leg.seconds, side: leg.side, isSent: $0) }
    }
    thinLinks = legs.compactMap { EvidenceThinLink($0.seconds, side: $0.side) }
    interruptions = legs.compactMap { leg in
      EvidenceInterruption.longest(leg.seconds, side: leg.side) { at in
        let plan = trace?.plans.last { $0.side == leg.side && $0.at <= at }
        return plan.flatMap { MediaDirection(rawValue: $0.direction) }?.receives ?? true
      }
    }
    let final = attempts.last?.refusal
    let warnings = WarningHeader(fields: final?.values("warning") ?? [])
    let texts =
      [final?.phrase, failure?.phrase, failure?.warning] + (final?.values("reason") ?? [])
      + (final?.values("warning") ?? []) + (failure?.reasons.map(\.text) ?? [])
    words = texts.compactMap { $0 }.joined(separator: "\n").lowercased()
    var codes = warnings.values.map(\.code)
    if codes.isEmpty, let code = failure?.warning.flatMap({ Int($0.prefix(3)) }) { codes = [code] }
    warningCodes = codes
    story = (sources.record?.story ?? []).compactMap { line in line.event.map { (line, $0) } }
    pathProblems = (trace?.notes ?? []).compactMap { note in note.pathProblem.map { (note, $0) } }
  }

  // MARK: What it was

  /// Whether there was a call, and not only a request for one.
  var hasCall: Bool { sources.record != nil || sources.live != nil }
  var isLive: Bool { sources.record == nil && sources.live != nil }
  var call: CallEvidenceCall? { CallEvidenceCall(sources) }
  var cause: CallEndCause? { sources.record?.summary.cause }
  var isAnswered: Bool { sources.record?.summary.answeredAt != nil || sources.live?.answeredAt != nil }
  var isEstablished: Bool { sources.record?.summary.establishedAt != nil }
  var hasRung: Bool { sources.record?.summary.rungAt != nil || last?.hasRung == true }
  /// Whether so much of the sound was missing, on any way, that nobody would call it fine.
  var isBadlyHeard: Bool { losses.contains(where: \.isHeard) || !thinLinks.isEmpty || !interruptions.isEmpty }

  /// Whether both sides speak one codec, so that packets go on untouched.
  var passesThrough: Bool {
    let plans = sources.trace?.plans ?? []
    guard let near = plans.last(where: { $0.side == .near }), let far = plans.last(where: { $0.side == .far })
    else { return false }
    return near.codec.lowercased() == far.codec.lowercased()
  }

  var durationMilliseconds: Int64 { sources.record?.summary.durationMilliseconds ?? 0 }
  var flags: [CallRecord.Flag] { sources.record?.flags ?? [] }

  /// The status that a peer ended the call with; `nil` where the gateway itself found the failure.
  var status: Int? {
    guard let failure, failure.domain == .sip, failure.leg != .app else { return nil }
    return failure.sipStatus
  }

  /// The Q.850 cause that came, not one that the gateway made up.
  var q850: Int? { failure?.cause }

  /// What ended the call, quoted.
  var said: [String] {
    if let refusal = last?.refusal, refusal.status == status || status == nil {
      return refusal.quoted(["Reason", "Warning", "Retry-After", "Contact", "Require", "Unsupported", "Min-SE"])
    }
    guard let failure else { return [] }
    var lines: [String] = []
    if let status { lines.append("\(status) \(failure.phrase ?? "")") }
    for reason in failure.reasons {
      lines.append(
        "Reason: \(reason.protocolName)" + (reason.cause.map { ";cause=\($0)" } ?? "")
          + (reason.text.map { ";text=\"\($0)\"" } ?? ""))
    }
    if let warning = failure.warning { lines.append("Warning: \(warning)") }
    if let seconds = failure.retryAfterSeconds { lines.append("Retry-After: \(seconds)") }
    return lines
  }

  /// The trunk that had the last word, and what the configuration says of it.
  var trunk: String? { last?.trunk ?? failure?.trunk ?? sources.record?.attempts.last?.trunk }
  var facts: CallStorySources.TrunkFacts? { trunk.flatMap { sources.trunks[$0] } }
  var trunkName: String { trunk ?? "the far end" }

  /// The response that the gate refused where the call failed for it.
  var unreadable: UnreadableResponse? {
    guard failure?.code == .protocolBroken else { return nil }
    return failure?.warning.flatMap(UnreadableResponse.init(warning:))
  }

  func says(_ texts: String...) -> Bool { texts.contains { words.contains($0) } }

  // MARK: What the gateway noted

  /// The lines of the call's own story that say so.
  func lines(where isMeant: (CallRecord.StoryLine.Event) -> Bool) -> [CallRecord.StoryLine] {
    story.filter { isMeant($0.event) }.map(\.line)
  }

  /// The words of the first of them, as evidence.
  func told(where isMeant: (CallRecord.StoryLine.Event) -> Bool) -> [String] {
    lines(where: isMeant).first.map { [$0.text] } ?? []
  }

  func told(_ event: CallRecord.StoryLine.Event) -> [String] { told { $0 == event } }

  func happened(_ event: CallRecord.StoryLine.Event) -> Bool { story.contains { $0.event == event } }

  /// Whether the called side said goodbye.
  var isHungUpByFar: Bool {
    attempts.contains { $0.side != .near && $0.received("BYE") != nil }
      || story.contains { if case .hungUp = $0.event { true } else { false } }
  }

  func notes(_ kind: CallTrace.Note.Kind, _ side: LegID? = nil) -> [CallTrace.Note] {
    (sources.trace?.notes ?? []).filter { $0.kind == kind && (side == nil || $0.side == side) }
  }

  /// Milliseconds between two times of a trace; a stored trace may hold any.
  static func milliseconds(_ from: Int64, _ to: Int64) -> Int64 {
    let (difference, overflow) = to.subtractingReportingOverflow(from)
    return overflow ? 0 : difference / 1_000
  }

  /// Milliseconds.
  static func difference(_ from: Instant, _ to: Instant) -> Int64 {
    let (difference, overflow) = to.milliseconds.subtractingReportingOverflow(from.milliseconds)
    return overflow ? 0 : difference
  }

  /// A setting of a trunk, as it stands in the configuration.
  func setting(_ line: String, of trunk: String? = nil) -> String {
    "landline.yaml: trunks.\(trunk ?? trunkName).\(line)"
  }
}

/// What a record and a live call both know.
struct CallEvidenceCall: Sendable {
  let id: String
  let account: String
  let kind: Destination.Kind
  let destination: String

  init?(_ sources: CallStorySources) {
    guard let call = sources.record?.call ?? sources.live else { return nil }
    id = call.id.text
    account = call.account.text
    kind = call.kind
    destination = call.destination
  }
}
