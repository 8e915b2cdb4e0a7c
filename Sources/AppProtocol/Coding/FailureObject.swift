import CallModel

// A call failure as one JSON object, the same in every message: all that is known of it.

extension JSONWriter {
  mutating func failure(_ name: String, _ failure: CallFailure) {
    object(name) { $0.members(of: failure) }
  }

  mutating func members(of failure: CallFailure) {
    member("domain", failure.domain.rawValue)
    member("code", failure.code.rawValue)
    member("message", failure.code.details.meaning)
    member("retry", failure.retry.rawValue)
    optional("refusal", failure.refusal?.rawValue)
    optional("sip_status", failure.sipStatus)
    optional("phrase", failure.phrase)
    optional("cause", failure.causeOrMapped)
    if !failure.reasons.isEmpty {
      array("reasons", failure.reasons) { json, reason in
        json.object {
          $0.member("protocol", reason.protocolName)
          $0.optional("cause", reason.cause)
          $0.optional("text", reason.text)
          $0.optional("location", reason.location?.rawValue)
        }
      }
    }
    optional("warning", failure.warning)
    optional("retry_after", failure.retryAfterSeconds)
    if let redress = failure.redress {
      object("redress") {
        $0.optional("network", redress.network)
        $0.optional("url", redress.url)
        $0.optional("telephone", redress.telephone)
      }
    }
    optional("leg", failure.leg?.rawValue)
    optional("trunk", failure.trunk)
    if !failure.attempts.isEmpty {
      array("attempts", failure.attempts) { json, attempt in
        json.object {
          $0.member("trunk", attempt.trunk)
          $0.member("started_at", attempt.startedAt.description)
          $0.member("ended_at", attempt.endedAt.description)
          $0.optional("sip_status", attempt.sipStatus)
          $0.optional("code", attempt.code?.rawValue)
        }
      }
    }
    optional("correlation", failure.correlationID)
    // As text: 64 bits do not fit the numbers of every JSON reader.
    optional("next_sequence", failure.nextSequence.map { String($0) })
    if let invalid = failure.invalidValue {
      object("invalid") {
        $0.member("kind", invalid.kind)
        $0.member("rule", invalid.rule)
        $0.optional("offset", invalid.offset)
        $0.member("problem", invalid.problem)
        $0.member("accepted", invalid.accepted)
      }
    }
  }
}

extension MessageReader {
  /// The failure this object describes. A code that only a newer gateway knows becomes the general one of its domain.
  func failure() throws(MessageProblem) -> CallFailure {
    var reasons: [CallFailure.Reason] = []
    for part in try parts("reasons", most: CallFailure.maximumReasons) {
      reasons.append(
        CallFailure.Reason(
          protocolName: try part.string("protocol", most: MessageLimit.text),
          cause: try part.optionalInteger("cause", in: 0...999).map(Int.init),
          text: try part.optionalString("text", most: MessageLimit.text),
          location: try part.optionalString("location", most: MessageLimit.text)
            .flatMap(CallFailure.Reason.Location.init)))
    }
    return CallFailure(
      MessageReader.code(try string("code", most: MessageLimit.identifier)),
      refusal: try optionalString("refusal", most: MessageLimit.identifier).flatMap(CallRefusal.init),
      sipStatus: try optionalInteger("sip_status", in: 0...Int64.max).map(Int.init),
      phrase: try optionalString("phrase", most: MessageLimit.text), reasons: reasons,
      warning: try optionalString("warning", most: MessageLimit.text),
      retryAfterSeconds: try optionalInteger("retry_after", in: 0...Int64.max).map(Int.init),
      trunk: try optionalString("trunk", most: MessageLimit.text), attempts: try attempts(),
      leg: try optionalString("leg", most: MessageLimit.identifier).flatMap(CallLeg.init),
      correlationID: try optionalString("correlation", most: MessageLimit.text), invalidValue: try invalidValue(),
      nextSequence: try optionalString("next_sequence", most: 20).flatMap(UInt64.init), redress: try redress())
  }

  private func redress() throws(MessageProblem) -> CallFailure.Redress? {
    guard let part = try optionalPart("redress") else { return nil }
    return CallFailure.Redress(
      network: try part.optionalString("network", most: MessageLimit.text),
      url: try part.optionalString("url", most: MessageLimit.text),
      telephone: try part.optionalString("telephone", most: MessageLimit.text))
  }

  private func attempts() throws(MessageProblem) -> [CallAttempt] {
    var attempts: [CallAttempt] = []
    for part in try parts("attempts", most: CallFailure.maximumAttempts) {
      guard let startedAt = try part.instant("started_at"), let endedAt = try part.instant("ended_at") else {
        throw part.problem("started_at", "missing", "or ended_at is missing", accepted: "both times")
      }
      attempts.append(
        CallAttempt(
          trunk: try part.string("trunk", most: MessageLimit.text), startedAt: startedAt, endedAt: endedAt,
          sipStatus: try part.optionalInteger("sip_status", in: 0...Int64.max).map(Int.init),
          code: try part.optionalString("code", most: MessageLimit.identifier).map(MessageReader.code)))
    }
    return attempts
  }

  private func invalidValue() throws(MessageProblem) -> InvalidValue? {
    guard let part = try optionalPart("invalid") else { return nil }
    return InvalidValue(
      kind: try part.string("kind", most: MessageLimit.text), rule: try part.string("rule", most: MessageLimit.text),
      offset: try part.optionalInteger("offset", in: 0...Int64.max).map(Int.init),
      problem: try part.string("problem", most: MessageLimit.text),
      accepted: try part.string("accepted", most: 2 * MessageLimit.text))
  }

  private static func code(_ text: String) -> CallFailureCode {
    if let code = CallFailureCode(rawValue: text) { return code }
    for domain in CallFailureDomain.allCases where text.hasPrefix(domain.codePrefix) {
      switch domain {
      case .sip: return .server
      case .network: return .networkLost
      case .capability: return .capabilityRemote
      case .gateway: return .internal
      }
    }
    return .internal
  }
}
