/// Somebody who may sign in on the pages of a gateway under test.
struct BrowserPerson: Sendable {
  let name: String
  /// A bearer key.
  let key: String
  var environment = "sandbox"
  /// The account that is theirs; `nil` for an operator.
  var account: GatewayPayer?

  static let operations = BrowserPerson(name: "operations", key: "9b1f6d0c52e74f3aa8d15c7e20b94d61")
  static let owner = BrowserPerson(name: "owner", key: "4c7e20b94d619b1f6d0c52e74f3aa8d1", account: .trial)
  /// Of an account without credit.
  static let broke = BrowserPerson(name: "broke", key: "d15c7e20b94d614c9b1f6d0c52e74f3a", account: .sandboxPoor)
}
