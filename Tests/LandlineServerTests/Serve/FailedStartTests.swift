import Foundation
import LandlineConfiguration
import LandlineNode
import LandlineServer
import Logging
import NIOPosix
import PeerKit
import ServiceLifecycle
import Testing

@Suite("A start that fails half-way leaves nothing open")
struct FailedStartTests {
  private func text(_ folder: TemporaryFolder, http: UInt16, sip: UInt16, collector: UInt16, more: String = "")
    -> String
  {
    """
    state: \(folder.url.path)
    http:
      bind: 127.0.0.1:\(http)
    media:
      app:
        - bind: 127.0.0.1
          port: 0
      trunk:
        - bind: 127.0.0.1
          ports: 33000-33199
    hep:
      collector: 127.0.0.1:\(collector)
    listeners:
      udp:
        transport: udp
        bind: 127.0.0.1:\(sip)
    environments:
      first:
        ledger: first.ledger
        sandbox-numbers: true
    \(more)
    """
  }

  private func configuration(_ text: String, in folder: TemporaryFolder) throws -> GatewayConfiguration {
    try GatewayConfiguration(path: try folder.write(text, to: "landline.yaml").path)
  }

  private func start(_ configuration: GatewayConfiguration) async throws -> RunningGateway {
    try await RunningGateway.start(
      configuration, metrics: MetricsRegistry(), on: MultiThreadedEventLoopGroup.singleton,
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Whether this process has a file below a folder open.
  private func openFiles(below folder: TemporaryFolder) -> [String] {
    let files = FileManager.default
    let real = folder.url.resolvingSymlinksInPath().path
    return ((try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { descriptor in
      try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }.filter { $0.hasPrefix(real) || $0.hasPrefix(folder.url.path) }
  }

  /// Sockets of this machine that are connected to a UDP port.
  private func connected(to port: UInt16) -> Int {
    let wanted = ":" + String(format: "%04X", Int(port))
    return SystemTable.text("/proc/self/net/udp").split(separator: "\n").dropFirst().count { line in
      let fields = line.split(separator: " ")
      return fields.count > 2 && fields[2].hasSuffix(wanted)
    }
  }

  @Test("A SIP port that is taken: the collector's socket, media, stores and journal are closed again")
  func sipPortTaken() async throws {
    let folder = try TemporaryFolder("failed-start")
    let (sip, port) = try FreePort.bound(isDatagram: true)
    defer { close(sip) }
    let collector = try FreePort.next()
    // What is refused is the start, not the text.
    let configuration = try configuration(text(folder, http: 0, sip: port, collector: collector), in: folder)
    await #expect(throws: (any Error).self) { try await start(configuration) }
    _ = try await Deadline(seconds: 30).first("closed files: \(openFiles(below: folder)), \(connected(to: collector))")
    {
      openFiles(below: folder).isEmpty && connected(to: collector) == 0 ? true : nil
    }
  }

  @Test("A second environment whose ledger cannot be opened: the first one's is closed again")
  func secondLedger() async throws {
    let folder = try TemporaryFolder("failed-start")
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent("second.ledger"), withIntermediateDirectories: false)
    let second = "  second:\n    ledger: second.ledger\n    sandbox-numbers: true"
    let configuration = try configuration(
      text(folder, http: 0, sip: try FreePort.next(), collector: try FreePort.next(), more: second), in: folder)
    await #expect(throws: (any Error).self) { try await start(configuration) }
    _ = try await Deadline(seconds: 30).first("closed files: \(openFiles(below: folder))") {
      openFiles(below: folder).isEmpty ? true : nil
    }
  }

  @Test("A door that cannot be opened, after the node has: the node is closed again")
  func doorTaken() async throws {
    let folder = try TemporaryFolder("failed-start")
    let (door, http) = try FreePort.bound(isDatagram: false)
    defer { close(door) }
    _ = listen(door, 1)
    let (sip, collector) = (try FreePort.next(), try FreePort.next())
    let gateway = try await start(
      try configuration(text(folder, http: http, sip: sip, collector: collector), in: folder))
    #expect(connected(to: collector) == 1)
    await #expect(throws: (any Error).self) {
      try await ServiceGroup(
        configuration: .init(
          services: [.init(service: gateway)], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      ).run()
    }
    _ = try await Deadline(seconds: 30).first("closed files: \(openFiles(below: folder)), \(connected(to: collector))")
    {
      openFiles(below: folder).isEmpty && connected(to: collector) == 0 ? true : nil
    }
  }
}
