import Foundation

/// Plays a ``Tone``. Nothing is allocated for a packet.
public struct ToneGenerator {
  /// Milliseconds over which a sine comes or goes, so that it does not click.
  static let ramp = 2

  /// A sine, by turning a vector.
  private struct Oscillator {
    var real = 0.0
    var imaginary = 0.0
    var cosine = 1.0
    var sine = 0.0

    init() {}

    init(_ component: Tone.Component, samplingRate: Int) {
      let angle = 2 * Double.pi * component.frequency / Double(samplingRate)
      real = Tone.reference * pow(10, component.level / 20)
      cosine = cos(angle)
      sine = sin(angle)
    }

    @inline(__always)
    mutating func next() -> Double {
      (real, imaginary) = (real * cosine - imaginary * sine, real * sine + imaginary * cosine)
      return imaginary
    }
  }

  /// What is played, as it was given.
  public let tone: Tone
  /// Hz.
  public let samplingRate: Int
  private var index = -1
  private var position = 0
  private var length = 0
  private var oscillators = (Oscillator(), Oscillator())
  /// The tone does not repeat and is over.
  public private(set) var isFinished = false

  /// Begins with the first segment that has a length. `samplingRate`: Hz.
  public init(_ tone: Tone, samplingRate: Int) {
    self.tone = tone
    self.samplingRate = samplingRate
    enter()
  }

  /// Replaces `samples` by the next `count`, at most a sample buffer's capacity; silence after the end.
  public mutating func fill(_ samples: SampleBuffer, count: Int) {
    samples.count = min(max(count, 0), SampleBuffer.capacity)
    let ramp = max(ToneGenerator.ramp * samplingRate / 1_000, 1)
    samples.withUnsafeMutableRoom { room in
      for place in 0..<samples.count {
        if position == length { enter() }
        guard !isFinished else {
          room[place] = 0
          continue
        }
        let edge = min(min(position, length - 1 - position), ramp)
        let value = (oscillators.0.next() + oscillators.1.next()) * Double(edge) / Double(ramp)
        room[place] = Int16(min(max(value, -32_768), 32_767).rounded())
        position += 1
      }
    }
  }

  /// The next segment that has a length.
  private mutating func enter() {
    for _ in 0...tone.segments.count {
      index += 1
      if index >= tone.segments.count {
        guard tone.repeats, !tone.segments.isEmpty else { break }
        index = 0
      }
      let segment = tone.segments[index]
      length = max(segment.milliseconds, 0) * samplingRate / 1_000
      guard length > 0 else { continue }
      // One sine without end is not interrupted by its own repetition.
      if tone.repeats, tone.segments.count == 1 { length = .max }
      position = 0
      let parts = segment.components
      oscillators.0 = parts.isEmpty ? Oscillator() : Oscillator(parts[0], samplingRate: samplingRate)
      oscillators.1 = parts.count < 2 ? Oscillator() : Oscillator(parts[1], samplingRate: samplingRate)
      return
    }
    isFinished = true
  }
}
