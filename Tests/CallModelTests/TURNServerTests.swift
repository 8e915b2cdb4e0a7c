import CallModel
import Testing

@Suite("TURN URIs")
struct TURNServerTests {
  @Test(
    "are read as RFC 7065 writes them",
    arguments: [
      ("turn:example.org", "turn:example.org:3478?transport=udp"),
      ("turns:example.org", "turns:example.org:5349?transport=tcp"),
      ("turn:example.org:8000", "turn:example.org:8000?transport=udp"),
      ("turn:example.org?transport=udp", "turn:example.org:3478?transport=udp"),
      ("turn:example.org?transport=tcp", "turn:example.org:3478?transport=tcp"),
      ("TURNS:Example.org:443?Transport=TCP", "turns:example.org:443?transport=tcp"),
      ("turn:192.0.2.7:1?transport=tcp", "turn:192.0.2.7:1?transport=tcp"),
      ("turn:[2001:db8::7]", "turn:[2001:db8::7]:3478?transport=udp"),
      ("turns:[2001:db8::7]:65535", "turns:[2001:db8::7]:65535?transport=tcp"),
    ])
  func read(_ text: String, _ canonical: String) throws {
    let server = try TURNServer(text)
    #expect(server.description == canonical)
    #expect(try TURNServer(canonical) == server)
  }

  @Test(
    "what is none is refused by a named rule",
    arguments: [
      ("", "turn.scheme"), ("example.org", "turn.scheme"), ("stun:a", "turn.scheme"), ("turn", "turn.scheme"),
      ("turn:", "turn.host"), ("turn::3478", "turn.host"), ("turn://a", "turn.host"), ("turn:a b", "turn.host"),
      ("turn:[::1", "turn.host"), ("turn:2001:db8::7", "turn.host"), ("turn:a:", "turn.port"),
      ("turn:a:0", "turn.port"), ("turn:a:65536", "turn.port"), ("turn:a:+1", "turn.port"), ("turn:a:x", "turn.port"),
      ("turn:a?", "turn.transport"),
      ("turn:a?transport=", "turn.transport"), ("turn:a?transport=tcp&x=1", "turn.transport"),
      ("turns:a?transport=udp", "turn.transport"), ("turn:\(String(repeating: "a", count: 600))", "turn.long"),
    ])
  func refused(_ text: String, _ rule: String) {
    let error = #expect(throws: InvalidValue.self) { try TURNServer(text) }
    #expect(error?.rule == rule)
  }
}
