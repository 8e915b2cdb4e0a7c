import Synchronization

/// The sound of one call (``Call/audio``), or what all calls of a client share (``Client/audio``).
public final class AudioController: Sendable {
  /// How a file goes together with the source.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// The file is heard in place of the source.
    case inPlace
    /// Both are heard.
    case mixed
  }

  /// A file that was asked for. The number tells it from the one before.
  struct Playback: Sendable {
    var number: UInt64
    var file: SoundFile
    var loops: Bool
    var mode: Mode
  }

  struct State: Sendable {
    var isMuted = false
    var source: (any AudioSource)?
    var sink: (any AudioSink)?
    var playback: Playback?
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())

  init() {}

  var snapshot: State { state.withLock { $0 } }

  /// Silence goes out in place of all that would be heard; the other side's sound still comes in.
  public var isMuted: Bool { state.withLock { $0.isMuted } }
  public func mute() { state.withLock { $0.isMuted = true } }
  public func unmute() { state.withLock { $0.isMuted = false } }

  /// Where the sound comes from; asked from the answer on. `nil`: the client's for a call, silence for the client.
  public var source: (any AudioSource)? {
    get { state.withLock { $0.source } }
    set { state.withLock { $0.source = newValue } }
  }

  /// Where the sound goes. A call's own one is finished when the call ends.
  public var sink: (any AudioSink)? {
    get { state.withLock { $0.sink } }
    set { state.withLock { $0.sink = newValue } }
  }

  /// Plays a file to the other side, from its start, as soon as the call is answered; in place of one that plays.
  public func play(_ file: SoundFile, loops: Bool = false, mode: Mode = .inPlace) {
    state.withLock { state in
      state.lastNumber += 1
      state.playback = Playback(number: state.lastNumber, file: file, loops: loops, mode: mode)
    }
  }

  /// Reads a WAV file and plays it. Waits for the disk.
  public func play(path: String, loops: Bool = false, mode: Mode = .inPlace) throws(SoundFile.Failure) {
    play(try SoundFile(path: path), loops: loops, mode: mode)
  }

  public func stopPlaying() { state.withLock { $0.playback = nil } }

  /// A file waits to be played or plays. A file on the client's controller plays until it is stopped or replaced, once in
  /// each call.
  public var isPlaying: Bool { state.withLock { $0.playback != nil } }

  /// The file with this number is over.
  func finished(_ number: UInt64) {
    state.withLock { if $0.playback?.number == number { $0.playback = nil } }
  }
}
