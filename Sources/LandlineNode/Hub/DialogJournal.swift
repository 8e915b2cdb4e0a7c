package import CallModel
import Foundation
package import Logging
package import NodeCore

/// The legs to trunks that are up or being set up, on disk: a process that dies says BYE to nobody, so the next one does.
/// Written as it happens and not flushed, as the death of a process loses nothing that was written; after a power cut the
/// peers' session timers (RFC 4028) have to do.
///
/// Used on one event loop only.
package final class DialogJournal {
  /// Bytes at which the file is written anew with what is live; it grows to twice of that at most.
  package static let compactionBytes = 4 * 1024 * 1024
  /// Bytes from which the file is emptied when no leg is live: to empty it costs more than to write to it.
  static let emptyingBytes = 64 * 1024
  /// Legs that are older have ended by themselves.
  package static let maximumAgeMilliseconds: Int64 = 24 * 3_600_000

  private let path: String
  private let log: Logger
  private var descriptor: Int32
  private var size: Int
  private var compactsAt = DialogJournal.compactionBytes
  private var legs: [String: JournaledLeg] = [:]
  private var hasFailed = false
  /// What an earlier life left, by SIP's Call-ID; until each is told to have ended they stay in the file.
  package private(set) var leftOver: [JournaledLeg]

  /// Opens the journal with what is in it. A part that a crash cut short is dropped.
  package init(path: String, at now: Instant, log: Logger) throws(InvalidValue) {
    self.path = path
    self.log = log
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw InvalidValue(
        kind: "dialog journal", rule: "journal.open", offset: nil,
        problem: "\(path) cannot be opened: \(String(cString: strerror(errno)))",
        accepted: "a file that the gateway may write")
    }
    // Foundation loses the memory that it takes to read an empty file.
    let isEmpty = lseek(descriptor, 0, SEEK_END) == 0
    let bytes = isEmpty ? [] : FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? []
    size = bytes.count
    legs = JournaledLeg.live(in: bytes)
      .filter { now.milliseconds - $0.value.startedAt.milliseconds < Self.maximumAgeMilliseconds }
    leftOver = legs.values.sorted { ($0.startedAt.milliseconds, $0.callID) < ($1.startedAt.milliseconds, $1.callID) }
    compact()
  }

  deinit { if descriptor >= 0 { Foundation.close(descriptor) } }

  /// Keeps what happened to a leg; ``DialogBook`` bounds how many there are.
  package func write(_ entry: JournalEntry) {
    switch entry {
    case .invite(let leg):
      legs[leg.callID] = leg
      append(leg.inviteRecord)
    case .answer(let callID, let head):
      legs[callID]?.answer = head
      if let leg = legs[callID] { append(leg.answerRecord) }
    case .end(let callID):
      guard let leg = legs.removeValue(forKey: callID) else { return }
      if legs.isEmpty, size >= Self.emptyingBytes { truncate() } else { append(leg.endRecord) }
    }
  }

  package func close() {
    guard descriptor >= 0 else { return }
    if legs.isEmpty { truncate() }
    Foundation.close(descriptor)
    descriptor = -1
  }

  // MARK: The file

  private func append(_ record: [UInt8]) {
    guard descriptor >= 0 else { return }
    guard JournalFile.write(record, to: descriptor) else { return fail("write") }
    size += record.count
    if size >= compactsAt { compact() }
  }

  private func truncate() {
    guard descriptor >= 0, size > 0 else { return }
    guard ftruncate(descriptor, 0) == 0 else { return fail("truncate") }
    size = 0
    compactsAt = Self.compactionBytes
  }

  /// Writes what is live beside the file and puts it in its place.
  private func compact() {
    guard !legs.isEmpty else { return truncate() }
    var bytes: [UInt8] = []
    for leg in legs.values where !leg.invite.isEmpty {
      bytes += leg.inviteRecord
      if !leg.answer.isEmpty { bytes += leg.answerRecord }
    }
    let fresh = path + ".new"
    let opened = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
    guard opened >= 0 else { return fail("open") }
    guard JournalFile.write(bytes, to: opened), rename(fresh, path) == 0 else {
      Foundation.close(opened)
      return fail("rewrite")
    }
    Foundation.close(descriptor)
    descriptor = opened
    size = bytes.count
    compactsAt = max(Self.compactionBytes, 2 * size)
  }

  /// Calls go on without it: what is lost is the BYE after a crash.
  private func fail(_ action: String) {
    compactsAt = max(Self.compactionBytes, 2 * size)
    guard !hasFailed else { return }
    hasFailed = true
    log.error(
      "the journal of dialogs cannot be kept: legs that are up now may not get a BYE after a crash",
      metadata: ["action": "\(action)", "path": "\(path)", "problem": "\(String(cString: strerror(errno)))"])
  }
}

private enum JournalFile {
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
      }
      guard written > 0 else {
        if written < 0, errno == EINTR { continue }
        return false
      }
      offset += written
    }
    return true
  }
}
