/// The payload types of one session: what a number once meant, it means until the end (RFC 3264 section 8.3.2).
struct PayloadNumbers: Hashable, Sendable {
  private var codecs: [AudioOffer.Codec] = []
  private var events: [AudioOffer.Events] = []
  /// One bit for each payload type.
  private var used: UInt128 = 0

  mutating func use(_ formats: [RTPFormat]) {
    for format in formats {
      if let payloadType = format.payloadType { used |= PayloadNumbers.bit(payloadType) }
    }
  }

  mutating func assign(_ payloadType: PayloadType, to codec: AudioCodec) {
    codecs.removeAll { $0.codec == codec }
    codecs.append(AudioOffer.Codec(codec: codec, payloadType: payloadType))
    used |= PayloadNumbers.bit(payloadType)
  }

  mutating func assign(_ payloadType: PayloadType, toEventsAt clockRate: Int) {
    events.removeAll { $0.clockRate == clockRate }
    events.append(AudioOffer.Events(clockRate: clockRate, payloadType: payloadType))
    used |= PayloadNumbers.bit(payloadType)
  }

  /// The number of a codec, chosen now if it has none; `nil` when none is left.
  mutating func number(of codec: AudioCodec) -> PayloadType? {
    if let known = codecs.first(where: { $0.codec == codec }) { return known.payloadType }
    guard let number = codec.staticPayloadType ?? free(111) else { return nil }
    assign(number, to: codec)
    return number
  }

  /// The number of touch tones at a clock, chosen now if it has none; trunks expect 101.
  mutating func numberOfEvents(at clockRate: Int) -> PayloadType? {
    if let known = events.first(where: { $0.clockRate == clockRate }) { return known.payloadType }
    guard let number = free(clockRate == 8_000 ? 101 : 110) else { return nil }
    assign(number, toEventsAt: clockRate)
    return number
  }

  private func free(_ preferred: Int) -> PayloadType? {
    if let number = PayloadType(preferred), isFree(number) { return number }
    return PayloadType.dynamic.lazy.compactMap { PayloadType($0) }.first(where: isFree)
  }

  private func isFree(_ payloadType: PayloadType) -> Bool { used & PayloadNumbers.bit(payloadType) == 0 }

  private static func bit(_ payloadType: PayloadType) -> UInt128 { 1 << UInt128(payloadType.number) }
}
