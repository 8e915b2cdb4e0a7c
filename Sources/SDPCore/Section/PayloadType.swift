/// The seven bits that name a format in an RTP header (RFC 3550 section 5.1).
public struct PayloadType: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The most that seven bits can say.
  public static let maximum = 127
  /// Free for formats that no table numbers (RFC 3551 section 6).
  public static let dynamic = 96...127

  /// 0 to 127.
  public let number: Int

  /// `nil` above 127 or below 0.
  public init?(_ number: Int) {
    guard (0...PayloadType.maximum).contains(number) else { return nil }
    self.number = number
  }

  /// Reads a format of an `m=` line: one to three digits.
  public init?(_ text: String) {
    guard let number = SessionDescriptionLine.number(text.utf8, upTo: PayloadType.maximum) else { return nil }
    self.number = number
  }

  /// Looks like RTCP on a port that carries both (RFC 5761 section 4).
  public var isMistakenForRTCP: Bool { (64...95).contains(number) }

  /// The number alone: `96`.
  public var description: String { String(number) }
  /// By number.
  public static func < (left: PayloadType, right: PayloadType) -> Bool { left.number < right.number }
}
