import CallModel
import SIPCore
import Testing

@Suite("Where a URI lives (RFC 3263)")
struct LocationMachineTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let uri: String
    var transports: [SIPTransport] = [.udp, .tcp, .tls]
    var families: [AddressFamily] = [.ipv6, .ipv4]
    let expected: [String]

    init(
      _ uri: String, _ transports: [SIPTransport] = [.udp, .tcp, .tls], _ families: [AddressFamily] = [.ipv6, .ipv4],
      _ expected: String...
    ) {
      self.uri = uri
      self.transports = transports
      self.families = families
      self.expected = expected
    }

    var policy: LocationPolicy { LocationPolicy(transports: transports, families: families) }
    var testDescription: String { "\(uri) on \(transports)" }
  }

  @Test(
    "Numeric hosts need no question",
    arguments: [
      Row("sip:192.0.2.1", expected: "udp 192.0.2.1:5060"),
      Row("sip:192.0.2.1:5080", expected: "udp 192.0.2.1:5080"),
      Row("sip:192.0.2.1;transport=tcp", expected: "tcp 192.0.2.1:5060"),
      Row("sip:192.0.2.1;transport=TLS", expected: "tls 192.0.2.1:5061 as 192.0.2.1"),
      Row("sip:[2001:db8::1]", expected: "udp [2001:db8::1]:5060"),
      Row("sips:[2001:db8::1]:5090", expected: "tls [2001:db8::1]:5090 as 2001:db8::1"),
      Row("sips:192.0.2.1;transport=tcp", expected: "tls 192.0.2.1:5061 as 192.0.2.1"),
      Row("sip:10.0.0.1", expected: "udp 10.0.0.1:5060"),
      Row("sip:192.0.2.1", [.tcp], expected: "tcp 192.0.2.1:5060"),
      Row("sip:192.0.2.1", [.tls], expected: "noSupportedTransport"),
      Row("sip:192.0.2.1;transport=udp", [.tcp], expected: "noSupportedTransport"),
      Row("sip:192.0.2.1;transport=sctp", expected: "noSupportedTransport"),
      Row("sip:192.0.2.1;transport", expected: "noSupportedTransport"),
      Row("sips:192.0.2.1;transport=udp", expected: "noSupportedTransport"),
      Row("sips:192.0.2.1", [.udp, .tcp], expected: "noSupportedTransport"),
      Row("sip:[2001:db8::1]", [.udp], [.ipv4], "noSupportedTransport"),
      Row("sip:192.0.2.1;maddr=192.0.2.99", expected: "unusableURI"),
      Row("tel:+46701234567", expected: "unusableURI"),
    ])
  func numeric(row: Row) throws {
    let (result, asked) = try locate(row.uri, in: try Zone(), policy: row.policy)
    #expect(written(result) == row.expected)
    #expect(asked == [])
  }

  struct Search: CustomTestStringConvertible, Sendable {
    let uri: String
    let zone: [String]
    var transports: [SIPTransport] = [.udp, .tcp, .tls]
    var families: [AddressFamily] = [.ipv6, .ipv4]
    let asked: [String]
    let expected: [String]

    var testDescription: String { "\(uri) with \(zone)" }
  }

  @Test(
    "Names are followed as far as the URI leaves open",
    arguments: [
      // A port ends the search for a service (section 4.2).
      Search(
        uri: "sip:example.com:5070", zone: ["A example.com = 192.0.2.1", "AAAA example.com = 2001:db8::1"],
        asked: ["AAAA example.com", "A example.com"],
        expected: ["udp [2001:db8::1]:5070", "udp 192.0.2.1:5070"]),
      Search(
        uri: "sips:example.com:5071", zone: ["A example.com = 192.0.2.1"], families: [.ipv4],
        asked: ["A example.com"], expected: ["tls 192.0.2.1:5071 as example.com"]),
      // A transport skips NAPTR.
      Search(
        uri: "sip:Example.COM;transport=tcp",
        zone: ["SRV _sip._tcp.example.com = 10 0 5062 a.example.com", "A a.example.com = 192.0.2.7"], families: [.ipv4],
        asked: ["SRV _sip._tcp.example.com", "A a.example.com"], expected: ["tcp 192.0.2.7:5062"]),
      Search(
        uri: "sip:example.com;transport=udp", zone: ["A example.com = 192.0.2.1"], families: [.ipv4],
        asked: ["SRV _sip._udp.example.com", "A example.com"], expected: ["udp 192.0.2.1:5060"]),
      Search(
        uri: "sips:example.com;transport=tcp", zone: ["A example.com = 192.0.2.1"], families: [.ipv4],
        asked: ["SRV _sips._tcp.example.com", "A example.com"], expected: ["tls 192.0.2.1:5061 as example.com"]),
      // NAPTR: order before preference, and only the lowest order that can be used.
      Search(
        uri: "sip:example.com",
        zone: [
          "NAPTR example.com = 50 60 s SIP+D2T _sip._tcp.example.com, 50 50 s SIPS+D2T _sips._tcp.example.com, "
            + "90 10 s SIP+D2U _sip._udp.example.com, 10 1 s E2U+sip x.example.com, 20 1 u SIP+D2U y.example.com",
          "SRV _sips._tcp.example.com = 0 1 5061 s.example.com", "SRV _sip._tcp.example.com = 0 1 5060 s.example.com",
          "A s.example.com = 192.0.2.5",
        ], families: [.ipv4],
        asked: [
          "NAPTR example.com", "SRV _sips._tcp.example.com", "SRV _sip._tcp.example.com", "A s.example.com",
        ],
        expected: ["tls 192.0.2.5:5061 as example.com", "tcp 192.0.2.5:5060"]),
      Search(
        uri: "sips:example.com",
        zone: [
          "NAPTR example.com = 10 1 s SIP+D2U _sip._udp.example.com, 20 1 S sips+d2t _sips._tcp.other.example",
          "SRV _sips._tcp.other.example = 0 1 443 s.other.example", "A s.other.example = 192.0.2.5",
        ], families: [.ipv4],
        asked: ["NAPTR example.com", "SRV _sips._tcp.other.example", "A s.other.example"],
        expected: ["tls 192.0.2.5:443 as example.com"]),
      Search(
        uri: "sip:example.com", zone: ["NAPTR example.com = 10 1 s SIP+D2S _sip._sctp.example.com"],
        asked: ["NAPTR example.com"], expected: ["noSupportedTransport"]),
      // NAPTR of others only: as if there were none; then SRV of each transport, in the node's order.
      Search(
        uri: "sip:example.com",
        zone: [
          "NAPTR example.com = 10 1 s AAA+D2T _diameter._tcp.example.com",
          "SRV _sip._tcp.example.com = 0 1 5060 t.example.com", "SRV _sips._tcp.example.com = 0 1 5061 t.example.com",
          "A t.example.com = 192.0.2.8",
        ], transports: [.tls, .udp, .tcp], families: [.ipv4],
        asked: [
          "NAPTR example.com", "SRV _sips._tcp.example.com", "SRV _sip._udp.example.com", "SRV _sip._tcp.example.com",
          "A t.example.com",
        ],
        expected: ["tls 192.0.2.8:5061 as example.com", "tcp 192.0.2.8:5060"]),
      Search(
        uri: "sips:example.com", zone: ["A example.com = 192.0.2.1"], families: [.ipv4],
        asked: ["NAPTR example.com", "SRV _sips._tcp.example.com", "A example.com"],
        expected: ["tls 192.0.2.1:5061 as example.com"]),
      Search(
        uri: "sip:example.com", zone: ["A example.com = 192.0.2.1"], transports: [.udp], families: [.ipv4],
        asked: ["NAPTR example.com", "SRV _sip._udp.example.com", "A example.com"], expected: ["udp 192.0.2.1:5060"]),
      Search(
        uri: "sip:example.com", zone: ["A example.com = 192.0.2.1"], transports: [.tls], families: [.ipv4],
        asked: ["NAPTR example.com", "SRV _sips._tcp.example.com"], expected: ["noSupportedTransport"]),
      // A pointer to nothing: the domain's own addresses, with the transport it prefers.
      Search(
        uri: "sip:example.com",
        zone: ["NAPTR example.com = 10 1 s SIP+D2T _sip._tcp.example.com", "A example.com = 192.0.2.1"],
        families: [.ipv4], asked: ["NAPTR example.com", "SRV _sip._tcp.example.com", "A example.com"],
        expected: ["tcp 192.0.2.1:5060"]),
      // Policy turns the families around; one address under two names is one target.
      Search(
        uri: "sip:example.com;transport=udp",
        zone: [
          "SRV _sip._udp.example.com = 0 1 5060 a.example.com, 1 1 5060 b.example.com, 2 1 5070 b.example.com",
          "A a.example.com = 192.0.2.1", "AAAA a.example.com = 2001:db8::1", "A b.example.com = 192.0.2.1",
        ], families: [.ipv4, .ipv6],
        asked: [
          "SRV _sip._udp.example.com", "A a.example.com", "AAAA a.example.com", "A b.example.com", "AAAA b.example.com",
        ],
        expected: ["udp 192.0.2.1:5060", "udp [2001:db8::1]:5060", "udp 192.0.2.1:5070"]),
      // What is not there.
      Search(
        uri: "sip:example.com:5060", zone: [], families: [.ipv4], asked: ["A example.com"], expected: ["noSuchHost"]),
      Search(
        uri: "sip:example.com;transport=udp", zone: ["SRV _sip._udp.example.com = 0 0 0 ."],
        asked: ["SRV _sip._udp.example.com"], expected: ["noSupportedTransport"]),
      // Servers that fail count as servers without the record; servers that are silent end the search.
      Search(
        uri: "sip:example.com",
        zone: ["NAPTR example.com = fails", "SRV _sip._udp.example.com = fails", "A example.com = 192.0.2.1"],
        transports: [.udp], families: [.ipv4],
        asked: ["NAPTR example.com", "SRV _sip._udp.example.com", "A example.com"], expected: ["udp 192.0.2.1:5060"]),
      Search(
        uri: "sip:example.com", zone: ["NAPTR example.com = silent"], asked: ["NAPTR example.com"],
        expected: ["nameServersUnreachable"]),
      Search(
        uri: "sip:example.com;transport=tcp", zone: ["SRV _sip._tcp.example.com = silent"],
        asked: ["SRV _sip._tcp.example.com"], expected: ["nameServersUnreachable"]),
      Search(
        uri: "sip:example.com:5060", zone: ["A example.com = fails"], families: [.ipv4], asked: ["A example.com"],
        expected: ["nameServersUnreachable"]),
      Search(
        uri: "sip:example.com:5060", zone: ["AAAA example.com = silent", "A example.com = 192.0.2.1"],
        asked: ["AAAA example.com", "A example.com"], expected: ["udp 192.0.2.1:5060"]),
    ])
  func names(row: Search) throws {
    var zone = try Zone()
    for line in row.zone { zone.records.merge(try Zone(line).records) { $1 } }
    let policy = LocationPolicy(transports: row.transports, families: row.families)
    let (result, asked) = try locate(row.uri, in: zone, policy: policy)
    #expect(asked == row.asked)
    #expect(written(result) == row.expected)
  }

  @Test("An answer that nobody waits for, or that comes twice, changes nothing")
  func strayAnswers() throws {
    let policy = LocationPolicy(transports: [.udp], families: [.ipv4])
    var machine = LocationMachine(try uri("sip:example.com:5060"), policy: policy, identifiers: seededIdentifiers(1))
    var effects: [LocationEffect] = []
    machine.handle(.addresses([try host("192.0.2.9")]), to: DNSQuestion(.a, "example.com"), into: &effects)
    #expect(effects.isEmpty)
    machine.start(into: &effects)
    machine.start(into: &effects)
    #expect(effects == [.ask(DNSQuestion(.a, "example.com"))])
    effects = []
    machine.handle(.addresses([try host("192.0.2.9")]), to: DNSQuestion(.a, "other.example"), into: &effects)
    #expect(effects.isEmpty)
    machine.handle(.addresses([try host("192.0.2.1")]), to: DNSQuestion(.a, "EXAMPLE.com."), into: &effects)
    machine.handle(.addresses([try host("192.0.2.2")]), to: DNSQuestion(.a, "example.com"), into: &effects)
    #expect(effects == [.finished(.found([LocationTarget(TransportAddress(.udp, try host("192.0.2.1"), port: 5060))]))])
  }

  @Test("Answers of the wrong kind or family are no answers")
  func wrongAnswers() throws {
    var zone = try Zone("SRV _sip._udp.example.com = 0 0 5060 a.example.com")
    zone.records[DNSQuestion(.naptr, "example.com")] = .addresses([try host("192.0.2.66")])
    zone.records[DNSQuestion(.a, "a.example.com")] = .addresses([try host("2001:db8::1"), try host("192.0.2.1")])
    let policy = LocationPolicy(transports: [.udp], families: [.ipv4])
    #expect(written(try locate("sip:example.com", in: zone, policy: policy).result) == ["udp 192.0.2.1:5060"])
  }

  @Test("Listeners of the transport and family carry the targets; others are left out")
  func paths() throws {
    let listeners = [
      AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: try host("198.51.100.1"), port: 5060),
      AdvertisedAddress(listener: ListenerID(2), transport: .tls, host: .name("gw.example.net"), port: 5061),
      AdvertisedAddress(listener: ListenerID(3), transport: .udp, host: try host("2001:db8::9"), port: 5060),
      AdvertisedAddress(listener: ListenerID(4), transport: .tcp, host: try host("198.51.100.1"), port: 5060),
    ]
    let result = LocationResult.found([
      LocationTarget(TransportAddress(.udp, try host("2001:db8::1"), port: 5060)),
      LocationTarget(TransportAddress(.udp, try host("192.0.2.1"), port: 5060)),
      LocationTarget(TransportAddress(.tcp, try host("2001:db8::1"), port: 5060)),
      LocationTarget(TransportAddress(.tls, try host("192.0.2.1"), port: 5061), serverName: "example.com"),
    ])
    let paths = result.paths(from: listeners)
    #expect(paths.map(\.listener.number) == [3, 1, 2])
    #expect(paths.map(\.serverName) == [nil, nil, "example.com"])
    #expect(LocationPolicy(listeners: listeners).transports == [.udp, .tls, .tcp])
    #expect(LocationPolicy(listeners: listeners).families == [.ipv6, .ipv4])
    #expect(LocationPolicy(listeners: [listeners[0]]).families == [.ipv4])
    #expect(LocationResult.failed(LocationFailure(.noSuchHost, "x")).paths(from: listeners) == [])
  }
}

extension LocationMachineTests.Row {
  init(_ uri: String, _ transports: [SIPTransport] = [.udp, .tcp, .tls], expected: String) {
    self.init(uri, transports, [.ipv6, .ipv4], expected)
  }
}
