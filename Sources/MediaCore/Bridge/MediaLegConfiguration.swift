public import SecureTransport

/// What the hall gives a leg when it is made.
public struct MediaLegConfiguration: Sendable {
  /// The kind of leg, with what its packet side needs.
  public enum Transport: Sendable {
    case app(AppTransport.Configuration)
    case trunk(TrunkTransport.Configuration)
    /// The app's own side of an app leg.
    case client(ClientTransport.Configuration)
  }

  /// Our stream towards the peer. All numbers are random (RFC 3550 section 5.1); the sequence below 32768, so that a
  /// receiver that misses the first packets guesses the roll-over counter right.
  public struct Stream: Hashable, Sendable {
    /// SSRC.
    public var source: UInt32
    /// Of the first packet.
    public var sequence: UInt16
    /// Of the first packet.
    public var timestamp: UInt32
    /// CNAME of RFC 3550 section 6.5.1.
    public var canonicalName: String
    /// For the times of reports.
    public var seed: UInt64
    /// Microseconds since 1970 when the leg is made, for the times in reports.
    public var unixMicroseconds: Int64

    /// All numbers as given; ``init(canonicalName:unixMicroseconds:draw:)`` draws them.
    public init(
      source: UInt32, sequence: UInt16, timestamp: UInt32, canonicalName: String, seed: UInt64, unixMicroseconds: Int64
    ) {
      self.source = source
      self.sequence = sequence
      self.timestamp = timestamp
      self.canonicalName = canonicalName
      self.seed = seed
      self.unixMicroseconds = unixMicroseconds
    }

    /// Random numbers.
    /// - Parameter draw: 64 random bits.
    public init(canonicalName: String, unixMicroseconds: Int64, draw: () -> UInt64) {
      // The first sequence number is in the lower half, so that a receiver is not led astray by a wrap right away
      // (RFC 3711 section 3.3.1).
      self.init(
        source: max(1, UInt32(truncatingIfNeeded: draw())), sequence: UInt16(truncatingIfNeeded: draw()) & 0x7FFF,
        timestamp: UInt32(truncatingIfNeeded: draw()), canonicalName: canonicalName, seed: draw(),
        unixMicroseconds: unixMicroseconds)
    }
  }

  /// Used once, when the leg is made.
  public var transport: Transport
  /// Used once, when the leg is made.
  public var stream: Stream
  /// Listen for touch tones in the sound; costs a decoder where sound would pass untouched.
  public var detectsTones = false
  /// Press keys as tones in the sound when the peer takes no events.
  public var pressesTones = true
  /// Send reference times and VoIP metrics (RFC 3611) with the reports.
  public var sendsExtendedReports = false
  /// Milliseconds without sound after which silence is told.
  public var silence: Int64 = 5_000

  /// The other settings have their defaults.
  public init(_ transport: Transport, stream: Stream) {
    self.transport = transport
    self.stream = stream
  }
}
