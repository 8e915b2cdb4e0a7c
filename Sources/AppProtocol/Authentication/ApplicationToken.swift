public import CallModel
import LandlineDigest

/// A registration token that an app's server made: a JSON Web Token (RFC 7519) with HS256 under a key of the day.
public struct ApplicationToken: Hashable, Sendable {
  /// Most bytes of a token.
  public static let maximumBytes = 2048
  /// Deepest nesting of its JSON parts.
  public static let maximumDepth = 32
  /// A nonce has 1 byte to so many of UTF-8.
  public static let maximumNonceBytes = 128
  /// Shortest and longest life, `iat` to `exp`.
  public static let minimumLifeSeconds: Int64 = 60
  /// Longest life, `iat` to `exp`: an hour.
  public static let maximumLifeSeconds: Int64 = 3600
  /// Most seconds by which the maker's clock may differ.
  public static let maximumSkewSeconds: Int64 = 60
  /// The least bound of a device's registration, from `iat`.
  public static let minimumInstanceSeconds: Int64 = 48 * 3600
  /// The name of the claim with that bound.
  public static let instanceClaim = "sinch:rtc:instance:exp"

  /// Usable once until ``usableUntil``.
  public let nonce: String
  /// When no clock within the skew takes the token any more.
  public let usableUntil: Instant
  /// When the device's registration ends; `nil` for no bound.
  public let instanceExpiresAt: Instant?

  /// Checks a token.
  ///
  /// The same work is done up to the comparison of the signature whatever the secret is, so a caller without the
  /// application's secret passes any other and refuses.
  /// - Parameter secret: the secret as its Base64 text.
  /// - Returns: `nil` for every token that is not good now.
  public init?(_ token: String, application: String, user: String, secret: String, clock: Instant) {
    guard token.utf8.count <= ApplicationToken.maximumBytes else { return nil }
    let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = ApplicationToken.object(parts[0]),
      let claims = ApplicationToken.object(parts[1]), let signature = Base64.decode(parts[2], .url),
      let day = ApplicationToken.day(of: header), let key = ApplicationToken.key(day: day.text, secret: secret)
    else { return nil }
    let signed = Array(token.utf8.prefix(parts[0].count + 1 + parts[1].count))
    guard ConstantTime.equal(signature, HMAC.sha256(key: key).code(of: signed)) else { return nil }
    self.init(claims, day: day.number, application: application, user: user, clock: clock)
  }

  private init?(_ claims: JSONObject, day: Int64, application: String, user: String, clock: Instant) {
    let issuer = ApplicationToken.issuer(application)
    guard claims["iss"] == .string(issuer), claims["sub"] == .string("\(issuer)/users/\(user)"),
      case .string(let nonce)? = claims["nonce"], (1...ApplicationToken.maximumNonceBytes).contains(nonce.utf8.count),
      let issuedAt = ApplicationToken.seconds(claims["iat"]), let expiresAt = ApplicationToken.seconds(claims["exp"]),
      (ApplicationToken.minimumLifeSeconds...ApplicationToken.maximumLifeSeconds).contains(expiresAt - issuedAt),
      abs(issuedAt / 86_400 - day) <= 1
    else { return nil }
    let skew = ApplicationToken.maximumSkewSeconds
    usableUntil = Instant(seconds: expiresAt + skew)
    guard Instant(seconds: issuedAt - skew) <= clock, clock < usableUntil else { return nil }
    self.nonce = nonce
    guard let bound = claims[ApplicationToken.instanceClaim] else {
      instanceExpiresAt = nil
      return
    }
    guard let seconds = ApplicationToken.seconds(bound),
      seconds - issuedAt >= ApplicationToken.minimumInstanceSeconds
    else { return nil }
    instanceExpiresAt = Instant(seconds: seconds)
  }

  /// Makes a token, as an app's server does.
  /// - Returns: `nil` where the secret is no Base64.
  public static func make(
    application: String, user: String, secret: String, nonce: String, issuedAt: Instant, lifeSeconds: Int64,
    instanceExpiresAt: Instant? = nil
  ) -> String? {
    let seconds = issuedAt.milliseconds / 1000
    let day = ApplicationToken.dayText(CivilDate(dayNumber: seconds / 86_400))
    guard let key = ApplicationToken.key(day: day, secret: secret) else { return nil }
    var header = JSONWriter()
    header.object {
      $0.member("alg", "HS256")
      $0.member("kid", ApplicationToken.keyPrefix + day)
    }
    var claims = JSONWriter()
    claims.object {
      $0.member("iss", issuer(application))
      $0.member("sub", "\(issuer(application))/users/\(user)")
      $0.member("iat", seconds)
      $0.member("exp", seconds.addingReportingOverflow(lifeSeconds).partialValue)
      $0.member("nonce", nonce)
      if let instanceExpiresAt { $0.member(instanceClaim, instanceExpiresAt.milliseconds / 1000) }
    }
    let signed = Base64.encode(header.bytes, .url) + "." + Base64.encode(claims.bytes, .url)
    return signed + "." + Base64.encode(HMAC.sha256(key: key).code(of: Array(signed.utf8)), .url)
  }

  /// The key of a day, `20180102`: HMAC-SHA256 of the day's text under the decoded secret.
  package static func key(day: String, secret: String) -> [UInt8]? {
    guard let secret = Base64.decode(secret.utf8), !secret.isEmpty else { return nil }
    return HMAC.sha256(key: secret).code(of: Array(day.utf8))
  }

  private static let keyPrefix = "hkdfv1-"
  /// Seconds are taken up to the year 9999, so that no sum of them can pass the range.
  private static let maximumSeconds: Int64 = 253_402_300_799

  private static func issuer(_ application: String) -> String { "//rtc.sinch.com/applications/\(application)" }

  private static func dayText(_ date: CivilDate) -> String { date.description.filter { $0 != "-" } }

  private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
    guard let bytes = Base64.decode(part, .url),
      case .object(let object)? = try? JSONReader.read(
        bytes, JSONReader.Limits(bytes: maximumBytes, depth: maximumDepth))
    else { return nil }
    return object
  }

  private static func seconds(_ value: JSONValue?) -> Int64? {
    guard case .integer(let seconds)? = value, (0...maximumSeconds).contains(seconds) else { return nil }
    return seconds
  }

  /// The day of the key; no algorithm but HS256 passes, and no header that asks for more (RFC 7515 section 4.1.11).
  private static func day(of header: JSONObject) -> (text: String, number: Int64)? {
    guard header["alg"] == .string("HS256"), header["crit"] == nil, case .string(let key)? = header["kid"],
      key.hasPrefix(keyPrefix)
    else { return nil }
    let digits = Array(key.utf8.dropFirst(keyPrefix.utf8.count))
    guard digits.count == 8, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
      return nil
    }
    func number(_ range: Range<Int>) -> Int64 {
      digits[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    guard let date = CivilDate(year: number(0..<4), month: Int(number(4..<6)), day: Int(number(6..<8))) else {
      return nil
    }
    return (String(decoding: digits, as: UTF8.self), date.dayNumber)
  }
}
