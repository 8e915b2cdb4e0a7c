public import CallModel
import LandlineDigest

/// Credentials for later connections of one user on one device.
public struct DeviceCredential: Hashable, Sendable {
  /// Made by ``StoredCredential/id(application:user:device:isBounded:)``; no secret.
  public var id: String
  /// 256 random bits as Base64 for URLs; the gateway keeps only their digest.
  public var secret: Redacted<String>
  /// `nil` for no end.
  public var expiresAt: Instant?

  /// For a credential that exists already; ``make(id:expiresAt:draw:)`` draws the secret of a new one.
  public init(id: String, secret: Redacted<String>, expiresAt: Instant?) {
    self.id = id
    self.secret = secret
    self.expiresAt = expiresAt
  }

  /// A credential with a secret of 256 bits.
  /// - Parameter draw: 64 bits from the system's generator.
  public static func make(id: String, expiresAt: Instant?, draw: () -> UInt64) -> DeviceCredential {
    var bytes: [UInt8] = []
    for _ in 0..<4 {
      let word = draw()
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return DeviceCredential(id: id, secret: Redacted(Base64.encode(bytes, .url)), expiresAt: expiresAt)
  }

  /// As a store keeps it.
  public func stored(application: String, user: UserID, device: String) -> StoredCredential {
    StoredCredential(
      id: id, digest: StoredCredential.sha256(secret.exposed), application: application, user: user,
      device: device, expiresAt: expiresAt)
  }
}

/// A credential as it is kept: never its secret.
public struct StoredCredential: Hashable, Sendable {
  /// As ``DeviceCredential/id``.
  public var id: String
  /// SHA-256 of the secret's text.
  public var digest: [UInt8]
  /// The application key.
  public var application: String
  /// The user that it stands for; another user's registration is refused.
  public var user: UserID
  /// The app's name for the device that it was given to.
  public var device: String
  /// `nil` for no end.
  public var expiresAt: Instant?

  /// Takes the digest as it is; ``DeviceCredential/stored(application:user:device:)`` computes it.
  public init(id: String, digest: [UInt8], application: String, user: UserID, device: String, expiresAt: Instant?) {
    self.id = id
    self.digest = digest
    self.application = application
    self.user = user
    self.device = device
    self.expiresAt = expiresAt
  }

  /// Whether this is the digest of `secret`; the time tells nothing about where it differs.
  public func matches(secret: String) -> Bool { StoredCredential.isDigest(digest, of: secret) }

  /// The comparison of ``matches(secret:)``, for where no credential is and none may seem to be.
  public static func isDigest(_ digest: [UInt8], of secret: String) -> Bool {
    ConstantTime.equal(digest, sha256(secret))
  }

  fileprivate static func sha256(_ text: String) -> [UInt8] {
    let digest = MessageDigest.sha256()
    return Array(text.utf8).withUnsafeBytes { digest.digest(of: $0) }
  }

  /// The id of a device's credential: the same for each registration of the device.
  /// - Parameter isBounded: whether an app's server set an end that later registrations cannot lift.
  public static func id(application: String, user: String, device: String, isBounded: Bool) -> String {
    // Lengths keep apart what would read the same when joined.
    let text = "\(application.utf8.count):\(application)\(user.utf8.count):\(user)\(device)"
    return (isBounded ? "b-" : "c-") + Base64.encode(Array(sha256(text).prefix(18)), .url)
  }
}
