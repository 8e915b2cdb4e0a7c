import CallEngine
import Logging

/// The rows of recordings, in a store that may be away for a while.
struct RecordingRows: Sendable {
  /// Between one try and the next; after the last it is given up.
  static let pauses: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]

  let store: any RecordingStore
  let log: Logger
  let pauses: [Duration]

  /// Has the store keep a row, with a few tries.
  /// - Returns: `false` where it was given up, which the log says.
  @discardableResult
  func save(_ recording: Recording) async -> Bool {
    var tries = pauses.makeIterator()
    while true {
      do {
        try await store.keep(recording)
        return true
      } catch {
        if let pause = tries.next() {
          try? await Task.sleep(for: pause)
          continue
        }
        log.error(
          "the row of a recording cannot be kept: its sound is on the disk, and the next start looks after it",
          metadata: [
            "recording": "\(recording.id)", "state": "\(recording.state.rawValue)", "problem": "\(error)",
          ])
        return false
      }
    }
  }
}
