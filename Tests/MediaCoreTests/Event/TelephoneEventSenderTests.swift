import CallModel
import MediaCore
import SecureTransport
import Testing

@Suite("Telephone events sent")
struct TelephoneEventSenderTests {
  @Test("a key is a marked start, updates, and three ends, one a packet time")
  func oneKey() {
    var stream = EventStream(clockRate: 8_000)
    let packets = stream.packets(of: [5], milliseconds: 100, pause: 60, from: MonotonicInstant(milliseconds: 40))
    #expect(packets.map { $0.packet.payload.duration } == [160, 320, 480, 640, 800, 800, 800])
    #expect(packets.map { $0.packet.payload.isEnd } == [false, false, false, false, true, true, true])
    #expect(packets.map { $0.packet.marker } == [true, false, false, false, false, false, false])
    #expect(packets.map { $0.at.milliseconds } == [40, 60, 80, 100, 120, 140, 160])
    #expect(Set(packets.map { $0.packet.timestamp }).count == 1)
    #expect(packets.allSatisfy { $0.packet.payload.code == 5 && $0.packet.payload.volume == 10 })
  }

  @Test("keys wait for each other, and pauses are kept")
  func several() throws {
    var stream = EventStream(clockRate: 48_000)
    let packets = stream.packets(of: [1, 1, 11], milliseconds: 60, pause: 200, from: .zero)
    let starts = packets.filter { $0.packet.marker }
    #expect(starts.map { $0.at.milliseconds } == [0, 260, 520])
    #expect(starts.map { $0.packet.payload.code } == [1, 1, 11])
    let gaps = zip(starts.dropFirst(), starts).map { $0.packet.timestamp &- $1.packet.timestamp }
    #expect(gaps == [260 * 48, 260 * 48])
  }

  @Test("a key longer than the counter goes on in segments, at every clock", arguments: [8_000, 16_000, 48_000])
  func long(clockRate: Int) {
    var stream = EventStream(clockRate: clockRate)
    let packets = stream.packets(of: [0, 7], milliseconds: 6_000, pause: 100, from: .zero)
    var receiver = TelephoneEventReceiver(clockRate: clockRate)
    let digits = receiver.hear(packets)
    #expect(digits.map { [$0.code, $0.milliseconds] } == [[0, 6_000], [7, 6_000]])
    let closed = packets.count { $0.packet.payload.duration == 0xFFFF && !$0.packet.payload.isEnd }
    #expect(closed == 2 * (6 * clockRate / 0xFFFF))
  }

  @Test("no more keys than the limit wait, and only keys are taken")
  func limits() {
    var sender = TelephoneEventSender(clockRate: 8_000, packetTime: 20)
    func send(_ code: Int, _ milliseconds: Int = 100, _ pause: Int = 50) -> Bool {
      sender.send(code, milliseconds: milliseconds, pause: pause, at: .zero)
    }
    for code in [-1, 16, 99] { #expect(!send(code)) }
    #expect(sender.nextDeadline == nil)
    for _ in 0..<TelephoneEventSender.maximumKeys {
      #expect(send(1, .max, .min))
    }
    #expect(!send(1))
    sender.removeWaiting()
    #expect(sender.nextDeadline == nil)
    #expect(send(2, -5, -5))
  }

  @Test("a shell that comes late sends no burst")
  func lateShell() {
    var sender = TelephoneEventSender(clockRate: 8_000, packetTime: 20)
    func next(_ milliseconds: Int64) -> TelephoneEventPacket? {
      sender.next(at: MonotonicInstant(milliseconds: milliseconds), timestamp: UInt32(milliseconds) * 8)
    }
    let isTaken = sender.send(3, milliseconds: 400, pause: 40, at: .zero)
    #expect(isTaken)
    #expect(next(0)?.marker == true)
    #expect(next(205)?.payload.duration == 1_760)
    #expect(next(205) == nil)
    #expect(sender.nextDeadline == MonotonicInstant(milliseconds: 220))
  }

  @Test("a report is written as it is read")
  func bytes() throws {
    let packet = PacketBuffer([0xFF])
    TelephoneEventPayload(code: 11, isEnd: true, volume: 10, duration: 1_600).append(to: packet)
    #expect(packet.bytes == [0xFF, 11, 0x8A, 0x06, 0x40])
    let read = try #require(TelephoneEventPayload(packet, offset: 1, count: 4))
    #expect(read == TelephoneEventPayload(code: 11, isEnd: true, volume: 10, duration: 1_600))
    #expect(TelephoneEventPayload(packet, offset: 2, count: 4) == nil)
    #expect(TelephoneEventPayload(packet, offset: .max, count: .max) == nil)
  }
}
