public import CallModel

/// A request as it came, for whoever checks its proof.
public struct RESTRequest: Sendable {
  /// `GET`, `POST`, …
  public var method: String
  /// Path as sent, without the query.
  public var path: String
  /// As sent; `nil` when there was none.
  public var query: String?
  /// Names in lower case.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]

  public init(
    method: String, path: String, query: String? = nil, headers: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
  }

  /// The value of a field that stands there exactly once.
  public func header(_ name: String) -> String? {
    let found = headers.filter { $0.name == name }
    return found.count == 1 ? found.first?.value : nil
  }
}

/// Who asks, and what for.
public struct RESTPrincipal: Hashable, Sendable {
  public enum Role: Hashable, Sendable {
    case `operator`
    /// Sees and uses this account only.
    case application(account: AccountName)
  }

  public var environment: String
  /// For the ledger's record: `rest:alice`, `app:KEY`.
  public var actor: String
  public var role: Role

  public init(environment: String, actor: String, role: Role) {
    self.environment = environment
    self.actor = actor
    self.role = role
  }
}

/// Checks the proof that a request carries.
public protocol RESTAuthenticator: Sendable {
  /// - Returns: `nil` for anything but a good proof; the time taken tells nothing about how near it was.
  func authenticate(_ request: RESTRequest) async -> RESTPrincipal?
}
