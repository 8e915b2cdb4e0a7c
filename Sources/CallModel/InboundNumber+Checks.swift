extension InboundNumber {
  /// Reads an entry of ``Callers/blocked``: `+` and 1 to 15 digits.
  /// - Throws: ``InvalidValue`` with rule `inbound.blocked`.
  public static func blockedCaller(_ text: String) throws(InvalidValue) -> String {
    let digits = text.utf8.dropFirst()
    guard text.utf8.first == UInt8(ascii: "+"), (1...E164Number.maximumDigits).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else {
      throw InboundNumber.refusal(
        "blocked", "it is no beginning of a number",
        "+ and 1 to \(E164Number.maximumDigits) digits, such as +4670")
    }
    return text
  }

  /// Reads a number that callers can reach from outside.
  /// - Throws: ``InvalidValue`` with rules of ``E164Number`` and `inbound.own`.
  public static func reachable(_ text: String) throws(InvalidValue) -> E164Number {
    let number = try E164Number(text)
    guard number.testNumber == nil, SandboxNumber(rawValue: number.value) == nil else {
      throw InboundNumber.refusal(
        "own", "it is one of the numbers that the gateway answers itself", "a number that a carrier has given you")
    }
    return number
  }

  /// Whether the row is within every limit, whoever made it.
  /// - Throws: ``InvalidValue`` with rules `inbound.targets`, `inbound.target`, `inbound.application`, `inbound.ring`,
  ///   `inbound.status`, `inbound.channels`, `inbound.callers`, `inbound.blocked`.
  public func check() throws(InvalidValue) {
    guard targets.count <= InboundNumber.maximumTargets else {
      throw InboundNumber.refusal(
        "targets", "\(targets.count) targets are too many", "at most \(InboundNumber.maximumTargets)")
    }
    for (index, target) in targets.enumerated() {
      switch target.destination {
      case .phone, .sip: break
      case .user, .conference:
        guard application != nil else {
          throw InboundNumber.refusal(
            "application", "a \(target.destination.kind.rawValue) is the target, and no application says whose",
            "the application of the \(target.destination.kind.rawValue)")
        }
        if target.destination.kind == .conference, index + 1 < targets.count {
          throw InboundNumber.refusal(
            "target", "a conference takes every call, and other targets stand behind it",
            "a conference as the last target")
        }
      case .emergency:
        throw InboundNumber.refusal(
          "target", "calls cannot lead to \(target.destination.text)",
          "a user, a phone number, a SIP address or a conference")
      }
      guard Target.ringSeconds.contains(target.ringSeconds) else {
        throw InboundNumber.refusal(
          "ring", "\(target.ringSeconds) seconds are out of range",
          "\(Target.ringSeconds.lowerBound) to \(Target.ringSeconds.upperBound) seconds")
      }
    }
    guard InboundNumber.noAnswerStatuses.contains(noAnswerStatus) else {
      throw InboundNumber.refusal(
        "status", "\(noAnswerStatus) is no status for a call that nobody took",
        InboundNumber.noAnswerStatuses.sorted().map(String.init).joined(separator: ", "))
    }
    if let channels, !(1...InboundNumber.maximumChannels).contains(channels) {
      throw InboundNumber.refusal(
        "channels", "\(channels) calls at a time are out of range", "1 to \(InboundNumber.maximumChannels)")
    }
    guard callers.blocked.count <= InboundNumber.maximumBlockedCallers else {
      throw InboundNumber.refusal(
        "callers", "\(callers.blocked.count) blocked callers are too many",
        "at most \(InboundNumber.maximumBlockedCallers)")
    }
    for entry in callers.blocked { _ = try InboundNumber.blockedCaller(entry) }
  }

  private static func refusal(_ rule: String, _ problem: String, _ accepted: String) -> InvalidValue {
    InvalidValue(kind: "inbound number", rule: "inbound.\(rule)", offset: nil, problem: problem, accepted: accepted)
  }
}
