import CallEngine
import CallModel
import PeerKit
import Testing

/// Ways to write an address inside, given by an app as the SIP address it wants to call.
@Suite("Spellings of inner addresses")
struct AddressSpellingTests {
  static let hosts = [
    // This machine.
    "127.0.0.1", "127.1", "127.0.1", "127.000.000.001", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433",
    "017700000001",
    "127.0.0.1.", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::1%lo]", "[::1%25lo]", "[64:ff9b::127.0.0.1]",
    "localhost", "LOCALHOST", "localhost.", "ip6-localhost",
    "①②⑦.⓪.⓪.①", "127。0。0。1", "127%2e0%2e0%2e1", "127.0.0.1%00.example.com", "127.0.0.1#.example.com",
    "127.0.0.1?x=example.com", "example.com@127.0.0.1", "127.0.0.1\\.example.com", "127.0.0.1 ", "\t127.0.0.1",
    // Networks of one's own.
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1.1", "100.64.0.1",
    "198.18.0.1",
    "[fc00::1]", "[fd12:3456:789a::1]", "[fec0::1]", "[::ffff:10.0.0.1]", "[::ffff:192.168.0.1]", "[2002:7f00:1::]",
    "[2002:c0a8:0101::1]", "0x0a000001", "167772161", "3232235521",
    // The neighbourhood, and the services of clouds.
    "169.254.169.254", "[fe80::1]", "[fe80::1%eth0]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "2852039166",
    "metadata.google.internal", "metadata", "instance-data", "0xa9fea9fe",
    "0251.0376.0251.0376",
    // Everybody.
    "255.255.255.255", "224.0.0.1", "239.255.255.250", "[ff02::1]", "[ff05::2]",
    // Names that are names of nothing but this network.
    "gateway", "gateway.local", "db.internal",
  ]

  @Test("are refused before anything is asked of anybody")
  func everySpelling() throws {
    var reached: [String] = []
    var tried = 0
    var configuration = try Scene.configuration()
    configuration.environments[0].sipHosts.reachesAny = true
    for host in Self.hosts {
      for port in ["", ":5060", ":22"] {
        let bench = try Bench(configuration)
        tried += 1
        let id = bench.place("alice@\(host)\(port)", kind: .sip)
        if id != nil || bench.ladder().count != 1 || !bench.invites.isEmpty || !bench.engine.isIdle {
          reached.append(host + port)
        }
      }
    }
    #expect(reached.isEmpty, "\(reached)")
    #expect(Self.hosts.count >= 60)
    // The door is not simply shut.
    let bench = try Bench(configuration)
    #expect(bench.place("alice@example.com", kind: .sip) != nil)
    try ScoreboardRow(
      "B10", figure: "\(reached.count)", unit: "connections made", target: "= 0", passed: reached.isEmpty,
      detail: "\(Self.hosts.count) spellings as the host an app calls, \(tried) tries", gate: true
    ).record()
  }
}
