public import CallModel

/// Prefixes that nobody may call, with the reason, and prefixes that may be called whatever the number plan says of them:
/// looked at before any price. The longest prefix of a number decides.
public struct DenyRanges: Hashable, Sendable {
  /// More prefixes than this are refused.
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

    /// Reads ``name`` back; `nil` for anything else.
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

  private let table: PrefixTable<Ruling>

  /// Nothing is decided.
  public static let none = DenyRanges(table: PrefixTable(sorted: []))

  private init(table: PrefixTable<Ruling>) { self.table = table }

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
    self.init(table: PrefixTable(sorted: sorted.map { (prefix: $0.prefix, value: $0.ruling) }))
  }

  /// How many prefixes something is decided for.
  public var count: Int { table.count }

  /// What the longest prefix of `number` that is here says.
  public func match(_ number: NumberDigits) -> (prefix: NumberDigits, ruling: Ruling)? {
    table.longestMatch(of: number).map { ($0.prefix, $0.value) }
  }
}
