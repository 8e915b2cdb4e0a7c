import CallModel
import Testing

/// Addresses that others choose, and where they may lead.
@Suite("An address of the web is read in one way only, and leads to public addresses")
struct WebAddressTests {
  @Test(
    "what is taken",
    arguments: [
      ("https://cert.example.org/a.pem", "cert.example.org", UInt16(443), "/a.pem"),
      ("HTTPS://Cert.Example.ORG", "cert.example.org", 443, "/"),
      ("https://cert.example.org:8443?x=1", "cert.example.org", 8443, "/?x=1"),
      ("https://192.0.2.1/", "192.0.2.1", 443, "/"), ("https://[2001:db8::1]:1/x", "[2001:db8::1]", 1, "/x"),
    ])
  func taken(_ text: String, _ host: String, _ port: UInt16, _ target: String) throws {
    let address = try WebAddress(text)
    #expect(address.host.description == host && address.port == port && address.target == target)
    #expect(address.text == text)
  }

  @Test(
    "what is refused, and by which rule",
    arguments: [
      ("http://cert.example.org/", "web.scheme"), ("//cert.example.org/", "web.scheme"), ("", "web.scheme"),
      ("https://a@cert.example.org/", "web.user"), ("https://a:b@cert.example.org/", "web.user"),
      ("https://", "web.host"), ("https:///a", "web.host"), ("https://127.1/", "web.host"),
      ("https://2130706433/", "web.host"), ("https://0x7f000001/", "web.host"), ("https://0x7f.0.0.1/", "web.host"),
      ("https://0177.0.0.1/", "web.host"), ("https://example.0x7f/", "web.host"), ("https://[::1/", "web.host"),
      ("https://[fe80::1%25lo]/", "web.host"), ("https://a.example:0/", "web.port"),
      ("https://a.example:/", "web.port"),
      ("https://a.example:65536/", "web.port"), ("https://a.example:+80/", "web.port"),
      ("https://a.example/#b", "web.character"), ("https://a.example/ b", "web.character"),
      ("https://a.example\\@b/", "web.character"), ("https://a.example/\r\nX: y", "web.character"),
      ("https://\u{e9}.example/", "web.character"),
      ("https://a.example/" + String(repeating: "x", count: WebAddress.maximumBytes), "web.length"),
    ])
  func refused(_ text: String, _ rule: String) {
    let error = #expect(throws: InvalidValue.self) { try WebAddress(text) }
    #expect(error?.rule == rule)
  }

  private func host(_ text: String) throws -> SIPHost { try WebAddress("https://\(text)/").host }

  @Test("an address inside is reached only where it is listed, in every spelling")
  func gate() throws {
    let inside = [
      "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.8",
      "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "0.0.0.0", "[::]", "[::1]", "[::ffff:10.0.0.1]",
      "[fd00::1]", "[fe80::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
    ]
    for text in inside { #expect(try !AddressGate().allows(host(text)), "\(text)") }
    for text in ["8.8.8.8", "[2606:4700::1]"] { #expect(try AddressGate().allows(host(text)), "\(text)") }
    #expect(!AddressGate().allows(.name("cert.example.org")), "a name is no address")
    let gate = AddressGate(allowed: [
      try .init("10.0.0.0/8"), try .init("127.0.0.1"), try .init("fd00::/16"), try .init("::1"),
    ])
    for text in ["10.255.0.1", "127.0.0.1", "[::ffff:10.0.0.1]", "[fd00:1::1]", "[::1]"] {
      #expect(try gate.allows(host(text)), "\(text)")
    }
    for text in ["11.0.0.1", "127.0.0.2", "192.168.0.1", "[fd01::1]", "[::2]"] {
      #expect(try gate.allows(host(text)) == (text == "11.0.0.1"), "\(text)")
    }
  }

  @Test("a range is written as it is read", arguments: ["10.0.0.0/8", "192.0.2.1", "fd00::/8", "2001:db8::1"])
  func range(_ text: String) throws { #expect(try AddressGate.Range(text).description == text) }

  @Test(
    "a range that is none is refused",
    arguments: ["", "a", "10.0.0.0/33", "10.0.0.0/0", "10.0.0.0/08", "::/129", "1.2.3/8"])
  func badRange(_ text: String) {
    #expect(throws: InvalidValue.self) { try AddressGate.Range(text) }
  }
}
