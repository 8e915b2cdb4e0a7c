/// Comma-separated values (RFC 4180), lines ended by CRLF.
enum CSVText {
  static func header(_ listing: Listing) -> String {
    line(listing.columns.filter { $0.audience != .people }.map(\.name))
  }

  static func row(_ row: [Cell], of listing: Listing) -> String {
    line(zip(listing.columns, row).filter { $0.0.audience != .people }.map(\.1.plain))
  }

  static func text(_ listing: Listing) -> String {
    header(listing) + listing.rows.map { row($0, of: listing) }.joined()
  }

  static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") + "\r\n" }

  private static func quoted(_ field: String) -> String {
    let needsQuotes = field.utf8.contains {
      $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
    }
    guard needsQuotes else { return field }
    return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
