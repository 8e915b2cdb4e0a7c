import Synchronization

/// The sound of one call (``Call/audio``), or what all calls of a client share (``Client/audio``).
///
/// Sound files go two ways. ``startPlayingSoundFile(_:loops:)`` is for the app's own user, and so is
/// ``startPlayingTone(_:loops:)``: a progress tone from ``CallDelegate/callDidProgress(_:)``, a ringtone from
/// ``CallClientDelegate/callClient(_:didReceiveIncomingCall:)``, a busy tone after the end. ``startSendingSoundFile(_:loops:mode:)`` is for the
/// other side: a greeting, an announcement.
public final class AudioController: Sendable {
  /// How a file for the other side goes together with the source.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// The file is heard in place of the source.
    case inPlace
    /// Both are heard.
    case mixed
  }

  /// A file for the other side. The number tells it from the one before.
  struct Sending: Sendable {
    var number: UInt64
    var file: SoundFile
    var loops: Bool
    var mode: Mode
  }

  struct State: Sendable {
    var isMuted = false
    var source: (any AudioSource)?
    var sink: (any AudioSink)?
    var sending: Sending?
    var lastNumber: UInt64 = 0
  }

  /// What the app's own user hears of a file, and who asks for it.
  private struct Playing {
    var player: SoundPlayer?
    /// Beats of calls; the first one has the file.
    var beats: [ObjectIdentifier] = []
    /// Hands the file out while no call does.
    var alone: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let playing = Mutex(Playing())
  /// A file is heard without a call as well.
  private let playsAlone: Bool

  /// - Parameter playsAlone: Whether a file is handed to the sink while no call does it.
  init(playsAlone: Bool = false) { self.playsAlone = playsAlone }

  deinit { playing.withLock { $0.alone }?.cancel() }

  var snapshot: State { state.withLock { $0 } }

  /// Silence goes out in place of all that would be heard; the other side's sound still comes in.
  public var isMuted: Bool { state.withLock { $0.isMuted } }
  /// From the next frame on; on ``Client/audio`` for all calls. The gateway is told.
  public func mute() { state.withLock { $0.isMuted = true } }
  /// A call is heard again once neither its own controller nor the client's is muted.
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

  // MARK: For the app's own user

  /// Plays a file to the app's own user, from its start, in place of one that plays: a ringing tone from progress to
  /// answer, a busy tone after the end.
  ///
  /// It is mixed into what ``sink`` is given; the other side does not hear it, and a ``RecordingSink`` leaves it out. On
  /// ``Client/audio`` it is heard without a call as well, so that it can outlive one.
  public func startPlayingSoundFile(_ file: SoundFile, loops: Bool = false) {
    playing.withLock { $0.player = SoundPlayer(file, loops: loops) }
    playAlone()
  }

  /// Reads a WAV file (``SoundFile``) and plays it to the app's own user. Waits for the disk.
  public func startPlayingSoundFile(path: String, loops: Bool = false) throws(SoundFile.Failure) {
    startPlayingSoundFile(try SoundFile(path: path), loops: loops)
  }

  /// Plays a signal of the telephone to the app's own user as ``startPlayingSoundFile(_:loops:)`` plays a file, in place of
  /// what plays: a ringtone until the call is taken, a ringing tone until it is answered. ``stopPlayingSoundFile()`` ends it.
  ///
  /// A ringtone belongs to ``Client/audio``: a call has no sound of its own before a gateway has answered its offer.
  public func startPlayingTone(_ tone: CallTone, loops: Bool = true) {
    startPlayingSoundFile(tone.file, loops: loops)
  }

  /// From the next frame on; nothing happens when none plays.
  public func stopPlayingSoundFile() { playing.withLock { $0.player = nil } }

  /// The app's own user hears a file, or will as soon as the call has sound.
  public var isPlayingSoundFile: Bool { playing.withLock { $0.player != nil } }

  /// A call's beat begins, and takes the file with it.
  func enter(_ beat: ObjectIdentifier) {
    playing.withLock { playing in
      playing.beats.append(beat)
      playing.alone?.cancel()
      playing.alone = nil
    }
  }

  /// A call's beat ends; what still plays goes on without it.
  func leave(_ beat: ObjectIdentifier) {
    playing.withLock { $0.beats.removeAll { $0 == beat } }
    playAlone()
  }

  /// The file's next frame, for one beat at a time; empty where nothing plays.
  func nextPlayed(for beat: ObjectIdentifier) -> [Int16] {
    playing.withLock { playing in playing.beats.first == beat ? AudioController.next(&playing) : [] }
  }

  private static func next(_ playing: inout Playing) -> [Int16] {
    guard var player = playing.player else { return [] }
    let frame = player.next(AudioFormat.frameSamples)
    playing.player = player.isFinished ? nil : player
    return frame
  }

  private func playAlone() {
    guard playsAlone else { return }
    playing.withLock { playing in
      guard playing.player != nil, playing.beats.isEmpty, playing.alone == nil else { return }
      playing.alone = Task { [weak self] in
        var next = ContinuousClock.now
        while !Task.isCancelled, self?.handOutAlone() ?? false {
          next += .milliseconds(AudioFormat.frameMilliseconds)
          try? await Task.sleep(until: next, clock: .continuous)
        }
      }
    }
  }

  /// - Returns: Whether there is more.
  private func handOutAlone() -> Bool {
    let frame: [Int16]? = playing.withLock { playing in
      guard playing.beats.isEmpty, playing.player != nil else {
        playing.alone = nil
        return nil
      }
      return AudioController.next(&playing)
    }
    guard let frame else { return false }
    let sink = snapshot.sink
    if sink?.hearsSoundFiles ?? false {
      sink?.write(received: AudioPump.fitted(frame), sent: AudioPump.silence, at: Clock.now)
    }
    return true
  }

  // MARK: For the other side

  /// Sends a file to the other side, from its start, as soon as the call is answered; in place of one that is being sent.
  public func startSendingSoundFile(_ file: SoundFile, loops: Bool = false, mode: Mode = .inPlace) {
    state.withLock { state in
      state.lastNumber += 1
      state.sending = Sending(number: state.lastNumber, file: file, loops: loops, mode: mode)
    }
  }

  /// Reads a WAV file (``SoundFile``) and sends it to the other side. Waits for the disk.
  public func startSendingSoundFile(
    path: String, loops: Bool = false, mode: Mode = .inPlace
  ) throws(SoundFile.Failure) {
    startSendingSoundFile(try SoundFile(path: path), loops: loops, mode: mode)
  }

  /// From the next frame on the source alone is heard again; nothing happens when none is being sent.
  public func stopSendingSoundFile() { state.withLock { $0.sending = nil } }

  /// A file waits to be sent or is being sent. One on the client's controller is sent until it is stopped or replaced,
  /// once in each call.
  public var isSendingSoundFile: Bool { state.withLock { $0.sending != nil } }

  /// The file with this number is over.
  func finished(_ number: UInt64) {
    state.withLock { if $0.sending?.number == number { $0.sending = nil } }
  }
}
