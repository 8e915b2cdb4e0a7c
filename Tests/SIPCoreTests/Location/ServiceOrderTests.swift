import CallModel
import SIPCore
import Testing

@Suite("Order of SRV records, and answers meant to hurt")
struct ServiceOrderTests {
  /// The first target's last octet, from a zone where `h<n>` has the address 192.0.2.<n>.
  func order(_ records: [SRVRecord], seed: UInt64, limit: Int = 16) throws -> [String] {
    var zone = try Zone()
    zone.records[DNSQuestion(.srv, "_sip._udp.example.com")] = .srv(records)
    for number in 1...records.count {
      zone.records[DNSQuestion(.a, "h\(number).example.com")] = .addresses([.ipv4(0xC000_0200 + UInt32(number))])
    }
    var policy = LocationPolicy(transports: [.udp], families: [.ipv4])
    policy.targets = limit
    let located = try locate("sip:example.com;transport=udp", in: zone, policy: policy, seed: seed)
    return located.result.targets.map { String("\($0.address.host)".dropFirst("192.0.2.".count)) }
  }

  func record(_ number: Int, priority: UInt16 = 0, weight: UInt16) -> SRVRecord {
    SRVRecord(priority: priority, weight: weight, port: 5060, target: "h\(number).example.com.")
  }

  struct Share: CustomTestStringConvertible, Sendable {
    let weights: [UInt16]
    /// How often, of 10,000, each record may come first.
    let expected: [ClosedRange<Int>]
    var testDescription: String { "\(weights)" }
  }

  // The bounds are five standard deviations around the exact share.
  @Test(
    "Weights decide who is first",
    arguments: [
      Share(weights: [1, 1], expected: [4750...5250, 4750...5250]),
      Share(weights: [100, 300], expected: [2280...2720, 7280...7720]),
      Share(weights: [10, 20, 70], expected: [850...1150, 1800...2200, 6770...7230]),
      Share(weights: [0, 0, 0, 0], expected: [2280...2720, 2280...2720, 2280...2720, 2280...2720]),
      Share(weights: [0, 99], expected: [0...5, 9995...10000]),
      Share(weights: [65535, 65535], expected: [4750...5250, 4750...5250]),
      Share(weights: [7], expected: [10000...10000]),
    ])
  func weights(row: Share) throws {
    var counts = [Int](repeating: 0, count: row.weights.count)
    for seed in 1...10_000 {
      let records = row.weights.enumerated().map { record($0.offset + 1, weight: $0.element) }
      let order = try order(records, seed: UInt64(seed) &* 0x2545_F491_4F6C_DD1D)
      if Set(order).count != records.count { Issue.record("seed \(seed): \(order)") }
      if let first = order.first.flatMap({ Int($0) }) { counts[first - 1] += 1 }
    }
    for (count, range) in zip(counts, row.expected) { #expect(range.contains(count), "\(counts)") }
  }

  @Test("A better priority stands before any weight")
  func priorities() throws {
    for seed in 1...200 {
      let order = try order(
        [
          record(1, priority: 20, weight: 65535), record(2, priority: 10, weight: 0),
          record(3, priority: 10, weight: 5),
          record(4, priority: 30, weight: 1),
        ], seed: UInt64(seed))
      #expect(Set(order.prefix(2)) == ["2", "3"], "seed \(seed)")
      #expect(order.suffix(2) == ["1", "4"], "seed \(seed)")
    }
  }

  @Test("The same seed gives the same order")
  func seeded() throws {
    let records = (1...9).map { record($0, weight: UInt16($0)) }
    #expect(try order(records, seed: 77) == order(records, seed: 77))
    #expect(try Set((1...50).map { try order(records, seed: $0) }).count > 10)
  }

  @Test("10,000 records cost one sort and a bounded number of questions")
  func flood() throws {
    let records = (0..<10_000).map { number in
      SRVRecord(
        priority: UInt16(10_000 - number), weight: UInt16(number % 3), port: 5060, target: "t\(number).example.com")
    }
    var zone = try Zone()
    zone.records[DNSQuestion(.srv, "_sip._udp.example.com")] = .srv(records)
    for number in 9_900..<10_000 {
      let first = UInt32(number) << 16
      zone.records[DNSQuestion(.a, "t\(number).example.com")] = .addresses(
        (0..<10_000).map { .ipv4(first + $0) })
    }
    let (result, asked) = try locate("sip:example.com;transport=udp", in: zone)
    #expect(asked.count == 1 + 16 * 2)
    #expect(asked.dropFirst().first == "AAAA t9999.example.com")
    #expect(result.targets.count == 16)
    // Eight addresses of the first host at most, and the second host is not crowded out by them.
    let hosts = result.targets.map { target in
      if case .ipv4(let address) = target.address.host { return Int(address >> 16) }
      return 0
    }
    #expect(hosts == [Int](repeating: 9_999, count: 8) + [Int](repeating: 9_998, count: 8))
  }

  @Test("Many NAPTR records lead to a bounded number of services")
  func manyPointers() throws {
    var zone = try Zone()
    zone.records[DNSQuestion(.naptr, "example.com")] = .naptr(
      (0..<1000).map {
        NAPTRRecord(
          order: 1, preference: UInt16($0), flags: "s", services: "SIP+D2U", replacement: "_s\($0).example.com")
      })
    let (result, asked) = try locate("sip:example.com", in: zone)
    #expect(asked.count == 1 + 8 + 2)
    #expect(written(result) == ["noSuchHost"])
  }

  @Test(
    "Records that lead nowhere are passed over",
    arguments: [
      ("0 1 0 h1.example.com, 1 1 5060 h2.example.com", ["2"]),
      ("0 1 5060 ., 1 1 5060 h2.example.com", ["2"]),
      ("0 1 5060 192.0.2.66, 1 1 5060 h2.example.com", ["2"]),
      ("0 1 5060 a..b, 1 1 5060 h2.example.com", ["2"]),
      ("0 1 5060 bad\u{7F}name.example.com, 1 1 5060 h2.example.com", ["2"]),
      ("0 1 5060 H3.Example.COM., 1 1 5060 h2.example.com", ["3", "2"]),
      ("0 1 5060 nowhere.example.com, 1 1 5060 h2.example.com", ["2"]),
    ])
  func useless(records: String, expected: [String]) throws {
    let zone = try Zone(
      "SRV _sip._udp.example.com = \(records)", "A h1.example.com = 192.0.2.1", "A h2.example.com = 192.0.2.2",
      "A h3.example.com = 192.0.2.3")
    let policy = LocationPolicy(transports: [.udp], families: [.ipv4])
    let located = try locate("sip:example.com;transport=udp", in: zone, policy: policy)
    #expect(written(located.result) == expected.map { "udp 192.0.2.\($0):5060" })
  }

  @Test("A name without room for the service's prefix is asked for addresses only")
  func longName() throws {
    let name = ([String](repeating: String(repeating: "a", count: 60), count: 4)).joined(separator: ".") + ".example"
    let (result, asked) = try locate("sip:\(name);transport=udp", in: try Zone())
    #expect(asked == ["AAAA \(name)", "A \(name)"])
    #expect(written(result) == ["noSuchHost"])
  }
}
