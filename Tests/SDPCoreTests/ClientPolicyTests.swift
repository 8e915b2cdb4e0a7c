import CallModel
import SDPCore
import Testing

/// What an app's own side offers a gateway, and what comes of it at both ends.
@Suite struct ClientPolicyTests {
  private func local(_ host: SIPHost, _ port: Int, _ name: String) -> LocalMedia {
    LocalMedia(
      host: host, port: port,
      fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 7, count: 32)),
      iceCredentials: ICECredentials(userFragment: name, password: String(repeating: name, count: 6)),
      candidates: [
        ICECandidate(
          foundation: "1", component: 1, priority: 2_130_706_431, address: host.description, port: port)
      ])
  }

  @Test("An app offers full ICE, Opus first and one port, and a gateway answers as the lite and passive end")
  func offer() throws {
    let (here, there) = (SIPHost.ipv4(0x0A00_0001), SIPHost.ipv4(0x7F00_0001))
    var app = OfferAnswer(sessionID: 1, host: here, policy: .client)
    var gateway = OfferAnswer(sessionID: 2, host: there, policy: .app)
    let offer = try app.offer(from: local(here, 6_000, "abcd")).text
    #expect(!offer.contains("ice-lite"))
    #expect(offer.contains("a=setup:actpass\r\n") && offer.contains("a=rtcp-mux\r\n"))
    let formats = try #require(offer.split(separator: "\r\n").first { $0.hasPrefix("m=audio ") }).split(separator: " ")
    #expect(offer.contains("a=rtpmap:\(formats[3]) opus/48000/2\r\n"))
    #expect(formats.contains("0") && formats.contains("8"))
    let (answer, plan) = try gateway.answer(
      SessionDescription(parsing: Array(offer.utf8)), from: local(there, 4_000, "efgh"))
    #expect(answer.text.contains("a=ice-lite\r\n"))
    #expect(plan.ice?.isLite == false)
    let agreed = try app.accept(SessionDescription(parsing: Array(answer.text.utf8)))
    #expect(agreed.ice?.isLite == true && agreed.audio.send.codec == .opus && agreed.multiplexesRTCP)
    guard case .dtls(let terms) = agreed.protection else {
      Issue.record("no DTLS: \(agreed.protection)")
      return
    }
    #expect(terms.role == .client)
  }

  @Test("An app takes an offer of a gateway that waits for the association, and none without ICE")
  func answer() throws {
    let (here, there) = (SIPHost.ipv4(0x0A00_0001), SIPHost.ipv4(0x7F00_0001))
    var gateway = OfferAnswer(sessionID: 2, host: there, policy: .app)
    let offer = try gateway.offer(from: local(there, 4_000, "efgh")).text
    var app = OfferAnswer(sessionID: 1, host: here, policy: .client)
    let (answer, plan) = try app.answer(
      SessionDescription(parsing: Array(offer.utf8)), from: local(here, 6_000, "abcd"))
    #expect(!answer.text.contains("ice-lite"))
    #expect(plan.ice?.isLite == true)
    let without = offer.split(separator: "\r\n").filter { !$0.hasPrefix("a=ice-") }.map { $0 + "\r\n" }.joined()
    var other = OfferAnswer(sessionID: 3, host: here, policy: .client)
    #expect(throws: NegotiationRefusal.ice) {
      try other.answer(SessionDescription(parsing: Array(without.utf8)), from: local(here, 6_000, "abcd"))
    }
  }
}
