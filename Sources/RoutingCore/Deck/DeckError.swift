/// One fault of a deck: where it is, which rule it breaks and what would have been accepted.
public struct DeckError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Line of the file, from 1; the number of the row where there is no file.
  public let line: Int
  /// Character of the line where the fault starts, from 1.
  public let column: Int
  /// Canonical name of the column, such as `rate`; the header's own text where it is not known.
  public let columnName: String
  /// Stable dotted name of the broken rule: `deck.prefix`, `amount.scale`, `tariff.increment`.
  public let rule: String
  /// What is wrong, without the place and the rule.
  public let problem: String
  /// What would have been right, with an example where one helps.
  public let accepted: String

  /// `line 3, column 9 (rate): more than 9 decimals (amount.scale); accepted: …`
  public var description: String {
    "line \(line), column \(column) (\(columnName)): \(problem) (\(rule)); accepted: \(accepted)"
  }
}

/// Why a deck was refused: all its faults, in the order of their lines, up to ``maximumErrors``.
public struct DeckRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// Faults that are listed; the rest are counted.
  public static let maximumErrors = 100

  /// In the order of lines and columns, at most ``maximumErrors``; ``total`` tells the rest.
  public let errors: [DeckError]
  /// How many faults there are, listed or not.
  public let total: Int

  /// One line a fault, then `and N more`.
  public var description: String {
    let lines = errors.map(\.description).joined(separator: "\n")
    return total > errors.count ? "\(lines)\nand \(total - errors.count) more" : lines
  }
}

/// Gathers faults up to the limit.
struct DeckErrorList: Sendable {
  private(set) var errors: [DeckError] = []
  private(set) var total = 0

  mutating func add(_ error: @autoclosure () -> DeckError) {
    total += 1
    if errors.count < DeckRefusal.maximumErrors { errors.append(error()) }
  }

  var refusal: DeckRefusal {
    DeckRefusal(
      errors: errors.sorted { ($0.line, $0.column) < ($1.line, $1.column) }, total: total)
  }
}
