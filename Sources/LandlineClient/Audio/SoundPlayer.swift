import MediaCore

/// A place in a sound file, and the file's sound at the rate of calls from there on.
struct SoundPlayer {
  /// Hz of files that are played as they are.
  static let rates: Set<Int> = [8_000, 12_000, 16_000, 24_000, 32_000, 48_000]
  /// Milliseconds converted at a time.
  private static let step = 20

  private let file: SoundFile
  private let loops: Bool
  /// One after the other: 32 kHz goes by way of 16 kHz, as no filter of ours makes three samples of two.
  private let converters: [RateConverter]
  private let rooms = (SampleBuffer(), SampleBuffer())
  private var position = 0
  private var ready: [Int16] = []
  /// All is played.
  private(set) var isFinished = false

  init(_ file: SoundFile, loops: Bool) {
    self.file = file
    self.loops = loops
    let target = AudioFormat.samplingRate
    let rates = target % file.samplingRate == 0 ? [file.samplingRate, target] : [file.samplingRate, 16_000, target]
    converters = zip(rates, rates.dropFirst()).compactMap { RateConverter(from: $0, to: $1) }
  }

  /// The next samples, fewer at the end.
  mutating func next(_ count: Int) -> [Int16] {
    while ready.count < count, !isFinished { convert() }
    let taken = Array(ready.prefix(count))
    ready.removeFirst(taken.count)
    return taken
  }

  private mutating func convert() {
    let wanted = file.samplingRate * SoundPlayer.step / 1_000
    if position >= file.samples.count {
      guard loops else {
        isFinished = true
        return
      }
      position = 0
    }
    let end = min(position + wanted, file.samples.count)
    var (input, output) = rooms
    input.count = end - position
    for index in position..<end { input[index - position] = file.samples[index] }
    position = end
    for converter in converters {
      guard converter.convert(input, into: output) else {
        isFinished = true
        return
      }
      swap(&input, &output)
    }
    ready += input.samples
  }
}
