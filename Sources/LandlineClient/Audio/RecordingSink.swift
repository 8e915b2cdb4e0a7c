public import CallModel
import Foundation
import MediaCore
import Synchronization

/// Records a call as a WAV file of two channels at 16 kHz: left what is sent, right what is received.
///
/// A file that was cut off still plays. What cannot be written is given up, and ``failure`` says why.
public final class RecordingSink: AudioSink {
  /// Hz.
  public static let samplingRate = 16_000
  /// Seconds of a file at most.
  public static let maximumSeconds = WAVRecorder.maximumSeconds

  private struct State {
    var handle: CInt
    var recorder: WAVRecorder?
    let converters: [RateConverter]
    let wide = SampleBuffer()
    let narrow = SampleBuffer()
    var failure: String?
  }

  /// Of the file, as it was given.
  public let path: String
  private let state: Mutex<State>

  /// A recording holds the call, not the tones that the app plays to its user meanwhile.
  public var hearsSoundFiles: Bool { false }

  /// Makes the file, in place of one that was there. Waits for the disk.
  public init(path: String) throws(SoundFile.Failure) {
    let handle = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard handle >= 0 else { throw SoundFile.Failure(path: path, problem: String(cString: strerror(errno))) }
    self.path = path
    let converters = (0..<2).compactMap { _ in
      RateConverter(from: AudioFormat.samplingRate, to: RecordingSink.samplingRate)
    }
    state = Mutex(State(handle: handle, recorder: nil, converters: converters))
  }

  deinit { finish() }

  /// Why the recording ended early; `nil` while all is well.
  public var failure: String? { state.withLock { $0.failure } }

  /// Does nothing after ``finish()`` or a failure.
  public func write(received: [Int16], sent: [Int16], at time: MonotonicInstant) {
    state.withLock { state in
      guard state.handle >= 0 else { return }
      let recorder = state.recorder ?? WAVRecorder(samplingRate: RecordingSink.samplingRate, at: time)
      state.recorder = recorder
      for (converter, (samples, channel)) in zip(
        state.converters, [(sent, WAVRecorder.Channel.left), (received, .right)])
      {
        let count = min(samples.count, SampleBuffer.capacity)
        state.wide.count = count
        for index in 0..<count { state.wide[index] = samples[index] }
        guard converter.convert(state.wide, into: state.narrow) else { continue }
        recorder.record(state.narrow, on: channel, at: time)
      }
      RecordingSink.write(&state)
    }
  }

  /// Writes what waits and puts the length into the file's head.
  public func finish() {
    state.withLock { state in
      guard state.handle >= 0 else { return }
      let patches = state.recorder?.finish() ?? []
      RecordingSink.write(&state)
      if state.handle >= 0 {
        for patch in patches {
          let count = patch.bytes.withUnsafeBytes {
            pwrite(state.handle, $0.baseAddress, $0.count, off_t(patch.offset))
          }
          if count != patch.bytes.count { state.failure = String(cString: strerror(errno)) }
        }
        close(state.handle)
      }
      state.handle = -1
      state.recorder = nil
    }
  }

  private static func write(_ state: inout State) {
    while state.handle >= 0, let bytes = state.recorder?.nextChunk(), !bytes.isEmpty {
      var written = 0
      while written < bytes.count {
        let count = bytes.withUnsafeBytes {
          Foundation.write(state.handle, $0.baseAddress?.advanced(by: written), $0.count - written)
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          state.failure = String(cString: strerror(errno))
          close(state.handle)
          state.handle = -1
          return
        }
        written += count
      }
    }
  }
}
