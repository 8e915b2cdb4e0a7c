import FuzzBound
import MediaCore
import SDPCore
import SecureTransport

/// Sound as strangers send it: the first byte says what the rest is. A WAV file, an Ogg Opus file, or packets of a codec,
/// each behind a byte with its length, decoded one after the other with losses between.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWAV(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
  let kind = start[0]
  withinTimeBound {
    switch kind {
    case UInt8(ascii: "w"): readWAV(bytes)
    case UInt8(ascii: "o"): readOgg(bytes)
    default: decode(bytes, kind)
    }
  }
  return 0
}

private func readWAV(_ bytes: [UInt8]) {
  guard let file = try? WAVReader(bytes) else { return }
  precondition(file.samples.count * 2 <= bytes.count, "sound that is not in the file")
}

private func readOgg(_ bytes: [UInt8]) {
  let bytes = sealed(bytes)
  guard let file = bytes.withUnsafeBytes({ try? OggOpus($0) }) else { return }
  for packet in file.packets { precondition(OpusPacket.inspect(packet) != nil, "a malformed packet passed") }
}

/// The bytes with right checksums, so that what lies behind them is reached.
private func sealed(_ bytes: [UInt8]) -> [UInt8] {
  var bytes = bytes
  var start = 0
  while bytes.count - start >= 27 {
    let body = start + 27 + Int(bytes[start + 26])
    guard body <= bytes.count else { break }
    let end = bytes[(start + 27)..<body].reduce(body) { $0 + Int($1) }
    guard end <= bytes.count else { break }
    let sum = bytes.withUnsafeBytes { OggPage.checksum($0, start..<end) }
    for index in 0..<4 { bytes[start + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
    start = end
  }
  return bytes
}

/// Packets of one input at most: their decoding takes time, and their number says nothing.
private let mostPackets = 12

private func decode(_ bytes: [UInt8], _ kind: UInt8) {
  let codec = AudioCodec.allCases[Int(kind & 3)]
  let rate = kind & 4 == 0 || codec == .pcmu || codec == .pcma ? 8_000 : 16_000
  guard let decoder = try? AudioDecoder(codec, samplingRate: rate) else { return }
  let samples = SampleBuffer()
  var position = 0
  for _ in 0..<mostPackets where position < bytes.count {
    let head = Int(bytes[position])
    let length = min(head & 0x3F, bytes.count - position - 1)
    let packet = PacketBuffer(bytes[(position + 1)..<(position + 1 + length)])
    position += 1 + length
    let wanted = rate / 50 * (1 + head >> 6)
    switch head >> 6 {
    case 1: decoder.conceal(samples: wanted, into: samples)
    case 2: _ = decoder.recover(from: packet, offset: 0, count: length, samples: wanted, into: samples)
    default: break
    }
    let promised = OpusPacket.inspect(packet, offset: 0, count: length)
    if decoder.decode(packet, offset: 0, count: length, into: samples), codec == .opus {
      precondition(samples.count == (promised?.duration ?? 0) * rate / 48_000, "not what the packet promised")
    }
  }
}
