import CallModel
import PeerKit
import SIPCore
import Testing

/// Every byte and every pair of bytes in every text of an app that goes into a message: refused, or exactly the fields that
/// were meant.
@Suite("Injection into header fields")
struct HeaderInjectionTests {
  private struct Place: Sendable {
    let name: String
    /// Puts the text where an app's would stand; throws where the app's own value refuses it.
    let fill: @Sendable (inout OutgoingRequest, String) throws -> Void
    /// What is read back of it.
    let meant: @Sendable (SIPMessage, OutgoingRequest) -> Bool
  }

  private static let places: [Place] = [
    Place(
      name: "name of a custom header",
      fill: { request, text in
        request.fields = try OutgoingField.fields(of: CustomHeaders([(name: "x-\(text)", value: "v")]))
      },
      meant: { message, request in message.value(request.fields[0].name) == "v" }),
    Place(
      name: "value of a custom header",
      fill: { request, text in
        request.fields = try OutgoingField.fields(of: CustomHeaders([(name: "x-a", value: "a\(text)b")]))
      },
      meant: { message, request in message.value("x-a") == request.fields[0].value }),
    Place(
      name: "user of a SIP address",
      fill: { request, text in
        let address = try SIPAddress("a\(text)b@example.com")
        request.uri.user = address.user
        request.uri.host = address.host
        request.to = NameAddress(request.uri)
      },
      meant: { message, request in message.to.uri.isEquivalent(to: request.uri) && message.to.displayName == nil }),
    Place(
      name: "host of a SIP address",
      fill: { request, text in
        request.uri.host = try SIPAddress("a@example\(text)example.com").host
        request.to = NameAddress(request.uri)
      },
      meant: { message, request in message.to.uri.host == request.uri.host }),
    Place(
      name: "phone number",
      fill: { request, text in
        request.uri.user = "+" + (try E164Number("+4670\(text)1234567").digits)
        request.to = NameAddress(request.uri)
      },
      meant: { message, request in message.to.uri.user == request.uri.user }),
    Place(
      name: "name of a user",
      fill: { request, text in request.from.displayName = try UserID("a\(text)b").text },
      meant: { message, request in message.from.displayName == request.from.displayName }),
    Place(
      name: "display name",
      fill: { request, text in request.from.displayName = "a\(text)b" },
      meant: { message, request in message.from.displayName == request.from.displayName }),
  ]

  private static let via = Via(
    transport: "TCP", host: .ipv4(0xC000_0201), port: 5060, parameters: [SIPParameter("branch", "z9hG4bK1")])

  /// The names of the lines that a request should have, in order.
  private static func names(_ request: OutgoingRequest) -> [String] {
    ["Via", "Max-Forwards", "From", "To", "Call-ID", "CSeq", "Contact"] + request.fields.map(\.name) + [
      "Content-Length"
    ]
  }

  /// `nil` where it was refused; otherwise whether it reads back as it was meant.
  private static func isAsMeant(_ place: Place, _ text: String) throws -> Bool? {
    let own = SIPURI(scheme: .sip, user: "me", host: .ipv4(0xC000_0201))
    var request = OutgoingRequest(
      .invite, uri: SIPURI(scheme: .sip, user: "a", host: .name("example.com")),
      from: NameAddress(own, parameters: [SIPParameter("tag", "t")]), to: NameAddress(own), callID: "c1", cseq: 1,
      contact: NameAddress(own))
    do { try place.fill(&request, text) } catch { return nil }
    guard let bytes = try? request.encoded(via: via) else { return nil }
    guard case .success(let scanned) = SIPGate.admit(bytes, transport: .tcp),
      case .success(let message) = MessageParser.values(of: scanned)
    else { return false }
    let written = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").dropFirst().map {
      String($0.prefix { $0 != ":" })
    }
    return written.sorted() == names(request).sorted() && message.vias == [via] && message.routes.isEmpty
      && message.recordRoutes.isEmpty && message.contacts == [NameAddress(own)] && message.callID == "c1"
      && message.body == nil && place.meant(message, request)
  }

  @Test("one byte and two bytes, everywhere")
  func everyPair() async throws {
    #if DEBUG
      let step = 61
    #else
      let step = 1
    #endif
    let results = try await withThrowingTaskGroup(of: (tried: Int, written: Int, wrong: [String]).self) { group in
      for place in Self.places {
        group.addTask {
          var tried = 0
          var written = 0
          var wrong: [String] = []
          func attempt(_ bytes: [UInt8]) throws {
            tried += 1
            guard let isAsMeant = try Self.isAsMeant(place, String(decoding: bytes, as: UTF8.self)) else { return }
            written += 1
            if !isAsMeant { wrong.append("\(place.name): \(bytes)") }
          }
          for byte in UInt8.min...UInt8.max { try attempt([byte]) }
          for pair in stride(from: 0, to: 65_536, by: step) {
            try attempt([UInt8(truncatingIfNeeded: pair >> 8), UInt8(truncatingIfNeeded: pair)])
          }
          return (tried, written, wrong)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let wrong = results.flatMap(\.wrong)
    let tried = results.reduce(0) { $0 + $1.tried }
    let written = results.reduce(0) { $0 + $1.written }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(20))")
    #expect(written > 500 && written < tried)
    try ScoreboardRow(
      "B9", figure: "\(wrong.count)", unit: "messages that read back otherwise", target: "= 0", passed: wrong.isEmpty,
      detail: "\(tried) texts in \(Self.places.count) places, \(written) of them written", gate: true
    ).record()
  }
}
