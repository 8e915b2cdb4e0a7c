import CallModel

/// What every command that changes something accepts.
package struct WriteOptions: Sendable {
  /// `--key`: makes the command repeatable.
  package var key: String?
  package var isDryRun: Bool
  /// `--yes`: no question before something that cannot be undone.
  package var isConfirmed: Bool

  package init(key: String? = nil, isDryRun: Bool = false, isConfirmed: Bool = false) {
    self.key = key
    self.isDryRun = isDryRun
    self.isConfirmed = isConfirmed
  }

  /// The given key, or a new one.
  func requestKey() throws -> (key: RequestKey, isGenerated: Bool) {
    if let key { return (try Arguments.name(key, "--key"), false) }
    return (RequestKey(unchecked: WriteOptions.newKey()), true)
  }

  /// 80 random bits in base 32 (RFC 4648 alphabet, lower case).
  static func newKey() -> String {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    var generator = SystemRandomNumberGenerator()
    let letters = (0..<16).map { _ in alphabet[Int(generator.next(upperBound: UInt64(32)))] }
    return "cli-" + String(decoding: letters, as: UTF8.self)
  }
}
