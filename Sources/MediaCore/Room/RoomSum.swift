/// The sum of one frame of a room, and what each of those who are in it hears.
///
/// ```
///   frames of all ──▶ the loudest five ──▶ sum ──▶ limiter ──▶ all who are not in it
///                                          │ minus own frame ──▶ limiter of its own ──▶ each who is
/// ```
package final class RoomSum {
  /// Rooms of so many or fewer hear everybody, and decode all that comes.
  package static let smallRoom = 8
  /// Milliseconds of a frame, and over which a voice comes in and goes.
  package static let frameMilliseconds = 20
  package static let fadeMilliseconds = 5
  /// Voices in one sum at most; more are not added: so many of the loudest fit in 32 bits.
  package static let maximumVoices = 32_768

  /// How a voice goes into the sum of one frame.
  package enum Part: Sendable { case none, fadesIn, whole, fadesOut }

  /// Samples of a frame.
  package let count: Int
  private let fade: Int
  private let sum: UnsafeMutableBufferPointer<Int32>
  private let rest: UnsafeMutableBufferPointer<Int32>
  /// Voices in the sum.
  package private(set) var voices = 0

  /// - Parameter samplingRate: 8,000 or 16,000 Hz.
  package init(samplingRate: Int) {
    count = samplingRate * RoomSum.frameMilliseconds / 1000
    fade = samplingRate * RoomSum.fadeMilliseconds / 1000
    sum = .allocate(capacity: count)
    rest = .allocate(capacity: count)
    sum.initialize(repeating: 0)
    rest.initialize(repeating: 0)
  }

  deinit {
    sum.deallocate()
    rest.deallocate()
  }

  /// - Parameter last: the sample with which voices that are gone stopped; it fades.
  package func begin(after last: Int16 = 0) {
    voices = 0
    sum.update(repeating: 0)
    for index in 0..<(last == 0 ? 0 : fade) { sum[index] = faded(last, index) }
  }

  /// Adds a voice of one frame, which is changed to what was added: exactly that is taken away again for its own ears.
  package func add(_ voice: SampleBuffer, _ part: Part) {
    guard part != .none, voice.count == count, voices < RoomSum.maximumVoices else { return }
    voices += 1
    voice.withUnsafeMutableRoom { room in
      switch part {
      case .none, .whole: break
      case .fadesIn:
        for index in 0..<fade { room[index] = room[index] &- Int16(truncatingIfNeeded: faded(room[index], index)) }
      case .fadesOut:
        for index in 0..<fade { room[index] = Int16(truncatingIfNeeded: faded(room[index], index)) }
        for index in fade..<count { room[index] = 0 }
      }
      for index in 0..<count { sum[index] &+= Int32(room[index]) }
    }
  }

  /// Makes a frame of the sample that a voice stopped with, which fades.
  package func fillFading(_ voice: SampleBuffer, from last: Int16) {
    voice.fillSilence(count)
    voice.withUnsafeMutableRoom { room in
      for index in 0..<fade { room[index] = Int16(truncatingIfNeeded: faded(last, index)) }
    }
  }

  /// What everybody hears who is not in the sum.
  package func write(_ limiter: inout RoomLimiter, into output: SampleBuffer) {
    output.count = count
    output.withUnsafeMutableRoom { limiter.limit(UnsafeBufferPointer(sum), into: $0) }
  }

  /// What a voice of the sum hears: all the others.
  package func write(without voice: SampleBuffer, _ limiter: inout RoomLimiter, into output: SampleBuffer) {
    output.count = count
    voice.withUnsafeMutableRoom { room in for index in 0..<count { rest[index] = sum[index] &- Int32(room[index]) } }
    output.withUnsafeMutableRoom { limiter.limit(UnsafeBufferPointer(rest), into: $0) }
  }

  /// A sample on its way to nothing.
  private func faded(_ sample: Int16, _ index: Int) -> Int32 { Int32(sample) * Int32(fade - index) / Int32(fade) }
}
