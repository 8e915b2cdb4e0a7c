import CallEngine
import CallModel
import LandlineRecording
import Logging
import MediaCore
import NIOCore

/// The recordings that run: which bridge's sound goes to which file. Kept on the hub's loop, which never waits for a disk.
final class HubRecordings {
  private let archives: [String: RecordingArchive]
  private let eventLoop: any EventLoop
  private let meter: HubMeter
  private let log: Logger
  /// The first of each is written to; one behind it begins when the bridge says that the first is over.
  private var writers: [MediaBridge.Identifier: [RecordingWriter]] = [:]

  /// - Parameter archives: by environment.
  init(_ archives: [String: RecordingArchive], meter: HubMeter, on eventLoop: any EventLoop, log: Logger) {
    self.archives = archives
    self.meter = meter
    self.eventLoop = eventLoop
    self.log = log
  }

  /// What the bridge tells of its sound is kept from now on.
  /// - Parameter ended: called once on the loop, never before this returns.
  /// - Returns: whether it has begun; `ended` is called in any case.
  func begin(
    _ recording: Recording, from bridge: MediaBridge.Identifier, ended: @escaping (Recording.State) -> Void
  ) -> Bool {
    let bound = NIOLoopBound(ended, eventLoop: eventLoop)
    func refused(_ state: Recording.State, _ reason: String) -> Bool {
      log.error(
        "a recording cannot begin", metadata: ["recording": "\(recording.id)", "problem": "\(reason)"])
      meter.recordingEnded(recording.environment, state)
      eventLoop.execute { bound.value(state) }
      return false
    }
    guard let archive = archives[recording.environment] else { return refused(.failed, "nothing is recorded here") }
    let result = archive.begin(recording) { [eventLoop, meter] recording in
      meter.recordingEnded(recording.environment, recording.state)
      eventLoop.execute { bound.value(recording.state) }
    }
    switch result {
    case .success(let writer):
      writers[bridge, default: []].append(writer)
      return true
    case .failure(.closed): return refused(.interrupted, "the gateway ends")
    case .failure(let refusal): return refused(.full, refusal.rawValue)
    }
  }

  func append(_ sound: [UInt8], from bridge: MediaBridge.Identifier) { writers[bridge]?.first?.append(sound) }

  /// No more sound comes of the recording that runs; nothing happens where none does.
  func finish(_ bridge: MediaBridge.Identifier) {
    guard var waiting = writers.removeValue(forKey: bridge) else { return }
    waiting.removeFirst().finish()
    if !waiting.isEmpty { writers[bridge] = waiting }
  }

  /// The bridge is gone.
  func finishAll(_ bridge: MediaBridge.Identifier) {
    for writer in writers.removeValue(forKey: bridge) ?? [] { writer.finish() }
  }
}
