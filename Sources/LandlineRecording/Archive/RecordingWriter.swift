import CallEngine
import CallModel
import Synchronization

/// The way of one recording's sound to the disk. It may be used on any thread, and never waits.
public final class RecordingWriter: Sendable {
  private struct Waiting {
    var frames: [UInt8] = []
    var ending: Recording.State?
  }

  /// As it began.
  let recording: Recording
  private let waiting = Mutex(Waiting())
  private let wake: @Sendable () -> Void

  /// - Parameter wake: has ``removeWaiting()`` be called soon.
  init(_ recording: Recording, wake: @escaping @Sendable () -> Void) {
    self.recording = recording
    self.wake = wake
  }

  /// Adds sound: samples of 16 bits at 16 kHz, little-endian, the channels by turns. After the end nothing happens.
  ///
  /// Where the disk is so slow that ``RecordingArchive/Limits/maximumWaitingBytes`` wait, the recording ends as failed: with a
  /// gap in it, nobody could tell when something was said.
  public func append(_ frames: [UInt8]) {
    let isTooMuch = waiting.withLock { waiting in
      guard waiting.ending == nil else { return false }
      guard waiting.frames.count + frames.count <= RecordingArchive.Limits.maximumWaitingBytes else {
        waiting.ending = .failed
        return true
      }
      waiting.frames += frames
      return false
    }
    if isTooMuch { wake() }
  }

  /// Ends the recording. What was added before is still written; then the archive tells that it has ended.
  public func finish() { _ = end(as: .complete) }

  /// The first end is the one that counts.
  /// - Returns: whether this was it.
  @discardableResult
  func end(as state: Recording.State) -> Bool {
    let isFirst = waiting.withLock { waiting in
      guard waiting.ending == nil else { return false }
      waiting.ending = state
      return true
    }
    if isFirst { wake() }
    return isFirst
  }

  /// What is to be written, and how the recording ended once nothing can follow.
  func removeWaiting() -> (frames: [UInt8], ending: Recording.State?) {
    waiting.withLock { waiting in
      defer { waiting.frames = [] }
      return (waiting.frames, waiting.ending)
    }
  }
}
