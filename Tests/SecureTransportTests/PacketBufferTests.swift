import CallModel
import SecureTransport
import Testing

@Suite struct PacketBufferTests {
  @Test func integersAreKeptInNetworkOrder() {
    let packet = PacketBuffer([1, 2, 3, 4, 5])
    #expect(packet.integer(at: 1, as: UInt32.self) == 0x0203_0405)
    packet.store(UInt16(0xABCD), at: 0)
    packet.append(integer: UInt16(7))
    #expect(packet.bytes == [0xAB, 0xCD, 3, 4, 5, 0, 7])
  }

  @Test func anIPv4AddressEqualsItsMappedForm() {
    #expect(
      MediaAddress(.ipv4(0x7F00_0001), port: 9) == MediaAddress(.ipv6(high: 0, low: 0xFFFF_7F00_0001), port: 9))
    #expect(MediaAddress(.ipv4(0x7F00_0001), port: 0) == nil)
    #expect(MediaAddress(.name("trunk.example"), port: 9) == nil)
    #expect(MediaAddress(ipv4: 0x7F00_0001, port: 9).description == "127.0.0.1:9")
  }

  @Test func aFullOutboxDropsAndCounts() {
    let outbox = PacketOutbox()
    let address = MediaAddress(ipv4: 1, port: 1)
    for _ in 0..<(PacketOutbox.capacity + 3) {
      outbox.next.replace(with: [1])
      outbox.commit(on: MediaPort(rawValue: 4), to: address)
    }
    #expect(outbox.count == PacketOutbox.capacity)
    #expect(outbox.dropped == 3)
    outbox.removeAll()
    #expect(outbox.count == 0)
  }
}
