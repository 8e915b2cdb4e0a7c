/// Hides lost packets of a codec that has no concealment of its own. What was lost is guessed from both sides: the sound
/// before the gap goes on, the sound behind it goes on backwards, and one is faded into the other. Where the packet behind
/// is not known, the first half alone is used, and blended into the packet that comes next.
///
/// Memory and work are bounded: about 2.5 KiB at 8 kHz, and two analyses a gap.
final class GapConcealment {
  /// Samples at 8 kHz that are compared for a period before a gap, and of the packet behind it that are used (20 ms).
  static let compared = 160
  static let packet = 160
  /// Samples at 8 kHz that the prediction is taken from.
  static let window = 240
  /// Samples at 8 kHz that are made up from behind at most (60 ms).
  static let backward = 480
  /// Made up samples at 8 kHz that fade under the next packet where it was not known.
  static let blend = 32

  /// 1 at 8 kHz, 2 at 16 kHz.
  private let scale: Int
  /// The latest sound, heard or made up, oldest first.
  private let history: UnsafeMutablePointer<Int16>
  private let length: Int
  /// What was made up from behind, in the order of time.
  private let behind: UnsafeMutablePointer<Int16>
  private var behindCount = 0
  /// Samples of the gap that are still to be made up, where its length is known.
  private var gapLeft = 0
  private var isInGap = false
  private let before: SoundContinuation
  private let after: SoundContinuation

  init(samplingRate: Int) {
    scale = max(samplingRate / 8_000, 1)
    length = (GapConcealment.compared + SoundContinuation.periods.upperBound) * scale
    history = UnsafeMutablePointer<Int16>.allocate(capacity: length)
    history.initialize(repeating: 0, count: length)
    behind = UnsafeMutablePointer<Int16>.allocate(capacity: GapConcealment.backward * scale)
    behind.initialize(repeating: 0, count: GapConcealment.backward * scale)
    before = SoundContinuation(scale: scale)
    after = SoundContinuation(scale: scale)
  }

  deinit {
    history.deallocate()
    behind.deallocate()
  }

  /// A gap of so many samples is to be concealed next, and this sound follows it: as it was decoded, and to be ``heard(_:)``
  /// afterwards. Not needed, but the better half.
  func bridge(_ gap: Int, to following: SampleBuffer) {
    enterGap()
    let used = GapConcealment.packet * scale
    guard gap > 0, following.count >= used else { return }
    following.withUnsafeMutableRoom { room in
      withUnsafeTemporaryAllocation(of: Int16.self, capacity: used) { reversed in
        guard let start = reversed.baseAddress else { return }
        for index in 0..<used { reversed[used - 1 - index] = room[index] }
        after.begin(
          start, used, compared: (GapConcealment.packet - SoundContinuation.periods.upperBound) * scale, window: used)
      }
    }
    gapLeft = gap
    behindCount = min(gap, GapConcealment.backward * scale)
    for index in stride(from: behindCount - 1, through: 0, by: -1) {
      behind[index] = SoundContinuation.clipped(after.next())
    }
  }

  /// Replaces `samples` by the next `count` that were lost, at most a sample buffer's capacity.
  func conceal(_ count: Int, into samples: SampleBuffer) {
    enterGap()
    samples.count = min(max(count, 0), SampleBuffer.capacity)
    samples.withUnsafeMutableRoom { room in
      for index in 0..<samples.count {
        var value = before.next()
        if gapLeft > 0 {
          if gapLeft <= behindCount {
            let weight = Float(gapLeft) / Float(behindCount + 1)
            value = value * weight + Float(behind[behindCount - gapLeft]) * (1 - weight)
          }
          gapLeft -= 1
        }
        room[index] = SoundContinuation.clipped(value)
      }
      remember(room, samples.count)
    }
  }

  /// Sound came: it is remembered, and its start blended with what was made up where that did not know of it.
  func heard(_ samples: SampleBuffer) {
    samples.withUnsafeMutableRoom { room in
      if isInGap {
        let isBridged = behindCount > 0 && gapLeft == 0
        let blend = isBridged ? 0 : min(samples.count, GapConcealment.blend * scale)
        for index in 0..<blend {
          let weight = Float(index + 1) / Float(blend + 1)
          room[index] = SoundContinuation.clipped(Float(room[index]) * weight + before.next() * (1 - weight))
        }
        isInGap = false
      }
      remember(room, samples.count)
    }
  }

  private func enterGap() {
    guard !isInGap else { return }
    isInGap = true
    behindCount = 0
    gapLeft = 0
    before.begin(
      history, length, compared: GapConcealment.compared * scale, window: GapConcealment.window * scale)
  }

  private func remember(_ sound: UnsafeMutableBufferPointer<Int16>, _ count: Int) {
    guard let start = sound.baseAddress else { return }
    let kept = min(count, length)
    history.update(from: history + kept, count: length - kept)
    (history + (length - kept)).update(from: start + (count - kept), count: kept)
  }
}
