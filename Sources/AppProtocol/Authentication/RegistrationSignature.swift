import CallModel
import LandlineDigest

/// The signature of a registration: Base64 of SHA-1 over user, application key, decimal sequence number and secret in
/// its Base64 text, without separators.
public enum RegistrationSignature {
  /// - Parameter secret: the secret as its Base64 text.
  /// - Returns: `nil` where the machine's libcrypto has no SHA-1.
  public static func compute(user: String, application: String, sequence: UInt64, secret: String) -> String? {
    guard let digest = MessageDigest(.sha1) else { return nil }
    let text = Array((user + application + String(sequence) + secret).utf8)
    return Base64.encode(text.withUnsafeBytes { digest.digest(of: $0) })
  }

  /// Whether `signature` is the right one; the time tells nothing about where it differs.
  public static func isValid(
    _ signature: String, user: String, application: String, sequence: UInt64, secret: String
  ) -> Bool {
    guard let expected = compute(user: user, application: application, sequence: sequence, secret: secret) else {
      return false
    }
    return ConstantTime.equal(Array(signature.utf8), Array(expected.utf8))
  }
}
