import CallModel
import Foundation
import LedgerCore

/// A journal in one file a month, and `index.journal` that includes them all.
struct JournalDirectory {
  static let indexName = "index.journal"

  let path: String

  init(_ path: String) throws {
    self.path = path
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw ConsoleError(
        .notPermitted, code: "permission", "the directory cannot be made: \(error.localizedDescription)", at: path)
    }
  }

  /// - Returns: the names of the files written, the index last.
  func write(
    _ journal: HledgerJournal, account: LedgerAccount?, zone: CivilZone, head: LedgerHead, now: Instant
  ) throws -> [String] {
    var journal = journal
    let months = try journal.months()
    var names: [String] = []
    for (index, month) in months.enumerated() {
      let name = "\(month.description.dropLast(3)).journal"
      let isLast = index + 1 == months.count
      var period = Period(month: month, zone: zone)
      // The first file starts at the beginning and the last one ends in the present: nothing falls between.
      if index == 0 { period.from = nil }
      if isLast { period.to = nil }
      try replace(name) { out in
        try journal.write(
          HledgerJournal.Part(from: period.from, to: period.to, account: account, isFollowed: !isLast), now: now,
          to: out)
      }
      names.append(name)
    }
    try replace(JournalDirectory.indexName) { out in
      try out("; landline export index\n; as of seq \(head.seq)  \(head.at)\n; head \(head.fullHash)\n\n")
      for name in names { try out("include \(name)\n") }
    }
    return names + [JournalDirectory.indexName]
  }

  /// Writes beside the file and renames: a reader sees the old file or the new one, never half of it.
  private func replace(_ name: String, _ body: ((String) throws -> Void) throws -> Void) throws {
    let target = "\(path)/\(name)"
    let draft = "\(target).part"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw failure(draft) }
    var isOpen = true
    defer { if isOpen { Foundation.close(descriptor) } }
    try BufferedText.write(to: TextStream(descriptor: descriptor), body)
    guard fsync(descriptor) == 0 else { throw failure(draft) }
    isOpen = false
    guard Foundation.close(descriptor) == 0, rename(draft, target) == 0 else { throw failure(target) }
  }

  private func failure(_ file: String) -> ConsoleError {
    ConsoleError(
      errno == EACCES || errno == EROFS ? .notPermitted : .failed, code: "output",
      "the file cannot be written: \(String(cString: strerror(errno)))", at: file)
  }
}
