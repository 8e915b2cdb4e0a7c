import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// What can be said of every failure, so that none is without a word.
  static let general: [CallRule] = [
    CallRule("failureClass", "What the failure means in general") { call in
      guard let failure = call.failure else { return nil }
      let details = failure.code.details
      return Verdict(
        10, owner(failure),
        "\(details.meaning) Most often: \(details.likelyCauses.joined(separator: "; ")).",
        evidence: call.said.isEmpty ? ["code: \(failure.code.rawValue)"] : call.said,
        fixes: details.remedies + ["landline explain \(failure.code.rawValue)"])
    }
  ]

  private static func owner(_ failure: CallFailure) -> Owner {
    switch failure.retry {
    case .notNeeded: .nobody
    case .afterOperator: .gateway
    case .afterFix: failure.domain == .gateway ? .app : .gateway
    case .never, .now, .later, .otherCodec, .byGateway, .nextTrunk:
      switch failure.domain {
      case .sip: .trunk
      case .network, .capability: .app
      case .gateway: .gateway
      }
    }
  }
}
