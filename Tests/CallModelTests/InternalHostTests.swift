import CallModel
import Testing

/// Which addresses nobody else may send the gateway to.
@Suite struct InternalHostTests {
  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "127.0.0.1", "127.255.255.254", "100.64.0.1", "100.127.255.255",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.8", "198.18.0.1", "198.19.255.255",
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "[::]", "[::1]", "[::127.0.0.1]",
    "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::ffff:0:10.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
    "localhost", "gateway", "printer.local", "a.localhost", "db.internal", "nas.home.arpa",
  ])
  func inside(_ text: String) throws {
    #expect(try SIPHost(unbracketed: text.filter { $0 != "[" && $0 != "]" }).isInternal)
  }

  @Test(arguments: [
    "8.8.8.8", "1.0.0.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1",
    "169.253.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.1.1", "198.17.0.1", "198.20.0.1",
    "223.255.255.255", "[2001:4860::1]", "[2606:4700::1]", "[::ffff:8.8.8.8]", "sip.example.com", "local.example",
  ])
  func outside(_ text: String) throws {
    #expect(try !SIPHost(unbracketed: text.filter { $0 != "[" && $0 != "]" }).isInternal)
  }
}
