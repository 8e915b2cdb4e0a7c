/// A key, as the far end pressed it.
public struct DigitPressed: Hashable, Sendable {
  /// How it was heard.
  public enum Way: String, Hashable, Sendable {
    /// RFC 4733 events.
    case event
    /// Two tones in the sound.
    case tone
  }
  /// 0 to 15: the digits, then `*`, `#`, A to D (RFC 4733 section 3.2).
  public let code: Int
  /// How long the key was held; of a tone an estimate.
  public let milliseconds: Int
  /// By events or by tones.
  public let way: Way

  /// Nothing is checked; a `code` outside 0 to 15 has the ``character`` `?`.
  public init(code: Int, milliseconds: Int, way: Way) {
    self.code = code
    self.milliseconds = milliseconds
    self.way = way
  }

  /// `0` to `9`, `*`, `#`, `A` to `D`; `?` for a code outside 0 to 15.
  public var character: Character {
    let keys = Array("0123456789*#ABCD")
    return keys.indices.contains(code) ? keys[code] : "?"
  }
}
