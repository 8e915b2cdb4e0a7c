import Glibc

/// Goes on with a sound that has ended: linear prediction of it, fed with the last period of what the prediction did not
/// foresee, over and over, fading.
final class SoundContinuation {
  /// Pitch periods looked for, in samples at 8 kHz: 250 Hz down to 66 Hz. Higher voices are found at a multiple.
  static let periods = 32...120
  /// Of the prediction, at 8 and at 16 kHz.
  static let order = 10
  /// Milliseconds until silence.
  static let silent = 100
  /// The part of a period that blends one repetition into the next: 1/4.
  static let seam = 4
  /// A period is taken to be no softer than this part of the one before.
  static let softest: Float = 0.5
  /// Samples beyond this are cut while the prediction runs: it must not swing up.
  static let loudest: Float = 40_000
  /// Flattens the autocorrelation a little (a Gaussian of 40 Hz at 8 kHz): the prediction stays stable.
  private static let lagWindow: [Float] = (0...order).map { lag in
    let angle = 2 * Float.pi * 40 * Float(lag) / 8_000
    return lag == 0 ? 1.0001 : exp(-0.5 * angle * angle)
  }

  private let scale: Int
  /// What the prediction did not foresee of the last period, and of a seam before it; oldest first.
  private let loop: UnsafeMutablePointer<Float>
  /// The first is 1.
  private let predictor: UnsafeMutablePointer<Float>
  /// The latest samples made, newest first.
  private let memory: UnsafeMutablePointer<Float>
  private var period = 1
  private var phase = 0
  private var made = 0
  private var loudness: Float = 1
  /// How much softer each sample is than the one before, besides the fade.
  private var trend: Float = 1

  init(scale: Int) {
    self.scale = scale
    let longest = SoundContinuation.periods.upperBound
    let kept = (longest + longest / SoundContinuation.seam) * scale
    loop = UnsafeMutablePointer<Float>.allocate(capacity: kept)
    loop.initialize(repeating: 0, count: kept)
    predictor = UnsafeMutablePointer<Float>.allocate(capacity: SoundContinuation.order + 1)
    predictor.initialize(repeating: 0, count: SoundContinuation.order + 1)
    memory = UnsafeMutablePointer<Float>.allocate(capacity: SoundContinuation.order)
    memory.initialize(repeating: 0, count: SoundContinuation.order)
  }

  deinit {
    loop.deallocate()
    predictor.deallocate()
    memory.deallocate()
  }

  static func clipped(_ value: Float) -> Int16 {
    // What is no number would trap.
    guard value.isFinite else { return 0 }
    return Int16(min(max(value, -32_768), 32_767))
  }

  /// Goes on behind `count` samples of `sound`, of which the last `window` make the prediction and `compared` find the
  /// period. `count` is at least `compared` and the longest period together, and `window`.
  func begin(_ sound: UnsafePointer<Int16>, _ count: Int, compared: Int, window: Int) {
    period = pitch(sound, count, compared)
    predict(sound + (count - window), window)
    let kept = period + period / SoundContinuation.seam
    for index in 0..<kept {
      let place = count - kept + index
      var residual: Float = 0
      for lag in 0...min(SoundContinuation.order, place) { residual += predictor[lag] * Float(sound[place - lag]) }
      loop[index] = residual
    }
    for lag in 0..<SoundContinuation.order { memory[lag] = Float(sound[count - 1 - lag]) }
    var last: Float = 1
    var previous: Float = 1
    for index in 1...period where index + period <= count {
      last += Float(sound[count - index]) * Float(sound[count - index])
      previous += Float(sound[count - index - period]) * Float(sound[count - index - period])
    }
    // A voice that gets softer goes on so; none gets louder.
    let ratio = min(max((last / previous).squareRoot(), SoundContinuation.softest), 1)
    trend = pow(ratio, 1 / Float(period))
    loudness = 1
    phase = 0
    made = 0
  }

  /// The next sample.
  func next() -> Float {
    let silent = SoundContinuation.silent * 8 * scale
    guard made < silent else { return 0 }
    let seam = period / SoundContinuation.seam
    var value = loop[seam + phase]
    // The period before runs out while the last one comes in.
    let into = phase - (period - seam)
    if into >= 0 {
      let weight = Float(into + 1) / Float(seam + 1)
      value = value * (1 - weight) + loop[into] * weight
    }
    phase = phase + 1 == period ? 0 : phase + 1
    for lag in 0..<SoundContinuation.order { value -= predictor[lag + 1] * memory[lag] }
    value = value.isFinite ? min(max(value, -SoundContinuation.loudest), SoundContinuation.loudest) : 0
    for lag in stride(from: SoundContinuation.order - 1, to: 0, by: -1) { memory[lag] = memory[lag - 1] }
    memory[0] = value
    loudness *= trend
    defer { made += 1 }
    return value * loudness * Float(silent - made) / Float(silent)
  }

  /// The lag at which the end of the sound is most like itself.
  private func pitch(_ sound: UnsafePointer<Int16>, _ count: Int, _ compared: Int) -> Int {
    let recent = sound + (count - compared)
    var best = SoundContinuation.periods.upperBound * scale
    var most: Float = 0
    for lag in SoundContinuation.periods where lag * scale + compared <= count {
      let earlier = recent - lag * scale
      var product: Float = 0
      var energy: Float = 1
      var index = 0
      while index < compared {
        product += Float(recent[index]) * Float(earlier[index])
        energy += Float(earlier[index]) * Float(earlier[index])
        index += scale
      }
      guard product > 0 else { continue }
      let likeness = product * product / energy
      if likeness > most {
        most = likeness
        best = lag * scale
      }
    }
    return best
  }

  /// Autocorrelation of a window that weighs the end most, and the recursion of Levinson and Durbin.
  private func predict(_ sound: UnsafePointer<Int16>, _ count: Int) {
    let order = SoundContinuation.order
    withUnsafeTemporaryAllocation(of: Float.self, capacity: count + 2 * (order + 1)) { room in
      guard let weighed = room.baseAddress else { return }
      let correlation = weighed + count
      let former = correlation + order + 1
      let fall = count / 8
      let rise = count - fall
      for index in 0..<count {
        let weight =
          index < rise
          ? sin(Float.pi / 2 * (Float(index) + 0.5) / Float(rise))
          : cos(Float.pi / 2 * 0.9 * (Float(index - rise) + 0.5) / Float(fall))
        weighed[index] = Float(sound[index]) * weight
      }
      for lag in 0...order {
        var sum: Float = 0
        for index in lag..<count { sum += weighed[index] * weighed[index - lag] }
        correlation[lag] = sum * SoundContinuation.lagWindow[lag]
      }
      predictor[0] = 1
      for lag in 1...order { predictor[lag] = 0 }
      var error = correlation[0] + 1
      for step in 1...order where error > 0 {
        var reflection: Float = 0
        for lag in 0..<step { reflection += predictor[lag] * correlation[step - lag] }
        reflection = -reflection / error
        for lag in 0...order { former[lag] = predictor[lag] }
        for lag in 1..<max(step, 1) { predictor[lag] = former[lag] + reflection * former[step - lag] }
        predictor[step] = reflection
        error *= 1 - reflection * reflection
      }
    }
  }
}
