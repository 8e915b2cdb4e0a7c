internal import CallModel

/// Ranges of numbers that cost more than the country or network where they lie: premium rate, shared cost, universal
/// access, pagers, voicemail, satellites, networks of no country. They are derived from the number plans of every country,
/// and nobody calls them at the price of a shorter prefix: an operator names the range, or a deck has a price for it.
public struct SpecialRateRanges: Sendable {
  /// A prefix that such numbers begin with.
  public struct Range: Hashable, Sendable {
    /// With the country code, without `+`.
    public let prefix: NumberDigits
    /// What makes numbers of this range dear.
    public let reason: DestinationBlock
    /// Bit n is set where ordinary numbers of n digits begin so as well, as +353 15 does for Dublin.
    let ordinaryLengths: UInt16

    /// Digits, with the country code, of ordinary numbers that begin so.
    public var ordinaryDigits: [Int] { (1...15).filter { ordinaryLengths & 1 << UInt16($0) != 0 } }
  }

  /// Sorted by prefix.
  public let ranges: [Range]
  private let table: PrefixTable<Range>

  /// The plans of the release.
  public static let shipped = SpecialRateRanges(SpecialRateTable.text)
  /// Where the shipped ranges come from, and the day on which they were derived.
  public static let source = "\(SpecialRateTable.source), \(SpecialRateTable.date)"

  /// Rows of the shipped table, whether or not each could be read.
  package static let rowCount = SpecialRateTable.text.split(separator: "\n").count

  /// - Parameter table: a row for each prefix, as ``SpecialRateTable`` describes it. A row that is none is left out: a test
  ///   reads the shipped ones.
  init(_ table: String) {
    ranges = table.split(separator: "\n").compactMap(Range.init).sorted { $0.prefix < $1.prefix }
    self.table = PrefixTable(sorted: ranges.map { (prefix: $0.prefix, value: $0) })
  }

  /// The range in which `number` is a dear one.
  public func match(_ number: NumberDigits) -> Range? {
    if let exchange = SpecialRateRanges.payPerCallExchange(of: number) { return exchange }
    guard let range = table.longestMatch(of: number)?.value else { return nil }
    return range.ordinaryLengths & 1 << UInt16(number.count) == 0 ? range : nil
  }
}

extension SpecialRateRanges {
  /// The exchange 976 of the North American plan, which is pay-per-call in every area (NANPA, special use of exchanges).
  private static func payPerCallExchange(of number: NumberDigits) -> Range? {
    guard number.count == 11, let prefix = number.prefix(7) else { return nil }
    let digits = prefix.description
    guard digits.hasPrefix("1"), digits.hasSuffix("976") else { return nil }
    return Range(prefix: prefix, reason: .premium, ordinaryLengths: 0)
  }
}

extension SpecialRateRanges.Range {
  init?(row: Substring) {
    let parts = row.split(separator: " ")
    guard parts.count == 2 || parts.count == 3, let prefix = try? NumberDigits(parts[0]),
      let reason = DestinationBlock(rawValue: String(parts[1]))
    else { return nil }
    var lengths: UInt16 = 0
    if parts.count == 3 {
      for part in parts[2].split(separator: ",") {
        // A plan may have numbers that are longer than E.164 lets them be: nobody can call those.
        guard let length = UInt16(part) else { return nil }
        if length <= 15 { lengths |= 1 << length }
      }
    }
    self.init(prefix: prefix, reason: reason, ordinaryLengths: lengths)
  }
}
