import CallModel
import LandlineClient
import Testing

@Suite(.timeLimit(.minutes(1))) struct ArgumentTests {
  /// What is asked, and the rule that it breaks.
  private static let misuse: [(String, @Sendable (Client) throws -> Void, String)] = [
    ("no plus", { _ = try $0.calls.callPhoneNumber("46701234567") }, "e164.plus"),
    ("letters", { _ = try $0.calls.callPhoneNumber("+4670CALLME") }, "e164.digit"),
    ("nothing", { _ = try $0.calls.callPhoneNumber("") }, "e164.plus"),
    ("caller", { _ = try $0.calls.callPhoneNumber("+46701234567", callerNumber: "0701") }, "e164.plus"),
    ("header name", { _ = try $0.calls.callPhoneNumber("+46701234567", headers: ["order": "1"]) }, "header.prefix"),
    ("header value", { _ = try $0.calls.callUser("bob", headers: ["x-a": "1\r\nVia: x"]) }, "header.value"),
    (
      "header budget",
      { _ = try $0.calls.callUser("bob", headers: ["x-a": String(repeating: "a", count: 1022)]) }, "header.budget"
    ),
    (
      "header case", { _ = try $0.calls.callUser("bob", headers: ["x-a": "1", "X-A": "2"]) }, "header.duplicate"
    ),
    ("user space", { _ = try $0.calls.callUser("bob smith") }, "user.character"),
    ("user long", { _ = try $0.calls.callUserVideo(String(repeating: "u", count: 41)) }, "user.long"),
    ("user nothing", { _ = try $0.calls.callUser("") }, "user.empty"),
    ("room long", { _ = try $0.calls.callConference(String(repeating: "c", count: 65)) }, "conference.long"),
    ("address", { _ = try $0.calls.callSIP("nobody") }, ""),
  ]

  @Test(arguments: misuse.indices) func mistakesAreFoundBeforeAnythingIsSent(_ index: Int) throws {
    let (name, deed, rule) = ArgumentTests.misuse[index]
    let client = try ArgumentTests.client()
    do {
      try deed(client)
      Issue.record("\(name) was taken")
    } catch let error as ArgumentError {
      #expect(rule.isEmpty || error.value.rule == rule, "\(name)")
      #expect(!error.description.isEmpty)
    }
  }

  @Test func callsNeedAStartedClient() throws {
    let client = try ArgumentTests.client()
    #expect(throws: UsageError.notStarted) { try client.calls.callPhoneNumber("+46701234567") }
    #expect(!client.isStarted)
  }

  @Test func callsNeedTheCapability() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway, capabilities: [.messaging])
    try await client.started()
    #expect(throws: UsageError.capabilityMissing) { try client.calls.callUser("bob") }
    await client.stop()
    try await gateway.shutdown()
  }

  @Test(arguments: [
    ("", "", "w", "u", "d", "application.key"), ("key", "", "w", "u", "", "device.text"),
    ("key", "", "w", "u", "my phone", "device.text"), ("key", "", "w", "", "d", "user.empty"),
    ("key", "", "", "u", "d", "gateway.host"), ("key", "", "ftp://a", "u", "d", "gateway.scheme"),
    ("key", "", "a:0", "u", "d", "gateway.port"), ("key", "", "a:65536", "u", "d", "gateway.port"),
    ("key", "", "ws://a?x=1", "u", "d", "gateway.path"), ("key", "", "ws://me@a", "u", "d", "gateway.host"),
    ("key", "", "ws://[::1", "u", "d", "gateway.host"), ("key", "", "::1", "u", "d", "gateway.host"),
  ]) func aClientIsMadeOfSoundParts(
    _ key: String, _ secret: String, _ host: String, _ user: String, _ device: String, _ rule: String
  ) {
    #expect {
      try Client(
        applicationKey: key, credentials: .secret(secret), environmentHost: host, userID: user, device: device,
        capabilities: [.calling])
    } throws: { error in
      (error as? ArgumentError)?.value.rule == rule
    }
  }

  @Test(arguments: [[], [.push]] as [Set<AppCapability>])
  func oneOfCallingAndMessagingIsAskedFor(_ capabilities: Set<AppCapability>) {
    #expect {
      try Client(
        applicationKey: "key", credentials: .secret("s"), environmentHost: "localhost", userID: "u", device: "d",
        capabilities: capabilities)
    } throws: { ($0 as? ArgumentError)?.value.rule == "capabilities.none" }
  }

  @Test(arguments: [
    ("gateway.example.com", "wss://gateway.example.com:443/v1/connect"),
    ("gateway.example.com:8443", "wss://gateway.example.com:8443/v1/connect"),
    ("127.0.0.1:8080", "ws://127.0.0.1:8080/v1/connect"), ("localhost", "ws://localhost:80/v1/connect"),
    ("ws://[::1]:9000/", "ws://[::1]:9000/v1/connect"), ("https://a.example/other", "wss://a.example:443/other"),
  ]) func addressesAreReadAsPeopleWriteThem(_ text: String, _ meant: String) throws {
    #expect(try GatewayAddress(text).description == meant)
  }

  @Test(arguments: [("", "keys.empty"), ("12x", "keys.symbol"), ("1 2", "keys.symbol"), ("١", "keys.symbol")])
  func onlyKeysOfATelephoneArePressed(_ keys: String, _ rule: String) {
    #expect { try Call.checked(keys: keys) } throws: { ($0 as? InvalidValue)?.rule == rule }
    #expect { try Call.checked(keys: String(repeating: "1", count: 65)) } throws: {
      ($0 as? InvalidValue)?.rule == "keys.long"
    }
  }

  private static func client() throws -> Client {
    try Client(
      applicationKey: "key", credentials: .secret("s"), environmentHost: "127.0.0.1:1", userID: "alice", device: "test",
      capabilities: [.calling])
  }
}
