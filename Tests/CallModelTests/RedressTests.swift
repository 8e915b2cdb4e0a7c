import CallModel
import Testing

@Suite("Whom a caller can turn to who was blocked")
struct RedressTests {
  private func redress(_ text: String, callInfo: [String] = []) -> CallFailure.Redress? {
    CallFailure.Redress(
      reasons: [.init(protocolName: "Q.850", cause: 21, text: text, location: .publicNetworkServingRemoteUser)],
      callInfo: callInfo)
  }

  @Test("marks of call analytics (ATIS-1000099)")
  func analytics() {
    let both = redress("v=analytics1;url=https://redress.example.com/a?b=1;tel=+1 215-555-1212")
    #expect(both?.url == "https://redress.example.com/a?b=1" && both?.telephone == "+12155551212")
    #expect(both?.network == "redress.example.com")
    let nobody = redress("v=analytics1")
    #expect(nobody?.url == nil && nobody?.network == "publicNetworkServingRemoteUser")
    #expect(redress("call rejected") == nil)
  }

  @Test(
    "what is no address is not told",
    arguments: [
      "javascript:alert(1)", "https://", "https://a b", "https://x/<script>", "ftp://example.com",
      "https://example.com/" + String(repeating: "a", count: 300),
    ])
  func noAddress(_ url: String) {
    #expect(CallFailure.Redress(url: url, telephone: nil) == nil)
    #expect(CallFailure.Redress(url: nil, telephone: "+46;rm") == nil)
  }

  @Test("607 is the called party's list, 603 with marks the network's, and 603 alone a person's word")
  func codes() {
    #expect(CallFailureEvidence(status: 607).code == .blocked)
    #expect(CallFailureEvidence(status: 603).code == .declined)
    #expect(
      CallFailureEvidence(status: 603, redress: CallFailure.Redress(url: "https://a.example", telephone: nil)).code
        == .blocked)
  }
}
