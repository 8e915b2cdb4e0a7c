import CLandlineOpus
package import CallModel

/// Mono sound at 8, 16 or 48 kHz to Opus, in one of two ways that ``report(lossRate:)`` chooses between.
///
/// The library takes no other application once a frame was encoded. So the one state is begun anew, in its own memory,
/// when the mode changes: nothing is allocated, and a call never holds two encoders. The far decoder blends the two
/// modes into each other (RFC 6716 section 4.5).
package final class OpusEncoder {
  /// Loss above this makes the stream resilient.
  package static let troublingLoss = 0.02
  /// Loss up to this counts as quiet.
  package static let quietLoss = 0.01
  /// So many quiet reports one after the other, and the stream is economical again.
  package static let quietReports = 5
  /// The MDCT layer alone sounds worse than speech coding below this many bit/s.
  package static let leastEconomical = 28_000
  /// bit/s of speech coding at 8 kHz, and above ``heavyLoss``, by the table in MediaCore.md.
  package static let speechRate = 28_000
  package static let heavySpeechRate = 32_000
  /// bit/s of the MDCT layer for a wide band that was coded before: a second coding takes less than 0.1 of PESQ with them.
  package static let secondRate = 64_000
  /// Percent.
  package static let heavyLoss: Int32 = 7
  /// bit/s and complexity below which libopus 1.3 makes no copies at a loss of some percent.
  package static let leastRepairing = (bitRate: 25_000, complexity: 2)
  /// Most bytes of a packet.
  package static let maximumPayload = OpusPacket.maximumFrameSize

  private let memory: UnsafeMutableRawPointer
  private let state: OpaquePointer
  private let samplingRate: Int
  private let settings: AudioEncoder.Settings
  package private(set) var mode: AudioEncoder.Mode
  private var quiet = 0
  private var expectedLoss: Int32 = 0
  private var link: LinkAdaptation

  package init(samplingRate: Int, settings: AudioEncoder.Settings) throws(CodecFailure) {
    guard [8_000, 16_000, 48_000].contains(samplingRate) else { throw .samplingRate(samplingRate) }
    memory = UnsafeMutableRawPointer.allocate(byteCount: Int(opus_encoder_get_size(1)), alignment: 16)
    state = OpaquePointer(memory)
    self.samplingRate = samplingRate
    self.settings = settings
    link = LinkAdaptation(highestBitRate: settings.maximumAverageBitRate, mayRepeat: settings.redundancy)
    mode = .resilient
    mode = mostEconomical
    let result = begin()
    guard result == OPUS_OK else { throw .library(result) }
  }

  /// A second encoder that goes on as `other` does.
  package init(copying other: OpusEncoder) {
    let size = Int(opus_encoder_get_size(1))
    memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    // The library's state is one block without a pointer into itself, which may be copied as it is.
    memory.copyMemory(from: other.memory, byteCount: size)
    state = OpaquePointer(memory)
    samplingRate = other.samplingRate
    settings = other.settings
    mode = other.mode
    quiet = other.quiet
    expectedLoss = other.expectedLoss
    link = other.link
  }

  deinit { memory.deallocate() }

  /// What decides how a sound is encoded.
  package struct Form: Hashable, Sendable {
    let settings: AudioEncoder.Settings
    let mode: AudioEncoder.Mode
    /// Percent.
    let expectedLoss: Int32
    /// `nil`: the link carries all.
    let step: LinkAdaptation.Step?
    let repeatsPackets: Bool
  }

  package var form: Form {
    Form(
      settings: settings, mode: mode, expectedLoss: expectedLoss, step: link.isNarrowed ? link.step : nil,
      repeatsPackets: repeatsPackets)
  }

  /// Goes on as `other` would, in its own form. `false`: another sampling rate or mode, so it begins anew.
  @discardableResult
  package func copyState(from other: OpusEncoder) -> Bool {
    guard other.samplingRate == samplingRate, other.mode == mode else {
      _ = begin()
      return false
    }
    memory.copyMemory(from: other.memory, byteCount: Int(opus_encoder_get_size(1)))
    if other.form != form { _ = configure() }
    return true
  }

  /// bit/s that the peer takes, and that its link carries.
  private var highestBitRate: Int {
    min(settings.maximumAverageBitRate ?? .max, link.isNarrowed ? link.step.bitRate : .max)
  }

  /// The economical way, unless the peer or its link takes fewer bits than it needs.
  private var mostEconomical: AudioEncoder.Mode {
    highestBitRate < OpusEncoder.leastEconomical ? .resilient : .constrained
  }

  /// The least milliseconds of sound that a packet is to hold; `nil`: as few as was agreed on.
  package var packetTime: Int? { link.isNarrowed ? link.step.packetTime : nil }

  /// Bytes of the packet of the samples, which are 2.5, 5, 10 or 20 ms, or a multiple of 20 to 120 ms. 0: nothing to send, for the length is
  /// none of these, or the sound is a silence that the peer would rather not get.
  package func encode(_ samples: UnsafeBufferPointer<Int16>, into room: UnsafeMutableRawBufferPointer) -> Int {
    guard let sound = samples.baseAddress, let bytes = room.baseAddress else { return 0 }
    let written = opus_encode(
      state, sound, Int32(clamping: samples.count), bytes.assumingMemoryBound(to: UInt8.self),
      opus_int32(min(room.count, OpusEncoder.maximumPayload)))
    // Up to two bytes mean that the packet need not be sent.
    guard written > 0, !(settings.discontinuous && written <= 2) else { return 0 }
    return Int(written)
  }

  /// What the peer reports of our packets: the part lost lately, 0 to 1, and the way there and back where the report
  /// measured it. `protection`: bytes that it adds to a packet.
  package func report(
    lossRate: Double, roundTrip: RoundTrip? = nil, protection: Int = LinkAdaptation.usualProtection,
    at now: MonotonicInstant
  ) {
    guard lossRate.isFinite else { return }
    let former = (mode, expectedLoss, link.step)
    link.report(lossRate: lossRate, roundTrip: roundTrip, protection: protection, at: now)
    if lossRate > OpusEncoder.troublingLoss {
      quiet = 0
      expectedLoss = Int32((min(lossRate, 1) * 100).rounded(.up))
    } else if expectedLoss > 0 {
      quiet = lossRate <= OpusEncoder.quietLoss ? quiet + 1 : 0
      if quiet >= OpusEncoder.quietReports {
        quiet = 0
        expectedLoss = 0
      }
    }
    mode = expectedLoss > 0 ? .resilient : mostEconomical
    guard (mode, expectedLoss, link.step) != former else { return }
    _ = mode != former.0 ? begin() : configure()
  }

  /// The peer's link carries less than a good voice needs.
  package var isLinkThin: Bool { link.isThin }

  /// Each packet is to carry the one before again.
  package var repeatsPackets: Bool { link.isRepeating }

  package var sendsCopies: Bool { settings.inBandFEC && expectedLoss > 0 }

  package func reset() { _ = begin() }

  /// Samples that the sound is delayed by.
  package var lookahead: Int {
    var samples: Int32 = 0
    return landline_opus_lookahead(state, &samples) == OPUS_OK ? Int(samples) : 0
  }

  private func begin() -> Int32 {
    let application = mode == .constrained ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_VOIP
    let result = opus_encoder_init(state, opus_int32(samplingRate), 1, application)
    return result == OPUS_OK ? configure() : result
  }

  private func configure() -> Int32 {
    let highestRate = min(samplingRate, settings.maximumPlaybackRate)
    let bitRate = min(bitRate(highestRate), highestBitRate)
    var chosen = landline_opus_settings()
    chosen.bits_per_second = Int32(clamping: bitRate)
    chosen.complexity = mode == .constrained ? 0 : complexity(bitRate, makesCopies: sendsCopies)
    chosen.maximum_bandwidth =
      highestRate <= 8_000
      ? OPUS_BANDWIDTH_NARROWBAND : (highestRate <= 16_000 ? OPUS_BANDWIDTH_WIDEBAND : OPUS_BANDWIDTH_FULLBAND)
    chosen.in_band_fec = sendsCopies ? 1 : 0
    chosen.expected_loss = statedLoss(bitRate)
    chosen.discontinuous = settings.discontinuous ? 1 : 0
    chosen.constant_rate = settings.constantBitRate ? 1 : 0
    return landline_opus_configure(state, &chosen)
  }

  /// bit/s for sound of up to `rate` Hz of the other end.
  private func bitRate(_ rate: Int) -> Int {
    switch mode {
    case .constrained where rate <= 8_000: 32_000
    case .constrained: settings.isCodedAgain ? OpusEncoder.secondRate : 48_000
    case .resilient where rate <= 8_000:
      expectedLoss > OpusEncoder.heavyLoss ? OpusEncoder.heavySpeechRate : OpusEncoder.speechRate
    case .resilient: 40_000
    }
  }

  private func complexity(_ bitRate: Int, makesCopies: Bool) -> Int32 {
    let least =
      makesCopies && bitRate < OpusEncoder.leastRepairing.bitRate ? OpusEncoder.leastRepairing.complexity : 0
    return Int32(clamping: min(max(settings.complexity, least), 10))
  }

  /// What libopus is told: the more it expects, the more bits go from the voice to the copies. Up to 3 %, and with few bits
  /// up to 10 %, less than the truth sounds better.
  private func statedLoss(_ bitRate: Int) -> Int32 {
    guard expectedLoss > 3 else { return min(expectedLoss, 1) }
    return min(expectedLoss, bitRate < OpusEncoder.speechRate ? 10 : 20)
  }
}
