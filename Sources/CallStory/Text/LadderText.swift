/// The ladder of a call drawn with plain characters.
struct LadderText {
  /// Columns of the time, and before the first line of a party.
  private static let timeColumns = 10
  /// Columns between two parties: too few to draw, and no need for more.
  private static let spacings = 18...36

  let lanes: [CallStory.Lane]
  let rows: [CallStory.Row]
  let width: Int

  var lines: [String] {
    guard !rows.isEmpty else { return [] }
    let gaps = max(1, lanes.count - 1)
    let spacing = min((width - LadderText.timeColumns - 3) / gaps, LadderText.spacings.upperBound)
    guard lanes.count > 1, spacing >= LadderText.spacings.lowerBound else { return list }
    return drawing(spacing)
  }

  // MARK: Drawing

  private func drawing(_ spacing: Int) -> [String] {
    let places = lanes.indices.map { LadderText.timeColumns + 2 + $0 * spacing }
    var canvas = Canvas(width: width)
    for (index, lane) in lanes.enumerated() {
      // The last name must end where the page does.
      let title = PlainText.shortened(PlainText.line(lane.title), columns: spacing - 2)
      canvas.write(
        title, at: max(0, min(places[index] - PlainText.columns(title) / 2, width - PlainText.columns(title))))
    }
    var lines = [canvas.text]
    for row in rows {
      canvas = Canvas(width: width)
      canvas.write(LadderText.mark(row), at: 0)
      canvas.write(LadderText.time(row.microseconds, columns: LadderText.timeColumns - 1), at: 1)
      for place in places { canvas.write("|", at: place) }
      let from = lanes.firstIndex { $0.id == row.from }
      let to = lanes.firstIndex { $0.id == row.to }
      let label = PlainText.line(row.label) + (row.isRepeated ? " (again)" : "")
      switch (from, to) {
      case (let from?, let to?) where from != to: arrow(places[from], places[to], label, on: &canvas)
      case (let lane?, _), (_, let lane?): beside(places[lane], label, on: &canvas)
      case (nil, nil): beside(places[0], label, on: &canvas)
      }
      lines.append(canvas.text)
    }
    return lines
  }

  /// `|-- INVITE (SDP) ---->|`
  private func arrow(_ from: Int, _ to: Int, _ label: String, on canvas: inout Canvas) {
    let (left, right) = (min(from, to), max(from, to))
    canvas.write(String(repeating: "-", count: right - left - 1), at: left + 1)
    canvas.write(from < to ? ">" : "<", at: from < to ? right - 1 : left + 1)
    canvas.write(" \(PlainText.shortened(label, columns: right - left - 7)) ", at: left + 3)
  }

  /// `| * first sound`, on the side where there is more room.
  private func beside(_ place: Int, _ label: String, on canvas: inout Canvas) {
    let text = "* " + label
    let right = width - place - 3
    let left = place - LadderText.timeColumns - 2
    if PlainText.columns(text) <= right || right >= left {
      canvas.write(PlainText.shortened(text, columns: max(2, right)) + " ", at: place + 2)
    } else {
      let shown = PlainText.shortened(text, columns: max(2, left - 1))
      canvas.write(" \(shown) ", at: place - 2 - PlainText.columns(shown))
    }
  }

  // MARK: List

  /// Where there are too many parties for the width.
  private var list: [String] {
    rows.flatMap { row in
      let label = PlainText.line(row.label) + (row.isRepeated ? " (again)" : "")
      let way = row.from == row.to ? title(row.from) : "\(title(row.from)) -> \(title(row.to))"
      let start = "\(LadderText.mark(row))\(LadderText.time(row.microseconds, columns: LadderText.timeColumns - 1))  "
      return PlainText.folded("\(start)\(way): \(label)", width: width, indent: 0)
    }
  }

  private func title(_ id: String) -> String {
    guard let lane = lanes.first(where: { $0.id == id }) else { return PlainText.line(id) }
    let isAlone = lanes.count { $0.title == lane.title } == 1
    return PlainText.line(lane.title) + (isAlone ? "" : " [\(lane.id)]")
  }

  // MARK: Parts

  private static func mark(_ row: CallStory.Row) -> String { row.isFailure ? "!" : " " }

  /// Seconds with three decimals, on the right.
  static func time(_ microseconds: Int64, columns: Int) -> String {
    let milliseconds = max(0, microseconds) / 1000
    let fraction = String(milliseconds % 1000)
    let text = "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)"
    return String(repeating: " ", count: max(0, columns - text.utf8.count)) + text
  }
}

/// One line of a drawing.
private struct Canvas {
  /// A character for each column; empty where a wide one reaches over.
  private var cells: [String]

  init(width: Int) { cells = Array(repeating: " ", count: width) }

  /// Writes over what is there; what does not fit is left out.
  mutating func write(_ text: String, at start: Int) {
    var place = start
    for scalar in text.unicodeScalars {
      let columns = PlainText.columns(scalar)
      guard place >= 0, place + columns <= cells.count else { return }
      if columns == 0 {
        if place > 0 { cells[place - 1].unicodeScalars.append(scalar) }
        continue
      }
      cells[place] = String(scalar)
      for other in place + 1..<place + columns { cells[other] = "" }
      place += columns
    }
  }

  var text: String { PlainText.trimmedEnd(cells.joined()) }
}
