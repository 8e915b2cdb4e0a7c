import CallModel
import Foundation
import LedgerCore
import LedgerSpool
import RoutingCore

/// Prices, and the ledger's texts.
enum BookDoors {
  static let all = [
    FuzzDoor("deck", "a cut, then a rate deck", dictionary: "deck", maximumBytes: 8192, deck),
    FuzzDoor("time-classes", "windows of a week", dictionary: "deck", maximumBytes: 1024, classes),
    FuzzDoor("spool", "lines of a spool", dictionary: "json", maximumBytes: 4096, spool),
    FuzzDoor("ledger-outcome", "the stored outcome of a request", dictionary: "tariff", maximumBytes: 128, outcome),
    FuzzDoor("journal-text", "names and notes for a journal", dictionary: "log", maximumBytes: 512, journal),
  ]

  /// Pieces make the same deck, what is written reads back equal, and errors are bounded.
  private static func deck(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count > 2, let settings = try? DeckSettings(name: "fuzz", version: "1") else { return }
    let bytes = Array(input.dropFirst(2))
    let cut = (Int(input[0]) << 8 | Int(input[1])) % (bytes.count + 1)
    let whole = read([bytes], settings)
    let pieces = read([Array(bytes[..<cut]), Array(bytes[cut...])], settings)
    switch (whole, pieces) {
    case (.success(let deck), .success(let other)):
      let written = Array(DeckWriter(deck).joined())
      try promise(Array(DeckWriter(other).joined()) == written, "pieces make another deck")
      guard case .success(let again) = read([written], settings) else {
        throw BrokenPromise(description: "what was written is refused: \(SIPDoors.text(written))")
      }
      try promise(Array(DeckWriter(again).joined()) == written, "what was written is another deck")
    case (.failure(let refusal), .failure(let other)):
      try promise("\(refusal)" == "\(other)", "pieces have other errors")
    default: throw BrokenPromise(description: "pieces have another verdict")
    }
  }

  private static func read(_ pieces: [[UInt8]], _ settings: DeckSettings) -> Result<RateDeck, DeckRefusal> {
    var reader = DeckReader(settings: settings)
    for piece in pieces { piece.withUnsafeBytes { reader.feed($0) } }
    do throws(DeckRefusal) {
      return .success(try reader.finish())
    } catch {
      return .failure(error)
    }
  }

  private static func classes(_ input: [UInt8]) throws(BrokenPromise) {
    guard let classes = try? TimeClasses(parsing: String(decoding: input, as: UTF8.self), zone: .utc) else { return }
    let again = try promised(
      try? TimeClasses(parsing: classes.text, zone: .utc), "\(classes.text) is refused")
    try promise(again.text == classes.text, "\(again.text) for \(classes.text)")
  }

  /// A line that is read says the same when it is written, and a whole file is read or refused.
  private static func spool(_ input: [UInt8]) throws(BrokenPromise) {
    for line in input.split(separator: 0x0A).prefix(16) {
      guard let record = try? JSONDecoder().decode(SpoolRecord.self, from: Data(line)),
        let operation = try? record.operation()
      else { continue }
      let again = try promised(SpoolRecord(operation), "a spooled operation cannot be spooled")
      let back = try promised(try? again.operation(), "a spooled operation cannot be read")
      try promise(back == operation, "another operation")
    }
    let path = NSTemporaryDirectory() + "landline-fuzz-\(ProcessInfo.processInfo.processIdentifier).spool"
    defer { try? FileManager.default.removeItem(atPath: path) }
    guard FileManager.default.createFile(atPath: path, contents: Data(input)) else { return }
    let isGood = (try? LedgerSpool(path: path)) != nil
    // What was taken once is taken again: a torn line went the first time.
    try promise((try? LedgerSpool(path: path)) != nil || !isGood, "a spool that was good is not")
  }

  private static func outcome(_ input: [UInt8]) throws(BrokenPromise) {
    guard let outcome = LedgerOutcome(parsing: String(decoding: input, as: UTF8.self)) else { return }
    try promise(LedgerOutcome(parsing: outcome.text) == outcome, "\(outcome.text) is another outcome")
  }

  /// No name or note ends its line, its value or its tag.
  private static func journal(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    for written in [JournalText.description(text), JournalText.tagValue(text)] {
      try promise(!written.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control byte in \(written)")
      try promise(!written.utf8.contains(UInt8(ascii: ";")), "a comment in \(written)")
      try promise(written.utf8.count <= 3 * text.utf8.count, "\(written.utf8.count) bytes of \(text.utf8.count)")
    }
    try promise(!JournalText.description(text).utf8.contains(UInt8(ascii: "|")), "a payee's bar")
    try promise(!JournalText.tagValue(text).utf8.contains { ",:[]".utf8.contains($0) }, "a tag that ends early")
  }
}
