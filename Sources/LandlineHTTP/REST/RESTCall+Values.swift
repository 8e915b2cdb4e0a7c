import CallModel
import LedgerCore
import NodeCore

/// Values out of paths, queries and bodies; every refusal names where it stood.
extension RESTCall {
  /// - Throws: ``Problem`` when the gateway does not serve the environment.
  func environment() throws -> (principal: RESTPrincipal, stores: EnvironmentStores) {
    guard let principal, let stores else {
      throw Problem(.environmentUnknown, "the key's environment is not served here")
    }
    return (principal, stores)
  }

  /// The account that the path names.
  /// - Throws: a problem as for an account that does not exist when it is not the principal's.
  func account() throws -> AccountName {
    let text = path["name"] ?? ""
    guard let name = AccountName(text), mayUse(name) else { throw Problem(.unknownAccount) }
    return name
  }

  func mayUse(_ account: AccountName) -> Bool {
    guard let principal else { return false }
    return principal.account.map { $0 == account } ?? true
  }

  /// The one account that the principal sees; `nil` for an operator, who sees all.
  var ownAccount: AccountName? { principal?.account }

  // MARK: - Body

  func text(_ name: String) throws -> String? { try body.text(name) }
  func required(_ name: String) throws -> String { try body.required(name) }
  func integer(_ name: String) throws -> Int64? { try body.integer(name) }
  func flag(_ name: String) throws -> Bool? { try body.flag(name) }
  func note(_ name: String) throws -> String { try body.note(name) }
  func amount(_ name: String, _ currency: Currency) throws -> Credits? { try body.amount(name, currency) }
  func positive(_ name: String, _ currency: Currency) throws -> Credits? { try body.positive(name, currency) }
  func name<Name: LedgerName>(_ member: String, as type: Name.Type) throws -> Name? { try body.name(member, as: type) }
  func texts(_ name: String) throws -> [String: String] { try body.texts(name) }

  func destination(_ name: String) throws -> (kind: Destination.Kind, target: String) { try body.destination(name) }

  static func value<Value>(_ member: String, _ parse: () throws(InvalidValue) -> Value) throws -> Value {
    try RESTBody.value(member, parse)
  }

  static func invalid(_ member: String, _ problem: String, fix: String?) -> Problem {
    RESTBody.invalid(member, problem, fix: fix)
  }

  // MARK: - Query

  static let defaultLimit = 50
  static let maximumLimit = 1000

  func limit() throws -> Int {
    guard let text = query["limit"] else { return RESTCall.defaultLimit }
    guard let limit = Int(text), (1...RESTCall.maximumLimit).contains(limit) else {
      throw RESTCall.invalidParameter("limit", "not a number of rows", fix: "1 to \(RESTCall.maximumLimit)")
    }
    return limit
  }

  func instant(_ name: String) throws -> Instant? {
    try query[name].map { text in
      guard let instant = InstantReader.read(text) else {
        throw RESTCall.invalidParameter(name, "not a time", fix: "RFC 3339 such as 2026-11-21T05:30:00Z")
      }
      return instant
    }
  }

  static func invalidParameter(_ name: String, _ problem: String, fix: String?) -> Problem {
    Problem(.parameterInvalid, "\(name): \(problem)", fix: fix, members: [("parameter", .string(name))])
  }
}
