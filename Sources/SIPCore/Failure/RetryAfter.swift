public import CallModel

/// The Retry-After header (RFC 3261 section 20.33): when another try may succeed.
public struct RetryAfter: Hashable, Sendable {
  /// Most bytes of the field value.
  public static let maximumBytes = 1024
  /// The longest wait taken at its word; a longer one counts as this. RFC 3261 lets a number be up to 2³² − 1.
  public static let maximumSeconds = 86_400
  /// How deep comments may nest.
  public static let maximumCommentDepth = 8
  /// Most parameters.
  public static let maximumParameters = 16

  /// Seconds from now, 0 to ``maximumSeconds``.
  public let seconds: Int
  /// For how many seconds after that the called party will be there, at most ``maximumSeconds``; `nil` when not said.
  public let durationSeconds: Int?
  /// What the other side added for people, cut at `CallFailure.maximumTextBytes`.
  public let comment: String?

  /// Brings both times into 0 to ``maximumSeconds`` and shortens the comment.
  public init(seconds: Int, durationSeconds: Int? = nil, comment: String? = nil) {
    self.seconds = min(max(seconds, 0), RetryAfter.maximumSeconds)
    self.durationSeconds = durationSeconds.map { min(max($0, 0), RetryAfter.maximumSeconds) }
    self.comment = comment.map(CallFailure.shortened)
  }

  /// Reads the field value, unfolded, without the header's name.
  /// - Throws: `InvalidValue` with rules `retryAfter.long`, `retryAfter.seconds`, `retryAfter.comment`,
  ///   `retryAfter.parameter`, `retryAfter.repeated`, `retryAfter.many`, `retryAfter.duration`, `retryAfter.quote`,
  ///   `retryAfter.character`, `retryAfter.end`.
  public init(parsing value: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      value, kind: "Retry-After header", rule: "retryAfter",
      accepted: "seconds, then a comment and a duration where needed, such as 120 (in a meeting);duration=3600",
      maximumBytes: RetryAfter.maximumBytes)
    reader.skipSpace()
    let start = reader.offset
    guard let seconds = reader.number(through: Int(UInt32.max)) else {
      throw reader.invalid("seconds", "a number of seconds up to \(UInt32.max) comes first", at: start)
    }
    reader.skipSpace()
    let comment = try RetryAfter.comment(&reader)
    var duration: Int?
    var names: Set<String> = []
    while true {
      let place = reader.offset
      guard let (name, value) = try reader.parameter() else { break }
      guard names.count < RetryAfter.maximumParameters else {
        throw reader.invalid("many", "more than \(RetryAfter.maximumParameters) parameters", at: place)
      }
      guard names.insert(name.lowercased()).inserted else {
        throw reader.invalid("repeated", "the same parameter stands twice", at: place)
      }
      guard name.lowercased() == "duration" else { continue }
      guard let number = value.flatMap({ FieldValueReader.number($0, through: Int(UInt32.max)) }) else {
        throw reader.invalid("duration", "the duration is no number of seconds up to \(UInt32.max)", at: place)
      }
      duration = number
    }
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after the value") }
    self.init(seconds: seconds, durationSeconds: duration, comment: comment)
  }

  /// A comment without its outer brackets, if one is next.
  private static func comment(_ reader: inout FieldValueReader) throws(InvalidValue) -> String? {
    let start = reader.offset
    guard reader.consume("(") else { return nil }
    var depth = 1
    var text: [UInt8] = []
    while let byte = reader.next {
      guard byte != 0, byte != 0x0A, byte != 0x0D else {
        throw reader.invalid("character", "\(reader.nextName) is not allowed in a comment")
      }
      reader.advance()
      switch byte {
      case UInt8(ascii: "("):
        depth += 1
        guard depth <= maximumCommentDepth else {
          throw reader.invalid("comment", "comments nest deeper than \(maximumCommentDepth)", at: start)
        }
      case UInt8(ascii: ")"):
        depth -= 1
        if depth == 0 { return String(decoding: text, as: UTF8.self) }
      case UInt8(ascii: "\\"):
        guard let escaped = reader.next, escaped < 0x80, escaped != 0x0A, escaped != 0x0D else {
          throw reader.invalid("comment", "\(reader.nextName) cannot be escaped")
        }
        text.append(escaped)
        reader.advance()
        continue
      default: break
      }
      text.append(byte)
    }
    throw reader.invalid("comment", "the comment has no end", at: start)
  }
}
