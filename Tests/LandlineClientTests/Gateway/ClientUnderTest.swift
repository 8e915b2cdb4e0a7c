import AppProtocol
import CallModel
import LandlineClient

/// The client of one test.
func makeClient(
  _ gateway: TestGateway, user: String = "alice", device: String = "test", secret: String = "c2VjcmV0",
  capabilities: Set<AppCapability> = [.calling],
  configure: (inout ClientOptions) -> Void = { _ in }
) throws -> Client {
  var options = ClientOptions()
  configure(&options)
  return try Client(
    applicationKey: "196087a1-e815-4bc4-8984-60d8d8a43f1d", credentials: .secret(secret), environmentHost: gateway.url,
    userID: user, device: device, capabilities: capabilities, options: options)
}

/// Runs a body against a gateway and a started client; both are gone afterwards.
func withClient(
  _ options: ClientOptions = ClientOptions(), _ body: (TestGateway, Client) async throws -> Void
) async throws {
  let gateway = try await TestGateway.start()
  let client = try makeClient(gateway) { $0 = options }
  do {
    try await client.started()
    try await body(gateway, client)
  } catch {
    await client.stop()
    try await gateway.shutdown()
    throw error
  }
  await client.stop()
  try await gateway.shutdown()
}

extension ClientOptions {
  /// Calls for the user ring.
  static var listening: ClientOptions {
    var options = ClientOptions()
    options.isListening = true
    return options
  }
}

extension AsyncSequence {
  /// The first value that fits; `nil` when the sequence ends before.
  func first<Value>(_ fits: (Element) throws -> Value?) async throws -> Value? {
    for try await element in self {
      if let value = try fits(element) { return value }
    }
    return nil
  }
}

extension Call {
  /// Waits for an event of this kind.
  func reaches(_ name: String) async -> Bool {
    for await event in events where event.kind.name == name { return true }
    return false
  }
}

extension CallEvent.Kind {
  /// The name of the case, without its values.
  var name: String {
    String("\(self)".prefix { $0 != "(" })
  }
}
