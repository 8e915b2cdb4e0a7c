package import CallModel

/// One value of a report, before it is a text of any format.
package enum Cell: Hashable, Sendable {
  case absent
  case text(String)
  case integer(Int64)
  case flag(Bool)
  case instant(Instant)
  /// Money: full scale in tables, a decimal text and whole micro-units in JSON.
  case amount(Credits)
  /// The same with its sign always shown.
  case signed(Credits)
  /// Money that is reserved but has not moved: in brackets.
  case reserved(Credits)
  /// Nano-units a minute.
  case rate(NanoUnits)
  case list([String])

  package static func text(optional value: String?) -> Cell { value.map { .text($0) } ?? .absent }
  static func instant(optional value: Instant?) -> Cell { value.map { .instant($0) } ?? .absent }
  package static func integer(optional value: Int64?) -> Cell { value.map { .integer($0) } ?? .absent }
  static func rate(optional value: NanoUnits?) -> Cell { value.map { .rate($0) } ?? .absent }
}

/// A column of a report: its stable name in machine formats and its title in tables.
package struct Column: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case text, number, amount, rate
  }

  /// Where a column is shown.
  package enum Audience: Hashable, Sendable {
    case everyone, people, machines
  }

  package var name: String
  package var title: String
  package var kind: Kind
  package var audience: Audience

  package init(_ name: String, title: String? = nil, _ kind: Kind = .text, for audience: Audience = .everyone) {
    self.name = name
    self.title = title ?? name
    self.kind = kind
    self.audience = audience
  }

  var isRightAligned: Bool { kind != .text }
}

/// Rows of one report.
package struct Listing: Hashable, Sendable {
  package var columns: [Column]
  package var rows: [[Cell]]

  package init(_ columns: [Column], rows: [[Cell]] = []) {
    self.columns = columns
    self.rows = rows
  }
}

extension Listing {
  /// Each row as a JSON object of the columns for machines.
  var json: [JSONValue] { rows.map { .members(members(of: $0)) } }

  func members(of row: [Cell]) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    for (column, cell) in zip(columns, row) where column.audience != .people {
      switch (column.kind, cell) {
      case (.amount, .amount(let value)), (.amount, .signed(let value)), (.amount, .reserved(let value)):
        members.append((column.name, .string(value.decimal)))
        members.append((column.name + "_micro", .integer(value.micros.count)))
      case (.amount, _):
        members.append((column.name, .null))
        members.append((column.name + "_micro", .null))
      case (.rate, .rate(let value)):
        members.append((column.name, .string(value.decimal)))
        members.append((column.name + "_nano", .integer(value.count)))
      case (.rate, _):
        members.append((column.name, .null))
        members.append((column.name + "_nano", .null))
      default: members.append((column.name, cell.json))
      }
    }
    return members
  }
}

extension Cell {
  var json: JSONValue {
    switch self {
    case .absent: .null
    case .text(let value): .string(value)
    case .integer(let value): .integer(value)
    case .flag(let value): .boolean(value)
    case .instant(let value): .string("\(value)")
    case .amount(let value), .signed(let value), .reserved(let value): .string(value.decimal)
    case .rate(let value): .string(value.decimal)
    case .list(let values): .array(values.map { .string($0) })
    }
  }

  /// Without quoting: the field of a CSV line.
  var plain: String {
    switch self {
    case .absent: ""
    case .text(let value): value
    case .integer(let value): String(value)
    case .flag(let value): value ? "true" : "false"
    case .instant(let value): "\(value)"
    case .amount(let value), .signed(let value), .reserved(let value): value.decimal
    case .rate(let value): value.decimal
    case .list(let values): values.joined(separator: " ")
    }
  }
}
