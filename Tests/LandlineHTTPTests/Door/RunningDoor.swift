import CallModel
import LandlineHTTP
import LandlineNode
import Logging
import NodeCore
import PeerKit
import ServiceLifecycle

/// A door on a free port of loopback for as long as a test's body runs.
enum RunningDoor {
  static func with<Answer: Sendable>(
    _ acceptor: RecordingAcceptor, operations: any GatewayOperations = FakeOperations(),
    configure: (inout HTTPDoorConfiguration) -> Void = { _ in }, testTrunk: RESTService.TrunkTestStart? = nil,
    _ body: @Sendable (Int, ServiceGroup) async throws -> Answer
  ) async throws -> Answer {
    var configuration = HTTPDoorConfiguration(host: "127.0.0.1", port: 0)
    configure(&configuration)
    var logger = Logger(label: "door")
    logger.logLevel = .critical
    let (ports, continuation) = AsyncStream.makeStream(of: UInt16.self)
    let door = try HTTPDoor(
      configuration: configuration, acceptor: acceptor, operations: operations, authenticator: FakeAuthenticator(),
      metrics: MetricsRegistry(), logger: logger, testTrunk: testTrunk, onListening: { continuation.yield($0) })
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [door], logger: logger))
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { continuation.finish() }
        try await group.run()
      }
      var found: UInt16?
      for await port in ports {
        found = port
        break
      }
      guard let port = found else { throw DoorDidNotOpen() }
      let answer = try await body(Int(port), group)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
      try await LeftOvers(ports: [port], protocols: ["tcp"]).areNone()
      return answer
    }
  }
}

struct DoorDidNotOpen: Error {}
