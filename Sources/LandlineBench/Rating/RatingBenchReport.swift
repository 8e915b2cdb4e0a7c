/// What ``RatingBench`` measured.
public struct RatingBenchReport: BenchReport, Hashable {
  /// Rows of the deck that was made up, all with different prefixes.
  public let prefixes: Int
  /// The deck as the CSV file that was imported.
  public let csvBytes: Int
  /// From the first byte of the file to the checked deck.
  public let importSeconds: Double
  /// The same in processor time of the whole process.
  public let importCpuSeconds: Double
  /// How far the process's memory rose while importing, the file itself left out; `nil` where the kernel does not say.
  public let importPeakBytes: Int64?
  /// The deck without an index: rows, names, terms and tariffs.
  public let deckBytes: Int
  /// Time on the clock to make the imported deck ready for lookups.
  public let indexMilliseconds: Double
  /// Deck and index together: what a gateway keeps.
  public let indexBytes: Int
  /// Numbers looked up in each round.
  public let lookups: Int
  /// CPU time of the longest prefix of one number.
  public let lookupNanoseconds: Spread
  /// The same with the price of a call.
  public let priceNanoseconds: Spread
  /// The bare search in C over the same prefixes.
  public let floorNanoseconds: Spread
  /// The bare search's time divided by ours.
  public let ratio: Spread

  /// By the clock; 0 for an import of no length.
  public var importRowsPerSecond: Double { importSeconds > 0 ? Double(prefixes) / importSeconds : 0 }

  /// Of deck and index together.
  public var bytesPerPrefix: Double { Double(indexBytes) / Double(max(prefixes, 1)) }

  /// One figure a line; those of several rounds as median and range.
  public var table: String {
    func number(_ value: Double, _ decimals: Int) -> String { BenchTable.number(value, decimals: decimals) }
    func mebibytes(_ bytes: Int64?) -> String { bytes.map { number(Double($0) / 1_048_576, 1) } ?? "unknown" }
    var table = BenchTable(["rating, \(prefixes) prefixes", "value"])
    table.append(["import, s", number(importSeconds, 3)])
    table.append(["import, CPU s", number(importCpuSeconds, 3)])
    table.append(["import, rows/s", number(importRowsPerSecond, 0)])
    table.append(["import, peak memory, MiB", mebibytes(importPeakBytes)])
    table.append(["deck, MiB", mebibytes(Int64(deckBytes))])
    table.append(["index build, ms", number(indexMilliseconds, 1)])
    table.append(["deck and index, MiB", mebibytes(Int64(indexBytes))])
    table.append(["deck and index, bytes/prefix", number(bytesPerPrefix, 1)])
    table.append(["lookup, ns", lookupNanoseconds.text(decimals: 1)])
    table.append(["lookup and price, ns", priceNanoseconds.text(decimals: 1)])
    table.append(["bare C search, ns", floorNanoseconds.text(decimals: 1)])
    table.append(["bare C search / lookup", ratio.text(decimals: 2)])
    return table.text
  }
}
