import CallModel

/// Live calls as they change: a table that is drawn again on a terminal, one line for each change anywhere else.
struct CallBoard {
  /// Titles with the least width of their columns.
  private static let columns = [
    ("id", 26), ("state", 9), ("to", 16), ("who", 12), ("trunk", 8), ("codec", 9), ("MOS", 4), ("answered", 8),
    ("held", 11),
  ]

  private let table: TableText
  /// Lines of the terminal; 0 where lines are only appended.
  private let screenLines: Int
  private var live: [(id: String, line: String)] = []
  /// Lines that the next drawing takes back.
  private var drawn = 0
  private var hasTitle = false

  init(table: TableText, screenLines: Int) {
    self.table = table
    self.screenLines = screenLines
  }

  /// What is written when nothing has come yet.
  mutating func begin() -> String { redraws ? draw() : title() }

  /// What is written for a change.
  mutating func changed(_ call: JSONObject) -> String {
    let line = line(call)
    guard redraws else { return title() + line + "\n" }
    let id = call["id"]?.text ?? ""
    let isOver = call["state"]?.text == CallState.ended.rawValue
    if let place = live.firstIndex(where: { $0.id == id }) {
      if isOver { live.remove(at: place) } else { live[place].line = line }
    } else if !isOver {
      live.append((id, line))
    }
    // What is over stays above, for whoever scrolls back.
    return isOver ? clearDrawing() + line + "\n" + draw() : draw()
  }

  private var redraws: Bool { screenLines > 2 }

  private mutating func title() -> String {
    if hasTitle { return "" }
    hasTitle = true
    return heading + "\n"
  }

  private var heading: String {
    let line = CallBoard.padded(CallBoard.columns.map(\.0))
    return table.isColored ? "\u{1B}[1m\(line)\u{1B}[0m" : line
  }

  /// Moves to where the last drawing began and clears from there.
  private mutating func clearDrawing() -> String {
    defer { drawn = 0 }
    return drawn > 0 ? "\u{1B}[\(drawn)A\u{1B}[J" : ""
  }

  private mutating func draw() -> String {
    let room = screenLines - 2
    var lines = [heading] + live.prefix(room).map(\.line)
    if live.count > room {
      lines[lines.count - 1] = "and \(live.count - room + 1) more"
    } else if live.isEmpty {
      lines.append("no call is up")
    }
    let text = clearDrawing() + lines.map { $0 + "\n" }.joined()
    drawn = lines.count
    return text
  }

  private func line(_ call: JSONObject) -> String {
    func text(_ name: String) -> String { call[name]?.text.map { VisibleText.line(CallFailure.shortened($0)) } ?? "" }
    let state = CallState(rawValue: text("state"))
    let shown =
      switch state {
      case .established: "talking"
      case .ended: call["failure"]?.objectValue == nil ? "over" : "failed"
      case .initiating, .progressing, .ringing, .answered, nil: text("state")
      }
    let answered = call["answered_at"]?.text.flatMap { try? InstantText.parse($0) }
    let clock = answered.map { String(table.time($0).dropFirst(11).prefix(8)) } ?? ""
    let mos = call["quality"]?["received"]?.objectValue.flatMap { received in
      received["packets"]?.text == "0" ? nil : received["mos"]?.text.flatMap(Double.init)
    }
    let who = [text("user"), text("application"), text("account")].first { !$0.isEmpty } ?? ""
    let codecs = [text("near_codec"), text("far_codec")].filter { !$0.isEmpty }
    let currency = try? Currency(text("currency"))
    let held = Int64(text("held_micro")).flatMap { micros in
      currency.flatMap { try? Credits(micros: MicroUnits(micros), $0) }
    }
    return CallBoard.padded([
      text("id"), shown, text("destination"), who, text("trunk"), codecs.joined(separator: "/"),
      mos.map { CallLadder.rounded($0, 2) } ?? "", clock, held.map { $0.micros == .zero ? "" : $0.readable } ?? "",
    ])
  }

  private static func padded(_ fields: [String]) -> String {
    var line = ""
    for (field, column) in zip(fields, columns) {
      line += (line.isEmpty ? "" : "  ") + field + String(repeating: " ", count: max(0, column.1 - field.count))
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
