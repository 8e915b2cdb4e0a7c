import Foundation

/// Sound from one sampling rate to another: a polyphase filter with linear phase, whose state goes on from call to call.
///
/// Nothing is allocated for a call. Made for whole ratios: 8, 16, 32 and 48 kHz among each other where one divides the
/// other.
public final class RateConverter {
  /// Filter taps at the lower of the two rates.
  static let reach = 32
  /// Samples that one round takes in.
  private static let block = 480
  /// What passes, as a part of the lower rate's band.
  static let cutoff = 0.96

  /// Hz.
  public let source: Int
  /// Hz.
  public let target: Int
  private let up: Int
  private let down: Int
  /// Taps of one phase; a multiple of 16.
  private let taps: Int
  /// `up` phases of `taps` coefficients each, oldest sample first.
  private let coefficients: UnsafeMutablePointer<Float>
  /// The latest `taps - 1` samples, then the block.
  private let line: UnsafeMutablePointer<Float>
  /// Samples of the coming block to skip before the next output is due.
  private var skip = 0

  /// `nil` unless one of the rates divides the other, within 8 to 48 kHz.
  public init?(from source: Int, to target: Int) {
    guard (8_000...48_000).contains(source), (8_000...48_000).contains(target), source != target,
      source % target == 0 || target % source == 0
    else { return nil }
    self.source = source
    self.target = target
    up = max(target / source, 1)
    down = max(source / target, 1)
    taps = RateConverter.reach * down
    let length = taps * up
    coefficients = UnsafeMutablePointer<Float>.allocate(capacity: length)
    coefficients.initialize(repeating: 0, count: length)
    line = UnsafeMutablePointer<Float>.allocate(capacity: taps - 1 + RateConverter.block)
    line.initialize(repeating: 0, count: taps - 1 + RateConverter.block)
    design(length)
  }

  deinit {
    coefficients.deallocate()
    line.deallocate()
  }

  /// Output samples by which the sound is delayed.
  public var delay: Int { RateConverter.reach / 2 * up }

  /// Goes on as `other` would, which converts between the same rates.
  func copyState(from other: RateConverter) {
    guard other.source == source, other.target == target else { return }
    line.update(from: other.line, count: taps - 1)
    skip = other.skip
  }

  /// Replaces `output` by what `input` gives: `input.count * target / source` samples, on average where that is no
  /// whole number. `false`: a sample buffer does not hold that many; nothing has changed.
  public func convert(_ input: SampleBuffer, into output: SampleBuffer) -> Bool {
    precondition(input !== output, "sound cannot be converted in place")
    guard input.count * up <= SampleBuffer.capacity else { return false }
    var written = 0
    input.withUnsafeMutableRoom { read in
      output.withUnsafeMutableRoom { write in
        var start = 0
        while start < input.count {
          let count = min(RateConverter.block, input.count - start)
          for index in 0..<count { line[taps - 1 + index] = Float(read[start + index]) }
          written = filter(count, into: write, at: written)
          line.update(from: line + count, count: taps - 1)
          start += count
        }
      }
    }
    output.count = written
    return true
  }

  private func filter(_ count: Int, into write: UnsafeMutableBufferPointer<Int16>, at position: Int) -> Int {
    var written = position
    var index = skip
    while index < count {
      for phase in 0..<up {
        let sum = dot(line + index, coefficients + phase * taps)
        write[written] = Int16(min(max(sum.rounded(), -32_768), 32_767))
        written += 1
      }
      index += down
    }
    skip = index - count
    return written
  }

  @inline(__always)
  private func dot(_ samples: UnsafePointer<Float>, _ weights: UnsafePointer<Float>) -> Float {
    let left = UnsafeRawPointer(samples)
    let right = UnsafeRawPointer(weights)
    var sum = SIMD16<Float>()
    var offset = 0
    while offset < taps * 4 {
      sum +=
        left.loadUnaligned(fromByteOffset: offset, as: SIMD16<Float>.self)
        * right.loadUnaligned(fromByteOffset: offset, as: SIMD16<Float>.self)
      offset += 64
    }
    return sum.sum()
  }

  /// A windowed sinc (Kaiser, 70 dB) around a whole sample, cut into phases, each with a gain of 1 at 0 Hz.
  private func design(_ length: Int) {
    let factor = Double(max(up, down))
    let middle = Double(length) / 2
    let cutoff = RateConverter.cutoff / factor
    for index in 0..<length {
      let time = Double(index) - middle
      let angle = Double.pi * cutoff * time
      let sinc = angle == 0 ? 1 : sin(angle) / angle
      let place = time / middle
      let window = RateConverter.bessel(6.76 * (1 - place * place).squareRoot()) / RateConverter.bessel(6.76)
      // Output phase p of an input sample is the filter's taps p, p + up, …; stored with the oldest sample first.
      coefficients[index % up * taps + taps - 1 - index / up] = Float(sinc * window)
    }
    for phase in 0..<up {
      let weights = UnsafeMutableBufferPointer(start: coefficients + phase * taps, count: taps)
      let sum = weights.reduce(0, +)
      for index in weights.indices { weights[index] /= sum }
    }
  }

  /// The modified Bessel function of order 0.
  private static func bessel(_ value: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    for index in 1...30 {
      term *= value * value / 4 / Double(index * index)
      sum += term
    }
    return sum
  }
}
