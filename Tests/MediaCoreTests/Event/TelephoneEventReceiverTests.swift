import CallModel
import MediaCore
import SecureTransport
import Testing

@Suite("Telephone events received")
struct TelephoneEventReceiverTests {
  /// A receiver that is fed by hand: sequence numbers run by themselves, packets come every 20 ms.
  private struct Feed {
    var receiver: TelephoneEventReceiver
    var digits: [DigitPressed] = []
    var sequence: UInt16 = 100
    var now = MonotonicInstant(milliseconds: 50)

    init(clockRate: Int = 8_000) { receiver = TelephoneEventReceiver(clockRate: clockRate) }

    mutating func packet(
      _ code: UInt8, _ timestamp: UInt32, _ duration: UInt16, end: Bool = false, marker: Bool = false, skip: UInt16 = 0
    ) {
      sequence &+= 1 &+ skip
      now = now.advanced(byMilliseconds: 20)
      receiver.receive(
        TelephoneEventPayload(code: code, isEnd: end, volume: 10, duration: duration), marker: marker,
        sequence: sequence, timestamp: timestamp, at: now, digits: &digits)
    }

    mutating func wait(_ milliseconds: Int64) {
      now = now.advanced(byMilliseconds: milliseconds)
      receiver.advance(to: now, digits: &digits)
    }

    var codes: [Int] { digits.map(\.code) }
  }

  @Test("a key of one start and three ends within 33 ms is a key", arguments: [48_000, 8_000, 16_000])
  func short(clockRate: Int) {
    var feed = Feed(clockRate: clockRate)
    let ticks = UInt16(clockRate / 30)
    for key in 0..<10 as Range<UInt8> {
      let timestamp = UInt32(key) * 48_000
      feed.packet(key, timestamp, ticks / 2, marker: true)
      for _ in 0..<3 { feed.packet(key, timestamp, ticks, end: true) }
      feed.wait(400)
    }
    #expect(feed.codes == Array(0..<10))
    #expect(feed.digits.allSatisfy { $0.milliseconds == 33 && $0.way == .event })
    #expect(feed.receiver.nextDeadline == nil)
  }

  @Test("an end that comes alone is the whole key, and its repetitions are not")
  func endsOnly() {
    var feed = Feed()
    for _ in 0..<3 { feed.packet(5, 1_000, 800, end: true) }
    #expect(feed.codes == [5])
    #expect(feed.digits.first?.milliseconds == 100)
  }

  @Test("a key whose ends are lost is told when its time is over, once")
  func lostEnds() {
    var feed = Feed()
    feed.packet(7, 1_000, 160, marker: true)
    feed.packet(7, 1_000, 320)
    #expect(feed.receiver.isPressed)
    #expect(
      feed.receiver.nextDeadline == feed.now.advanced(byMilliseconds: TelephoneEventReceiver.timeout))
    feed.wait(TelephoneEventReceiver.timeout - 1)
    #expect(feed.digits.isEmpty)
    feed.wait(1)
    #expect(feed.codes == [7])
    #expect(feed.digits.first?.milliseconds == 40)
    feed.packet(7, 1_000, 4_800, end: true)
    feed.wait(5_000)
    #expect(feed.codes == [7])
  }

  @Test("the next key ends the one before it")
  func nextKey() {
    var feed = Feed()
    feed.packet(1, 1_000, 160, marker: true)
    feed.packet(2, 2_000, 160, marker: true)
    #expect(feed.codes == [1])
    feed.packet(1, 1_000, 480, end: true)
    feed.packet(2, 2_000, 480, end: true)
    #expect(feed.codes == [1, 2])
    #expect(feed.receiver.late == 0)
  }

  @Test("the same key twice is told twice, also without markers")
  func twice() {
    var feed = Feed()
    for press in 0..<2 as Range<UInt32> {
      feed.packet(9, 1_000 + press * 800, 160)
      feed.packet(9, 1_000 + press * 800, 320)
      for _ in 0..<3 { feed.packet(9, 1_000 + press * 800, 400, end: true) }
    }
    #expect(feed.codes == [9, 9])
  }

  /// How gear writes a key: what comes of its packets, in order.
  enum Form: CaseIterable {
    case whole, withoutMarker, markedThroughout, endsOnly, oneEnd, doubled, startsOnly
  }

  @Test("every key is told once, in every form that gear has for it", arguments: Form.allCases)
  func forms(_ form: Form) {
    var feed = Feed()
    let keys = Array(0...15 as ClosedRange<UInt8>)
    for key in keys {
      let timestamp = UInt32(key) * 8_000
      if form != .endsOnly {
        for report in 1...4 as ClosedRange<UInt16> {
          let isMarked = form == .markedThroughout || form != .withoutMarker && report == 1
          for _ in 0..<(form == .doubled ? 2 : 1) {
            feed.packet(key, timestamp, report * 160, marker: isMarked)
          }
        }
      }
      let ends = form == .startsOnly ? 0 : form == .oneEnd ? 1 : form == .doubled ? 6 : 3
      for _ in 0..<ends { feed.packet(key, timestamp, 800, end: true, marker: form == .markedThroughout) }
      feed.wait(TelephoneEventReceiver.timeout + 100)
    }
    #expect(feed.codes == keys.map(Int.init))
    #expect(feed.receiver.nextDeadline == nil)
  }

  @Test("an event longer than its counter goes on in segments")
  func segments() {
    var feed = Feed(clockRate: 48_000)
    var start: UInt32 = 0xFFFF_8000
    for segment in 0..<3 {
      for part in 1...3 as ClosedRange<UInt16> {
        feed.packet(4, start, part * 20_000, marker: segment == 0 && part == 1)
      }
      feed.packet(4, start, 0xFFFF)
      start &+= 0xFFFF
    }
    feed.packet(4, start, 960)
    for _ in 0..<3 { feed.packet(4, start, 1_920, end: true) }
    #expect(feed.codes == [4])
    #expect(feed.digits.first?.milliseconds == (3 * 0xFFFF + 1_920 + 24) / 48)
  }

  @Test("a segment whose beginning comes after the time-out is no key of its own")
  func segmentAfterTimeout() {
    var feed = Feed(clockRate: 48_000)
    feed.packet(4, 0, 60_000, marker: true)
    feed.wait(1_000)
    #expect(feed.codes == [4])
    feed.packet(4, 0xFFFF, 960, skip: 20)
    feed.packet(4, 0xFFFF, 1_920, end: true)
    feed.wait(1_000)
    #expect(feed.codes == [4])
  }

  @Test("a counter that overflows in place is followed")
  func overflow() {
    var feed = Feed()
    feed.packet(4, 0, 65_440, marker: true)
    feed.packet(4, 0, 64)
    feed.packet(4, 0, 224, end: true)
    #expect(feed.codes == [4])
    #expect(feed.digits.first?.milliseconds == (0x10000 + 224) / 8)
  }

  @Test("a timestamp that runs along is one key; the next key still is another")
  func runningTimestamp() {
    var feed = Feed()
    for press in 0..<2 as Range<UInt32> {
      let start = 1_000 + press * 4_000
      for part in 0..<4 as Range<UInt32> {
        feed.packet(6, start + part * 160, UInt16((part + 1) * 160), marker: part == 0)
      }
      for repetition in 0..<3 as Range<UInt32> {
        feed.packet(6, start + (4 + repetition) * 160, 800, end: true)
      }
    }
    #expect(feed.codes == [6, 6])
  }

  @Test("a sender that never moves the timestamp still presses two keys")
  func standingTimestamp() {
    var feed = Feed()
    for code in [3, 3, 8] as [UInt8] {
      feed.packet(code, 77, 160, marker: true)
      feed.packet(code, 77, 320)
      feed.packet(code, 77, 480, end: true)
    }
    #expect(feed.codes == [3, 3, 8])
  }

  @Test("a key that was overtaken as a whole is told before the next ends; later it is dropped")
  func overtaken() {
    var feed = Feed()
    feed.packet(1, 5_000, 160, marker: true)
    feed.packet(2, 9_000, 160, marker: true)
    feed.packet(3, 7_000, 800, end: true)
    feed.packet(3, 7_000, 800, end: true)
    feed.packet(2, 9_000, 800, end: true)
    #expect(feed.codes == [1, 3, 2])
    feed.packet(5, 8_000, 800, end: true)
    #expect(feed.codes == [1, 3, 2])
    #expect(feed.receiver.late == 1)
  }

  @Test("after a pause, an earlier timestamp is a new beginning")
  func restarted() {
    var feed = Feed()
    feed.packet(1, 4_000_000_000, 800, end: true)
    feed.wait(TelephoneEventReceiver.restart + 1)
    feed.packet(2, 3_000_000_000, 800, end: true)
    #expect(feed.codes == [1, 2])
  }

  @Test("codes that were not agreed on are passed over")
  func otherCodes() {
    var feed = Feed()
    feed.packet(1, 1_000, 160, marker: true)
    for code in 16...255 as ClosedRange<UInt8> { feed.packet(code, 1_000, 320, end: true) }
    feed.packet(1, 1_000, 480, end: true)
    #expect(feed.codes == [1])
  }

  @Test("a hook flash is no key, nor does it end or delay one")
  func flash() {
    var feed = Feed()
    feed.packet(16, 1_000, 160, marker: true)
    #expect(!feed.receiver.isPressed && feed.receiver.nextDeadline == nil)
    for _ in 0..<3 { feed.packet(16, 1_000, 800, end: true) }
    feed.packet(3, 4_000, 160, marker: true)
    feed.packet(16, 4_100, 160, marker: true)
    feed.packet(3, 4_000, 800, end: true)
    feed.wait(1_000)
    #expect(feed.codes == [3])
    #expect(feed.receiver.late == 0)
  }

  @Test("a packet may carry several reports, but not padding that looks like a key")
  func severalReports() {
    var receiver = TelephoneEventReceiver(clockRate: 8_000)
    var digits: [DigitPressed] = []
    func receive(_ bytes: [UInt8], _ timestamp: UInt32) {
      receiver.receive(
        PacketBuffer(bytes), offset: 0, count: bytes.count, marker: true, sequence: 1, timestamp: timestamp,
        at: .zero, digits: &digits)
    }
    receive([1, 0x8A, 1, 0x90, 2, 0x8A, 1, 0x90], 1_000)
    receive([3, 0x8A, 1, 0x90, 0, 0, 0, 0], 9_000)
    receive([4, 0x8A, 1], 12_000)
    receive([], 14_000)
    #expect(digits.map(\.code) == [1, 2, 3])
  }

  @Test("any bytes are read without harm, and nothing grows")
  func anyBytes() {
    var chance = EventChance(seed: 1)
    var receiver = TelephoneEventReceiver(clockRate: 48_000)
    var digits: [DigitPressed] = []
    var now = MonotonicInstant.zero
    for round in 0..<200_000 {
      let packet = PacketBuffer((0..<Int.random(in: 0...20, using: &chance)).map { _ in UInt8(chance.next() & 0x0F) })
      now = now.advanced(byMicroseconds: Int64.random(in: 0...40_000, using: &chance))
      receiver.receive(
        packet, offset: Int.random(in: -2...24, using: &chance), count: Int.random(in: -2...24, using: &chance),
        marker: chance.chance(10), sequence: UInt16(truncatingIfNeeded: round),
        timestamp: UInt32(truncatingIfNeeded: chance.next() & 0xFFFF_FFFF), at: now, digits: &digits)
      receiver.advance(to: now, digits: &digits)
      digits.removeAll(keepingCapacity: true)
    }
    receiver.finish(digits: &digits)
    #expect(digits.count <= 1)
    #expect(receiver.nextDeadline == nil)
  }

  @Test(
    "digits are exact over a network that loses a fifth, doubles and mixes up",
    arguments: [8_000, 16_000, 48_000])
  func overANetwork(clockRate: Int) {
    for seed in 1...300 as ClosedRange<UInt64> {
      var chance = EventChance(seed: seed)
      let wire = EventWire(loss: Int(seed % 21), duplicate: 10, jitter: Int64(seed % 60))
      var stream = EventStream(clockRate: clockRate)
      let codes = (0..<12).map { _ in Int.random(in: 0...15, using: &chance) }
      let packets = stream.packets(of: codes, milliseconds: 100, pause: 80, from: MonotonicInstant(milliseconds: 5))
      var receiver = TelephoneEventReceiver(clockRate: clockRate)
      let digits = receiver.hear(wire.carry(packets, using: &chance))
      #expect(digits.map(\.code) == codes, "seed \(seed)")
    }
  }
}
