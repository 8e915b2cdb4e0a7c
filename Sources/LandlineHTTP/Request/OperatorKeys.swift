public import CallModel
import LandlineDigest

/// Bearer keys (RFC 6750) of operators and of accounts' owners, kept as SHA-256 digests only.
public struct OperatorKeys: RESTAuthenticator {
  /// A key that is taken, and who asks with it.
  public struct Key: Sendable {
    /// The environment whose REST interface the key opens.
    public var environment: String
    /// The holder's name, for the ledger's record.
    public var name: String
    /// Of an owner; `nil` for an operator.
    public var account: AccountName?
    /// SHA-256 of the key's text.
    public var digest: [UInt8]

    /// - Parameters:
    ///   - account: `nil` makes the holder an operator.
    ///   - digest: SHA-256 of the key's text, 32 bytes.
    public init(environment: String, name: String, account: AccountName? = nil, digest: [UInt8]) {
      self.environment = environment
      self.name = name
      self.account = account
      self.digest = digest
    }

    /// Keeps the key's SHA-256 only. Without an account the holder is an operator.
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

  /// A request without a bearer key is left to the next authenticator; one with a wrong key is refused here.
  public func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    guard let header = request.header("authorization"), header.lowercased().hasPrefix("bearer ") else {
      return await next?.authenticate(request)
    }
    guard let digest = OperatorKeys.digest(in: request) else { return nil }
    return await principal(ofKey: digest)
  }

  /// Every key is compared, each in constant time; of several keys with this digest the last counts.
  public func principal(ofKey digest: [UInt8]) async -> RESTPrincipal? {
    var found: Key?
    // Every key is compared, whichever fits.
    for key in keys where ConstantTime.equal(key.digest, digest) { found = key }
    return found?.principal
  }
}
