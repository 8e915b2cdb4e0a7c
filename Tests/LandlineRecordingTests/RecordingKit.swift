import CallEngine
import CallModel
import Foundation
import LandlineRecording
import Logging
import PeerKit
import Synchronization

/// Rows of recordings in memory; the first of its answers are failures, where a test wants that.
final class MemoryRows: RecordingStore {
  struct Away: Error {}

  private struct State {
    var rows: [RecordingID: Recording] = [:]
    var kept: [Recording] = []
    var failures = 0
    var isHeld = false
  }

  private let state = Mutex(State())

  init(_ rows: [Recording] = [], failures: Int = 0) {
    state.withLock { state in
      for row in rows { state.rows[row.id] = row }
      state.failures = failures
    }
  }

  var rows: [Recording] { state.withLock { $0.rows.values.sorted { $0.id < $1.id } } }
  /// Every row in the order in which it came.
  var kept: [Recording] { state.withLock { $0.kept } }

  /// Whether the rows of beginnings wait.
  var isHeld: Bool {
    get { state.withLock { $0.isHeld } }
    set { state.withLock { $0.isHeld = newValue } }
  }

  func keep(_ recording: Recording) async throws {
    if recording.state == .running {
      _ = try await Deadline(seconds: 20).first("leave to keep a row") { isHeld ? nil : true }
    }
    try state.withLock { state in
      guard state.failures == 0 else {
        state.failures -= 1
        throw Away()
      }
      state.rows[recording.id] = recording
      state.kept.append(recording)
    }
  }

  func recording(_ id: RecordingID, environment: String) async throws -> Recording? {
    state.withLock { $0.rows[id] }.flatMap { $0.environment == environment ? $0 : nil }
  }

  func recordings(_ query: RecordingQuery) async throws -> [Recording] {
    let all = state.withLock { $0.rows.values.sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) } }
    var found = all.filter {
      $0.environment == query.environment && (query.state ?? $0.state) == $0.state
        && $0.startedAt < query.before ?? .distantFuture
    }
    if let after = query.after {
      guard let last = all.first(where: { $0.id == after }) else { return [] }
      found = found.filter { ($0.startedAt, $0.id) < (last.startedAt, last.id) }
    }
    return Array(found.prefix(query.limit))
  }

  func removeRecording(_ id: RecordingID, environment: String) async throws -> Bool {
    state.withLock { $0.rows.removeValue(forKey: id) != nil }
  }
}

/// Lines of a log.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }

  var log: Logger {
    Logger(label: "recordings") { [lines = self] _ in Handler(lines: lines) }
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
  }
}

/// Ends of recordings as the archive told them.
final class Ends: Sendable {
  private let told = Mutex<[Recording]>([])
  var all: [Recording] { told.withLock { $0 } }
  func add(_ recording: Recording) { told.withLock { $0.append(recording) } }

  /// The end of a recording, once it is told.
  func of(_ id: RecordingID) async throws -> Recording {
    try await Deadline(seconds: 20).first("end of \(id)") { all.first { $0.id == id } }
  }
}

/// An archive in a folder of its own.
struct Archive {
  static let environment = "production"
  static let startedAt = Instant(seconds: 1_795_000_000)

  let folder: TemporaryFolder
  let rows: MemoryRows
  let lines = Lines()
  let ends = Ends()
  let archive: RecordingArchive

  /// - Parameter folder: of an earlier life; `nil`: a new one.
  init(
    _ folder: TemporaryFolder? = nil, rows: MemoryRows = MemoryRows(), disk: RecordingDisk = RecordingDisk(),
    keyFile: String? = nil, environment: String = Archive.environment,
    _ change: (inout RecordingArchive.Limits) -> Void = { _ in }
  ) throws {
    let folder = try folder ?? TemporaryFolder("recordings")
    self.folder = folder
    self.rows = rows
    var limits = RecordingArchive.Limits()
    limits.leastFreeBytes = 0
    change(&limits)
    archive = try RecordingArchive(
      folder: Self.path(folder), keyFile: keyFile, environment: environment, limits: limits, store: rows,
      log: lines.log, disk: disk, pauses: [.milliseconds(1), .milliseconds(1)])
  }

  static func path(_ folder: TemporaryFolder) -> String { folder.url.appendingPathComponent("sound").path }

  func file(_ id: String) -> URL { URL(fileURLWithPath: "\(Self.path(folder))/\(id).sealed") }

  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: Self.path(folder))) ?? []).filter { $0.hasSuffix(".sealed") }
      .sorted()
  }

  /// A copy of the folder as it lies on the disk now: what a process leaves that is killed.
  func copy() throws -> TemporaryFolder {
    let copy = try TemporaryFolder("recordings")
    try FileManager.default.copyItem(atPath: Self.path(folder), toPath: Self.path(copy))
    return copy
  }

  func begin(
    _ id: String, _ format: RecordingFormat = .wav, at: Instant = Archive.startedAt
  ) -> Result<RecordingWriter, RecordingRefusal> {
    archive.begin(Self.recording(id, format, at: at)) { [ends] in ends.add($0) }
  }

  /// Of a call: two channels.
  static func recording(_ id: String, _ format: RecordingFormat = .wav, at: Instant = Archive.startedAt) -> Recording {
    Recording(
      id: RecordingID(unchecked: id), subject: .call(CallID(unchecked: "call-1")), environment: environment,
      account: AccountName(unchecked: "anna"), format: format, startedAt: at)
  }

  func ended(_ id: String) async throws -> Recording { try await ends.of(RecordingID(unchecked: id)) }

  /// All bytes of a recording as it is handed out.
  func whole(_ recording: Recording) throws -> [UInt8] {
    let reader = try archive.reader(of: recording)
    let bytes = try reader.read(from: 0, count: Int(reader.byteCount))
    guard bytes.count == Int(reader.byteCount) else { throw PeerFailure("\(bytes.count) of \(reader.byteCount) bytes") }
    return bytes
  }
}

/// Two tones, one on each side, from a moment on.
func stereo(milliseconds: Int, from start: Int = 0) -> [UInt8] {
  (start * 16..<(start + milliseconds) * 16).flatMap { frame in
    [440.0, 660.0].flatMap { pitch -> [UInt8] in
      let value = Int16(8000 * sin(2 * .pi * pitch * Double(frame) / 16_000))
      return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
  }
}

/// Bytes as an expectation compares them: what it says of two that differ is short.
struct Sound: Equatable, CustomStringConvertible {
  private let bytes: [UInt8]
  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  var description: String { "\(bytes.count) bytes, hash \(bytes.hashValue)" }
}

extension Sound: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
