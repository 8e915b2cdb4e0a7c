package import CallModel
import Foundation
public import LandlineConfiguration
import Logging
import Synchronization

/// Where all log handlers of a process write: a bounded queue, emptied by a thread of its own, so that no event loop waits
/// for whoever reads the log. What does not fit is dropped, counted, and told as soon as there is room.
///
/// Unchecked: ``state`` is touched under the condition's lock alone.
public final class LogOutput: @unchecked Sendable {
  /// Bytes that may wait.
  public static let maximumWaitingBytes = 4 << 20
  /// Bytes of one write.
  private static let chunkBytes = 65_536

  private struct State {
    var lines: [[UInt8]] = []
    var bytes = 0
    var dropped = 0
    var isWriting = false
    var isClosed = false
  }

  private var state = State()
  private let condition = NSCondition()
  private let descriptor: Int32
  private let clock: @Sendable () -> Instant
  private let settings: Mutex<LogConfiguration>
  /// The level as a number, read for every statement that may be logged.
  private let threshold: Atomic<Int>
  /// Lines that were lost since the start.
  private let lost = Atomic<Int>(0)

  /// - Parameter descriptor: Where to write; the standard error output unless a test says otherwise. It stays open.
  public convenience init(_ configuration: LogConfiguration = LogConfiguration(), descriptor: Int32 = 2) {
    self.init(configuration, descriptor: descriptor) {
      Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
  }

  package init(_ configuration: LogConfiguration, descriptor: Int32, clock: @escaping @Sendable () -> Instant) {
    self.descriptor = descriptor
    self.clock = clock
    settings = Mutex(configuration)
    threshold = Atomic(LogOutput.number(configuration.level))
    let thread = Thread { [self] in run() }
    thread.name = "log"
    thread.start()
  }

  private static func number(_ level: LogConfiguration.Level) -> Int {
    LogConfiguration.Level.allCases.firstIndex(of: level) ?? 0
  }

  /// Level, format and masking from now on, for all handlers of this output.
  public var configuration: LogConfiguration {
    get { settings.withLock { $0 } }
    set {
      settings.withLock { $0 = newValue }
      threshold.store(LogOutput.number(newValue.level), ordering: .relaxed)
    }
  }

  /// Lines that found no room since the start.
  public var droppedLines: Int { lost.load(ordering: .relaxed) }

  var level: Logger.Level {
    let levels = Logger.Level.allCases
    return levels[min(threshold.load(ordering: .relaxed), levels.count - 1)]
  }

  func write(_ event: LogEvent, label: String, metadata: Logger.Metadata) {
    let now = configuration
    append(
      LogLine.bytes(
        event, label: label, metadata: metadata, at: clock(), format: now.format, masks: now.masksNumbers))
  }

  private func append(_ line: [UInt8]) {
    condition.lock()
    defer { condition.unlock() }
    guard !state.isClosed, state.bytes + line.count <= LogOutput.maximumWaitingBytes else {
      // Nobody is left to tell it once the thread has ended.
      if !state.isClosed { state.dropped += 1 }
      lost.add(1, ordering: .relaxed)
      return
    }
    state.lines.append(line)
    state.bytes += line.count
    condition.broadcast()
  }

  /// Waits until all that was logged before is written.
  /// - Returns: `false` when that took longer.
  @discardableResult
  public func flush(seconds: Double = 2) -> Bool {
    let deadline = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !state.lines.isEmpty || state.isWriting || state.dropped > 0 {
      guard condition.wait(until: deadline) else { return false }
    }
    return true
  }

  /// Writes what waits and ends the thread; what is logged later is dropped. Waits no longer than ``flush(seconds:)``.
  public func close() {
    condition.lock()
    state.isClosed = true
    condition.broadcast()
    condition.unlock()
    flush()
  }

  // MARK: The thread

  private func run() {
    while let chunk = next() {
      LogOutput.writeAll(chunk, to: descriptor)
      condition.lock()
      state.isWriting = false
      condition.broadcast()
      condition.unlock()
    }
  }

  /// Lines to write; `nil` once closed and empty.
  private func next() -> [UInt8]? {
    condition.lock()
    defer { condition.unlock() }
    while state.lines.isEmpty, state.dropped == 0 {
      if state.isClosed { return nil }
      condition.wait()
    }
    var chunk: [UInt8] = []
    var count = 0
    while count < state.lines.count, chunk.isEmpty || chunk.count + state.lines[count].count <= LogOutput.chunkBytes {
      chunk += state.lines[count]
      count += 1
    }
    state.lines.removeFirst(count)
    state.bytes -= chunk.count
    // Told after the lines that were there before it.
    if state.lines.isEmpty, state.dropped > 0 {
      chunk += notice(state.dropped)
      state.dropped = 0
    }
    state.isWriting = true
    return chunk
  }

  private func notice(_ dropped: Int) -> [UInt8] {
    let now = configuration
    let event = LogEvent(
      level: .warning, message: "lines of this log were dropped: nobody read them fast enough",
      metadata: nil, source: nil, file: "", function: "", line: 0)
    return LogLine.bytes(
      event, label: "landline.log", metadata: ["dropped": "\(dropped)"], at: clock(), format: now.format,
      masks: now.masksNumbers)
  }

  private static func writeAll(_ chunk: [UInt8], to descriptor: Int32) {
    chunk.withUnsafeBytes { buffer in
      var offset = 0
      while offset < buffer.count, let base = buffer.baseAddress {
        let written = Foundation.write(descriptor, base + offset, buffer.count - offset)
        if written > 0 {
          offset += written
        } else if written < 0, errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&waiting, 1, 1000)
        } else if written < 0, errno == EINTR {
          continue
        } else {
          // The reader is gone for good: a log cannot tell it, and the gateway goes on.
          return
        }
      }
    }
  }
}
