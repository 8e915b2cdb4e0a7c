import Foundation
import MediaCore

/// A WAV file in memory: mono or stereo, 16-bit PCM at a usual rate of 8 to 192 kHz. Two channels become one.
public struct SoundFile: Sendable {
  /// Why a file cannot be used.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// `nil` where bytes were read instead of a file.
    public let path: String?
    /// What is wrong, in words for people.
    public let problem: String
    /// `greeting.wav: …`; the problem alone where there is no path.
    public var description: String { (path.map { "\($0): " } ?? "") + problem }
  }

  /// Hz.
  public let samplingRate: Int
  let samples: [Int16]

  /// How long the sound is, rounded down.
  public var milliseconds: Int { samples.count * 1_000 / samplingRate }

  /// Reads a file. Waits for the disk.
  public init(path: String) throws(Failure) {
    let handle = open(path, O_RDONLY | O_CLOEXEC)
    guard handle >= 0 else { throw Failure(path: path, problem: String(cString: strerror(errno))) }
    defer { close(handle) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= WAVReader.maximumSize {
      let count = read(handle, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(path: path, problem: String(cString: strerror(errno))) }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    try self.init(bytes, path: path)
  }

  /// Reads the bytes of a WAV file.
  public init(_ bytes: [UInt8]) throws(Failure) { try self.init(bytes, path: nil) }

  /// Sound that was made here, at one of the rates that playing takes as they are.
  init(samples: [Int16], samplingRate: Int) {
    self.samples = samples
    self.samplingRate = samplingRate
  }

  private init(_ bytes: [UInt8], path: String?) throws(Failure) {
    do throws(WAVReader.Failure) {
      let reader = try WAVReader(bytes)
      // The rates that playing makes its own sound of; any other is brought to that of calls here, once.
      if SoundPlayer.rates.contains(reader.samplingRate) {
        samplingRate = reader.samplingRate
        samples = reader.samples
      } else {
        let target = AudioFormat.samplingRate
        guard let converted = SoundResampler.convert(reader.samples, from: reader.samplingRate, to: target) else {
          throw .samplingRate(UInt32(clamping: reader.samplingRate))
        }
        samplingRate = target
        samples = converted
      }
    } catch {
      throw Failure(path: path, problem: error.description)
    }
  }
}
