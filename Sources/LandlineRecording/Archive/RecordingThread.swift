import CallEngine
import CallModel
import Dispatch
import Foundation
import Logging
import Synchronization

/// The one thread that writes the files of an archive, and what is known of the recordings that run.
final class RecordingThread: Sendable {
  /// What a recording that runs has besides its sound.
  private struct Running {
    let writer: RecordingWriter
    let ended: @Sendable (Recording) -> Void
    /// Keeps the row of its beginning: that of its end comes after it.
    let begun: Task<Void, Never>
  }

  private struct State {
    var running: [RecordingID: Running] = [:]
    /// Those that have ended, while their rows are kept.
    var keeping: Set<RecordingID> = []
    /// Ends of which nobody has heard yet.
    var untold = 0
    var bytes: Int64
    var freeBytes: Int64
    var isClosing = false
    /// The thread has written everything.
    var isDone = false
    var onClosed: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>
  private let arrival = DispatchSemaphore(value: 0)
  private let folder: RecordingFolder
  private let keys: [RecordingKey]
  private let newestKey: RecordingKey
  private let limits: RecordingArchive.Limits
  private let rows: RecordingRows
  private let disk: RecordingDisk
  private let log: Logger
  private let tick: DispatchTimeInterval
  /// How often a thread without a recording looks how much room there is.
  private static let idleTick = DispatchTimeInterval.seconds(10)

  init(
    folder: RecordingFolder, keys: [RecordingKey], newest: RecordingKey, limits: RecordingArchive.Limits,
    rows: RecordingRows, disk: RecordingDisk, tickMilliseconds: Int, log: Logger
  ) {
    self.folder = folder
    self.keys = keys
    newestKey = newest
    self.limits = limits
    self.rows = rows
    self.disk = disk
    self.log = log
    tick = .milliseconds(tickMilliseconds)
    state = Mutex(
      State(
        bytes: folder.entries().reduce(0) { $0 + $1.bytes }, freeBytes: disk.freeBytes(folder.path) ?? .max))
  }

  func start() {
    let thread = Thread {
      // Set by the thread itself, so that the system shows it as well.
      Thread.current.name = "recordings"
      self.run()
    }
    thread.start()
  }

  // MARK: What others ask

  func begin(
    _ recording: Recording, ended: @escaping @Sendable (Recording) -> Void
  ) -> Result<RecordingWriter, RecordingRefusal> {
    let result = state.withLock { state -> Result<RecordingWriter, RecordingRefusal> in
      if let refusal = refusal(state) { return .failure(refusal) }
      // An id names one recording alone.
      guard state.running[recording.id] == nil, !state.keeping.contains(recording.id) else {
        return .failure(.tooMany)
      }
      let writer = RecordingWriter(recording) { [arrival] in arrival.signal() }
      let begun = Task { [rows] in _ = await rows.save(recording) }
      state.running[recording.id] = Running(writer: writer, ended: ended, begun: begun)
      return .success(writer)
    }
    arrival.signal()
    return result
  }

  /// Why no recording can begin now; `nil`: one can.
  var refusal: RecordingRefusal? { state.withLock { refusal($0) } }

  private func refusal(_ state: borrowing State) -> RecordingRefusal? {
    if state.isClosing { return .closed }
    if state.running.count >= limits.maximumRunning { return .tooMany }
    if state.bytes >= limits.maximumBytes { return .full }
    return state.freeBytes > limits.leastFreeBytes ? nil : .noSpace
  }

  /// Whether it runs, or its end is being kept.
  func isRunning(_ id: RecordingID) -> Bool {
    state.withLock { $0.running[id] != nil || $0.keeping.contains(id) }
  }

  var usage: (bytes: Int64, running: Int) { state.withLock { ($0.bytes, $0.running.count) } }

  /// A file went that was counted.
  func removed(bytes: Int64) {
    state.withLock { $0.bytes = max(0, $0.bytes - bytes) }
    // It also looks how much room there is now.
    arrival.signal()
  }

  /// Ends what runs. `completion` is called once all of it is on the disk and was told.
  func close(_ completion: @escaping @Sendable () -> Void) {
    let (isClosed, running) = state.withLock { state in
      state.isClosing = true
      let isClosed = state.isDone && state.untold == 0
      if !isClosed { state.onClosed.append(completion) }
      return (isClosed, state.running.values.map(\.writer))
    }
    if isClosed { return completion() }
    for writer in running { writer.end(as: .interrupted) }
    arrival.signal()
  }

  // MARK: The thread

  private func run() {
    var files: [RecordingID: RecordingFile] = [:]
    while true {
      let (running, isClosing) = state.withLock { ($0.running, $0.isClosing) }
      for (id, each) in running { write(id, each, &files) }
      lookAtRoom()
      if isClosing, state.withLock({ $0.running.isEmpty }) { break }
      _ = arrival.wait(timeout: .now() + (running.isEmpty ? Self.idleTick : tick))
    }
    let completions = state.withLock { state in
      state.isDone = true
      return Self.completions(&state)
    }
    for completion in completions { completion() }
  }

  /// Writes what waits of one recording, and ends it where it has ended.
  private func write(_ id: RecordingID, _ running: Running, _ files: inout [RecordingID: RecordingFile]) {
    let recording = running.writer.recording
    let (frames, ended) = running.writer.removeWaiting()
    var ending = ended
    if ending == .failed {
      log.error(
        "a recording ended: the disk does not take sound as fast as it comes; use a faster disk, or record less at a time",
        metadata: ["recording": "\(id)"])
    }
    do throws(DiskFailure) {
      let file: RecordingFile
      if let open = files[id] {
        file = open
      } else {
        file = try RecordingFile(recording, in: folder, key: newestKey, disk: disk)
        files[id] = file
        added(file.byteCount)
      }
      let before = file.byteCount
      defer { added(file.byteCount - before) }
      if !frames.isEmpty { try file.append(frames) }
      if ending != nil { try file.finish() } else if file.isFull { running.writer.end(as: .full) }
    } catch {
      log.error(
        "a recording ended: its file cannot be written; what was recorded up to now is there",
        metadata: ["recording": "\(id)", "problem": "\(error)", "advice": "\(error.advice)"])
      files[id]?.abandon()
      // Whatever is added from now on goes nowhere.
      running.writer.end(as: .failed)
      ending = .failed
    }
    guard let ending else { return }
    let wasMade = files.removeValue(forKey: id) != nil
    end(running, as: ending, hasFile: wasMade)
  }

  private func added(_ bytes: Int64) {
    guard bytes != 0 else { return }
    state.withLock { state in
      state.bytes += bytes
      state.freeBytes -= bytes
    }
  }

  /// Ends everything that runs where the environment or the disk has no room for more.
  private func lookAtRoom() {
    let free = disk.freeBytes(folder.path)
    let (bytes, isFull, running) = state.withLock { state in
      if let free { state.freeBytes = free }
      let isFull = state.bytes >= limits.maximumBytes || state.freeBytes <= limits.leastFreeBytes
      return (state.bytes, isFull, state.running.values.map(\.writer))
    }
    guard isFull, !running.isEmpty else { return }
    let endedNow = running.count { $0.end(as: .full) }
    guard endedNow > 0 else { return }
    log.error(
      "recordings ended: there is no room for more; remove some, shorten how long they are kept, or raise the limit",
      metadata: [
        "ended": "\(endedNow)", "bytes": "\(bytes)", "limit": "\(limits.maximumBytes)",
        "free": "\(free.map(String.init) ?? "unknown")", "folder": "\(folder.path)",
      ])
  }

  /// Keeps the row of an end, then tells it.
  private func end(_ running: Running, as ending: Recording.State, hasFile: Bool) {
    var recording = running.writer.recording
    recording.state = ending
    // Where the file of another recording has this id already, its length is not this one's.
    if hasFile { (recording.milliseconds, recording.bytes) = length(of: recording) }
    let ended = recording
    state.withLock { state in
      state.running[ended.id] = nil
      state.keeping.insert(ended.id)
      state.untold += 1
    }
    Task { [rows] in
      await running.begun.value
      await rows.save(ended)
      // Whoever hears of the end may ask for it to be removed at once; whoever waits for the close has heard of every end.
      _ = state.withLock { $0.keeping.remove(ended.id) }
      running.ended(ended)
      let completions = state.withLock { state in
        state.untold -= 1
        return Self.completions(&state)
      }
      for completion in completions { completion() }
    }
  }

  /// Those of ``close(_:)``, once nothing is left to be done.
  private static func completions(_ state: inout State) -> [@Sendable () -> Void] {
    guard state.isDone, state.untold == 0 else { return [] }
    defer { state.onClosed = [] }
    return state.onClosed
  }

  /// Of what a recording's file holds: milliseconds of sound, and bytes on the disk. Whatever is not to be read counts for
  /// nothing, and the log says it.
  func length(of recording: Recording) -> (milliseconds: Int64, bytes: Int64) {
    let bytes = folder.bytes(of: recording.id)
    do {
      guard let file = try folder.open(recording.id) else { return (0, 0) }
      return (try SealedReader(file, keys: keys).milliseconds(), bytes)
    } catch SealedFault.noHead {
      return (0, bytes)
    } catch {
      log.warning(
        "the length of a recording cannot be told", metadata: ["recording": "\(recording.id)", "problem": "\(error)"])
      return (0, bytes)
    }
  }
}
