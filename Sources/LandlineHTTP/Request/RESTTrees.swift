import AppProtocol
import CallEngine
import CallModel

/// The gateway's values as JSON. Money is a decimal text and whole micro-units, times are RFC 3339 in UTC.
enum RESTTrees {
  /// A decimal text and whole micro-units.
  static func money(_ name: String, _ micros: MicroUnits?) -> [(String, JSONValue)] {
    [
      (name, .string(optional: micros.map { $0.decimal })),
      (name + "_micro", .integer(optional: micros?.count)),
    ]
  }

  static func call(_ call: CallSnapshot) -> JSONValue { .members(members(call)) }

  private static func members(_ call: CallSnapshot) -> [(String, JSONValue)] {
    [
      ("id", .string(call.id.text)), ("environment", .string(call.environment)),
      ("account", .string(call.account.text)),
      ("application", .string(optional: call.application)), ("user", .string(optional: call.user?.text)),
      ("from", call.from.map(caller) ?? .null),
      ("kind", .string(call.kind.rawValue)), ("destination", .string(call.destination)),
      ("state", .string(call.state.rawValue)), ("started_at", instant(call.startedAt)),
      ("answered_at", instant(call.answeredAt)), ("trunk", .string(optional: call.trunk)),
      ("muted", sides(call.muted)), ("on_hold", sides(call.onHold)),
      ("near_codec", .string(optional: call.nearCodec)), ("far_codec", .string(optional: call.farCodec)),
    ] + money("held", call.heldMicro) + [
      ("currency", .string("\(call.currency)")), ("quality", call.quality.map(quality) ?? .null),
      ("failure", call.failure.map(failure) ?? .null), ("recording", running(call.recording)),
      ("guests", .array(call.guests.map { .string($0.text) })), ("guest_of", .string(optional: call.guestOf?.text)),
    ]
  }

  /// A recording that runs; null for none.
  static func running(_ recording: RunningRecording?) -> JSONValue {
    guard let recording else { return .null }
    return .members([
      ("id", .string(recording.id.text)), ("format", .string(recording.options.format.rawValue)),
      ("started_at", instant(recording.startedAt)), ("paused", .boolean(recording.isPaused)),
      ("announced", .boolean(recording.options.isAnnounced)), ("tone", .boolean(recording.options.hasTone)),
      ("tracks", .boolean(recording.options.hasTracks)), ("by_app", .boolean(recording.isByApp)),
    ])
  }

  private static func sides(_ sides: Set<CallSide>) -> JSONValue {
    .array(CallSide.allCases.filter(sides.contains).map { .string($0.rawValue) })
  }

  static func caller(_ caller: CallerIdentity) -> JSONValue {
    .members([
      ("kind", .string(caller.kind.rawValue)), ("value", .string(caller.value)), ("name", .string(caller.name)),
      ("verified", .string(caller.verified.rawValue)), ("why", .string(optional: caller.why)),
      ("diverted_by", .string(optional: caller.divertedBy)),
    ])
  }

  static func record(_ record: CallRecord) -> JSONValue {
    let summary = record.summary
    let extra: [(String, JSONValue)] = [
      ("progressed_at", instant(summary.progressedAt)), ("rung_at", instant(summary.rungAt)),
      ("established_at", instant(summary.establishedAt)), ("ended_at", instant(summary.endedAt)),
      ("cause", .string(summary.cause.rawValue)), ("duration_ms", .integer(summary.durationMilliseconds)),
      ("billed_seconds", .integer(summary.billedSeconds)),
    ]
    let rest: [(String, JSONValue)] = [
      ("caller_number", .string(optional: record.callerNumber)), ("attempts", .array(record.attempts.map(attempt))),
      ("sip_call_id", .string(optional: record.sipCallID)),
      ("mean_score_near", record.meanScoreNear.map { .number($0) } ?? .null),
      ("mean_score_far", record.meanScoreFar.map { .number($0) } ?? .null),
      (
        "client_statistics",
        .members(record.clientStatistics.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })
      ),
      (
        "story",
        .array(
          record.story.map { .members([("milliseconds", .integer($0.milliseconds)), ("text", .string($0.text))]) })
      ),
      ("flags", .array(record.flags.map { .string($0.rawValue) })),
    ]
    var all = members(record.call)
    if let failure = summary.failure, let index = all.firstIndex(where: { $0.0 == "failure" }) {
      all[index].1 = RESTTrees.failure(failure)
    }
    return .members(all + extra + money("cost", summary.costMicro) + rest)
  }

  static func instant(_ instant: Instant?) -> JSONValue { .string(optional: instant.map { "\($0)" }) }

  static func quality(_ quality: CallQuality) -> JSONValue {
    .members([
      ("sent", direction(quality.sent)), ("received", direction(quality.received)),
      ("round_trip_ms", quality.roundTrip.map { .number($0) } ?? .null),
    ])
  }

  static func direction(_ direction: CallQuality.Direction) -> JSONValue {
    .members([
      ("mos", direction.meanOpinionScore.map { .number($0) } ?? .null),
      ("jitter_ms", direction.jitter.map { .number($0) } ?? .null),
      ("loss", direction.loss.map { .number($0) } ?? .null),
      ("packets", .integer(Int64(clamping: direction.packets))),
    ])
  }

  private static func attempt(_ attempt: CallAttempt) -> JSONValue {
    .members([
      ("trunk", .string(attempt.trunk)), ("started_at", instant(attempt.startedAt)),
      ("ended_at", instant(attempt.endedAt)), ("sip_status", .integer(optional: attempt.sipStatus.map { Int64($0) })),
      ("code", .string(optional: attempt.code?.rawValue)),
    ])
  }

  static func failure(_ failure: CallFailure) -> JSONValue {
    .members([
      ("code", .string(failure.code.rawValue)), ("domain", .string(failure.domain.rawValue)),
      ("message", .string(failure.code.details.meaning)), ("refusal", .string(optional: failure.refusal?.rawValue)),
      ("sip_status", .integer(optional: failure.sipStatus.map { Int64($0) })),
      ("phrase", .string(optional: failure.phrase)),
      ("cause", .integer(optional: failure.causeOrMapped.map { Int64($0) })),
      ("retry", .string(failure.retry.rawValue)),
      ("retry_after", .integer(optional: failure.retryAfterSeconds.map { Int64($0) })),
      ("trunk", .string(optional: failure.trunk)), ("warning", .string(optional: failure.warning)),
      (
        "redress",
        failure.redress.map {
          .members([
            ("network", .string(optional: $0.network)), ("url", .string(optional: $0.url)),
            ("telephone", .string(optional: $0.telephone)),
          ])
        } ?? .null
      ),
    ])
  }
}
