/// What is ready of a recording. Long silence is only counted, so that it takes no memory.
struct RecordedRuns {
  /// Bytes of one ``nextChunk()`` at most.
  static let maximumChunk = 1 << 16

  private enum Run {
    case bytes([UInt8])
    case silence(frames: Int)
  }

  /// Bytes of a sample of all channels.
  let frameSize: Int
  private var runs: [Run] = []

  init(frameSize: Int) { self.frameSize = frameSize }

  mutating func append(_ bytes: [UInt8]) { append { $0 += bytes } }

  /// `body` adds to the bytes that are ready.
  mutating func append(_ body: (inout [UInt8]) -> Void) {
    var bytes: [UInt8] = []
    if case .bytes(let waiting)? = runs.last {
      bytes = waiting
      runs.removeLast()
    }
    body(&bytes)
    runs.append(.bytes(bytes))
  }

  mutating func append(silence count: Int) {
    guard count > 0 else { return }
    var frames = count
    if case .silence(let waiting)? = runs.last {
      frames += waiting
      runs.removeLast()
    }
    runs.append(.silence(frames: frames))
  }

  /// The oldest bytes; none when nothing is ready. There may be more.
  mutating func nextChunk() -> [UInt8] {
    guard let run = runs.first else { return [] }
    switch run {
    case .bytes(let bytes):
      runs.removeFirst()
      guard bytes.count > RecordedRuns.maximumChunk else { return bytes }
      runs.insert(.bytes(Array(bytes[RecordedRuns.maximumChunk...])), at: 0)
      return Array(bytes[..<RecordedRuns.maximumChunk])
    case .silence(let frames):
      let count = min(frames, RecordedRuns.maximumChunk / frameSize)
      if count == frames { runs.removeFirst() } else { runs[0] = .silence(frames: frames - count) }
      return Array(repeating: 0, count: frameSize * count)
    }
  }
}
