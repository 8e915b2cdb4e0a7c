import CallModel
import LedgerCore

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

  func text(_ name: String) throws -> String? {
    switch body[name] {
    case nil, .null: return nil
    case .text(let text): return text
    default: throw RESTCall.invalid(name, "a text is wanted here", fix: "\"\(name)\": \"…\"")
    }
  }

  func required(_ name: String) throws -> String { try text(name) ?? "" }

  func integer(_ name: String) throws -> Int64? {
    switch body[name] {
    case nil, .null: return nil
    case .integer(let value): return value
    default: throw RESTCall.invalid(name, "a whole number is wanted here", fix: nil)
    }
  }

  func flag(_ name: String) throws -> Bool? {
    switch body[name] {
    case nil, .null: return nil
    case .boolean(let value): return value
    default: throw RESTCall.invalid(name, "true or false is wanted here", fix: nil)
    }
  }

  func note(_ name: String) throws -> String {
    let text = try text(name) ?? ""
    guard text.utf8.count <= LedgerOperation.maximumDetailBytes else {
      throw RESTCall.invalid(name, "more than \(LedgerOperation.maximumDetailBytes) bytes", fix: "a shorter text")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw RESTCall.invalid(name, "a control character", fix: "one line of plain text")
    }
    return text
  }

  func amount(_ name: String, _ currency: Currency) throws -> Credits? {
    try text(name).map { text in
      try RESTCall.value(name) { () throws(InvalidValue) in try Credits(parsing: text, currency) }
    }
  }

  /// An amount above zero.
  func positive(_ name: String, _ currency: Currency) throws -> Credits? {
    guard let amount = try amount(name, currency) else { return nil }
    guard amount.micros > 0 else {
      throw RESTCall.invalid(name, "an amount above zero is wanted here", fix: "an amount such as 12.50")
    }
    return amount
  }

  func name<Name: LedgerName>(_ member: String, as type: Name.Type) throws -> Name? {
    try text(member).map { text in
      try RESTCall.value(member) { () throws(InvalidValue) in try Name(validating: text) }
    }
  }

  func destination(_ name: String) throws -> (kind: Destination.Kind, target: String) {
    guard case .object(let members)? = body[name] else {
      throw RESTCall.invalid(name, "an object with kind and target is wanted here", fix: nil)
    }
    for member in members where member.name != "kind" && member.name != "target" {
      throw RESTCall.unknown(
        "\(name).\(member.name)", Spelling.nearest(to: member.name, among: ["kind", "target"]).map { "\(name).\($0)" },
        known: "kind and target")
    }
    guard case .text(let kindText)? = members.first(where: { $0.name == "kind" })?.value,
      let kind = Destination.Kind(rawValue: kindText)
    else {
      throw RESTCall.invalid(
        "\(name).kind", "not a kind of destination",
        fix: Destination.Kind.allCases.map { $0.rawValue }.joined(separator: ", "))
    }
    guard case .text(let target)? = members.first(where: { $0.name == "target" })?.value else {
      throw RESTCall.invalid("\(name).target", "a text is wanted here", fix: "+46701234567, sip:alice@example.com")
    }
    return (kind, target)
  }

  func texts(_ name: String) throws -> [String: String] {
    guard let value = body[name], value != .null else { return [:] }
    guard case .object(let members) = value else {
      throw RESTCall.invalid(name, "an object of texts is wanted here", fix: nil)
    }
    var texts: [String: String] = [:]
    for member in members {
      guard case .text(let text) = member.value else {
        throw RESTCall.invalid("\(name).\(member.name)", "a text is wanted here", fix: nil)
      }
      texts[member.name] = text
    }
    return texts
  }

  static func value<Value>(_ member: String, _ parse: () throws(InvalidValue) -> Value) throws -> Value {
    do throws(InvalidValue) {
      return try parse()
    } catch {
      var problem = invalid(member, "\(error.kind): \(error.problem)", fix: error.accepted)
      problem.members.append(("rule", .text(error.rule)))
      if let offset = error.offset { problem.members.append(("position", .integer(Int64(offset)))) }
      throw problem
    }
  }

  static func invalid(_ member: String, _ problem: String, fix: String?) -> Problem {
    Problem(.memberInvalid, "\(member): \(problem)", fix: fix, members: [("member", .text(member))])
  }

  static func unknown(_ member: String, _ nearest: String?, known: String) -> Problem {
    Problem(
      .memberUnknown, "\(member) is not known here", fix: nearest.map { "did you mean \($0)?" } ?? known,
      members: [("member", .text(member))])
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
    Problem(.parameterInvalid, "\(name): \(problem)", fix: fix, members: [("parameter", .text(name))])
  }
}
