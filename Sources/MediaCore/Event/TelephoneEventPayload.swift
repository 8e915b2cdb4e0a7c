public import SecureTransport

/// One report about a key or another telephone event (RFC 4733 section 2.3): four bytes.
public struct TelephoneEventPayload: Hashable, Sendable {
  /// Bytes of a report.
  public static let byteCount = 4
  /// Most reports of one packet that are looked at (RFC 4733 section 2.5.1.5 lets a packet carry several).
  public static let maximumReports = 4

  /// 0 to 15 are the keys (RFC 4733 section 3.2).
  public var code: UInt8
  /// The event is over; ``duration`` is final.
  public var isEnd: Bool
  /// Level of the tone in dBm0, the sign dropped: 0 to 63.
  public var volume: UInt8
  /// Ticks of the event's clock since its timestamp.
  public var duration: UInt16

  /// A `volume` above 63 counts as 63.
  public init(code: UInt8, isEnd: Bool, volume: UInt8, duration: UInt16) {
    self.code = code
    self.isEnd = isEnd
    self.volume = min(volume, 63)
    self.duration = duration
  }

  /// Reads the report at `offset` of a payload of which `count` bytes are left. The reserved bit is ignored.
  /// - Returns: `nil` if fewer than ``byteCount`` bytes are there.
  public init?(_ packet: PacketBuffer, offset: Int, count: Int) {
    guard offset >= 0, count >= TelephoneEventPayload.byteCount,
      offset <= packet.count - TelephoneEventPayload.byteCount
    else { return nil }
    code = packet[offset]
    let flags = packet[offset + 1]
    isEnd = flags & 0x80 != 0
    volume = flags & 0x3F
    duration = packet.integer(at: offset + 2, as: UInt16.self)
  }

  /// Appends the four bytes to a packet.
  public func append(to packet: PacketBuffer) {
    packet.append(code)
    packet.append((isEnd ? 0x80 : 0) | (volume & 0x3F))
    packet.append(integer: duration)
  }
}

/// A report with what its RTP header must say.
public struct TelephoneEventPacket: Hashable, Sendable {
  /// What stands behind the header.
  public var payload: TelephoneEventPayload
  /// The first packet of an event.
  public var marker: Bool
  /// When the event, or this segment of a long one, began.
  public var timestamp: UInt32

  /// `timestamp`: of the start of the event or of its segment, not of this packet.
  public init(payload: TelephoneEventPayload, marker: Bool, timestamp: UInt32) {
    self.payload = payload
    self.marker = marker
    self.timestamp = timestamp
  }
}
