public import SDPCore
public import SecureTransport

/// The payload of packets to sound, for one direction of one leg.
public final class AudioDecoder {
  private enum Coder {
    case opus(OpusDecoder)
    case g711(G711, GapConcealment)
    case g722(G722Decoder, GapConcealment)
  }

  /// Of the payloads that are read; fixed for the decoder's life.
  public let codec: AudioCodec
  /// Hz of the sound that goes out.
  public let samplingRate: Int
  private let coder: Coder

  /// Opus gives 8, 16 and 48 kHz, G.722 8 and 16 kHz, G.711 8 kHz.
  public init(_ codec: AudioCodec, samplingRate: Int) throws(CodecFailure) {
    self.codec = codec
    self.samplingRate = samplingRate
    switch codec {
    case .opus: coder = .opus(try OpusDecoder(samplingRate: samplingRate))
    case .g722:
      coder = .g722(
        try G722Decoder(samplingRate: samplingRate), GapConcealment(samplingRate: samplingRate))
    case .pcmu, .pcma:
      guard samplingRate == 8_000 else { throw .samplingRate(samplingRate) }
      coder = .g711(codec == .pcmu ? .muLaw : .aLaw, GapConcealment(samplingRate: samplingRate))
    }
  }

  /// Replaces `samples` by the sound of `count` bytes of `packet` from `offset`. `false`: malformed, empty, or longer than
  /// a sample buffer holds; nothing has changed.
  public func decode(_ packet: PacketBuffer, offset: Int, count: Int, into samples: SampleBuffer) -> Bool {
    guard AudioDecoder.lies(offset, count, in: packet) else { return false }
    return packet.withUnsafeMutableRoom { room in
      decode(UnsafeRawBufferPointer(rebasing: room[offset..<(offset + count)]), into: samples)
    }
  }

  /// The same, from bytes that are in no packet.
  package func decode(_ bytes: UnsafeRawBufferPointer, into samples: SampleBuffer) -> Bool {
    switch coder {
    case .opus(let decoder):
      return decoder.decode(bytes, into: samples)
    case .g711(let law, let history):
      guard AudioDecoder.decode(bytes, law, into: samples) else { return false }
      history.heard(samples)
    case .g722(let decoder, let history):
      guard decoder.decode(bytes, into: samples) else { return false }
      history.heard(samples)
    }
    return true
  }

  /// `gap` samples before this packet are lost, and are to be concealed next: G.711 and G.722 are made up from both sides
  /// then. The packet itself is still to be decoded. `scratch` is overwritten.
  public func bridge(_ gap: Int, to packet: PacketBuffer, offset: Int, count: Int, scratch: SampleBuffer) {
    guard AudioDecoder.lies(offset, count, in: packet) else { return }
    packet.withUnsafeMutableRoom { room in
      let bytes = UnsafeRawBufferPointer(rebasing: room[offset..<(offset + count)])
      switch coder {
      case .opus: break
      case .g711(let law, let concealment):
        if AudioDecoder.decode(bytes, law, into: scratch) { concealment.bridge(gap, to: scratch) }
      case .g722(let decoder, let concealment):
        if decoder.peek(bytes, into: scratch) { concealment.bridge(gap, to: scratch) }
      }
    }
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer, _ law: G711, into samples: SampleBuffer) -> Bool {
    guard bytes.count > 0, bytes.count <= SampleBuffer.capacity else { return false }
    samples.count = bytes.count
    samples.withUnsafeMutableRoom { room in law.decode(bytes.assumingMemoryBound(to: UInt8.self), into: room) }
    return true
  }

  /// Replaces `samples` by `count` samples of what was probably lost, at most a sample buffer's capacity. Goes on from
  /// call to call and fades: to silence, for Opus to the noise behind the voice.
  public func conceal(samples count: Int, into samples: SampleBuffer) {
    switch coder {
    case .opus(let decoder): decoder.conceal(samples: count, into: samples)
    case .g711(_, let history), .g722(_, let history): history.conceal(count, into: samples)
    }
  }

  /// Replaces `samples` by the `count` samples that were lost just before this packet.
  ///
  /// `true`: the packet held a copy of the last of them (only Opus does). `false`: all is concealment, as if
  /// ``conceal(samples:into:)`` had been called. The packet itself is still to be decoded.
  public func recover(
    from packet: PacketBuffer, offset: Int, count length: Int, samples count: Int, into samples: SampleBuffer
  ) -> Bool {
    guard case .opus(let decoder) = coder, AudioDecoder.lies(offset, length, in: packet) else {
      conceal(samples: count, into: samples)
      return false
    }
    return packet.withUnsafeMutableRoom { room in
      decoder.recover(
        UnsafeRawBufferPointer(rebasing: room[offset..<(offset + length)]), samples: count, into: samples)
    }
  }

  private static func lies(_ offset: Int, _ count: Int, in packet: PacketBuffer) -> Bool {
    offset >= 0 && count > 0 && offset <= packet.count && count <= packet.count - offset
  }
}
