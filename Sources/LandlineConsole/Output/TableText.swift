import CallModel

/// Rows as aligned columns for people.
struct TableText {
  var zone: CivilZone
  /// Amounts rounded to the decimals of their currency.
  var isHuman: Bool
  var isColored: Bool

  /// A column wider than this many characters is not padded to.
  static let widestPadding = 60

  func text(_ listing: Listing) -> String {
    let shown = listing.columns.indices.filter { listing.columns[$0].audience != .machines }
    let cells = listing.rows.map { row in shown.map { text(row[$0]) } }
    let titles = shown.map { title($0, listing) }
    let widths = shown.indices.map { place in
      min(
        TableText.widestPadding,
        max(titles[place].count, cells.map { $0[place].count }.max() ?? 0))
    }
    func line(_ fields: [String]) -> String {
      var line = ""
      for (place, field) in fields.enumerated() {
        if place > 0 { line += "  " }
        let padding = String(repeating: " ", count: max(0, widths[place] - field.count))
        line += listing.columns[shown[place]].isRightAligned ? padding + field : field + padding
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    let header = isColored ? "\u{1B}[1m\(line(titles))\u{1B}[0m" : line(titles)
    return ([header] + cells.map(line)).map { $0 + "\n" }.joined()
  }

  /// One row as lines of `title  value`.
  func text(record listing: Listing) -> String {
    guard let row = listing.rows.first else { return "" }
    let shown = listing.columns.indices.filter { listing.columns[$0].audience != .machines }
    let titles = shown.map { title($0, listing) }
    let width = titles.map(\.count).max() ?? 0
    return zip(titles, shown).map { title, place in
      let padded = title + String(repeating: " ", count: width - title.count)
      let label = isColored ? "\u{1B}[1m\(padded)\u{1B}[0m" : padded
      let value = text(row[place])
      return value.isEmpty ? "\(label)  -\n" : "\(label)  \(value)\n"
    }.joined()
  }

  /// The title of a column of times names their zone.
  private func title(_ place: Int, _ listing: Listing) -> String {
    let hasTimes = listing.rows.contains { if case .instant = $0[place] { true } else { false } }
    return hasTimes ? "\(listing.columns[place].title) (\(zone))" : listing.columns[place].title
  }

  func text(_ cell: Cell) -> String {
    switch cell {
    case .instant(let instant): time(instant)
    case .amount(let amount): text(amount)
    case .signed(let amount): amount.micros > 0 ? "+" + text(amount) : text(amount)
    case .reserved(let amount): "(\(text(amount)))"
    case .flag(let value): value ? "yes" : "no"
    // Notes and names come from outside: none of them moves the cursor or turns the line round.
    default: VisibleText.line(cell.plain)
    }
  }

  func text(_ amount: Credits) -> String {
    guard isHuman else { return amount.decimal }
    // Half away from zero; for eyes only.
    let decimals = amount.currency.decimals
    let unit = (decimals..<MicroUnits.scale).reduce(UInt64(1)) { unit, _ in unit * 10 }
    let units = Int64((amount.micros.count.magnitude + unit / 2) / unit)
    return DecimalText.format(amount.micros < .zero ? -units : units, scale: decimals)
  }

  /// `2026-11-21 05:30:04.118` on the clocks of the zone.
  func time(_ instant: Instant) -> String {
    let local = instant.advanced(byMilliseconds: zone.offsetSeconds(at: instant) * 1000).description
    return local.dropLast().split(separator: "T").joined(separator: " ")
  }

  /// `10,412`.
  static func grouped(_ value: Int64) -> String {
    var digits = Array(String(value.magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }
}
