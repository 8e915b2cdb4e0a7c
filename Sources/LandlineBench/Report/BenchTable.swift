import Foundation

/// Rows of text in aligned columns: the first column to the left, figures to the right.
struct BenchTable {
  private let header: [String]
  private var rows: [[String]] = []

  init(_ header: [String]) { self.header = header }

  mutating func append(_ row: [String]) { rows.append(row) }

  var text: String {
    let all = [header] + rows
    let widths = header.indices.map { column in
      all.reduce(0) { max($0, column < $1.count ? $1[column].count : 0) }
    }
    return all.map { row in
      row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
        return column == 0 ? cell + padding : padding + cell
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  static func number(_ value: Double, decimals: Int) -> String {
    String(format: "%.\(decimals)f", value)
  }
}

/// What every report of a benchmark can be printed as.
public protocol BenchReport: Sendable, Encodable {
  /// Aligned columns for people; units are named in the headings.
  var table: String { get }
}

extension BenchReport {
  /// One object with stable names; times carry their unit in the name.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // A report holds finite numbers and texts alone, which always encode.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

/// Why a benchmark could not be run.
public struct BenchProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// For people: what is missing or went wrong, and the package to install where that helps.
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// Where a benchmark says what it is doing. Results never go here.
public typealias BenchProgress = @Sendable (String) -> Void
