import Foundation
import MediaCore
import PeerKit
import SDPCore
import SecureTransport

/// Sound of one channel in memory, as WAV files hold it.
struct SoundFile: Sendable {
  let samplingRate: Int
  let samples: [Int16]

  init(samplingRate: Int, samples: [Int16]) {
    self.samplingRate = samplingRate
    self.samples = samples
  }

  init(_ file: URL) throws {
    let reader = try WAVReader(Array(Data(contentsOf: file)))
    self.init(samplingRate: reader.samplingRate, samples: reader.samples)
  }

  var seconds: Double { Double(samples.count) / Double(samplingRate) }

  /// With silence before and after.
  func padded(before: Double, after: Double) -> SoundFile {
    func silence(_ seconds: Double) -> [Int16] {
      [Int16](repeating: 0, count: Int(seconds * Double(samplingRate)))
    }
    return SoundFile(samplingRate: samplingRate, samples: silence(before) + samples + silence(after))
  }

  func converted(to rate: Int) throws -> SoundFile {
    guard rate != samplingRate else { return self }
    guard let converter = RateConverter(from: samplingRate, to: rate) else {
      throw PeerFailure("no conversion from \(samplingRate) to \(rate) Hz")
    }
    let output = SampleBuffer()
    var converted: [Int16] = []
    for block in blocks(milliseconds: 20) {
      try require(converter.convert(SampleBuffer(block), into: output), "a block is converted")
      converted += output.samples
    }
    return SoundFile(samplingRate: rate, samples: converted)
  }

  /// What remains of it behind a codec at a rate, decoded at another.
  func through(_ codec: AudioCodec, decodedAt rate: Int) throws -> SoundFile {
    let encoder = try AudioEncoder(codec, samplingRate: samplingRate)
    let decoder = try AudioDecoder(codec, samplingRate: rate)
    let output = SampleBuffer()
    var decoded: [Int16] = []
    for block in blocks(milliseconds: 20) {
      let packet = PacketBuffer()
      try require(
        encoder.encode(SampleBuffer(block), from: 0, count: block.count, into: packet), "\(codec) takes a block")
      try require(decoder.decode(packet, offset: 0, count: packet.count, into: output), "\(codec) gives a block")
      decoded += output.samples
    }
    return SoundFile(samplingRate: rate, samples: decoded)
  }

  /// From an app to an echo behind a trunk and back, with nothing but the codecs on the way.
  func echoed(over codec: AudioCodec) throws -> SoundFile {
    try through(.opus, decodedAt: 8_000).through(codec, decodedAt: 8_000).through(.opus, decodedAt: 8_000)
  }

  /// Whole blocks only.
  func blocks(milliseconds: Int) -> [[Int16]] {
    let size = samplingRate * milliseconds / 1_000
    return stride(from: 0, through: samples.count - size, by: size).map { Array(samples[$0..<($0 + size)]) }
  }

  /// Writes it as RIFF WAVE, 16 bits.
  func write(to file: URL) throws {
    var data = Data()
    func append<Value: FixedWidthInteger>(_ value: Value) {
      withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
    }
    let bytes = UInt32(samples.count * 2)
    data.append(contentsOf: "RIFF".utf8)
    append(36 + bytes)
    data.append(contentsOf: "WAVEfmt ".utf8)
    append(UInt32(16))
    append(UInt16(1))
    append(UInt16(1))
    append(UInt32(samplingRate))
    append(UInt32(samplingRate * 2))
    append(UInt16(2))
    append(UInt16(16))
    data.append(contentsOf: "data".utf8)
    append(bytes)
    for sample in samples { append(sample) }
    try data.write(to: file)
  }
}
