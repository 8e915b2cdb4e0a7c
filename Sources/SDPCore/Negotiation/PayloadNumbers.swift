/// The payload types of one session: what a number once meant, it means until the end (RFC 3264 section 8.3.2).
struct PayloadNumbers: Hashable, Sendable {
  private var codecs: [AudioCodec: PayloadType] = [:]
  private var events: [Int: PayloadType] = [:]
  private var used: Set<PayloadType> = []

  mutating func use(_ payloadTypes: [PayloadType]) { used.formUnion(payloadTypes) }

  mutating func assign(_ payloadType: PayloadType, to codec: AudioCodec) {
    codecs[codec] = payloadType
    used.insert(payloadType)
  }

  mutating func assign(_ payloadType: PayloadType, toEventsAt clockRate: Int) {
    events[clockRate] = payloadType
    used.insert(payloadType)
  }

  /// The number of a codec, chosen now if it has none; `nil` when none is left.
  mutating func number(of codec: AudioCodec) -> PayloadType? {
    if let known = codecs[codec] { return known }
    guard let number = codec.staticPayloadType ?? free(111) else { return nil }
    assign(number, to: codec)
    return number
  }

  /// The number of touch tones at a clock, chosen now if it has none; trunks expect 101.
  mutating func numberOfEvents(at clockRate: Int) -> PayloadType? {
    if let known = events[clockRate] { return known }
    guard let number = free(clockRate == 8_000 ? 101 : 110) else { return nil }
    assign(number, toEventsAt: clockRate)
    return number
  }

  private func free(_ preferred: Int) -> PayloadType? {
    ([preferred] + PayloadType.dynamic).lazy.compactMap { PayloadType($0) }.first { !used.contains($0) }
  }
}
