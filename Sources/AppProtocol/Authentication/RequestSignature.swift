import CallModel
import LandlineDigest

/// The signature of a REST request: `Authorization: Application KEY:SIGNATURE`.
///
/// HMAC-SHA256 with the decoded secret over five lines: verb, Base64 of the body's MD5 (empty without a body), content
/// type, `x-timestamp:` and the header's value, path.
public struct RequestSignature: Hashable, Sendable {
  /// Most seconds between `x-timestamp` and the clock.
  public static let maximumSkewSeconds: Int64 = 300

  /// The request's method as sent: `POST`.
  public var verb: String
  /// As sent; empty without one.
  public var body: [UInt8]
  /// Value of Content-Type as sent; empty without one.
  public var contentType: String
  /// The value of `x-timestamp`, RFC 3339.
  public var timestamp: String
  /// With the query, as sent.
  public var path: String

  /// Takes all five as sent; neither `timestamp` nor `path` is checked here.
  public init(verb: String, body: [UInt8], contentType: String, timestamp: String, path: String) {
    self.verb = verb
    self.body = body
    self.contentType = contentType
    self.timestamp = timestamp
    self.path = path
  }

  /// The signature in Base64; `nil` where the secret is no Base64, or the machine's libcrypto has no MD5.
  public func compute(secret: String) -> String? {
    guard let key = Base64.decode(secret.utf8), !key.isEmpty, let text else { return nil }
    return Base64.encode(HMAC.sha256(key: key).code(of: Array(text.utf8)))
  }

  /// Whether `signature` is the right one; the time tells nothing about where it differs.
  public func isValid(_ signature: String, secret: String) -> Bool {
    guard let expected = compute(secret: secret) else { return false }
    return ConstantTime.equal(Array(signature.utf8), Array(expected.utf8))
  }

  private var text: String? {
    var bodyDigest = ""
    if !body.isEmpty {
      guard let digest = MessageDigest(.md5) else { return nil }
      bodyDigest = Base64.encode(body.withUnsafeBytes { digest.digest(of: $0) })
    }
    return [verb, bodyDigest, contentType, "x-timestamp:" + timestamp, path].joined(separator: "\n")
  }
}
