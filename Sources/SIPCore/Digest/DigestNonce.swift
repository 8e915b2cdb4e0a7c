import CallModel
import LandlineDigest

/// A nonce that tells when it was made and that it is ours: time, serial number and a code over both, in hexadecimal.
struct DigestNonce: Hashable {
  /// Bytes of the code that are kept, half of HMAC-SHA256.
  private static let codeByteCount = 16

  let issued: Instant
  /// Grows with each nonce of a server.
  let serial: UInt64

  init(issued: Instant, serial: UInt64) {
    self.issued = issued
    self.serial = serial
  }

  /// - Returns: `nil` for a text that was not made with this key and realm.
  init?(_ text: String, key: Redacted<[UInt8]>, realm: String) {
    guard text.utf8.count == 2 * (16 + DigestNonce.codeByteCount), let bytes = Hexadecimal.bytes(text) else {
      return nil
    }
    let issued = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let serial = bytes[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(issued: Instant(milliseconds: Int64(bitPattern: issued)), serial: serial)
    guard ConstantTime.equal(Array(bytes[16...]), code(key: key, realm: realm)) else { return nil }
  }

  func text(key: Redacted<[UInt8]>, realm: String) -> String {
    Hexadecimal.text(head + code(key: key, realm: realm))
  }

  private var head: [UInt8] {
    [UInt64(bitPattern: issued.milliseconds), serial].flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
    }
  }

  private func code(key: Redacted<[UInt8]>, realm: String) -> [UInt8] {
    Array(HMAC.sha256(key: key.exposed).code(of: head + Array(realm.utf8)).prefix(DigestNonce.codeByteCount))
  }
}
