import MediaCore
import Synchronization

/// Where a call's sound comes from. Asked every 20 ms on the client's event loop, so it must not wait.
public protocol AudioSource: Sendable {
  /// The next `count` samples at ``AudioFormat/samplingRate``. Missing ones are silence; more are cut off.
  func next(_ count: Int) -> [Int16]
}

/// Says nothing.
public struct SilenceSource: AudioSource {
  public init() {}
  /// Empty: samples that are missing are silence.
  public func next(_ count: Int) -> [Int16] { [] }
}

/// A sine, for tests of the way.
public final class ToneSource: AudioSource {
  private struct State {
    var generator: ToneGenerator
    let room = SampleBuffer()
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - frequency: Hz, read within 20 to 20,000.
  ///   - level: dBm0, read within -60 to 0.
  public init(frequency: Double, level: Double = -10) {
    let component = Tone.Component(
      frequency: min(max(frequency, 20), 20_000), level: min(max(level, -60), 0))
    let tone = Tone([Tone.Segment([component], milliseconds: 1_000)], repeats: true)
    state = Mutex(State(generator: ToneGenerator(tone, samplingRate: AudioFormat.samplingRate)))
  }

  /// The sine goes on where the last samples ended.
  public func next(_ count: Int) -> [Int16] {
    state.withLock { state in
      state.generator.fill(state.room, count: count)
      return state.room.samples
    }
  }
}

/// Sound that the app makes itself, such as that of a microphone.
public struct CallbackSource: AudioSource {
  private let read: @Sendable (Int) -> [Int16]

  /// - Parameter read: Gives so many samples at ``AudioFormat/samplingRate``; called every 20 ms, must not wait.
  public init(_ read: @escaping @Sendable (Int) -> [Int16]) { self.read = read }

  /// What the closure gives for the same count.
  public func next(_ count: Int) -> [Int16] { read(count) }
}

/// A sound file, from its start each time a source is made of it.
public final class FileSource: AudioSource {
  private let player: Mutex<SoundPlayer>

  /// With `loops` the file begins again at its end; otherwise silence follows.
  public init(_ file: SoundFile, loops: Bool = false) { player = Mutex(SoundPlayer(file, loops: loops)) }

  /// Fewer than `count` at the file's end, then none.
  public func next(_ count: Int) -> [Int16] { player.withLock { $0.next(count) } }
}
