/// Cuts sound into frames of another length than it came in (10 to 60 ms), and remembers where each stands in time.
final class FrameAssembly {
  private let queue = SampleQueue()
  private var timestamp: UInt32 = 0
  private var ticksPerSecond = 8_000
  private var samplingRate = 8_000

  /// Goes on as `other` would.
  func copyState(from other: FrameAssembly) {
    queue.copyState(from: other.queue)
    timestamp = other.timestamp
    ticksPerSecond = other.ticksPerSecond
    samplingRate = other.samplingRate
  }

  func removeAll() { queue.removeAll() }

  var isEmpty: Bool { queue.count == 0 }

  /// Adds sound that begins at `timestamp`. Where it does not follow what waits, that is dropped: it is less than a frame.
  func append(_ sound: SampleBuffer, timestamp: UInt32, ticksPerSecond: Int, samplingRate: Int) {
    if queue.count > 0, timestamp != self.timestamp &+ ticks(queue.count) { queue.removeAll() }
    self.ticksPerSecond = ticksPerSecond
    self.samplingRate = samplingRate
    if queue.count == 0 { self.timestamp = timestamp }
    let excess = queue.push(sound)
    self.timestamp = self.timestamp &+ ticks(excess)
  }

  /// The next frame and its timestamp; `nil` when less waits.
  func popFrame(_ count: Int, into frame: SampleBuffer) -> UInt32? {
    guard count > 0, queue.pop(count, into: frame) else { return nil }
    defer { timestamp = timestamp &+ ticks(count) }
    return timestamp
  }

  private func ticks(_ samples: Int) -> UInt32 { UInt32(truncatingIfNeeded: samples * ticksPerSecond / samplingRate) }
}
