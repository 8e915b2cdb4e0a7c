/// What ``BalanceBench`` measured.
public struct BalanceBenchReport: BenchReport, Hashable {
  /// Entries in the ledger, as asked for.
  public let postings: Int
  /// The ledger's main file, without its write-ahead log.
  public let fileBytes: Int64
  /// Seconds to make the ledger; 0 when it was there already.
  public let buildSeconds: Double
  /// As it was run, path first.
  public let command: [String]
  /// Runs that were timed.
  public let rounds: Int
  /// From the start of the process to its end.
  public let milliseconds: Spread

  /// One figure a line; times in milliseconds.
  public var table: String {
    var table = BenchTable(["balance, \(postings) postings", "value"])
    table.append(["ledger, MiB", BenchTable.number(Double(fileBytes) / 1_048_576, decimals: 1)])
    table.append(["building it, s", BenchTable.number(buildSeconds, decimals: 1)])
    table.append(["whole process, median ms", BenchTable.number(milliseconds.median, decimals: 1)])
    table.append(["whole process, lowest ms", BenchTable.number(milliseconds.lowest, decimals: 1)])
    table.append(["whole process, highest ms", BenchTable.number(milliseconds.highest, decimals: 1)])
    return table.text
  }
}
