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
}
