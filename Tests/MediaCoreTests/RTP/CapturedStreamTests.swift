import CallModel
import MediaCore
import SecureTransport
import TestVectors
import Testing

/// Streams of real products, packet by packet: counted as others counted them.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct CapturedStreamTests {
  struct Received {
    let header: RTPHeader
    let arrival: MonotonicInstant
  }

  static func packets(_ file: String, from address: String, source: String) throws -> [Received] {
    try PacketCapture("captures/" + file).datagrams.compactMap { datagram in
      guard datagram.source == address, datagram.payload.count <= PacketBuffer.capacity,
        let header = RTPHeader(PacketBuffer(datagram.payload)), source == hexadecimal(header.source),
        !(72...76).contains(header.payloadType)
      else { return nil }
      return Received(header: header, arrival: MonotonicInstant(microseconds: datagram.microseconds))
    }
  }

  static func hexadecimal(_ source: UInt32) -> String {
    let digits = String(source, radix: 16)
    return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// RFC 3550 section A.8 as it is printed, in whole ticks; packets of one instant are left out as in ours.
  static func jitter(_ packets: [Received], clockRate: Int64) -> Double {
    var estimate = 0.0
    var before: (transit: Int64, timestamp: UInt32)?
    for packet in packets where packet.header.timestamp != before?.timestamp {
      let ticks = packet.arrival.microseconds(since: packets[0].arrival) * clockRate / 1_000_000
      let transit = ticks - Int64(packet.header.timestamp)
      if let before { estimate += (Double(abs(transit - before.transit)) - estimate) / 16 }
      before = (transit, packet.header.timestamp)
    }
    return estimate
  }

  @Test func everyStream() throws {
    let rows = try TestVectors.table("captures/rtp-streams.tsv")
    #expect(rows.count >= 15)
    for row in rows {
      let file = row["file"] ?? ""
      let packets = try CapturedStreamTests.packets(file, from: row["source"] ?? "", source: row["ssrc"] ?? "")
      #expect(String(packets.count) == row["packets"], "\(file)")
      #expect(packets.first.map { String($0.header.sequence) } == row["first_seq"], "\(file)")
      #expect(packets.last.map { String($0.header.sequence) } == row["last_seq"], "\(file)")
      let clockRate = file.contains("opus") ? 48_000 : 8000
      var statistics = ReceptionStatistics(clockRate: clockRate)
      var sizes: [Int: Int] = [:]
      var missing = 0
      for packet in packets {
        sizes[packet.header.payloadCount, default: 0] += 1
        let header = packet.header
        let arrival = statistics.received(
          sequence: header.sequence, timestamp: header.timestamp, source: header.source,
          payloadCount: header.payloadCount, arrival: packet.arrival)
        if case .ahead(let count) = arrival { missing += count }
        #expect(arrival != .stray && arrival != .restarted, "\(file)")
      }
      #expect(String(missing) == row["missing"], "\(file)")
      #expect(statistics.missing == Int64(missing), "\(file)")
      #expect(String(statistics.reordered + statistics.duplicated) == row["out_of_order_or_dup"], "\(file)")
      for pair in (row["payload_bytes:count"] ?? "").split(separator: ",") {
        let parts = pair.split(separator: ":").compactMap { Int($0) }
        #expect(sizes[parts[0]] == parts[1], "\(file) \(pair)")
      }
      let expected = CapturedStreamTests.jitter(packets, clockRate: Int64(clockRate))
      #expect(abs(statistics.jitterMilliseconds * Double(clockRate) / 1000 - expected) <= 1, "\(file)")
    }
  }

  /// A real stream, every tenth packet taken out and one in seven swapped with the next, through the reordering.
  @Test func realStreamInDisorder() throws {
    let packets = try CapturedStreamTests.packets(
      "rtp/freeswitch-milliwatt-long-pcmu.pcap", from: "192.168.0.2:31566", source: "0x61dff08b")
    var order = packets.indices.filter { $0 % 10 != 9 }
    for index in stride(from: 3, to: order.count - 1, by: 7) { order.swapAt(index, index + 1) }
    let leg = ReorderBufferTests.Leg(ReorderBuffer(maximumPackets: 16, maximumDelay: 60_000))
    var statistics = ReceptionStatistics(clockRate: 8000)
    for (time, index) in order.enumerated() {
      let header = packets[index].header
      _ = statistics.received(
        sequence: header.sequence, timestamp: header.timestamp, source: header.source,
        payloadCount: header.payloadCount, arrival: packets[index].arrival)
      leg.receive(Int(header.sequence), at: Int64(time) * 20)
    }
    leg.drain(at: 1_000_000)
    let lost = packets.count - order.count
    #expect(leg.out.filter { $0 < 0 }.reduce(0, -) == lost)
    #expect(leg.out.filter { $0 >= 0 } == order.map { Int(packets[$0].header.sequence) }.sorted())
    #expect(Int(statistics.missing) == lost)
    #expect(statistics.reordered > 50)
  }
}
