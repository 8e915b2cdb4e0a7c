import CallModel

/// Writes a deck as canonical CSV, chunk by chunk: the columns of ``DeckColumn`` in their canonical order, rows in the
/// deck's order, rates a minute, instants in UTC, defaults left empty, lines ended by LF.
///
/// A ``DeckReader`` with the same settings reads it back equal.
public struct DeckWriter: Sequence, IteratorProtocol, Sendable {
  /// A chunk ends with the row that reaches this size.
  public static let chunkBytes = 65_536

  private let deck: RateDeck
  private let currency: [UInt8]
  private var position = 0
  private var hasHeader = false

  /// Nothing is written before the first ``next()``; the first chunk begins with the header line.
  public init(_ deck: RateDeck) {
    self.deck = deck
    currency = Array(deck.currency.description.utf8)
  }

  /// Rows written so far.
  public var rowCount: Int { position }

  /// The next chunk; `nil` after the last row.
  public mutating func next() -> [UInt8]? {
    guard !hasHeader || position < deck.entries.count else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(DeckWriter.chunkBytes + 1024)
    if !hasHeader {
      hasHeader = true
      output.append(contentsOf: DeckColumn.written.map(\.rawValue).joined(separator: ",").utf8)
      output.append(0x0A)
    }
    while output.count < DeckWriter.chunkBytes, position < deck.entries.count {
      write(deck.entries[position], to: &output)
      position += 1
    }
    return output
  }

  private func write(_ entry: RateDeck.Entry, to output: inout [UInt8]) {
    let comma = UInt8(ascii: ",")
    let terms = deck.terms[Int(entry.terms)]
    let prefix = NumberDigits(key: entry.key)
    DeckWriter.append(prefix.value, width: prefix.count, to: &output)
    output.append(comma)
    appendName(entry.name, to: &output)
    output.append(comma)
    output.append(contentsOf: currency)
    output.append(comma)
    DeckWriter.append(price: terms.ratePerMinute, to: &output)
    output.append(contentsOf: ",60,".utf8)
    DeckWriter.append(price: terms.fee, to: &output)
    for seconds in [terms.initial, terms.increment, terms.grace] {
      output.append(comma)
      DeckWriter.append(UInt64(seconds), width: 1, to: &output)
    }
    output.append(comma)
    DeckWriter.append(price: terms.minimumCharge, to: &output)
    output.append(comma)
    DeckWriter.append(UInt64(terms.freeSeconds), width: 1, to: &output)
    output.append(comma)
    if terms.effectiveFrom != .min { output.append(contentsOf: DeckWriter.text(terms.effectiveFrom).utf8) }
    output.append(comma)
    if terms.effectiveUntil != .max { output.append(contentsOf: DeckWriter.text(terms.effectiveUntil).utf8) }
    output.append(comma)
    if terms.timeClass != 0 { output.append(contentsOf: deck.timeClasses.names[Int(terms.timeClass)].utf8) }
    output.append(comma)
    DeckWriter.append(UInt64(terms.fromSecond), width: 1, to: &output)
    output.append(comma)
    DeckWriter.append(UInt64(terms.maximumSeconds), width: 1, to: &output)
    output.append(comma)
    if let maximumCost = terms.maximumCost { DeckWriter.append(price: maximumCost, to: &output) }
    output.append(comma)
    var isFirst = true
    for (flag, text) in RateFlags.texts where terms.flags.contains(flag) {
      if !isFirst { output.append(0x20) }
      output.append(contentsOf: text.utf8)
      isFirst = false
    }
    output.append(0x0A)
  }

  private static func text(_ milliseconds: Int64) -> String { Instant(milliseconds: milliseconds).description }

  private func appendName(_ name: UInt32, to output: inout [UInt8]) {
    let range = deck.names.range(name)
    let bytes = deck.names.bytes[range]
    let quote = UInt8(ascii: "\"")
    let needsQuotes =
      bytes.first == 0x20 || bytes.last == 0x20
      || bytes.contains { $0 == quote || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
    guard needsQuotes else {
      output.append(contentsOf: bytes)
      return
    }
    output.append(quote)
    for byte in bytes {
      if byte == quote { output.append(quote) }
      output.append(byte)
    }
    output.append(quote)
  }

  /// At least `width` digits.
  private static func append(_ value: UInt64, width: Int, to output: inout [UInt8]) {
    var digits = 1
    while digits < 16, value >= NumberDigits.powersOfTen[digits] { digits += 1 }
    for place in (0..<Swift.max(digits, width)).reversed() where place < 16 {
      output.append(UInt8(ascii: "0") + UInt8(value / NumberDigits.powersOfTen[place] % 10))
    }
  }

  /// Without zeros at the end of the decimals.
  private static func append(price: NanoUnits, to output: inout [UInt8]) {
    let units = UInt64(price.count) / 1_000_000_000
    var rest = UInt64(price.count) % 1_000_000_000
    append(units, width: 1, to: &output)
    guard rest > 0 else { return }
    var width = 9
    while rest % 10 == 0 {
      rest /= 10
      width -= 1
    }
    output.append(UInt8(ascii: "."))
    append(rest, width: width, to: &output)
  }
}
