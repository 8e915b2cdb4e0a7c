public import CallModel
import LandlineDigest

/// Bearer keys (RFC 6750) of operators and of accounts' owners, kept as SHA-256 digests only.
public struct OperatorKeys: RESTAuthenticator {
  public struct Key: Sendable {
    public var environment: String
    /// The holder's name, for the ledger's record.
    public var name: String
    /// Of an owner; `nil` for an operator.
    public var account: AccountName?
    /// SHA-256 of the key's text.
    public var digest: [UInt8]

    public init(environment: String, name: String, account: AccountName? = nil, digest: [UInt8]) {
      self.environment = environment
      self.name = name
      self.account = account
      self.digest = digest
    }

    public init(environment: String, name: String, account: AccountName? = nil, key: Redacted<String>) {
      self.init(environment: environment, name: name, account: account, digest: OperatorKeys.digest(key.exposed))
    }

    var principal: RESTPrincipal {
      guard let account else { return RESTPrincipal(environment: environment, actor: "rest:\(name)", role: .operator) }
      return RESTPrincipal(environment: environment, actor: "owner:\(name)", role: .owner(account: account))
    }
  }

  /// Longest key that is looked at.
  public static let maximumKeyBytes = 512

  private let keys: [Key]
  private let next: (any RESTAuthenticator)?

  /// - Parameter next: asked when the request carries no bearer key.
  public init(_ keys: [Key], else next: (any RESTAuthenticator)? = nil) {
    self.keys = keys
    self.next = next
  }

  static func digest(_ text: String) -> [UInt8] {
    Array(text.utf8).withUnsafeBytes { MessageDigest.sha256().digest(of: $0) }
  }

  /// SHA-256 of the bearer key in a request; `nil` when it carries none, or one longer than any.
  static func digest(in request: RESTRequest) -> [UInt8]? {
    guard let header = request.header("authorization"), header.lowercased().hasPrefix("bearer ") else { return nil }
    let text = header.dropFirst("bearer ".count).drop { $0 == " " }
    return text.utf8.count <= OperatorKeys.maximumKeyBytes ? OperatorKeys.digest(String(text)) : nil
  }

  public func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    guard let header = request.header("authorization"), header.lowercased().hasPrefix("bearer ") else {
      return await next?.authenticate(request)
    }
    guard let digest = OperatorKeys.digest(in: request) else { return nil }
    return await principal(ofKey: digest)
  }

  public func principal(ofKey digest: [UInt8]) async -> RESTPrincipal? {
    var found: Key?
    // Every key is compared, whichever fits.
    for key in keys where ConstantTime.equal(key.digest, digest) { found = key }
    return found?.principal
  }
}
