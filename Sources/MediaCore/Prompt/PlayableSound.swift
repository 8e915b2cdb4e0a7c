import SDPCore

/// A sound that is read once and played as often as wanted, to legs and in rooms; shared by all threads.
///
/// To read, to convert and to encode takes as long as a part of what is played: it happens on the maker's thread, and none that
/// works on calls waits for it.
public final class PlayableSound: Sendable {
  /// Why a sound is refused.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Milliseconds of it: more than ``PlayableSound/maximumMilliseconds``.
    case length(Int)
    /// What is wrong with the file, by its reader.
    case file(String)
    /// Its rate cannot be converted.
    case samplingRate(Int)
    /// There is no memory for a coder.
    case memory

    /// What was found, then what is wanted, for a message.
    public var description: String {
      switch self {
      case .length(let milliseconds):
        "\(milliseconds / 1000) seconds: at most \(PlayableSound.maximumMilliseconds / 1000) are played"
      case .file(let problem): problem
      case .samplingRate(let rate): "\(rate) Hz cannot be converted: 16000 is wanted"
      case .memory: "there is no memory to encode it"
      }
    }
  }

  /// Longest, so that its packets take a few megabytes at most.
  public static let maximumMilliseconds = 120_000

  /// Hz of the two that a room may have.
  static let wideRate = 16_000
  static let narrowRate = 8_000
  /// What a room mixes, at each of its rates.
  let wide: [Int16]
  let narrow: [Int16]
  private let recordings: [AudioCodec: PromptRecording]

  /// Reads a WAV file (``WAVReader``) or a mono Ogg Opus file (RFC 7845), by its first bytes, and encodes it for every codec.
  public convenience init(file bytes: [UInt8]) throws(Failure) {
    if bytes.starts(with: "OggS".utf8) {
      let file: OggOpus
      do { file = try bytes.withUnsafeBytes { (bytes) throws(OggOpus.Failure) in try OggOpus(bytes) } } catch {
        throw .file("no mono Ogg Opus file that can be read: \(error)")
      }
      do {
        try self.init(try PromptLibrary.decode(file, PlayableSound.wideRate), samplingRate: PlayableSound.wideRate)
      } catch let problem
        as Failure
      {
        throw problem
      } catch {
        throw .memory
      }
    } else {
      let file: WAVReader
      do { file = try WAVReader(bytes) } catch { throw .file("\(error)") }
      try self.init(file.samples, samplingRate: file.samplingRate)
    }
  }

  /// Mono samples at any usual rate.
  public init(_ samples: [Int16], samplingRate: Int) throws(Failure) {
    guard samplingRate > 0, samples.count / samplingRate * 1000 <= PlayableSound.maximumMilliseconds else {
      throw .length(samples.count / max(samplingRate, 1) * 1000)
    }
    guard let wide = SoundResampler.convert(samples, from: samplingRate, to: PlayableSound.wideRate),
      let narrow = SoundResampler.convert(wide, from: PlayableSound.wideRate, to: PlayableSound.narrowRate)
    else { throw .samplingRate(samplingRate) }
    self.wide = wide
    self.narrow = narrow
    var recordings: [AudioCodec: PromptRecording] = [:]
    for codec in AudioCodec.allCases {
      let rate = codec.samplingRate == PlayableSound.narrowRate ? PlayableSound.narrowRate : PlayableSound.wideRate
      do throws(CodecFailure) {
        recordings[codec] = PromptRecording(
          try PromptLibrary.encode(rate == PlayableSound.narrowRate ? narrow : wide, rate, codec))
      } catch {
        throw .memory
      }
    }
    self.recordings = recordings
  }

  public var milliseconds: Int { wide.count * 1000 / PlayableSound.wideRate }

  /// Its packets, 20 ms each.
  func recording(_ codec: AudioCodec) -> PromptRecording { recordings[codec] ?? PromptRecording([]) }
}
