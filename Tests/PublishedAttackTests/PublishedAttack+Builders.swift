import CallModel
import LandlineResolver
import SIPCore

/// Texts of apps that would write a line of their own into a message of ours, and answers of name servers that lie.
extension PublishedAttack {
  /// `refused`, or whether what was built reads back with exactly the one field.
  private static func custom(_ source: String, _ title: String, _ name: String, _ value: String) -> PublishedAttack {
    PublishedAttack(source, title, "refused") {
      var headers = CustomHeaders()
      return (try? headers.append(name: name, value: value)) == nil ? "refused" : "taken"
    }
  }

  private static func address(_ source: String, _ title: String, _ text: String, _ outcomes: String...)
    -> PublishedAttack
  {
    PublishedAttack(source, title, outcomes) { (try? SIPAddress(text)) == nil ? "refused" : "taken" }
  }

  private static func name(_ source: String, _ title: String, _ displayName: String) -> PublishedAttack {
    PublishedAttack(source, title, "refused", "one message") {
      let own = try SIPURI(parsing: "sip:a@127.0.0.1")
      let request = OutgoingRequest(
        .invite, uri: own,
        from: NameAddress(own, displayName: displayName, parameters: [SIPParameter("tag", "a")]),
        to: NameAddress(own), callID: "c", cseq: 1, contact: NameAddress(own))
      let via = Via(
        transport: "TCP", host: .ipv4(0x7F00_0001), port: 5060, parameters: [SIPParameter("branch", "z9hG4bK1")])
      guard let bytes = try? request.encoded(via: via) else { return "refused" }
      let message = try MessageParser.values(of: SIPGate.admit(bytes, transport: .tcp).get()).get()
      return message.fields.map(\.name) == ["Max-Forwards"] && message.routes.isEmpty
        ? "one message" : "\(message.fields)"
    }
  }

  static var builders: [PublishedAttack] {
    [
      custom("GHSA-chcx-pf5f-wxc7", "a line break in a header's value", "x-a", "b\r\nRoute: <sip:evil>"),
      custom("CVE-2022-3215", "a line feed alone", "x-a", "b\nVia: c"),
      custom("CVE-2026-28970", "a carriage return alone", "x-a", "b\rVia: c"),
      custom("CVE-2026-28898", "a line break in a header's name", "x-a\r\nVia", "c"),
      custom("CVE-2020-28361", "a space behind a header's name", "x-a ", "c"),
      custom("CVE-2016-9938", "a colon in a header's name", "x-a: b\r\nx", "c"),
      custom("GHSA-2grh-7mhv-fcfw", "NUL in a header's value", "x-a", "b\0c"),
      custom("reserved names", "a header of the protocol's own", "Route", "<sip:evil>"),
      custom("reserved names", "an identity of the attacker's choice", "P-Asserted-Identity", "<sip:+1@b>"),
      custom("header flood", "a value above the budget", "x-a", "v".times(2000)),
      name("GHSA-2grh-7mhv-fcfw", "control bytes in a display name", "a\u{1}\u{7}b"),
      name("GHSA-2grh-7mhv-fcfw", "a line break in a display name", "a\r\nRoute: <sip:evil>"),
      name("CVE-2021-43611", "quotes and backslashes in a display name", "\\\" <sip:evil@b>; \\"),
      address("CVE-2020-26262", "an escaped line break in a user part", "sip:a%0d%0aRoute:x@b.example", "refused"),
      address("libosip2 NUL cut", "an escaped NUL in a user part", "sip:a%00@b.example", "refused"),
      address("URI fields", "fields behind an address", "sip:a@b.example?Route=%3Csip:evil%3E", "refused"),
      address("URI parameters", "a way of the attacker's choice", "sip:a@b.example;maddr=127.0.0.1", "refused"),
      address("URI password", "a password in an address", "sip:a:b@c@b.example", "refused"),
    ]
  }

  private static let question = DNSQuestion(.a, "h.example.com")

  private static func answer(_ source: String, _ title: String, _ bytes: @escaping @Sendable () -> [UInt8])
    -> PublishedAttack
  {
    PublishedAttack(source, title, "nothing believed") {
      if case .addresses = DNSMessageReader.read(bytes(), answering: question).answer { return "believed" }
      return "nothing believed"
    }
  }

  private static func text(_ name: String) -> [UInt8] {
    name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + $0.utf8 } + [0]
  }

  private static func head(_ answers: UInt8) -> [UInt8] { [0, 1, 0x81, 0x80, 0, 1, 0, answers, 0, 0, 0, 0] }

  static var names: [PublishedAttack] {
    [
      answer("CVE-2022-24793", "a name that points at itself") {
        head(1) + text("h.example.com") + [0, 1, 0, 1, 0xC0, 31, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1]
      },
      answer("CVE-2022-24793", "a name that points behind the message") {
        head(1) + text("h.example.com") + [0, 1, 0, 1, 0xFF, 0xFF, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1]
      },
      answer("CVE-2023-27585", "data longer than the message") {
        head(1) + text("h.example.com") + [0, 1, 0, 1, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0xFF, 0xFF, 127, 0, 0, 1]
      },
      answer("PJSIP d9514ce3e", "an answer to another question") {
        head(1) + text("other.example.com") + [0, 1, 0, 1, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1]
      },
      answer("PJSIP d9514ce3e", "an address for another name") {
        head(1) + text("h.example.com") + [0, 1, 0, 1] + text("evil.example.com") + [
          0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 1,
        ]
      },
      answer("DNS counts", "sixty thousand answers that are not there") {
        [0, 1, 0x81, 0x80, 0, 1, 0xFF, 0xFF, 0, 0, 0, 0] + text("h.example.com") + [0, 1, 0, 1]
      },
    ]
  }
}
