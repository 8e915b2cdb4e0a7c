import AppProtocol
import DoorKit
import Foundation
import LandlineConfiguration
import LandlineNode
import LandlineServer
import Logging
import NIOPosix
import PeerKit
import ServiceLifecycle
import Testing

@Suite("Registrations that are refused")
struct RefusedRegistrationTests {
  /// Each counts as ten requests, of 31 that may come at once.
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
  func refusedRegistrations() async throws {
    let folder = try TemporaryFolder("refused-registration")
    let file = try folder.write(text(folder, sip: try FreePort.next()), to: "landline.yaml")
    let (metrics, lines) = (MetricsRegistry(), LogLines())
    let log = Logger(label: "test") { _ in LineHandler(lines: lines) }
    let gateway = try await RunningGateway.start(
      try GatewayConfiguration(path: file.path), metrics: metrics, on: MultiThreadedEventLoopGroup.singleton, log: log)
    let group = ServiceGroup(configuration: .init(services: [.init(service: gateway)], logger: log))
    var guesses = 0
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let port = Int(try #require(await gateway.httpPort()))
      let registration = Registration(
        application: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90", user: "alice", device: "phone",
        proof: .credential(id: "guessed", secret: "guessed"), capabilities: [.calling])
      let message = AppMessageCoder.encode(.register(RequestNumber(1), registration, client: "test"))
      func isRefused(_ request: String) async throws -> Bool {
        let peer = try await RawPeer.connect(port)
        try await peer.write(request)
        return await peer.response()?.status == 429
      }
      // Where this test is late, the host has room again and the next guess takes it.
      var isOver = false
      for _ in 1...60 where !isOver {
        if let app = try await RawPeer.open(port) {
          try await app.write(RawPeer.frame(0x81, message))
          let refusal = try #require(await app.frame())
          #expect(refusal.text.contains("\"error\""), "\(refusal.text)")
          guesses += 1
        }
        isOver = try await isRefused("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        if isOver { isOver = try await isRefused(RawPeer.upgrade()) }
      }
      #expect(guesses > 0)
      #expect(isOver)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
    #expect(metrics.text().contains("landline_app_refused_proofs_total \(guesses)\n"))
    let told = lines.all.split(separator: "\n").count { $0.contains("asks more often than it may") }
    #expect(told > 0 && metrics.text().contains("landline_http_throttled_hosts_total \(told)\n"))
    // The folder goes with its last use.
    withExtendedLifetime(folder) {}
  }
}
