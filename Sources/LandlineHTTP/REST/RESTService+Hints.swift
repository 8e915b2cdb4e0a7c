import CallModel
import LandlineNode
import LedgerCore
import NodeCore
import NumberPlan

extension RESTService {
  var hintRoutes: [RESTRoute] {
    let text = JSONValue.members([("type", .string("string"))])
    return [
      RESTRoute(
        method: "GET", path: "/v1/number-hints", id: "getNumberHint",
        summary: "What a typed number is, costs and lasts, and how it is written",
        query: [
          .init(name: "target", description: "As typed: +46 70-123 45 67, tel:+46701234567, 0046…", schema: text),
          .init(name: "account", description: "Who would pay; one's own by default.", schema: text),
          .init(name: "kind", description: "phone, the only kind that has hints.", schema: text),
        ], success: .json(200, "NumberHint"), problems: [.accountUnknown], handle: showHint)
    ]
  }

  private var showHint: RESTRoute.Handler {
    { call in
      let (principal, stores) = try call.environment()
      guard let target = call.query["target"], !target.isEmpty else {
        throw RESTCall.invalidParameter("target", "nothing is there", fix: "target=%2B46701234567")
      }
      guard target.utf8.count <= TypedNumber.maximumBytes else {
        throw RESTCall.invalidParameter(
          "target", "more than \(TypedNumber.maximumBytes) bytes", fix: "a telephone number")
      }
      guard call.query["kind"] ?? "phone" == "phone" else {
        throw RESTCall.invalidParameter("kind", "not a kind that has hints", fix: "kind=phone")
      }
      let codes = await operations.emergencyCodes(
        environment: principal.environment,
        callerNumber: phones.application(principal, account: call.ownAccount)?.callerNumbers.first)
      var hint = NumberHint(target: target, number: TypedNumber(target, emergencyCodes: codes))
      if let payer = try await payer(call, principal, stores) {
        hint.account = payer
        if case .number(let number) = hint.number {
          hint.quote = try await operations.quote(
            number, account: AccountName(unchecked: payer.name), environment: principal.environment)
          hint.defaultCountries = await operations.defaultCountries(
            of: AccountName(unchecked: payer.name), environment: principal.environment)
        }
      }
      return .json(200, hint.tree(at: call.now))
    }
  }

  /// - Returns: `nil` for an operator who names nobody where no application pays either.
  private func payer(
    _ call: RESTCall, _ principal: RESTPrincipal, _ stores: EnvironmentStores
  ) async throws -> LedgerAccount? {
    var name = call.ownAccount
    if let text = call.query["account"] {
      guard let named = AccountName(text), call.mayUse(named) else { throw Problem(.unknownAccount) }
      name = named
    }
    let isNamed = name != nil
    guard let wanted = name ?? phones.application(principal, account: nil)?.account else { return nil }
    let account = try await stores.ledger.read { try $0.customer(named: wanted.text) }
    if account == nil, isNamed { throw Problem(.unknownAccount) }
    return account
  }
}
