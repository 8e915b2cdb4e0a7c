public import CallModel
import LandlineDigest

/// Operators' bearer keys (RFC 6750), kept as SHA-256 digests only.
public struct OperatorKeys: RESTAuthenticator {
  public struct Key: Sendable {
    public var environment: String
    /// The operator's name, for the ledger's record.
    public var name: String
    /// SHA-256 of the key's text.
    public var digest: [UInt8]

    public init(environment: String, name: String, digest: [UInt8]) {
      self.environment = environment
      self.name = name
      self.digest = digest
    }

    public init(environment: String, name: String, key: Redacted<String>) {
      self.init(environment: environment, name: name, digest: OperatorKeys.digest(key.exposed))
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

  public func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    guard let header = request.header("authorization"), header.lowercased().hasPrefix("bearer ") else {
      return await next?.authenticate(request)
    }
    let text = header.dropFirst("bearer ".count).drop { $0 == " " }
    guard text.utf8.count <= OperatorKeys.maximumKeyBytes else { return nil }
    let digest = OperatorKeys.digest(String(text))
    var found: Key?
    // Every key is compared, whichever fits.
    for key in keys where ConstantTime.equal(key.digest, digest) { found = key }
    return found.map { RESTPrincipal(environment: $0.environment, actor: "rest:\($0.name)", role: .operator) }
  }
}
