/// Hides lost packets of a codec that has no concealment of its own: the last pitch period is repeated, fades, and blends
/// into the sound that comes next.
///
/// Memory and work are bounded: about 1 KiB, and one search a gap.
final class WaveformRepetition {
  /// Milliseconds at full loudness, and until silence.
  static let full = 10
  static let silent = 60
  /// Pitch periods looked for, in samples at 8 kHz: 200 Hz down to 66 Hz. Higher voices are found at a multiple.
  static let periods = 40...120
  /// Samples at 8 kHz that are compared for it.
  static let compared = 160

  /// 1 at 8 kHz, 2 at 16 kHz.
  private let scale: Int
  /// The latest sound, oldest first, then room for one packet's worth of shifting.
  private let history: UnsafeMutablePointer<Int16>
  private let length: Int
  /// Samples made up since the last packet.
  private var concealed = 0
  private var period = 0

  init(samplingRate: Int) {
    scale = max(samplingRate / 8_000, 1)
    length = (WaveformRepetition.compared + WaveformRepetition.periods.upperBound) * scale
    history = UnsafeMutablePointer<Int16>.allocate(capacity: length)
    history.initialize(repeating: 0, count: length)
  }

  deinit { history.deallocate() }

  /// Sound came: it is remembered, and its start blended with what was made up before it.
  func heard(_ samples: SampleBuffer) {
    let count = samples.count
    samples.withUnsafeMutableRoom { room in
      if concealed > 0 {
        let blend = min(count, 32 * scale)
        for index in 0..<blend {
          let weight = Float(index + 1) / Float(blend + 1)
          room[index] = Int16(Float(room[index]) * weight + next() * (1 - weight))
        }
        concealed = 0
      }
      let kept = min(count, length)
      history.update(from: history + kept, count: length - kept)
      guard let latest = room.baseAddress else { return }
      (history + (length - kept)).update(from: latest + (count - kept), count: kept)
    }
  }

  func conceal(_ count: Int, into samples: SampleBuffer) {
    if concealed == 0 { period = search() }
    samples.count = min(max(count, 0), SampleBuffer.capacity)
    samples.withUnsafeMutableRoom { room in
      for index in 0..<samples.count { room[index] = Int16(next()) }
    }
  }

  /// The next made up sample, -32768 to 32767.
  private func next() -> Float {
    let full = WaveformRepetition.full * 8 * scale
    let silent = WaveformRepetition.silent * 8 * scale
    guard concealed < silent else { return 0 }
    let phase = concealed % period
    var sample = Float(history[length - period + phase])
    // The seam between two repetitions: the period before runs out while the last one comes in.
    let seam = period / 4
    if phase >= period - seam {
      let weight = Float(phase - (period - seam) + 1) / Float(seam + 1)
      sample = sample * (1 - weight) + Float(history[length - 2 * period + phase]) * weight
    }
    let gain = concealed < full ? 1 : Float(silent - concealed) / Float(silent - full)
    concealed += 1
    return sample * gain
  }

  /// The lag at which the sound is most like itself.
  private func search() -> Int {
    let compared = WaveformRepetition.compared * scale
    let recent = history + (length - compared)
    var best = WaveformRepetition.periods.upperBound * scale
    var most: Float = 0
    for lag in WaveformRepetition.periods {
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
}
