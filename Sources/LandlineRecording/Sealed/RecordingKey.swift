public import CallModel
import LandlineDigest

/// A key of an environment, under which its recordings are sealed.
public struct RecordingKey: Hashable, Sendable {
  /// Bytes of a key.
  public static let byteCount = AES256GCM.keyBytes
  /// Bytes of ``mark``.
  static let markBytes = 8

  private let bytes: Redacted<[UInt8]>
  /// The first bytes of the key's SHA-256: says which key a file needs, and nothing else of it.
  let mark: [UInt8]

  /// - Returns: `nil` unless there are ``byteCount`` bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == RecordingKey.byteCount else { return nil }
    self.bytes = Redacted(bytes)
    let digest = bytes.withUnsafeBytes { MessageDigest.sha256().digest(of: $0) }
    mark = Array(digest.prefix(RecordingKey.markBytes))
  }

  /// The key of one file: every file has another, so that no nonce is used twice under one.
  func fileKey(salt: [UInt8]) -> [UInt8] {
    HMAC.sha256(key: bytes.exposed).code(of: Array("landline recording 1".utf8) + salt)
  }

  // MARK: Its text

  /// What a key file holds: a key in each line, 64 hexadecimal digits, the newest first. New recordings are sealed under the
  /// newest, and each is read under its own.
  /// - Throws: ``InvalidValue`` with rule `recording.key`. It does not quote the text.
  public static func keys(_ text: String) throws(InvalidValue) -> [RecordingKey] {
    var keys: [RecordingKey] = []
    for (number, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let digits = line.filter { ![0x20, 0x09, 0x0D].contains($0) }
      guard !digits.isEmpty else { continue }
      guard let key = key(digits), keys.count < maximumKeys else {
        throw refusal("line \(number + 1) is no key, or one too many")
      }
      keys.append(key)
    }
    guard !keys.isEmpty else { throw refusal("there is no key in it") }
    return keys
  }

  /// Keys of one file at most.
  public static let maximumKeys = 16

  /// The text of a key, for a file of its owner alone.
  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func refusal(_ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "recording key", rule: "recording.key", offset: nil, problem: problem,
      accepted:
        "a file of its owner alone (mode 0600) with 64 hexadecimal digits in a line, as from `openssl rand -hex 32`")
  }

  private static func key(_ digits: [UInt8]) -> RecordingKey? {
    guard digits.count == 2 * byteCount else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[place]), let low = value(digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return RecordingKey(bytes)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
