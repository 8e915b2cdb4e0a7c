import MediaCore
import SDPCore
import SecureTransport

/// Sound as strangers send it, or as an operator puts it there.
enum SoundDoors {
  static let all = [
    FuzzDoor("wav", "a WAV file", dictionary: "sound", maximumBytes: 16_384) { (input) throws(BrokenPromise) in
      try readWAV(input)
    },
    FuzzDoor("ogg-opus", "an Ogg Opus file", dictionary: "sound", maximumBytes: 16_384) {
      (input) throws(BrokenPromise) in try readOgg(input)
    },
    FuzzDoor("opus-packet", "an Opus packet", dictionary: "none", maximumBytes: 1600) {
      (input) throws(BrokenPromise) in try inspect(input)
    },
    FuzzDoor("sound", "kind of codec, then packets behind their lengths", dictionary: "none", maximumBytes: 1024) {
      (input) throws(BrokenPromise) in
      guard let first = input.first else { return }
      try decode(Array(input.dropFirst()), first)
    },
  ]
}

/// What passes the check keeps the limits of RFC 6716, and its frames lie in it one after the other.
private func inspect(_ bytes: [UInt8]) throws(BrokenPromise) {
  var frames: [Range<Int>] = []
  guard let packet = bytes.withUnsafeBytes({ OpusPacket.inspect($0) { frames.append($0) } }) else { return }
  try promise(packet.frameCount == frames.count && frames.count <= OpusPacket.maximumFrames, "\(frames.count) frames")
  try promise(packet.duration <= OpusPacket.maximumDuration, "\(packet.duration) samples")
  var end = 0
  for frame in frames {
    try promise(frame.lowerBound >= end && frame.upperBound <= bytes.count, "frames beyond the packet")
    try promise(frame.count <= OpusPacket.maximumFrameSize, "a frame of \(frame.count) bytes")
    end = frame.upperBound
  }
  let buffer = PacketBuffer(bytes)
  try promise(OpusPacket.inspect(buffer, offset: 0, count: buffer.count) == packet, "two checks, two verdicts")
}

private func readWAV(_ bytes: [UInt8]) throws(BrokenPromise) {
  guard let file = try? WAVReader(bytes) else { return }
  try promise(file.samples.count * 2 <= bytes.count, "sound that is not in the file")
}

private func readOgg(_ bytes: [UInt8]) throws(BrokenPromise) {
  let bytes = sealed(bytes)
  guard let file = bytes.withUnsafeBytes({ try? OggOpus($0) }) else { return }
  for packet in file.packets { try promise(OpusPacket.inspect(packet) != nil, "a malformed packet passed") }
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

private func decode(_ bytes: [UInt8], _ kind: UInt8) throws(BrokenPromise) {
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
      try promise(samples.count == (promised?.duration ?? 0) * rate / 48_000, "not what the packet promised")
    }
  }
}
