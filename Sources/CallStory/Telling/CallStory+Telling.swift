import AppProtocol
import CallEngine
import CallModel

extension CallStory {
  /// Tells the story of a call from what is known of it.
  public static func tell(_ sources: CallStorySources) -> CallStory {
    let teller = StoryTeller(sources)
    let call = teller.call
    var story = CallStory(
      call: call?.id.text ?? sources.trace?.call ?? "", environment: call?.environment ?? "",
      account: call?.account.text ?? sources.money?.account ?? "", kind: call?.kind.rawValue ?? "",
      destination: call?.destination ?? "",
      startedAt: call?.startedAt.description ?? teller.tracedStart)
    story.application = call?.application
    story.user = call?.user.map { "\($0)" }
    story.callerNumber = sources.record?.callerNumber
    story.callerName = call?.from.flatMap { $0.name.isEmpty ? nil : $0.name }
    story.signature = call?.from.flatMap { $0.verified.words($0.why) }
    story.isLive = sources.record == nil && call.map { $0.state != .ended } ?? false
    story.state = call?.state.rawValue ?? ""
    story.cause = sources.record?.summary.cause.rawValue
    story.endedAt = sources.record?.summary.endedAt.description
    story.lanes = teller.lanes
    story.ladder = teller.ladder
    story.descriptions = teller.descriptions
    story.codecs = teller.codecs
    story.media = teller.media
    story.quality = sources.trace?.seconds ?? []
    story.timing = teller.timing
    story.attempts = teller.attempts
    story.failure = teller.failure
    story.money = sources.money
    story.gaps = teller.gaps
    story.findings = findings(sources)
    story.conclusion = teller.conclusion(story.findings)
    return story
  }

  /// What the rules find, the surest first; equals in the order of the rules.
  private static func findings(_ sources: CallStorySources) -> [Finding] {
    let evidence = CallEvidence(sources)
    let found = CallRule.all.compactMap { $0.find(evidence) }
    return found.enumerated().sorted {
      ($1.element.confidence, $0.offset) < ($0.element.confidence, $1.offset)
    }.map(\.element)
  }
}

extension StoryTeller {
  /// Where no record is known.
  fileprivate var tracedStart: String {
    trace.map { Instant(milliseconds: $0.startedAt / 1000).description } ?? ""
  }
}
