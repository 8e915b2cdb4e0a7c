/// The signature of a REST request: `Authorization: Application KEY:SIGNATURE`.
///
/// HMAC-SHA256 with the decoded secret over five lines: verb, Base64 of the body's MD5 (empty without a body), content
/// type, `x-timestamp:` and the header's value, path.
public struct RequestSignature: Hashable, Sendable {
  /// Most minutes between `x-timestamp` and the clock.
  public static let maximumSkewSeconds: Int64 = 300

  public var verb: String
  public var body: [UInt8]
  public var contentType: String
  /// The value of `x-timestamp`, RFC 3339.
  public var timestamp: String
  /// With the query, as sent.
  public var path: String

  public init(verb: String, body: [UInt8], contentType: String, timestamp: String, path: String) {
    self.verb = verb
    self.body = body
    self.contentType = contentType
    self.timestamp = timestamp
    self.path = path
  }

  /// The signature in Base64; `nil` where the secret is no Base64, or the machine's libcrypto has no MD5.
  public func compute(secret: String) -> String? { nil }
  /// Whether `signature` is the right one; the time tells nothing about where it differs.
  public func isValid(_ signature: String, secret: String) -> Bool { false }
}
