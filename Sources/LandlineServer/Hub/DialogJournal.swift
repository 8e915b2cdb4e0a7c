package import CallModel
import Foundation
package import Logging
package import SIPCore

/// The legs to trunks that are up or being set up, on disk: a process that dies says BYE to nobody, so the next one does.
/// Written as it happens and not flushed, as the death of a process loses nothing that was written; after a power cut the
/// peers' session timers (RFC 4028) have to do.
///
/// Used on one event loop only.
package final class DialogJournal {
  /// Legs that are kept; more are not, and the log says so once.
  package static let maximumLegs = 20_000
  /// Bytes at which the file is written anew with what is live; it grows to twice of that at most.
  package static let compactionBytes = 4 * 1024 * 1024
  /// Legs that are older have ended by themselves.
  package static let maximumAgeMilliseconds: Int64 = 24 * 3_600_000

  private let path: String
  private let log: Logger
  private var descriptor: Int32
  private var size: Int
  private var compactsAt = DialogJournal.compactionBytes
  private var legs: [String: JournaledLeg] = [:]
  private var callIDs: [CallHandle: String] = [:]
  private var hasFailed = false
  private var isFull = false
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

  /// A leg is about to be called.
  package func begin(_ handle: CallHandle, callID: String, trunk: String, at now: Instant) {
    guard legs.count < Self.maximumLegs else {
      if !isFull { log.warning("the journal of dialogs is full", metadata: ["legs": "\(legs.count)"]) }
      isFull = true
      return
    }
    isFull = false
    callIDs[handle] = callID
    legs[callID] = JournaledLeg(callID: callID, trunk: trunk, startedAt: now)
  }

  /// A leg of an earlier life is about to be ended.
  package func adopt(_ handle: CallHandle, callID: String) { callIDs[handle] = callID }

  /// A message of some dialog went out.
  package func sent(_ message: [UInt8], callID: String, on path: SIPPath) {
    guard let leg = legs[callID], leg.answer.isEmpty, message.starts(with: Self.invite),
      let head = AbandonedLeg.head(of: message)
    else { return }
    legs[callID]?.path = path
    legs[callID]?.invite = head
    if let leg = legs[callID] { append(leg.inviteRecord) }
  }

  /// A message of some dialog came.
  package func received(_ message: [UInt8], callID: String) {
    guard let leg = legs[callID], !leg.invite.isEmpty, leg.answer.isEmpty, message.starts(with: Self.success),
      let head = AbandonedLeg.head(of: message), Self.answersInvite(head)
    else { return }
    legs[callID]?.answer = head
    if let leg = legs[callID] { append(leg.answerRecord) }
  }

  /// The leg has its end: its peer was told.
  /// - Returns: SIP's Call-ID, where the leg was kept.
  @discardableResult
  package func ended(_ handle: CallHandle) -> String? {
    guard let callID = callIDs.removeValue(forKey: handle) else { return nil }
    let leg = legs.removeValue(forKey: callID)
    if legs.isEmpty {
      truncate()
    } else if let leg, !leg.invite.isEmpty {
      append(leg.endRecord)
    }
    return callID
  }

  package func close() {
    guard descriptor >= 0 else { return }
    Foundation.close(descriptor)
    descriptor = -1
  }

  private static let invite = Array("INVITE ".utf8)
  private static let success = Array("SIP/2.0 2".utf8)

  private static func answersInvite(_ head: [UInt8]) -> Bool {
    let text = String(decoding: head, as: UTF8.self).lowercased()
    guard let start = text.range(of: "\r\ncseq") else { return false }
    let line = text[start.upperBound...].prefix { $0 != "\r\n" }
    return line.hasSuffix("invite") || line.hasSuffix("invite ")
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
