import SDPCore
import SecureTransport

/// A payload that sounds like nothing, for a leg that is muted while its packets pass untouched.
struct SilencePayload {
  private let bytes: [UInt8]
  /// The codec is a stream of samples: as many bytes as the packet it stands for.
  private let isStream: Bool

  init(_ codec: AudioCodec) {
    let rate = codec == .opus ? 8_000 : codec.samplingRate
    let packet = PacketBuffer()
    let sound = SampleBuffer()
    sound.fillSilence(rate / 50)
    if let encoder = try? AudioEncoder(codec, samplingRate: rate) {
      _ = encoder.encode(sound, from: 0, count: sound.count, into: packet)
    }
    bytes = packet.bytes
    isStream = codec != .opus
  }

  func append(to packet: PacketBuffer, like count: Int) {
    guard !bytes.isEmpty else { return }
    for index in 0..<(isStream ? count : bytes.count) { packet.append(bytes[index % bytes.count]) }
  }
}
