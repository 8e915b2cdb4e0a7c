import CallModel
import MediaCore
import Testing

@Suite("Telephone events from clock to clock")
struct TelephoneEventClockTests {
  /// Hands packets over, with sequence numbers of their own on the far side.
  private func rewrite(_ packets: [WirePacket], from: Int, to: Int, sequence: UInt16 = 9_000) -> [WirePacket] {
    var clock = TelephoneEventClock(from: from, to: to)
    var sequence = sequence
    return packets.compactMap { arrival in
      let start = UInt32(truncatingIfNeeded: arrival.at.milliseconds * Int64(to) / 1000)
      let packet = clock.rewrite(
        arrival.packet.payload, marker: arrival.packet.marker, sequence: arrival.sequence,
        timestamp: arrival.packet.timestamp, start: start, at: arrival.at)
      sequence &+= 1
      return packet.map { WirePacket(packet: $0, sequence: sequence, at: arrival.at) }
    }
  }

  @Test("8000 to 48000 and back: digits and lengths are the same", arguments: [40, 100, 333, 1_400, 5_000])
  func thereAndBack(milliseconds: Int) {
    let codes = [3, 3, 0, 11, 15]
    var stream = EventStream(clockRate: 8_000)
    let packets = stream.packets(of: codes, milliseconds: milliseconds, pause: 90, from: .zero)
    let wide = rewrite(packets, from: 8_000, to: 48_000)
    var wideReceiver = TelephoneEventReceiver(clockRate: 48_000)
    let wideDigits = wideReceiver.hear(wide)
    #expect(wideDigits.map { [$0.code, $0.milliseconds] } == codes.map { [$0, milliseconds] })
    let narrow = rewrite(wide, from: 48_000, to: 8_000)
    var narrowReceiver = TelephoneEventReceiver(clockRate: 8_000)
    let narrowDigits = narrowReceiver.hear(narrow)
    #expect(narrowDigits.map { [$0.code, $0.milliseconds] } == codes.map { [$0, milliseconds] })
    #expect(narrow.filter(\.packet.marker).count == codes.count)
    #expect(narrow.count == packets.count)
  }

  @Test("one packet in, one packet out, with the other clock's ticks")
  func ticks() {
    var stream = EventStream(clockRate: 8_000)
    let packets = stream.packets(of: [8], milliseconds: 100, pause: 60, from: .zero)
    let wide = rewrite(packets, from: 8_000, to: 48_000)
    #expect(wide.map { Int($0.packet.payload.duration) } == packets.map { Int($0.packet.payload.duration) * 6 })
    #expect(wide.map(\.packet.payload.isEnd) == packets.map(\.packet.payload.isEnd))
    #expect(wide.map(\.packet.marker) == packets.map(\.packet.marker))
    #expect(Set(wide.map(\.packet.timestamp)) == [0])
    let narrow = rewrite(wide, from: 48_000, to: 8_000)
    #expect(narrow.map(\.packet.payload.duration) == packets.map(\.packet.payload.duration))
  }

  @Test("digits are exact through a bad network, two clocks, and another bad network")
  func overNetworks() {
    for seed in 1...300 as ClosedRange<UInt64> {
      var chance = EventChance(seed: seed)
      let wire = EventWire(loss: Int(seed % 16), duplicate: 10, jitter: Int64(seed % 40))
      var stream = EventStream(clockRate: 8_000)
      let codes = (0..<10).map { _ in Int.random(in: 0...15, using: &chance) }
      let packets = stream.packets(of: codes, milliseconds: 120, pause: 100, from: .zero)
      let wide = rewrite(wire.carry(packets, using: &chance), from: 8_000, to: 48_000)
      let narrow = rewrite(wire.carry(wide, using: &chance), from: 48_000, to: 8_000)
      var receiver = TelephoneEventReceiver(clockRate: 8_000)
      let digits = receiver.hear(narrow)
      #expect(digits.map(\.code) == codes, "seed \(seed)")
    }
  }
}
