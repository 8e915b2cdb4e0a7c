import AppProtocol
import CallEngine
import CallModel

/// What stands in columns beside the document.
struct CallRecordColumns {
  var id: String
  var environment: String
  var account: String
  var destination: String
  var cause: String
}

// MARK: To a record

extension CallRecordDocument {
  /// - Throws: ``InvalidValue`` for a currency or a user that no version could have written.
  func record(_ columns: CallRecordColumns) throws -> CallRecord {
    var call = CallSnapshot(
      id: CallID(unchecked: columns.id), environment: columns.environment,
      account: AccountName(unchecked: columns.account), application: application,
      user: try user.map { try UserID($0, rules: UserID.Rules(maximumLength: UserID.Rules.largestMaximumLength)) },
      kind: Destination.Kind(rawValue: kind) ?? .phone, destination: columns.destination,
      state: CallState(rawValue: state) ?? .ended, startedAt: Instant(milliseconds: startedAt),
      currency: try Currency(currency))
    call.answeredAt = answeredAt.map { Instant(milliseconds: $0) }
    call.from = from.map { from in
      CallerIdentity(
        kind: .init(rawValue: from.kind), value: from.value, name: from.name ?? "",
        verified: .init(rawValue: from.verified), why: from.why, divertedBy: from.divertedBy)
    }
    call.trunk = trunk
    call.nearCodec = nearCodec
    call.farCodec = farCodec
    call.heldMicro = heldMicro ?? 0
    call.quality = quality.map {
      CallQuality(sent: $0.sent.direction, received: $0.received.direction, roundTrip: $0.roundTrip)
    }
    call.failure = callFailure.flatMap(\.failure)
    // A cause of a later version is an error of a kind that this one cannot name.
    var record = CallRecord(call: call, summary: summary.summary(CallEndCause(rawValue: columns.cause) ?? .error))
    record.callerNumber = callerNumber
    record.attempts = (attempts ?? []).map(\.attempt)
    record.sipCallID = sipCallID
    record.story = story ?? []
    record.clientStatistics = statistics ?? [:]
    record.meanScoreNear = meanScoreNear
    record.meanScoreFar = meanScoreFar
    record.flags = (flags ?? []).map(CallRecord.Flag.init)
    return record
  }
}

extension CallRecordDocument.Summary {
  fileprivate func summary(_ cause: CallEndCause) -> CallSummary {
    func instant(_ milliseconds: Int64?) -> Instant? { milliseconds.map { Instant(milliseconds: $0) } }
    var fields = CustomHeaders()
    for pair in headers ?? [] where pair.count == 2 { try? fields.append(name: pair[0], value: pair[1]) }
    return CallSummary(
      startedAt: Instant(milliseconds: startedAt), progressedAt: instant(progressedAt), rungAt: instant(rungAt),
      answeredAt: instant(answeredAt), establishedAt: instant(establishedAt), endedAt: Instant(milliseconds: endedAt),
      cause: cause, failure: failure.flatMap(\.failure), headers: fields, durationMilliseconds: durationMilliseconds,
      billedSeconds: billedSeconds, costMicro: costMicro, currency: currency)
  }
}

extension CallRecordDocument.Attempt {
  fileprivate var attempt: CallAttempt {
    CallAttempt(
      trunk: trunk, startedAt: Instant(milliseconds: startedAt), endedAt: Instant(milliseconds: endedAt),
      sipStatus: sipStatus, code: code.flatMap(CallFailureCode.init))
  }
}

extension CallRecordDocument.Direction {
  fileprivate var direction: CallQuality.Direction {
    CallQuality.Direction(meanOpinionScore: score, jitter: jitter, loss: loss, packets: packets)
  }
}

extension CallRecordDocument.Failure {
  /// `nil` for a class that this version does not know.
  fileprivate var failure: CallFailure? {
    guard let code = CallFailureCode(rawValue: code) else { return nil }
    return CallFailure(
      code, refusal: refusal.flatMap(CallRefusal.init), sipStatus: sipStatus, phrase: phrase,
      reasons: (reasons ?? []).map {
        CallFailure.Reason(
          protocolName: $0.protocolName, cause: $0.cause, text: $0.text,
          location: $0.location.flatMap(CallFailure.Reason.Location.init))
      }, warning: warning, retryAfterSeconds: retryAfterSeconds, trunk: trunk,
      attempts: (attempts ?? []).map(\.attempt), leg: leg.flatMap(CallLeg.init), correlationID: correlationID,
      invalidValue: invalid.map {
        InvalidValue(
          kind: $0.kind, rule: $0.rule, offset: $0.offset, problem: $0.problem, accepted: $0.accepted)
      },
      redress: redress.flatMap {
        CallFailure.Redress(network: $0.network, url: $0.url, telephone: $0.telephone)
      })
  }
}
