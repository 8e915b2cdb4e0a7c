import CallModel
import LandlineClient

/// How a call went, judged by what was expected of it.
struct CallOutcome {
  let details: CallDetails
  let expectedSIP: Int?
  let wasInterrupted: Bool

  var failure: CallFailure? { details.failure }

  var isExpected: Bool { expectedSIP.map { $0 == failure?.sipStatus } ?? (failure == nil && details.answeredAt != nil) }

  var status: ExitStatus {
    if wasInterrupted { return .interrupted }
    if expectedSIP != nil { return isExpected ? .ok : .refused }
    guard let failure else { return details.answeredAt == nil ? .callFailed : .ok }
    return CallOutcome.status(failure)
  }

  /// What a called user's side says, or the way to it, as a telephone network says it with SIP.
  private static let ofUsers: Set<CallFailureCode> = [
    .userBusy, .userDeclined, .userNoAnswer, .userUnreachable, .userUnknown, .tooLate, .crossed,
    .numberUnknown, .numberUnserved, .roomFull, .roomLocked, .kicked, .callerRefused, .forwardLoop, .transfer,
    .recording, .saying,
  ]

  static func status(_ failure: CallFailure) -> ExitStatus {
    switch failure.domain {
    case .gateway where ofUsers.contains(failure.code): .callFailed
    case .network where failure.code == .networkMedia: .callFailed
    case .network: failure.code == .networkTimeout ? .timedOut : .notReachable
    case .sip: failure.endCause == .timeout ? .timedOut : .callFailed
    case .capability: .callFailed
    case .gateway: failure.code == .mediaLost ? .callFailed : .refused
    }
  }

  /// What is printed after the ladder.
  func lines(_ quality: String?) -> [String] {
    var lines: [String] = []
    if let quality { lines.append("sound    \(quality)") }
    if let cost = details.cost {
      lines.append("cost     \(cost.readable) for \(details.billedSeconds) s")
    } else if details.answeredAt != nil {
      lines.append("cost     not known yet")
    }
    if let failure { lines += CallOutcome.lines(failure) }
    if let expectedSIP {
      let found = failure?.sipStatus.map(String.init) ?? "none"
      lines.append("expected SIP \(expectedSIP), found \(found): \(isExpected ? "as expected" : "not as expected")")
    }
    return lines
  }

  /// The catalogue's words, the evidence, and what to do next.
  static func lines(_ failure: CallFailure) -> [String] {
    let row = CallFailureCatalogue.row(for: failure.code)
    var lines = ["failed   \(failure.code.rawValue): \(row.meaning)"]
    var evidence: [String] = []
    if let status = failure.sipStatus {
      evidence.append("SIP \(status)" + (failure.phrase.map { " \($0)" } ?? ""))
    } else if let phrase = failure.phrase {
      evidence.append(phrase)
    }
    if let cause = failure.cause { evidence.append("Q.850 cause \(cause)") }
    if let warning = failure.warning { evidence.append("Warning: \(warning)") }
    if let redress = failure.redress {
      evidence.append("blocked by \(redress.network ?? "a network")")
      evidence += [redress.url, redress.telephone].compactMap { $0 }.map { "redress \($0)" }
    }
    if let refusal = failure.refusal { evidence.append(refusal.rawValue) }
    if let value = failure.invalidValue { evidence.append("\(value)") }
    if let trunk = failure.trunk { evidence.append("trunk \(trunk)") }
    if let seconds = failure.retryAfterSeconds { evidence.append("retry after \(seconds) s") }
    if let correlation = failure.correlationID { evidence.append("correlation \(correlation)") }
    if !evidence.isEmpty { lines.append("seen     " + evidence.joined(separator: ", ")) }
    lines.append("likely   " + row.likelyCauses.joined(separator: "; "))
    lines.append("fix      " + row.remedies.joined(separator: "; ") + "; again: \(failure.retry.text)")
    let status = ofUsers.contains(failure.code) ? nil : failure.sipStatus
    lines.append("next     landline explain \(status.map(String.init) ?? failure.code.rawValue)")
    return lines
  }

  static func json(_ failure: CallFailure) -> JSONValue {
    let row = CallFailureCatalogue.row(for: failure.code)
    return .members([
      ("code", .string(failure.code.rawValue)), ("domain", .string(failure.domain.rawValue)),
      ("message", .string(row.meaning)), ("sip_status", failure.sipStatus.map { .integer(Int64($0)) } ?? .null),
      ("phrase", .string(optional: failure.phrase)),
      ("cause", failure.cause.map { .integer(Int64($0)) } ?? .null),
      ("warning", .string(optional: failure.warning)),
      (
        "redress",
        failure.redress.map {
          .members([
            ("network", .string(optional: $0.network)), ("url", .string(optional: $0.url)),
            ("telephone", .string(optional: $0.telephone)),
          ])
        } ?? .null
      ),
      ("refusal", .string(optional: failure.refusal?.rawValue)),
      ("trunk", .string(optional: failure.trunk)),
      ("retry_after", failure.retryAfterSeconds.map { .integer(Int64($0)) } ?? .null),
      ("retry", .string(failure.retry.rawValue)), ("correlation", .string(optional: failure.correlationID)),
      ("fix", .array(row.remedies.map { .string($0) })),
    ])
  }
}
