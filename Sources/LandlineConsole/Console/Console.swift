package import CallModel
import LedgerCore

/// One run of one command: the way from a parsed command line to printed bytes and an exit status.
package struct Console: Sendable {
  package let settings: ConsoleSettings
  package let environment: ConsoleEnvironment
  let found = FoundPlaces()

  package init(settings: ConsoleSettings, environment: ConsoleEnvironment) {
    self.settings = settings
    self.environment = environment
  }

  /// Runs a command and prints what it answers or how it failed.
  package func run(_ body: (Console) async throws -> Answer) async -> ExitStatus {
    do {
      let answer = try await body(self)
      try present(answer)
      return answer.status
    } catch {
      let failure = ConsoleError(any: error, path: knownDatabasePath)
      if failure.status != .outputClosed { report(failure) }
      return failure.status
    }
  }
}

// MARK: - Surroundings

extension Console {
  /// - Throws: ``ConsoleError`` when `LANDLINE_NOW` is no instant.
  func clock() throws -> WallClock {
    guard let text = environment.value("LANDLINE_NOW") else { return WallClock() }
    do throws(InvalidValue) {
      return WallClock(fixed: try InstantText.parse(text))
    } catch {
      throw ConsoleError(error, in: "LANDLINE_NOW")
    }
  }

  package func now() throws -> Instant { try clock().now() }

  /// The zone of `--tz`.
  func zone() throws -> CivilZone { try zone(orElse: .utc) }

  func zone(orElse other: CivilZone) throws -> CivilZone {
    guard let name = settings.timeZone else { return other }
    do throws(InvalidValue) { return try CivilZone(name) } catch { throw ConsoleError(error, in: "--tz") }
  }

  /// Who is at the keyboard, for the record.
  var actor: String { "cli:\(environment.value("USER") ?? environment.value("LOGNAME") ?? "unknown")" }

  var isColored: Bool {
    switch settings.color {
    case .always: true
    case .never: false
    case .auto:
      environment.standardOutputIsTerminal && environment.value("NO_COLOR") == nil
        && environment.value("TERM") != "dumb"
    }
  }

  func table() throws -> TableText {
    TableText(zone: try zone(), isHuman: settings.isHuman, isColored: isColored && settings.format == .table)
  }
}

// MARK: - Printing

extension Console {
  private func present(_ answer: Answer) throws {
    for note in answer.notes { try TextStream.standardError.write(VisibleText.lines(note) + "\n") }
    if answer.isStreamed { return }
    switch settings.format {
    case .table: try presentTable(answer)
    case .json:
      var members = answer.members
      if let head = answer.asOf { members.append(("as_of", head.json)) }
      try TextStream.standardOutput.write(JSONValue.members(members).line + "\n")
    case .ndjson:
      try TextStream.standardOutput.write(answer.records.json.map { $0.line + "\n" }.joined())
      try noteHead(answer)
    case .csv:
      try TextStream.standardOutput.write(CSVText.text(answer.records))
      try noteHead(answer)
    }
  }

  /// Records stand alone on standard output; what state they tell of is a diagnostic.
  private func noteHead(_ answer: Answer) throws {
    if let head = answer.asOf { try TextStream.standardError.write(head.line + "\n") }
  }

  private func presentTable(_ answer: Answer) throws {
    let table = try table()
    var text = ""
    for block in answer.blocks {
      switch block {
      case .listing(let listing): text += table.text(listing)
      case .record(let listing): text += table.text(record: listing)
      case .line(let line): text += VisibleText.lines(line) + "\n"
      }
    }
    if let head = answer.asOf { text += head.line + "\n" }
    let lines = text.utf8.count { $0 == UInt8(ascii: "\n") }
    if environment.standardOutputIsTerminal, environment.screenLines > 0, lines >= environment.screenLines,
      Pager.show(text, environment: environment)
    {
      return
    }
    try TextStream.standardOutput.write(text)
  }

  /// Tells of a failure on standard error. A closed standard error leaves nothing to be done.
  package func report(_ failure: ConsoleError) {
    var failure = failure
    // What was just done does not help when it is done again.
    if let fix = failure.fix, fix == "\(environment.program) " + environment.commandLine.joined(separator: " ") {
      failure.fix = nil
    }
    let text =
      settings.format == .json || settings.format == .ndjson
      ? failure.json.line : VisibleText.lines(failure.text(from: environment.program))
    try? TextStream.standardError.write(text + "\n")
  }

  /// A remark that is no result.
  package func remark(_ name: String, _ value: String) throws {
    let isJSON = settings.format == .json || settings.format == .ndjson
    try TextStream.standardError.write(
      (isJSON ? JSONValue.members([(name, .string(value))]).line : VisibleText.lines("\(name): \(value)")) + "\n")
  }
}
