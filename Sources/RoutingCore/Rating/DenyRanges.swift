public import CallModel

/// Prefixes that nobody may call, with the reason: looked at before any price.
public struct DenyRanges: Hashable, Sendable {
  public static let maximumRanges = 1_000_000

  private let keys: [UInt64]
  private let reasons: [DestinationBlock]
  /// Bit n is set when a prefix of n digits is there.
  private let lengths: UInt16

  /// Nothing is denied.
  public static let none = DenyRanges(keys: [], reasons: [], lengths: 0)

  private init(keys: [UInt64], reasons: [DestinationBlock], lengths: UInt16) {
    self.keys = keys
    self.reasons = reasons
    self.lengths = lengths
  }

  /// - Throws: ``InvalidValue`` with rules `deny.count` and `deny.duplicate`.
  public init(_ ranges: some Collection<(prefix: NumberDigits, reason: DestinationBlock)>) throws(InvalidValue) {
    guard ranges.count <= DenyRanges.maximumRanges else {
      throw InvalidValue(
        kind: "deny ranges", rule: "deny.count", offset: nil, problem: "\(ranges.count) prefixes",
        accepted: "at most \(DenyRanges.maximumRanges) prefixes")
    }
    let sorted = ranges.sorted { $0.prefix < $1.prefix }
    for (earlier, later) in zip(sorted, sorted.dropFirst()) where earlier.prefix == later.prefix {
      throw InvalidValue(
        kind: "deny ranges", rule: "deny.duplicate", offset: nil, problem: "the prefix \(later.prefix) is there twice",
        accepted: "each prefix once")
    }
    self.init(
      keys: sorted.map(\.prefix.key), reasons: sorted.map(\.reason),
      lengths: sorted.reduce(0) { $0 | 1 << UInt16($1.prefix.count) })
  }

  public var count: Int { keys.count }

  /// The longest denied prefix of `number`.
  public func match(_ number: NumberDigits) -> (prefix: NumberDigits, reason: DestinationBlock)? {
    for length in stride(from: number.count, through: 1, by: -1) where lengths & 1 << UInt16(length) != 0 {
      guard let prefix = number.prefix(length) else { continue }
      var low = 0
      var high = keys.count
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < prefix.key { low = middle + 1 } else { high = middle }
      }
      if low < keys.count, keys[low] == prefix.key { return (prefix, reasons[low]) }
    }
    return nil
  }
}
