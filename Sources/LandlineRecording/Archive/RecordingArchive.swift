public import CallEngine
public import CallModel
import Dispatch
public import Logging

/// The recordings of one environment: their sound in sealed files of one folder (``SealedFile``), what is known of each in a
/// store.
///
/// ```
/// event loop ── append ──▶ RecordingWriter ══▶ thread: encodes, seals, writes ══▶ folder/ID.sealed
///               (bounded)                        │ end: flush, row ──▶ store ──▶ ended
/// ```
/// Nobody who records ever waits: a recording whose sound the disk does not take ends. When a process is killed, about
/// the last second of each recording is lost.
public final class RecordingArchive: Sendable {
  /// How much may be recorded.
  public struct Limits: Hashable, Sendable {
    /// Most bytes of sound of one recording that wait for the disk; beyond, it ends as ``Recording/State/failed``.
    public static let maximumWaitingBytes = 4 << 20

    /// Of all recordings of the environment on the disk; where it is reached, those that run end as
    /// ``Recording/State/full``, each with up to a second more.
    public var maximumBytes: Int64 = 10 << 30
    /// After its start, a recording is removed; `nil`: never.
    public var retentionSeconds: Int64? = 90 * 86_400
    /// That stay free on the disk.
    public var leastFreeBytes: Int64 = 256 << 20
    /// Most recordings at the same time.
    public var maximumRunning = 200

    /// 10 GiB, 90 days, 256 MiB free, 200 at a time.
    public init() {}
  }

  /// How old a file without a row must be before it is removed: the row of one that has just begun may still come.
  static let orphanMilliseconds: Int64 = 86_400_000
  /// How often the thread looks for sound, and for room on the disk.
  static let tickMilliseconds = 250

  private let environment: String
  private let folder: RecordingFolder
  private let keys: [RecordingKey]
  private let limits: Limits
  public let store: any RecordingStore
  private let rows: RecordingRows
  private let thread: RecordingThread
  private let log: Logger

  /// Opens the folder, which is made where there is none, and starts the thread.
  /// - Parameters:
  ///   - folder: of this environment alone.
  ///   - keyFile: with the keys, see ``RecordingKey/keys(_:)``; `nil`: `recording.key` in the folder, which is made where there
  ///     is none.
  /// - Throws: ``InvalidValue`` with rules `recording.folder` and `recording.key`.
  public convenience init(
    folder: String, keyFile: String?, environment: String, limits: Limits, store: any RecordingStore, log: Logger
  ) throws(InvalidValue) {
    try self.init(
      folder: folder, keyFile: keyFile, environment: environment, limits: limits, store: store, log: log,
      disk: RecordingDisk())
  }

  /// - Parameters:
  ///   - disk: for tests of one that fails.
  ///   - pauses: between the tries of a store that is away.
  package init(
    folder path: String, keyFile: String?, environment: String, limits: Limits, store: any RecordingStore, log: Logger,
    disk: RecordingDisk, pauses: [Duration]? = nil
  ) throws(InvalidValue) {
    self.environment = environment
    self.limits = limits
    self.store = store
    self.log = log
    folder = try RecordingFolder(path: path, environment: environment)
    keys = try RecordingKeyFile.keys(path: keyFile, folder: folder, log: log)
    guard let newest = keys.first else { throw RecordingKey.refusal("there is no key in it") }
    rows = RecordingRows(store: store, log: log, pauses: pauses ?? RecordingRows.pauses)
    thread = RecordingThread(
      folder: folder, keys: keys, newest: newest, limits: limits, rows: rows, disk: disk,
      tickMilliseconds: Self.tickMilliseconds, log: log)
    thread.start()
  }

  deinit { thread.close {} }

  // MARK: Recording

  /// Begins a recording: its row is kept as running, and its file is made. Never waits for the disk.
  /// - Parameter ended: called once, on any thread, with the row as it was kept in the end. The sound is on the disk then.
  public func begin(
    _ recording: Recording, ended: @escaping @Sendable (Recording) -> Void
  ) -> Result<RecordingWriter, RecordingRefusal> {
    var recording = recording
    // What is kept under another environment nobody would find again.
    recording.environment = environment
    recording.state = .running
    recording.milliseconds = 0
    recording.bytes = 0
    return thread.begin(recording, ended: ended)
  }

  var refusal: RecordingRefusal? { thread.refusal }

  /// Bytes of all recordings on the disk, and how many run.
  public var usage: (bytes: Int64, running: Int) { thread.usage }

  /// Ends what runs as ``Recording/State/interrupted``. All of it is on the disk, kept and told when this returns; nothing can
  /// begin any more.
  public func close() async {
    await withCheckedContinuation { continuation in thread.close { continuation.resume() } }
  }

  // MARK: What is there

  /// The file of a recording. One that runs can be read as well, as far as it has come.
  /// - Throws: ``RecordingFault``, ``SealedFault``.
  public func reader(of recording: Recording) throws -> RecordingReader {
    do {
      guard let file = try folder.open(recording.id) else { throw RecordingFault.missing(recording.id) }
      return try RecordingReader(SealedReader(file, keys: keys))
    } catch let failure as DiskFailure {
      throw RecordingFault.disk("\(failure)")
    }
  }

  /// Removes a recording: its file first, for a row without sound harms less than sound that nobody knows of.
  /// - Returns: `false` where there is neither.
  /// - Throws: ``RecordingFault/running(_:)`` for one that runs, here or in another process; what the store throws.
  @discardableResult
  public func remove(_ id: RecordingID) async throws -> Bool {
    guard !thread.isRunning(id) else { throw RecordingFault.running(id) }
    let hadFile = try await onDisk { [folder, thread] in
      do {
        if try folder.open(id)?.isBeingWritten == true { throw RecordingFault.running(id) }
        let bytes = folder.bytes(of: id)
        guard try folder.remove(id) else { return false }
        thread.removed(bytes: bytes)
        return true
      } catch let failure as DiskFailure {
        throw RecordingFault.disk("\(failure)")
      }
    }
    let hadRow = try await store.removeRecording(id, environment: environment)
    return hadFile || hadRow
  }

  /// Rows that are running, of a process that has ended: they are kept as ``Recording/State/interrupted``, with the length that
  /// their files hold. To be called once at the start. One that another process writes just now is left alone.
  public func recover() async {
    var query = RecordingQuery(environment: environment, limit: RecordingQuery.maximumLimit)
    query.state = .running
    await each(query, "recordings of an earlier life cannot be looked after") { recording in
      guard !thread.isRunning(recording.id) else { return false }
      let ended = try await onDisk { [folder, thread] () -> Recording? in
        if try folder.open(recording.id)?.isBeingWritten == true { return nil }
        var ended = recording
        ended.state = .interrupted
        (ended.milliseconds, ended.bytes) = thread.length(of: recording)
        return ended
      }
      guard let ended else { return false }
      log.notice(
        "a recording was interrupted by the end of the gateway",
        metadata: ["recording": "\(ended.id)", "milliseconds": "\(ended.milliseconds)"])
      return await rows.save(ended)
    }
  }

  /// Removes what is older than ``Limits/retentionSeconds``, and files without a row that nobody has changed for a day.
  /// To be called now and then.
  /// - Returns: how many.
  @discardableResult
  public func expire(at now: Instant) async -> Int {
    var removed = 0
    if let seconds = limits.retentionSeconds {
      var query = RecordingQuery(environment: environment, limit: RecordingQuery.maximumLimit)
      query.before = now.advanced(byMilliseconds: -Instant(seconds: max(seconds, 0)).milliseconds)
      await each(query, "recordings that are too old cannot be removed") { recording in
        guard recording.state != .running else { return false }
        guard try await remove(recording.id) else { return false }
        removed += 1
        return true
      }
    }
    let horizon = now.advanced(byMilliseconds: -Self.orphanMilliseconds)
    let old = (try? await onDisk { [folder] in folder.entries().filter { $0.changedAt < horizon } }) ?? []
    for entry in old {
      do {
        guard try await store.recording(entry.id, environment: environment) == nil, try await remove(entry.id) else {
          continue
        }
        removed += 1
        log.notice("a file without a recording was removed", metadata: ["recording": "\(entry.id)"])
      } catch {
        log.warning(
          "a file without a recording is left", metadata: ["recording": "\(entry.id)", "problem": "\(error)"])
      }
    }
    return removed
  }

  /// Goes through the rows of a query while they change.
  /// - Parameter body: whether its row is none of the query's any more.
  private func each(
    _ query: RecordingQuery, _ problem: String, _ body: (Recording) async throws -> Bool
  ) async {
    var query = query
    while true {
      do {
        let page = try await store.recordings(query)
        for recording in page {
          do {
            // The next page begins behind the last row that stays; what went is not found again.
            if try await !body(recording) { query.after = recording.id }
          } catch {
            query.after = recording.id
            log.warning("\(problem)", metadata: ["recording": "\(recording.id)", "problem": "\(error)"])
          }
        }
        if page.count < query.limit { return }
      } catch {
        log.error("\(problem)", metadata: ["problem": "\(error)"])
        return
      }
    }
  }
}

/// Why no recording begins.
public enum RecordingRefusal: String, Error, Sendable {
  /// The recordings of the environment take all the room that they may.
  case full
  /// As many run as may.
  case tooMany
  /// The disk has no room that may be taken.
  case noSpace
  /// The archive is closed.
  case closed
}

/// Why nothing is done with a recording that is there, or is not.
public enum RecordingFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no file of it.
  case missing(RecordingID)
  /// It runs; it must end before it can be removed.
  case running(RecordingID)
  /// What the disk refused, in the words of the system.
  case disk(String)

  public var description: String {
    switch self {
    case .missing(let id): "there is no file of the recording \(id)"
    case .running(let id): "the recording \(id) is running; end it first"
    case .disk(let problem): "the file of the recording: \(problem)"
    }
  }
}

/// Runs what may wait for the disk where it holds up nobody else.
private func onDisk<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
  }
}
