import CallEngine
import CallModel
import CallStory

/// Calls whose legs changed.
extension RulesRow {
  static let transfers: [RulesRow] = [
    RulesRow(
      "transferFailed",
      .call {
        $0.end(.hungUp)
        $0.story("the near side transfers to +46701234567")
        $0.story("not transferred: sip.busy: 486")
      },
      not: .call {
        $0.end(.hungUp)
        $0.story("the near side transfers to +46701234567")
      }),
    RulesRow(
      "transferred", leads: false,
      .call {
        $0.end(.hungUp)
        $0.story("the far side transfers to bob")
        $0.story("transferred to bob")
      },
      not: .call {
        $0.end(.hungUp)
        $0.story("the far side transfers to bob")
      }),
  ]
}
