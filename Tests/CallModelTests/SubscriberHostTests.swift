import CallModel
import Testing

@Suite("What counts as one host") struct SubscriberHostTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"),
    ("2001:db8::1", "2001:db8::1", "2001:db8::"), ("2001:db8::ffff:0:1", "2001:db8::ffff:0:1", "2001:db8::"),
    ("example.com", "example.com", "example.com"),
  ])
  func hosts(_ text: String, _ unmapped: String, _ subscriber: String) throws {
    let host = try SIPHost(unbracketed: text)
    #expect(host.unmapped == (try SIPHost(unbracketed: unmapped)))
    #expect(host.subscriber == (try SIPHost(unbracketed: subscriber)))
  }
}
