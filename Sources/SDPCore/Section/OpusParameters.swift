/// What the receiver of Opus asks of the sender (RFC 7587 section 6.1). Values outside the RFC's range read as absent.
public struct OpusParameters: Hashable, Sendable {
  /// Hz the receiver can play: 8000 to 48000.
  public var maximumPlaybackRate: Int
  /// Hz the sender is likely to capture: 8000 to 48000.
  public var capturedRate: Int
  /// bit/s the receiver takes on average: 6000 to 510000; `nil`: no wish.
  public var maximumAverageBitRate: Int?
  /// The receiver prefers two channels.
  public var prefersStereo: Bool
  /// The sender is likely to send two channels.
  public var sendsStereo: Bool
  /// The receiver prefers a constant bit rate (`cbr`).
  public var constantBitRate: Bool
  /// The receiver can use forward error correction inside the packets.
  public var inBandFEC: Bool
  /// The receiver would like silence not to be sent.
  public var discontinuous: Bool
  /// Milliseconds of the shortest packet wanted: 3 to 120.
  public var minimumPacketTime: Int

  /// The defaults are those of RFC 7587 section 6.1; ranges are not checked.
  public init(
    maximumPlaybackRate: Int = 48_000, capturedRate: Int = 48_000, maximumAverageBitRate: Int? = nil,
    prefersStereo: Bool = false, sendsStereo: Bool = false, constantBitRate: Bool = false, inBandFEC: Bool = false,
    discontinuous: Bool = false, minimumPacketTime: Int = 3
  ) {
    self.maximumPlaybackRate = maximumPlaybackRate
    self.capturedRate = capturedRate
    self.maximumAverageBitRate = maximumAverageBitRate
    self.prefersStereo = prefersStereo
    self.sendsStereo = sendsStereo
    self.constantBitRate = constantBitRate
    self.inBandFEC = inBandFEC
    self.discontinuous = discontinuous
    self.minimumPacketTime = minimumPacketTime
  }

  /// Reads the value of an `fmtp` line; what is missing has the RFC's default.
  public init(_ parameters: FormatParameters) {
    func number(_ name: String, _ range: ClosedRange<Int>) -> Int? { parameters.number(name, in: range) }
    func flag(_ name: String) -> Bool { parameters[name] == "1" }
    self.init(
      maximumPlaybackRate: number("maxplaybackrate", 8_000...48_000) ?? 48_000,
      capturedRate: number("sprop-maxcapturerate", 8_000...48_000) ?? 48_000,
      maximumAverageBitRate: number("maxaveragebitrate", 6_000...510_000),
      prefersStereo: flag("stereo"), sendsStereo: flag("sprop-stereo"), constantBitRate: flag("cbr"),
      inBandFEC: flag("useinbandfec"), discontinuous: flag("usedtx"),
      minimumPacketTime: OpusParameters.minimumPacketTime(parameters))
  }

  /// ``minimumPacketTime`` alone, of the value of an `fmtp` line.
  static func minimumPacketTime(_ parameters: FormatParameters) -> Int {
    parameters.number("minptime", in: 3...120) ?? 3
  }

  /// The value of an `fmtp` line: only what differs from the RFC's defaults.
  public var parameters: FormatParameters {
    var parts: [String] = []
    if maximumPlaybackRate != 48_000 { parts.append("maxplaybackrate=\(maximumPlaybackRate)") }
    if capturedRate != 48_000 { parts.append("sprop-maxcapturerate=\(capturedRate)") }
    if let maximumAverageBitRate { parts.append("maxaveragebitrate=\(maximumAverageBitRate)") }
    if minimumPacketTime != 3 { parts.append("minptime=\(minimumPacketTime)") }
    if prefersStereo { parts.append("stereo=1") }
    if sendsStereo { parts.append("sprop-stereo=1") }
    if constantBitRate { parts.append("cbr=1") }
    if inBandFEC { parts.append("useinbandfec=1") }
    if discontinuous { parts.append("usedtx=1") }
    return FormatParameters(parts.joined(separator: ";"))
  }
}
