/// A codec this gateway speaks.
public enum AudioCodec: String, Hashable, Sendable, CaseIterable {
  /// RFC 6716, RFC 7587.
  case opus
  /// ITU-T G.722 at 64 kbit/s, RFC 3551 section 4.5.2.
  case g722 = "G722"
  /// ITU-T G.711 µ-law.
  case pcmu = "PCMU"
  /// ITU-T G.711 A-law.
  case pcma = "PCMA"

  /// Ticks a second of the RTP timestamp. G.722 counts 8000 for historical reasons.
  public var clockRate: Int { self == .opus ? 48_000 : 8_000 }
  /// Samples a second of the sound.
  public var samplingRate: Int { self == .opus ? 48_000 : (self == .g722 ? 16_000 : 8_000) }
  /// Of the `rtpmap`; Opus always says 2 (RFC 7587 section 7).
  public var channels: Int { self == .opus ? 2 : 1 }
  /// The sender may leave packets out in silence, and the receiver's decoder knows what to play then.
  public var hasPauses: Bool { self == .opus }
  /// The payload type RFC 3551 gives it.
  public var staticPayloadType: PayloadType? {
    switch self {
    case .opus: nil
    case .g722: PayloadType(9)
    case .pcmu: PayloadType(0)
    case .pcma: PayloadType(8)
    }
  }
  /// The encoding an `rtpmap` line names it by.
  public var encoding: RTPEncoding {
    RTPEncoding(name: rawValue, clockRate: clockRate, channels: self == .opus ? 2 : nil)
  }

  /// The codec of an encoding; `nil` when clock or channels are not those of the codec.
  public init?(_ encoding: RTPEncoding) {
    switch encoding.name.uppercased() {
    case "OPUS": self = .opus
    case "G722": self = .g722
    case "PCMU": self = .pcmu
    case "PCMA": self = .pcma
    default: return nil
    }
    guard clockRate == encoding.clockRate, channels == encoding.channels ?? 1 else { return nil }
  }
}
