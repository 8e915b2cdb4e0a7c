import CallModel
import Foundation
import LedgerCore
import LedgerSQLite
import RoutingCore

/// Rate decks.
extension Console {
  package struct DeckImport: Sendable {
    package var file: String
    /// `nil` for the file's own name.
    package var name: String?
    /// `nil` for today's date.
    package var version: String?
    package var currency: String?
    package var zone: String
    package var timeClasses: String?
    /// From when the version shall price calls; `nil` leaves it inactive.
    package var activeFrom: String?
    package var isDryRun: Bool

    package init(
      file: String, name: String?, version: String?, currency: String?, zone: String, timeClasses: String?,
      activeFrom: String?, isDryRun: Bool
    ) {
      self.file = file
      self.name = name
      self.version = version
      self.currency = currency
      self.zone = zone
      self.timeClasses = timeClasses
      self.activeFrom = activeFrom
      self.isDryRun = isDryRun
    }
  }

  /// Reads a deck from CSV, all of it or nothing.
  package func deckImport(_ request: DeckImport) async throws -> Answer {
    let now = try now()
    let zone = try Arguments.value("--zone") { () throws(InvalidValue) in try CivilZone(request.zone) }
    let classes = try request.timeClasses.map { text in
      try Arguments.value("--time-classes") { () throws(InvalidValue) in try TimeClasses(parsing: text, zone: zone) }
    }
    let from = try request.activeFrom.map { text in
      try Arguments.value("--activate-from") { () throws(InvalidValue) in
        try InstantText.parse(text, now: now, zone: zone)
      }
    }
    let currency = try request.currency.map { try Arguments.currency($0) }
    let name = try request.name ?? Console.deckName(ofFile: request.file)
    let version = request.version ?? "\(zone.date(at: now))"
    try checkLabel(name, "--name")
    try checkLabel(version, "--version")
    let settings = try DeckSettings(
      name: name, version: version, currency: currency, zone: zone, timeClasses: classes)
    let deck = try readDeck(request.file, settings)
    let listing = Listing(
      [
        Column("deck"), Column("version"), Column("currency"), Column("rows", .number),
        Column("active_from", title: "active from"),
      ],
      rows: [
        [
          .text(deck.name), .text(deck.version), .text("\(deck.currency)"), .integer(Int64(deck.rows.count)),
          .instant(optional: from),
        ]
      ])
    if request.isDryRun, try !exists(databasePath()) { return dryRun(listing) }
    return try rates(writable: true, create: true) { store in
      if request.isDryRun {
        if try store.decks().contains(where: { $0.label == deck.label }) {
          throw RateStoreRefusal.deckExists(deck.label)
        }
        return dryRun(listing)
      }
      try store.removeUnfinishedImports(at: now)
      let total = deck.rows.count
      try store.store(deck, at: now) { done in
        if environment.canAsk, done < total { try TextStream.standardError.write("\r\(done) of \(total) rows") }
      }
      if environment.canAsk, total > SQLiteRateStore.importBatch { try TextStream.standardError.write("\r\u{1B}[K") }
      if let from { try store.activate(deck.name, version: deck.version, from: from) }
      var answer = Answer(row: listing)
      if from == nil, self.settings.format == .table {
        answer.notes.append("next: landline deck activate \(deck.label)")
      }
      return answer
    }
  }

  /// `retail-eu` out of `rates/retail-eu.csv`.
  private static func deckName(ofFile file: String) throws -> String {
    guard file != "-" else {
      throw ConsoleError.usage(
        "deck.name", "a deck from standard input needs a name", at: "--name", fix: "--name retail-eu")
    }
    return URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
  }

  /// Bytes read from a file at a time.
  private static let readBytes = 1 << 20

  private func readDeck(_ file: String, _ settings: DeckSettings) throws -> RateDeck {
    let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY)
    guard descriptor >= 0 else {
      let status: ExitStatus = errno == EACCES ? .notPermitted : errno == ENOENT ? .notFound : .failed
      throw ConsoleError(
        status, code: "file", "the file cannot be read: \(String(cString: strerror(errno)))", at: file)
    }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var reader = DeckReader(settings: settings)
    var buffer = [UInt8](repeating: 0, count: Console.readBytes)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EISDIR {
          throw ConsoleError.usage(
            "file.directory", "a directory is no deck", at: file, fix: "a CSV file, or - for standard input")
        }
        throw ConsoleError(
          .failed, code: "file", "the file cannot be read: \(String(cString: strerror(errno)))", at: file)
      }
      if count == 0 { break }
      buffer.withUnsafeBytes { reader.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    do throws(DeckRefusal) {
      return try reader.finish()
    } catch {
      let count = error.total == 1 ? "1 fault" : "\(TableText.grouped(Int64(error.total))) faults"
      var failure = ConsoleError.usage(
        error.errors.first?.rule ?? "deck", "the deck has \(count), and nothing of it was stored", at: file)
      failure.details = error.errors.map {
        "\(file):\($0.line):\($0.column) \($0.columnName): \($0.problem) (\($0.rule)); accepted: \($0.accepted)"
      }
      if error.total > error.errors.count { failure.details.append("and \(error.total - error.errors.count) more") }
      throw failure
    }
  }

  package func deckList() async throws -> Answer {
    let now = try now()
    let decks = try rates { try $0.decks() }
    // Of the versions that have begun, the latest prices calls.
    var current: [String: StoredDeck] = [:]
    for deck in decks {
      guard let from = deck.activeFrom, from <= now else { continue }
      if let other = current[deck.name]?.activeFrom, other > from { continue }
      current[deck.name] = deck
    }
    return Answer(
      "decks",
      Listing(
        [
          Column("deck"), Column("version"), Column("currency"), Column("rows", .number), Column("zone"),
          Column("state"), Column("active_from", title: "active from"), Column("imported_at", title: "imported"),
          Column("time_classes", for: .machines),
        ],
        rows: decks.map { deck in
          let state =
            current[deck.name]?.label == deck.label
            ? "active" : deck.activeFrom.map { $0 > now ? "scheduled" : "superseded" } ?? "inactive"
          return [
            .text(deck.name), .text(deck.version), .text("\(deck.currency)"), .integer(Int64(deck.prices)),
            .text(deck.zone), .text(state), .instant(optional: deck.activeFrom), .instant(deck.importedAt),
            .text(deck.timeClasses),
          ]
        }))
  }

  package func deckActivate(_ label: String, from: String?, isDryRun: Bool) async throws -> Answer {
    let now = try now()
    let (name, named) = try deckLabel(label)
    // Without a version, the one that was imported last is meant.
    let version =
      try named
      ?? rates { store in
        guard let newest = try store.decks().last(where: { $0.name == name }) else {
          throw RateStoreRefusal.unknownDeck(name)
        }
        return newest.version
      }
    let zone = try zone()
    let from =
      try from.map { text in
        try Arguments.value("--from") { () throws(InvalidValue) in try InstantText.parse(text, now: now, zone: zone) }
      } ?? now
    let listing = Listing(
      [Column("deck"), Column("version"), Column("active_from", title: "active from")],
      rows: [[.text(name), .text(version), .instant(from)]])
    return try rates(writable: true) { store in
      _ = try store.deck(name, version: version, at: now)
      if isDryRun { return dryRun(listing) }
      try store.activate(name, version: version, from: from)
      return Answer(row: listing)
    }
  }

  /// The deck as canonical CSV on standard output.
  package func deckExport(_ label: String) async throws -> Answer {
    let now = try now()
    let (name, version) = try deckLabel(label)
    let deck = try rates { try $0.load(name, version: version, at: now) }
    for chunk in DeckWriter(deck) {
      try TextStream.standardOutput.write(String(decoding: chunk, as: UTF8.self))
    }
    return .streamed(notes: [deck.label])
  }

  /// A deck's name or version: what `NAME@VERSION` and `DECK=1.15` can be taken apart into again.
  private func checkLabel(_ text: String, _ argument: String) throws {
    do throws(InvalidValue) {
      _ = try RequestKey(validating: text)
    } catch {
      throw ConsoleError(
        InvalidValue(
          kind: "deck label", rule: error.rule, offset: error.offset, problem: error.problem,
          accepted: "1 to 64 letters, digits and . _ - +, starting with a letter or a digit"), in: argument)
    }
    guard !text.contains("@") else {
      throw ConsoleError.usage(
        "name.character", "deck label: '@' cannot stand here", at: argument,
        fix: "1 to 64 letters, digits and . _ - +, starting with a letter or a digit")
    }
  }

  /// `NAME@VERSION`, or `NAME` for the version that is active.
  func deckLabel(_ label: String) throws -> (name: String, version: String?) {
    guard let sign = label.lastIndex(of: "@"), sign != label.startIndex else { return (label, nil) }
    return (String(label[..<sign]), String(label[label.index(after: sign)...]))
  }
}
