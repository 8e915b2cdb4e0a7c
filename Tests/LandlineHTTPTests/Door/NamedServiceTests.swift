import LandlineHTTP
import LandlineNode
import Logging
import ServiceLifecycle
import Testing

@Suite struct NamedServiceTests {
  private struct Keeper: NamedService {
    let secret = "do not write this"
    func run() async throws {}
  }

  /// As a service group writes it: it knows no more than that it is a service.
  @Test func aServiceIsCalledByItsTypeAndShowsNothing() throws {
    let door = try HTTPDoor(
      configuration: HTTPDoorConfiguration(host: "127.0.0.1", port: 0), acceptor: RecordingAcceptor(),
      operations: FakeOperations(), authenticator: FakeAuthenticator(), metrics: MetricsRegistry(),
      logger: Logger(label: "door"))
    let services: [any Service] = [Keeper(), door]
    #expect(services.map { "\($0)" } == ["Keeper", "HTTPDoor"])
  }
}
