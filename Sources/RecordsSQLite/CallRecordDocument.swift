import AppProtocol
import CallEngine
import CallModel
import Foundation

/// A call's record as it is kept: JSON that later versions may add to. What a version does not know it leaves unread; what
/// is missing has the value that it had before it existed.
struct CallRecordDocument: Decodable {
  var application: String?
  var user: String?
  var from: Caller?
  var kind: String
  var state: String
  var startedAt: Int64
  var answeredAt: Int64?
  var trunk: String?
  var nearCodec: String?
  var farCodec: String?
  var heldMicro: MicroUnits?
  var currency: String
  var quality: Quality?
  var callFailure: Failure?
  var summary: Summary
  var callerNumber: String?
  var attempts: [Attempt]?
  var sipCallID: String?
  var story: [CallRecord.StoryLine]?
  var statistics: [String: Double]?
  var meanScoreNear: Double?
  var meanScoreFar: Double?
  var flags: [String]?

  /// Most attempts that are kept: the last ones.
  static let maximumAttempts = 64
  /// Most flags that are kept: the first ones.
  static let maximumFlags = 64

  struct Summary: Decodable {
    var startedAt: Int64
    var progressedAt: Int64?
    var rungAt: Int64?
    var answeredAt: Int64?
    var establishedAt: Int64?
    var endedAt: Int64
    var failure: Failure?
    var headers: [[String]]?
    var durationMilliseconds: Int64
    var billedSeconds: Int64
    var costMicro: MicroUnits?
    var currency: String
  }

  struct Caller: Decodable {
    var kind: String
    var value: String
    var name: String?
    var verified: String
    var why: String?
    var divertedBy: String?
  }

  struct Attempt: Decodable {
    var trunk: String
    var startedAt: Int64
    var endedAt: Int64
    var sipStatus: Int?
    var code: String?
  }

  struct Direction: Decodable {
    var score: Double?
    var jitter: Double?
    var loss: Double?
    var packets: UInt64
  }

  struct Quality: Decodable {
    var sent: Direction
    var received: Direction
    var roundTrip: Double?
  }

  struct Reason: Decodable {
    var protocolName: String
    var cause: Int?
    var text: String?
    var location: String?
  }

  struct Invalid: Decodable {
    var kind: String
    var rule: String
    var offset: Int?
    var problem: String
    var accepted: String
  }

  struct Failure: Decodable {
    var code: String
    var refusal: String?
    var sipStatus: Int?
    var phrase: String?
    var reasons: [Reason]?
    var warning: String?
    var retryAfterSeconds: Int?
    var trunk: String?
    var attempts: [Attempt]?
    var leg: String?
    var correlationID: String?
    var invalid: Invalid?
    var redress: Redress?
  }

  struct Redress: Decodable {
    var network: String?
    var url: String?
    var telephone: String?
  }
}

// MARK: From a record

extension CallRecordDocument {
  init(_ record: CallRecord) {
    let call = record.call
    application = call.application
    user = call.user?.text
    from = call.from.map {
      Caller(
        kind: $0.kind.rawValue, value: CallFailure.shortened($0.value), name: CallFailure.shortened($0.name),
        verified: $0.verified.rawValue, why: $0.why.map(CallFailure.shortened),
        divertedBy: $0.divertedBy.map(CallFailure.shortened))
    }
    kind = call.kind.rawValue
    state = call.state.rawValue
    startedAt = call.startedAt.milliseconds
    answeredAt = call.answeredAt?.milliseconds
    trunk = call.trunk
    nearCodec = call.nearCodec
    farCodec = call.farCodec
    heldMicro = call.heldMicro
    currency = call.currency.description
    quality = call.quality.flatMap(Quality.init)
    callFailure = call.failure.map(Failure.init)
    summary = Summary(record.summary)
    callerNumber = record.callerNumber
    attempts = record.attempts.suffix(CallRecordDocument.maximumAttempts).map(Attempt.init)
    sipCallID = record.sipCallID.map(CallFailure.shortened)
    story = record.story.prefix(CallRecord.maximumStoryLines).map {
      CallRecord.StoryLine(milliseconds: $0.milliseconds, text: CallFailure.shortened($0.text))
    }
    statistics = CallStatistics.bounded(record.clientStatistics)
    meanScoreNear = record.meanScoreNear.flatMap { $0.isFinite ? $0 : nil }
    meanScoreFar = record.meanScoreFar.flatMap { $0.isFinite ? $0 : nil }
    flags = record.flags.prefix(CallRecordDocument.maximumFlags).map { CallFailure.shortened($0.rawValue) }
  }
}

extension CallRecordDocument.Summary {
  fileprivate init(_ summary: CallSummary) {
    startedAt = summary.startedAt.milliseconds
    progressedAt = summary.progressedAt?.milliseconds
    rungAt = summary.rungAt?.milliseconds
    answeredAt = summary.answeredAt?.milliseconds
    establishedAt = summary.establishedAt?.milliseconds
    endedAt = summary.endedAt.milliseconds
    failure = summary.failure.map(CallRecordDocument.Failure.init)
    headers = summary.headers.map { [$0.name, $0.value] }
    durationMilliseconds = summary.durationMilliseconds
    billedSeconds = summary.billedSeconds
    costMicro = summary.costMicro
    currency = summary.currency
  }
}

extension CallRecordDocument.Attempt {
  fileprivate init(_ attempt: CallAttempt) {
    trunk = attempt.trunk
    startedAt = attempt.startedAt.milliseconds
    endedAt = attempt.endedAt.milliseconds
    sipStatus = attempt.sipStatus
    code = attempt.code?.rawValue
  }
}

extension CallRecordDocument.Direction {
  /// `nil` for what JSON cannot hold.
  fileprivate init?(_ direction: CallQuality.Direction) {
    let measures = [direction.meanOpinionScore, direction.jitter, direction.loss]
    guard measures.allSatisfy({ $0?.isFinite ?? true }) else { return nil }
    score = direction.meanOpinionScore
    jitter = direction.jitter
    loss = direction.loss
    packets = direction.packets
  }
}

extension CallRecordDocument.Quality {
  fileprivate init?(_ quality: CallQuality) {
    guard let sent = CallRecordDocument.Direction(quality.sent),
      let received = CallRecordDocument.Direction(quality.received)
    else { return nil }
    self.sent = sent
    self.received = received
    roundTrip = quality.roundTrip.flatMap { $0.isFinite ? $0 : nil }
  }
}

extension CallRecordDocument.Failure {
  fileprivate init(_ failure: CallFailure) {
    code = failure.code.rawValue
    refusal = failure.refusal?.rawValue
    sipStatus = failure.sipStatus
    phrase = failure.phrase
    reasons = failure.reasons.map {
      CallRecordDocument.Reason(
        protocolName: $0.protocolName, cause: $0.cause, text: $0.text, location: $0.location?.rawValue)
    }
    warning = failure.warning
    retryAfterSeconds = failure.retryAfterSeconds
    trunk = failure.trunk
    attempts = failure.attempts.map(CallRecordDocument.Attempt.init)
    leg = failure.leg?.rawValue
    correlationID = failure.correlationID
    invalid = failure.invalidValue.map {
      CallRecordDocument.Invalid(
        kind: $0.kind, rule: $0.rule, offset: $0.offset, problem: CallFailure.shortened($0.problem),
        accepted: CallFailure.shortened($0.accepted))
    }
    redress = failure.redress.map {
      CallRecordDocument.Redress(network: $0.network, url: $0.url, telephone: $0.telephone)
    }
  }
}
