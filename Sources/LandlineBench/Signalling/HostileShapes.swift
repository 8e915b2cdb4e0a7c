import CallModel
import SIPCore

/// Messages made to cost as much as possible, each as large as its transport carries, through the whole door of the
/// agent: gate, parser, transactions, answer.
enum HostileShapes {
  static func measure(rounds: Int) -> [SIPBenchReport.Shape] {
    all.map { shape in
      let bytes = shape.bytes
      var best = Double.infinity
      for _ in 0..<max(1, rounds) {
        // A fresh agent each time, so that the second copy is not a mere repetition.
        let agent = UserAgent(
          UserAgentConfiguration(
            addresses: [AdvertisedAddress(listener: ListenerID(1), transport: shape.transport, host: host, port: 5060)],
            acceptsCalls: true), identifiers: .system)
        var effects: [UserAgentEffect] = []
        let start = ProcessClock.now()
        agent.receive(
          bytes, from: SIPPath(listener: ListenerID(1), remote: TransportAddress(shape.transport, host, port: 5080)),
          at: .zero, into: &effects)
        best = min(best, ProcessClock.now().cpu - start.cpu)
      }
      return SIPBenchReport.Shape(name: shape.name, bytes: bytes.count, milliseconds: best * 1000)
    }.sorted { $0.milliseconds > $1.milliseconds }
  }

  private static let host = SIPHost.ipv4(0x7F00_0001)

  private struct Shape {
    var name: String
    var transport: SIPTransport
    var uri = "sip:a@127.0.0.1"
    var fields: [String] = []
    var body = ""

    var bytes: [UInt8] {
      var lines = ["INVITE \(uri) SIP/2.0"]
      func add(_ name: String, _ value: String) {
        if !fields.contains(where: { $0.hasPrefix("\(name):") }) { lines.append("\(name): \(value)") }
      }
      add("Via", "SIP/2.0/\(transport.rawValue.uppercased()) 127.0.0.1:5080;branch=z9hG4bKhostile;rport")
      add("From", "<sip:b@127.0.0.1>;tag=1")
      add("To", "<sip:a@127.0.0.1>")
      add("Call-ID", "hostile")
      add("CSeq", "1 INVITE")
      add("Max-Forwards", "70")
      add("Contact", "<sip:b@127.0.0.1:5080>")
      lines += fields
      if !body.isEmpty { lines.append("Content-Type: application/sdp") }
      return Array((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n").utf8)
    }
  }

  private static func repeated(_ text: String, _ bytes: Int) -> String {
    String(repeating: text, count: max(1, bytes / text.utf8.count))
  }

  private static let all: [Shape] = {
    var shapes: [Shape] = []
    // Within the limits of the gate, and beyond them.
    for (transport, room) in [(SIPTransport.udp, 15_000), (.tcp, 64_000)] {
      let lines = room / 4_000
      func field(_ name: String, _ element: String, _ head: String, bytes: Int = 3_900) -> String {
        "\(name): \(head)\(repeated(element, bytes))"
      }
      func many(_ line: String) -> [String] {
        Array(repeating: line, count: min(118, max(1, room / (line.utf8.count + 2))))
      }
      shapes += [
        Shape(name: "URI parameters", transport: transport, uri: "sip:a@127.0.0.1\(repeated(";p", room))"),
        Shape(name: "32 URI parameters", transport: transport, uri: "sip:a@127.0.0.1\(repeated(";pppp=vvvv", 310))"),
        Shape(
          name: "Contact parameters", transport: transport, fields: [field("Contact", ";p", "<sip:b@h>", bytes: room)]),
        Shape(
          name: "Contacts, comma", transport: transport,
          fields: many(field("Contact", ",<sip:b@hh>", "<sip:b@hh>", bytes: 330))),
        Shape(name: "Allow, comma", transport: transport, fields: [field("Allow", "A,", "", bytes: room) + "A"]),
        Shape(name: "Allow, many lines", transport: transport, fields: many("Allow: \(repeated("A,", 62))A")),
        Shape(name: "Accept, many lines", transport: transport, fields: many("Accept: \(repeated("a/b,", 120))a/b")),
        Shape(name: "Require, many lines", transport: transport, fields: many("Require: \(repeated("a,", 62))a")),
        Shape(name: "short unknown fields", transport: transport, fields: many("X: y")),
        Shape(
          name: "long unknown fields", transport: transport,
          fields: Array(repeating: field("X-A", "abcd", ""), count: lines)),
        Shape(
          name: "Record-Routes", transport: transport,
          fields: many("Record-Route: <sip:127.0.0.1;lr>\(repeated(",<sip:127.0.0.1;lr>", 570))")),
        Shape(
          name: "Vias", transport: transport,
          fields: ["Via: SIP/2.0/UDP 127.0.0.1:5080;branch=z9hG4bKh"] + many("Via: SIP/2.0/UDP h;branch=z9hG4bKh")),
        Shape(
          name: "quoted escapes", transport: transport, fields: ["From: \"\(repeated("\\\\", 3_800))\" <sip:b@h>;tag=1"]
        ),
        Shape(name: "open quotes", transport: transport, fields: many("From: \"\(repeated("a", 3_800))")),
        Shape(name: "open brackets", transport: transport, fields: many("Contact: \(repeated("<", 3_800))")),
        Shape(name: "escaped user", transport: transport, uri: "sip:\(repeated("%41", 3_000))@127.0.0.1"),
        Shape(name: "long host", transport: transport, uri: "sip:a@\(repeated("a.", 3_000))a"),
        Shape(name: "folded lines", transport: transport, fields: many("X-A: a\r\n\(repeated(" a\r\n", 3_000)) b")),
        Shape(name: "Date", transport: transport, fields: ["Date: \(repeated("9", 3_900))"]),
        Shape(name: "Privacy", transport: transport, fields: many("Privacy: \(repeated("a;", 60))a")),
        Shape(
          name: "identities", transport: transport,
          fields: many("P-Asserted-Identity: <tel:+1>\(repeated(",<tel:+1>", 270))")),
        Shape(
          name: "History-Info", transport: transport,
          fields: many("History-Info: <sip:a@b?Reason=c>\(repeated(",<sip:a@b?Reason=c>", 570))")),
        Shape(
          name: "custom headers", transport: transport,
          fields: (0..<110).map { "x-\($0): \(repeated("v", room / 130))" }),
        Shape(
          name: "Authorization", transport: transport,
          fields: many("Authorization: Digest \(repeated("a=\"b\",", 180))c=d")),
        Shape(name: "body", transport: transport, body: repeated("a=b\r\n", room - 600)),
      ]
    }
    return shapes
  }()
}
