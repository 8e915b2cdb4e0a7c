import Foundation

/// Hears keys in sound: two tones at once (ITU-T Q.23), as ITU-T Q.24 asks of a receiver.
///
/// Windows of 12.75 ms overlap by half. A window counts if two tones, a row's and a column's, hold nearly all of its
/// energy, with a level, a twist and frequencies that a key has; the frequencies are measured by how far the phases turn
/// from one window to the next. Four windows in a row are a key, so 40 ms are enough and 23 ms are not; speech does not do
/// that. Nothing is allocated for sound.
public final class DTMFDetector {
  /// Weakest tone in dBm0.
  static let weakest = -32.0
  /// Most decibels by which the column's tone may be stronger, and weaker, than the row's.
  static let twist: (stronger: Float, weaker: Float) = (6, 10)
  /// Part of the energy that both tones must hold.
  static let purity: Float = 0.8
  /// Least ratio of a tone's power to that of its group's next.
  static let distinction: Float = 4
  /// Most of the second harmonic's power, as part of its tone's.
  static let harmonic: Float = 0.06
  /// Most deviation of a frequency (Q.24: 1.5 % is accepted, 3.5 % refused).
  static let deviation: Float = 0.025
  /// Windows in a row that are a key, and without it that end it.
  static let hits = 4
  static let misses = 5

  /// Code of each key by row and column.
  private static let codes: [[Int]] = [[1, 2, 3, 12], [4, 5, 6, 13], [7, 8, 9, 14], [10, 0, 11, 15]]

  /// What a window sounds like.
  private struct Candidate {
    var row: Int
    var column: Int
  }

  private let bank: GoertzelBank
  private let length: Int
  private let hop: Int
  private let leastPower: Float
  private let window: UnsafeMutableBufferPointer<Float>
  private var filled = 0

  private var former: (real: SIMD8<Float>, imaginary: SIMD8<Float>)?
  /// The key that is heard or may begin; how many windows of it came, how many with the gaps between them, and how many
  /// others since.
  private var candidate: Candidate?
  private var heard = 0
  private var span = 0
  private var missed = 0
  /// The key that is being pressed: 0 to 15 (``DigitPressed/code``).
  public private(set) var key: Int?

  /// - Parameter samplingRate: 8000 or 16000 (any from 8000 on works; the cost grows with it).
  public init(samplingRate: Int) {
    let rate = max(samplingRate, 8000)
    bank = GoertzelBank(samplingRate: rate)
    hop = rate * 51 / 8000
    length = 2 * hop
    window = UnsafeMutableBufferPointer<Float>.allocate(capacity: length)
    window.initialize(repeating: 0)
    // A sine of full scale is 3.17 dBm0 (ITU-T G.711); a line's power is (amplitude × length / 2)².
    let amplitude = 32768 * pow(10, (DTMFDetector.weakest - 3.17) / 20)
    leastPower = Float(pow(amplitude * Double(length) / 2, 2))
  }

  deinit { window.deallocate() }

  /// Listens to `count` samples of `samples` from `start` on; what lies outside is passed over.
  public func process(_ samples: SampleBuffer, from start: Int, count: Int, digits: inout [DigitPressed]) {
    let first = min(max(start, 0), samples.count)
    let end = first + min(max(count, 0), samples.count - first)
    var index = first
    while index < end {
      let taken = min(end - index, length - filled)
      for offset in 0..<taken { window[filled + offset] = Float(samples[index + offset]) }
      filled += taken
      index += taken
      guard filled == length else { return }
      listen(&digits)
      for offset in 0..<hop { window[offset] = window[hop + offset] }
      filled = length - hop
    }
  }

  /// The sound is over: tells a key that still is pressed.
  public func finish(digits: inout [DigitPressed]) {
    end(&digits)
    filled = 0
    former = nil
  }

  // MARK: Windows

  private func listen(_ digits: inout [DigitPressed]) {
    let found = recognize()
    if let found, let candidate, found.row == candidate.row, found.column == candidate.column {
      // Gaps shorter than those between two keys are part of the key, once it is one.
      span += missed + 1
      missed = 0
      heard += 1
      if heard == DTMFDetector.hits { key = DTMFDetector.codes[found.row][found.column] }
      return
    }
    if key == nil {
      begin(found)
      return
    }
    missed += 1
    if missed >= DTMFDetector.misses {
      end(&digits)
      begin(found)
    }
  }

  private func begin(_ found: Candidate?) {
    candidate = found
    heard = found == nil ? 0 : 1
    span = heard
    missed = 0
  }

  private func end(_ digits: inout [DigitPressed]) {
    if let key {
      // A tone of n samples fills n − 0.6 windows to the part that counts, give or take one hop.
      let samples = span * hop + length * 6 / 10
      digits.append(
        DigitPressed(code: key, milliseconds: Int(Double(samples) * 1000 / bank.samplingRate), way: .tone))
    }
    key = nil
    begin(nil)
  }

  /// The key that the window, with the one before, sounds like.
  private func recognize() -> Candidate? {
    let window = UnsafeBufferPointer(window)
    var energy: Float = 0
    for sample in window { energy += sample * sample }
    // Two tones of the least level have this energy, or nearly; less cannot be a key.
    guard energy * Float(length) >= 2 * leastPower else {
      former = nil
      return nil
    }
    let lines = bank.lines(window)
    let earlier = former
    former = lines
    let powers = lines.real * lines.real + lines.imaginary * lines.imaginary
    let (row, rowNext) = DTMFDetector.strongest(powers.lowHalf)
    let (column, columnNext) = DTMFDetector.strongest(powers.highHalf)
    let rowPower = powers[row]
    let columnPower = powers[4 + column]
    guard rowPower >= leastPower, columnPower >= leastPower,
      rowPower >= rowNext * DTMFDetector.distinction, columnPower >= columnNext * DTMFDetector.distinction,
      let earlier
    else { return nil }
    let decibels = 10 * log10(columnPower / rowPower)
    guard decibels <= DTMFDetector.twist.stronger, decibels >= -DTMFDetector.twist.weaker else { return nil }
    func tone(_ index: Int, _ frequency: Double) -> Float? {
      let now = GoertzelBank.Line(real: lines.real[index], imaginary: lines.imaginary[index])
      let before = GoertzelBank.Line(real: earlier.real[index], imaginary: earlier.imaginary[index])
      return purePower(now, before, frequency)
    }
    guard let rowTone = tone(row, GoertzelBank.rows[row]),
      let columnTone = tone(4 + column, GoertzelBank.columns[column]),
      (rowTone + columnTone) * 2 >= DTMFDetector.purity * energy * Float(length),
      !hasHarmonics(window, row: row, rowPower, column: column, columnPower)
    else { return nil }
    return Candidate(row: row, column: column)
  }

  /// The strongest of four, and the power of the next.
  private static func strongest(_ powers: SIMD4<Float>) -> (index: Int, next: Float) {
    var best = 0
    for index in 1..<4 where powers[index] > powers[best] { best = index }
    var next: Float = 0
    for index in 0..<4 where index != best { next = max(next, powers[index]) }
    return (best, next)
  }

  /// The power of the tone near a line, freed of what its distance from the line takes away; `nil` if the distance is
  /// more than ``deviation``.
  private func purePower(_ now: GoertzelBank.Line, _ before: GoertzelBank.Line, _ frequency: Double) -> Float? {
    let turned = 2 * Double.pi * frequency * Double(hop) / bank.samplingRate
    var difference = Double(now.phase(since: before)) - turned
    difference -= 2 * Double.pi * (difference / (2 * Double.pi)).rounded()
    let offset = difference * bank.samplingRate / (2 * Double.pi * Double(hop))
    guard abs(offset) <= Double(DTMFDetector.deviation) * frequency else { return nil }
    let half = Double.pi * offset / bank.samplingRate
    guard abs(half) > 1e-9 else { return now.power }
    let share = sin(half * Double(length)) / (sin(half) * Double(length))
    return now.power / Float(share * share)
  }

  /// Voices have overtones, keys have not. A row's second harmonic may lie beside a column; then it says nothing.
  private func hasHarmonics(
    _ window: UnsafeBufferPointer<Float>, row: Int, _ rowPower: Float, column: Int, _ columnPower: Float
  ) -> Bool {
    let overtone = 2 * GoertzelBank.columns[column]
    if bank.power(window, at: overtone) > DTMFDetector.harmonic * columnPower { return true }
    let rowOvertone = 2 * GoertzelBank.rows[row]
    guard abs(rowOvertone - GoertzelBank.columns[column]) > 120 else { return false }
    return bank.power(window, at: rowOvertone) > DTMFDetector.harmonic * max(rowPower, columnPower)
  }
}
