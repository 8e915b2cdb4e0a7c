/// What an `rtpmap` line says of a payload type (RFC 8866 section 6.6).
public struct RTPEncoding: Hashable, Sendable, CustomStringConvertible {
  /// As written; names compare without case.
  public let name: String
  /// Ticks a second; `nil` when the line does not say, against the grammar.
  public let clockRate: Int?
  /// `nil` when the line does not say.
  public let channels: Int?

  /// Nothing is checked; what is `nil` does not stand in ``description``.
  public init(name: String, clockRate: Int?, channels: Int?) {
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
  }

  /// `opus/48000/2`.
  public var description: String {
    var text = name
    if let clockRate { text += "/\(clockRate)" }
    if let channels { text += "/\(channels)" }
    return text
  }

  /// Reads `opus/48000/2`.
  init?(_ text: Substring) {
    let (name, numbers) = text.utf8.cut(at: UInt8(ascii: "/"))
    guard !name.isEmpty else { return nil }
    guard let (clock, count) = numbers?.cut(at: UInt8(ascii: "/")) else {
      self.init(name: String(Substring(name)), clockRate: nil, channels: nil)
      return
    }
    guard let clockRate = SessionDescriptionLine.number(clock, upTo: 999_999_999), clockRate > 0 else { return nil }
    var channels: Int?
    if let count {
      guard let number = SessionDescriptionLine.number(count, upTo: 255), number > 0 else { return nil }
      channels = number
    }
    self.init(name: String(Substring(name)), clockRate: clockRate, channels: channels)
  }

  /// The voice formats of RFC 3551 section 6 that need no `rtpmap` line.
  static let unwritten: [Int: RTPEncoding] = [
    0: RTPEncoding(name: "PCMU", clockRate: 8000, channels: nil),
    3: RTPEncoding(name: "GSM", clockRate: 8000, channels: nil),
    4: RTPEncoding(name: "G723", clockRate: 8000, channels: nil),
    8: RTPEncoding(name: "PCMA", clockRate: 8000, channels: nil),
    9: RTPEncoding(name: "G722", clockRate: 8000, channels: nil),
    13: RTPEncoding(name: "CN", clockRate: 8000, channels: nil),
    18: RTPEncoding(name: "G729", clockRate: 8000, channels: nil),
  ]
}

/// One format of an `m=` line with what is said about it.
public struct RTPFormat: Hashable, Sendable {
  /// As it stands in the `m=` line.
  public let token: String
  /// `nil` when the token is no payload type of 0 to 127: such a format cannot be sent.
  public let payloadType: PayloadType?
  /// From the `rtpmap` line, else from RFC 3551's table; `nil` when neither names it.
  public let encoding: RTPEncoding?
  /// The value of the `fmtp` line without the payload type.
  public let parameters: FormatParameters

  /// The codec, if it is one this gateway speaks and its payload type can be sent.
  public var codec: AudioCodec? { payloadType == nil ? nil : encoding.flatMap(AudioCodec.init) }

  /// Touch tones and other events (RFC 4733).
  public var isTelephoneEvent: Bool {
    payloadType != nil && encoding?.name.lowercased() == "telephone-event" && (encoding?.channels ?? 1) == 1
  }

  /// Redundant audio (RFC 2198) whose blocks are all of one format with Opus's clock: `111/111`, two blocks at least.
  func isRedundancy(of payloadType: PayloadType) -> Bool {
    guard encoding?.name.lowercased() == "red", encoding?.clockRate == AudioCodec.opus.clockRate else { return false }
    let blocks = parameters.text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return blocks.count >= 2 && blocks.allSatisfy { PayloadType(String(Substring($0))) == payloadType }
  }
}
