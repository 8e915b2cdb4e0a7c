public import CallModel

/// Prefixes that nobody may call, with the reason, and prefixes that may be called whatever the number plan says of them:
/// looked at before any price. The longest prefix of a number decides.
public struct DenyRanges: Hashable, Sendable {
  public static let maximumRanges = 1_000_000

  /// What is decided for a prefix.
  public enum Ruling: Hashable, Sendable {
    case denied(DestinationBlock)
    /// Ordinary, although the number plan says that it is dear.
    case allowed

    /// The reason of what is denied, or `allowed`.
    public var name: String {
      switch self {
      case .denied(let reason): reason.rawValue
      case .allowed: "allowed"
      }
    }

    public init?(name: String) {
      if name == Ruling.allowed.name {
        self = .allowed
      } else if let reason = DestinationBlock(rawValue: name) {
        self = .denied(reason)
      } else {
        return nil
      }
    }
  }

  private let keys: [UInt64]
  private let rulings: [Ruling]
  /// Bit n is set when a prefix of n digits is there.
  private let lengths: UInt16

  /// Nothing is decided.
  public static let none = DenyRanges(keys: [], rulings: [], lengths: 0)

  private init(keys: [UInt64], rulings: [Ruling], lengths: UInt16) {
    self.keys = keys
    self.rulings = rulings
    self.lengths = lengths
  }

  /// - Throws: ``InvalidValue`` with rules `deny.count` and `deny.duplicate`.
  public init(_ ranges: some Collection<(prefix: NumberDigits, ruling: Ruling)>) throws(InvalidValue) {
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
      keys: sorted.map(\.prefix.key), rulings: sorted.map(\.ruling),
      lengths: sorted.reduce(0) { $0 | 1 << UInt16($1.prefix.count) })
  }

  public var count: Int { keys.count }

  /// What the longest prefix of `number` that is here says.
  public func match(_ number: NumberDigits) -> (prefix: NumberDigits, ruling: Ruling)? {
    for length in stride(from: number.count, through: 1, by: -1) where lengths & 1 << UInt16(length) != 0 {
      guard let prefix = number.prefix(length) else { continue }
      let place = keys.partitioningIndex(where: { $0 >= prefix.key })
      if place < keys.count, keys[place] == prefix.key { return (prefix, rulings[place]) }
    }
    return nil
  }
}

extension [UInt64] {
  /// The first place of a sorted list where `predicate` holds.
  func partitioningIndex(where predicate: (UInt64) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
