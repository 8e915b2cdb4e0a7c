public import CallModel
public import SDPCore
public import SecureTransport

/// Sound to the payload of packets, for one direction of one leg.
public final class AudioEncoder {
  /// How Opus is encoded.
  public enum Mode: Hashable, Sendable {
    /// MDCT layer alone, complexity 0: least processor time and delay; conceals loss badly.
    case constrained
    /// Speech coding, with copies of the frame before where the peer can use them.
    case resilient
  }

  /// What the peer asks for. Only Opus looks at it.
  public struct Settings: Hashable, Sendable {
    /// bit/s that the peer takes on average; `nil`: no wish.
    public var maximumAverageBitRate: Int?
    /// Hz that the peer plays at most: more is not encoded.
    public var maximumPlaybackRate = 48_000
    /// The peer can use forward error correction.
    public var inBandFEC = true
    /// The peer takes packets that carry the one before again (RFC 2198).
    public var redundancy = false
    /// Of speech coding, 0 to 10: 1 costs half of 5. The least at which copies are made is taken where this is less.
    public var complexity = 1
    /// The peer would like silence not to be sent.
    public var discontinuous = false
    /// The peer asks for packets of one size.
    public var constantBitRate = false
    /// The sound was coded before, by Opus as well: what both take adds up.
    var isCodedAgain = false

    /// For a peer that asks for nothing: in-band FEC, silence is sent, any bit rate.
    public init() {}

    /// As the peer's format parameters say (RFC 7587 section 6.1).
    public init(peer: OpusParameters) {
      maximumAverageBitRate = peer.maximumAverageBitRate
      maximumPlaybackRate = peer.maximumPlaybackRate
      inBandFEC = peer.inBandFEC
      discontinuous = peer.discontinuous
      constantBitRate = peer.constantBitRate
    }

    /// As the peer of a stream asks for.
    init(for stream: MediaPlan.Stream) {
      self = stream.send.codec == .opus ? Settings(peer: OpusParameters(stream.send.parameters)) : Settings()
      redundancy = stream.redundancy != nil
    }
  }

  private enum Coder {
    case opus(OpusEncoder)
    case g711(G711)
    case g722(G722Encoder)
  }

  /// Bytes kept free behind a payload for what SRTP adds.
  public static let reserve = 64

  /// Of the payloads that are made; fixed for the encoder's life.
  public let codec: AudioCodec
  /// Hz of the sound that comes in.
  public let samplingRate: Int
  private let coder: Coder

  /// Opus takes 8, 16 and 48 kHz, G.722 8 and 16 kHz, G.711 8 kHz.
  public init(_ codec: AudioCodec, samplingRate: Int, settings: Settings = Settings()) throws(CodecFailure) {
    self.codec = codec
    self.samplingRate = samplingRate
    switch codec {
    case .opus: coder = .opus(try OpusEncoder(samplingRate: samplingRate, settings: settings))
    case .g722: coder = .g722(try G722Encoder(samplingRate: samplingRate))
    case .pcmu, .pcma:
      guard samplingRate == 8_000 else { throw .samplingRate(samplingRate) }
      coder = .g711(codec == .pcmu ? .muLaw : .aLaw)
    }
  }

  /// A second encoder that goes on as `other` does: both make the same of the same sound.
  package init(copying other: AudioEncoder) {
    codec = other.codec
    samplingRate = other.samplingRate
    coder =
      switch other.coder {
      case .opus(let encoder): .opus(OpusEncoder(copying: encoder))
      case .g711(let law): .g711(law)
      case .g722(let encoder): .g722(G722Encoder(copying: encoder))
      }
  }

  /// What decides how a sound is encoded: encoders of one form that have heard the same for a while make the same of it.
  package struct Form: Hashable, Sendable {
    let codec: AudioCodec
    let samplingRate: Int
    let opus: OpusEncoder.Form?
  }

  package var form: Form {
    var opus: OpusEncoder.Form?
    if case .opus(let encoder) = coder { opus = encoder.form }
    return Form(codec: codec, samplingRate: samplingRate, opus: opus)
  }

  /// Goes on as `other` would, so that a decoder that has heard `other` hears no seam. `false`: it is of another codec,
  /// sampling rate or mode.
  @discardableResult
  package func copyState(from other: AudioEncoder) -> Bool {
    switch (coder, other.coder) {
    case (.opus(let encoder), .opus(let other)): encoder.copyState(from: other)
    case (.g722(let encoder), .g722(let other)): encoder.copyState(from: other)
    case (.g711, .g711): codec == other.codec
    default: false
    }
  }

  /// Appends the payload of `count` samples from `start` on. Opus takes 2.5, 5, 10 or 20 ms, or a multiple of 20 to 120 ms, G.722 at 16 kHz an
  /// even number, others any.
  ///
  /// `false`: there is nothing to send and `packet` is as it was: a length that the codec does not take, no room, or a
  /// silence that the peer would rather not get. The RTP timestamp goes on, the sequence number does not.
  public func encode(_ samples: SampleBuffer, from start: Int, count: Int, into packet: PacketBuffer) -> Bool {
    guard start >= 0, count > 0, start <= samples.count, count <= samples.count - start else { return false }
    let used = packet.count
    let room = PacketBuffer.capacity - AudioEncoder.reserve - used
    guard room > 0 else { return false }
    let written = samples.withUnsafeMutableRoom { sound in
      packet.withUnsafeMutableRoom { bytes in
        encode(
          UnsafeBufferPointer(rebasing: sound[start..<(start + count)]),
          into: UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + room)]))
      }
    }
    packet.count = used + written
    return written > 0
  }

  private func encode(_ sound: UnsafeBufferPointer<Int16>, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    switch coder {
    case .opus(let encoder):
      return encoder.encode(sound, into: bytes)
    case .g711(let law):
      guard sound.count <= bytes.count else { return 0 }
      law.encode(sound, into: bytes.assumingMemoryBound(to: UInt8.self))
      return sound.count
    case .g722(let encoder):
      return encoder.encode(sound, into: bytes.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// What the peer reports of our packets: the part lost lately, 0 to 1, and the way there and back where the report
  /// measured it. Chooses the ``mode``, bit rate and ``packetTime`` of Opus. `protection`: bytes that SRTP adds to a packet,
  /// which a thin link carries as well; 16 are those of AES-GCM.
  public func report(
    lossRate: Double, roundTrip: RoundTrip? = nil, protection: Int = 16, at now: MonotonicInstant
  ) {
    guard case .opus(let encoder) = coder else { return }
    encoder.report(lossRate: lossRate, roundTrip: roundTrip, protection: protection, at: now)
  }

  /// The least milliseconds of sound that a packet is to hold, where the peer's link is too thin for what was agreed on.
  public var packetTime: Int? {
    if case .opus(let encoder) = coder { encoder.packetTime } else { nil }
  }

  /// Each packet is to carry the one before again, since the peer loses many and its link has room.
  public var repeatsPackets: Bool {
    if case .opus(let encoder) = coder { encoder.repeatsPackets } else { false }
  }

  /// Packets hold copies of those before, since the peer loses some and can use them.
  package var sendsCopies: Bool {
    if case .opus(let encoder) = coder { encoder.sendsCopies } else { false }
  }

  /// The peer's link carries less than a good voice needs: what is sent was cut. Only Opus can be.
  package var isLinkThin: Bool {
    if case .opus(let encoder) = coder { encoder.isLinkThin } else { false }
  }

  /// `nil` for codecs that have only one way.
  public var mode: Mode? {
    if case .opus(let encoder) = coder { encoder.mode } else { nil }
  }

  /// Samples that the sound is delayed by.
  public var lookahead: Int {
    switch coder {
    case .opus(let encoder): encoder.lookahead
    case .g711: 0
    case .g722: samplingRate == 16_000 ? G722Filter.delay : 0
    }
  }
}
