import CallModel
import MediaCore
import Testing

@Suite struct WAVRecorderTests {
  @Test func bothLegsAreHeardAtTheirTime() {
    let recorder = WAVRecorder(samplingRate: 8_000, at: .zero)
    let left = Sound.noise(samples: 1_600, seed: 1)
    let right = Sound.noise(samples: 1_600, seed: 2)
    for packet in 0..<10 {
      // The right leg is answered 100 ms later, and its packets come with jitter.
      let range = (packet * 160)..<(packet * 160 + 160)
      recorder.record(SampleBuffer(left[range]), on: .left, at: Self.at(packet * 20))
      recorder.record(SampleBuffer(right[range]), on: .right, at: Self.at(100 + packet * 20 + packet % 3 * 7))
    }
    let (frames, dataSize) = Self.file(recorder)
    #expect(frames.map(\.left) == left + Array(repeating: 0, count: 800))
    #expect(frames.map(\.right) == Array(repeating: 0, count: 800) + right)
    #expect(dataSize == 2_400 * 4 && recorder.milliseconds == 300)
  }

  @Test func gapsAreSilence() {
    let recorder = WAVRecorder(samplingRate: 8_000, at: .zero)
    let sound = SampleBuffer(Array(repeating: 9, count: 160))
    recorder.record(sound, on: .left, at: Self.at(0))
    recorder.record(sound, on: .left, at: Self.at(500))
    let (frames, _) = Self.file(recorder)
    #expect(frames.count == 4_160)
    #expect(frames.indices.allSatisfy { (frames[$0].left == 9) == ($0 < 160 || $0 >= 4_000) })
    #expect(frames.allSatisfy { $0.right == 0 })
  }

  /// A leg that is silent for long does not hold up the other, and an hour of silence takes no memory.
  @Test func aSilentLegHoldsNothingUp() {
    let recorder = WAVRecorder(samplingRate: 8_000, at: .zero)
    let sound = SampleBuffer(Array(repeating: 5, count: 160))
    for packet in 0..<500 { recorder.record(sound, on: .right, at: Self.at(packet * 20)) }
    #expect(recorder.milliseconds >= 10_000 - WAVRecorder.alignment)
    recorder.record(sound, on: .left, at: Self.at(3_600_000))
    #expect(recorder.milliseconds >= 3_600_000 - WAVRecorder.alignment)
    var longest = 0
    var total = 0
    while true {
      let bytes = recorder.nextChunk()
      guard !bytes.isEmpty else { break }
      longest = max(longest, bytes.count)
      total += bytes.count
    }
    #expect(longest <= WAVRecorder.maximumChunk)
    #expect(total == WAVRecorder.headSize + recorder.milliseconds * 32)
    // What the other leg says now comes behind what is written already.
    recorder.record(sound, on: .right, at: Self.at(20_000))
    #expect(recorder.finish().count == 2)
    #expect(recorder.milliseconds == 3_600_020)
  }

  @Test func theLimitHolds() {
    let recorder = WAVRecorder(samplingRate: 8_000, at: .zero)
    let sound = SampleBuffer(Array(repeating: 5, count: 1_600))
    recorder.record(sound, on: .left, at: Self.at(WAVRecorder.maximumSeconds * 1_000 - 100))
    recorder.record(sound, on: .left, at: Self.at(WAVRecorder.maximumSeconds * 1_000 + 100))
    recorder.record(sound, on: .right, at: MonotonicInstant(microseconds: .max))
    recorder.record(sound, on: .right, at: MonotonicInstant(microseconds: .min))
    _ = recorder.finish()
    #expect(recorder.milliseconds == WAVRecorder.maximumSeconds * 1_000)
  }

  /// The head of a file that was never finished claims all there may be; players stop at its end.
  @Test func aFileThatWasCutOffHasAHead() {
    let recorder = WAVRecorder(samplingRate: 16_000, at: .zero)
    let head = recorder.nextChunk()
    #expect(head.count == WAVRecorder.headSize && head.starts(with: "RIFF".utf8))
    #expect(Self.integer(head, 40) == WAVRecorder.maximumSeconds * 64_000)
    #expect(Self.integer(head, 4) == Self.integer(head, 40) + 36)
    #expect(Self.integer(head, 24) == 16_000 && Self.integer(head, 28) == 64_000 && head[22] == 2)
    #expect(recorder.nextChunk().isEmpty)
  }

  private static func at(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(milliseconds: Int64(milliseconds))
  }

  private static func integer(_ bytes: [UInt8], _ offset: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
  }

  private static func file(_ recorder: WAVRecorder) -> ([(left: Int16, right: Int16)], dataSize: Int) {
    let patches = recorder.finish()
    var bytes: [UInt8] = []
    while true {
      let part = recorder.nextChunk()
      guard !part.isEmpty else { break }
      bytes += part
    }
    for patch in patches { bytes.replaceSubrange(patch.offset..<(patch.offset + patch.bytes.count), with: patch.bytes) }
    #expect(Self.integer(bytes, 4) == bytes.count - 8)
    func sample(_ offset: Int) -> Int16 { Int16(bytes[offset]) | Int16(bitPattern: UInt16(bytes[offset + 1]) << 8) }
    return (stride(from: 44, to: bytes.count - 3, by: 4).map { (sample($0), sample($0 + 2)) }, Self.integer(bytes, 40))
  }
}
