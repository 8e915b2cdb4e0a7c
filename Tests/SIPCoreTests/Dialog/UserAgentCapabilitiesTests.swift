import CallModel
import SIPCore
import Testing

/// What the agent says it can do.
@Suite struct UserAgentCapabilitiesTests {
  @Test func `lists`() {
    #expect(
      UserAgentCapabilities.allowField(allowsTransfer: false)?.value
        == "INVITE, ACK, CANCEL, BYE, OPTIONS, PRACK, UPDATE, INFO, NOTIFY")
    #expect(UserAgentCapabilities.allowField(allowsTransfer: true)?.value.hasSuffix(", REFER") == true)
    #expect(UserAgentCapabilities.acceptField?.value.hasPrefix("application/sdp, ") == true)
    #expect(UserAgentCapabilities.supportedField?.value == "100rel, timer")
    #expect(UserAgentCapabilities.supportedField(reliability: .required)?.value == "100rel, timer")
    #expect(UserAgentCapabilities.supportedField(reliability: .off)?.value == "timer")
    #expect(UserAgentCapabilities.unsupported(TokenList(["Timer", "gruu", "100rel", "path"])) == ["gruu", "path"])
  }

  @Test(arguments: [false, true])
  func `an INVITE and the answer to OPTIONS offer REFER only where transfers are allowed`(_ isAllowed: Bool) throws {
    let agent = UserAgent(
      UserAgentConfiguration(addresses: Ladder.listeners, acceptsCalls: true, allowsTransfer: isAllowed),
      identifiers: .system)
    var effects: [UserAgentEffect] = []
    let path = try #require(Ladder.paths["a"])
    agent.receive(Array(DispatchTests.request("OPTIONS").utf8), from: path, at: .zero, into: &effects)
    let answers = effects.compactMap { effect -> String? in
      guard case .send(let bytes, _, _) = effect else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
    let answer = try #require(answers.first)
    let ladder = Ladder { $0.allowsTransfer = isAllowed }
    ladder.command(.placeCall(ladder.call, ladder.plan))
    #expect(ladder.drainLines() == ["-> INVITE 1 a"])
    for text in [answer, ladder.lastSent] {
      let allow = text.split(separator: "\r\n").filter { $0.hasPrefix("Allow: ") }
      #expect(allow.count == 1 && allow.first?.contains("REFER") == isAllowed, "\(text)")
    }
  }
}
