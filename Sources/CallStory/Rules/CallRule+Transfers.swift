import CallEngine
import CallModel

extension CallRule {
  /// Calls whose legs changed: somebody else took the place of one who asked for it.
  static let transfers: [CallRule] = [
    CallRule("transferFailed", "The call was not transferred") { call in
      let lines = call.lines(where: isAboutTransfer)
      guard let last = call.story.last(where: { if case .transferFailed = $0.event { true } else { false } }),
        case .transferFailed(let reason) = last.event
      else { return nil }
      let whom = target(call) ?? "somebody else"
      return Verdict(
        70, .callee,
        "The call was to be transferred to \(whom), and nobody was reached there: \(reason). Where whoever asked for it was "
          + "still in the call, both talked on; otherwise the call ended.",
        evidence: lines.map { "\($0.milliseconds) ms: \($0.text)" },
        fixes: ["call \(whom) directly: landline explain of that call says more"])
    },
    CallRule("transferred", "The call was transferred") { call in
      guard call.lines(where: { if case .transferred = $0 { true } else { false } }).first != nil else { return nil }
      return Verdict(
        25, .callee,
        "Whoever asked for it left the call, and \(target(call) ?? "somebody else") took the place. Each leg that was called "
          + "has a bill of its own, and the account of the call pays for all of them.",
        evidence: call.lines(where: isAboutTransfer).map { "\($0.milliseconds) ms: \($0.text)" })
    },
  ]

  private static func isAboutTransfer(_ event: CallRecord.StoryLine.Event) -> Bool {
    switch event {
    case .transferAsked, .transferred, .transferFailed: true
    default: false
    }
  }

  /// Whom the last transfer was to.
  private static func target(_ call: CallEvidence) -> String? {
    call.story.reversed().lazy.compactMap { if case .transferAsked(_, let target) = $0.event { target } else { nil } }
      .first
  }
}
