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
  /// Whole, as sent; empty where there is none.
  public var body: [UInt8]
  /// Numeric address of the sender; `nil` on a socket of this machine's own.
  public var peer: String?
  /// Value of the one `Host` field, with the port where there is one; `nil` for none or several.
  public var host: String?
  /// Whether the connection is encrypted.
  public var isSecure: Bool

  /// For a `GET` without fields over plain HTTP only the path is needed beside the method.
  public init(
    method: String, path: String, query: String? = nil, headers: [(name: String, value: String)] = [],
    body: [UInt8] = [], peer: String? = nil, host: String? = nil, isSecure: Bool = false
  ) {
    self.peer = peer
    self.host = host
    self.isSecure = isSecure
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
  /// What a principal may see and do.
  public enum Role: Hashable, Sendable {
    case `operator`
    /// Sees and uses this account only.
    case application(account: AccountName)
    /// Somebody whose account it is: sees and uses this one only.
    case owner(account: AccountName)
  }

  /// The environment that is asked about. Another one is another ledger, with accounts of its own.
  public var environment: String
  /// For the ledger's record: `rest:alice`, `owner:bob`, `app:KEY`.
  public var actor: String
  /// Routes for operators are closed to any other role.
  public var role: Role

  /// - Parameter actor: as the ledger's record shall have it, with its prefix: `rest:alice`.
  public init(environment: String, actor: String, role: Role) {
    self.environment = environment
    self.actor = actor
    self.role = role
  }

  /// The one account that the principal sees; `nil` for an operator, who sees all.
  public var account: AccountName? {
    switch role {
    case .operator: nil
    case .application(let account), .owner(let account): account
    }
  }
}

/// Checks the proof that a request carries.
public protocol RESTAuthenticator: Sendable {
  /// - Returns: `nil` for anything but a good proof; the time taken tells nothing about how near it was.
  func authenticate(_ request: RESTRequest) async -> RESTPrincipal?
  /// Who has the bearer key with this SHA-256 now: what a page's session stands on.
  func principal(ofKey digest: [UInt8]) async -> RESTPrincipal?
}

extension RESTAuthenticator {
  /// Nobody: there are no bearer keys.
  public func principal(ofKey digest: [UInt8]) async -> RESTPrincipal? { nil }
}
