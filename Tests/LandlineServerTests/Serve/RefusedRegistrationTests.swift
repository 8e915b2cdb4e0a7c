import AppProtocol
import Foundation
import LandlineConfiguration
import LandlineServer
import Logging
import NIOPosix
import PeerKit
import ServiceLifecycle
import Testing

@Suite("Registrations that are refused")
struct RefusedRegistrationTests {
  /// Forty are counted after four of them, of 31 that may come at once.
  private func text(_ folder: TemporaryFolder, sip: UInt16) -> String {
    """
    state: \(folder.url.path)
    http:
      bind: 127.0.0.1:0
      limits:
        requests-per-second: 1
        burst: 31
    media:
      app:
        - bind: 127.0.0.1
          port: 0
      trunk:
        - bind: 127.0.0.1
          ports: 33200-33399
    listeners:
      udp:
        transport: udp
        bind: 127.0.0.1:\(sip)
    environments:
      first:
        ledger: first.ledger
        sandbox-numbers: true
    """
  }

  @Test("count tenfold as requests of their host, over HTTP too, and are told to metrics and log")
  func guesses() async throws {
    let folder = try TemporaryFolder("refused-registration")
    let file = try folder.write(text(folder, sip: try FreePort.next()), to: "landline.yaml")
    let (metrics, lines) = (MetricsRegistry(), LogLines())
    let log = Logger(label: "test") { _ in LineHandler(lines: lines) }
    let gateway = try await RunningGateway.start(
      try GatewayConfiguration(path: file.path), metrics: metrics, on: MultiThreadedEventLoopGroup.singleton, log: log)
    let group = ServiceGroup(configuration: .init(services: [.init(service: gateway)], logger: log))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let port = Int(try #require(await gateway.httpPort()))
      let registration = Registration(
        application: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90", user: "alice", device: "phone",
        proof: .credential(id: "guessed", secret: "guessed"), capabilities: [.calling])
      let message = AppMessageCoder.encode(.register(RequestNumber(1), registration, client: "test"))
      for number in 1...4 {
        let app = try #require(try await RawPeer.open(port), "guess \(number) is not looked at")
        try await app.write(RawPeer.frame(0x81, message))
        let refusal = try #require(await app.frame())
        #expect(refusal.text.contains("\"error\""), "\(refusal.text)")
      }
      let asked = try await RawPeer.connect(port)
      try await asked.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await asked.response()?.status == 429)
      let upgraded = try await RawPeer.connect(port)
      try await upgraded.write(RawPeer.upgrade())
      #expect(await upgraded.response()?.status == 429)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
    #expect(metrics.text().contains("landline_app_refused_proofs_total 4\n"))
    #expect(metrics.text().contains("landline_http_throttled_hosts_total 1\n"))
    #expect(lines.all.split(separator: "\n").count { $0.contains("asks more often than it may") } == 1)
    // The folder goes with its last use.
    withExtendedLifetime(folder) {}
  }
}
