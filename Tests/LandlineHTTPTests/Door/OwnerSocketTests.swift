import CallEngine
import CallModel
import DoorKit
import Foundation
import LandlineHTTP
import Logging
import NIOCore
import ServiceLifecycle
import Testing

/// The door for this machine's own operator, and the stream of live calls.
@Suite struct OwnerSocketTests {
  @Test func isItsOwnersAloneAndSpeaksNoWebSocket() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("door-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("control.sock").path
    // What an earlier run left.
    try Data().write(to: URL(fileURLWithPath: path))
    let operations = FakeOperations()
    operations.with { $0.live = [CallRecordFixture.snapshot("one", "acme")] }
    let acceptor = RecordingAcceptor()
    try await RunningDoor.with(acceptor, operations: operations) {
      $0 = HTTPDoorConfiguration(socket: path)
    } _: { _, _ in
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      #expect(attributes[.type] as? FileAttributeType == .typeSocket)
      let peer = try await RawPeer.connect(socket: path)
      try await peer.write("GET /livez?environment=production HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await peer.response()?.status == 200)
      let webSocket = try await RawPeer.connect(socket: path)
      try await webSocket.write(RawPeer.upgrade())
      #expect(await webSocket.response()?.status == 404)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(acceptor.counts.opened == 0)
  }

  @Test func liveCallsAreStreamedAndTheStreamEndsWithTheDoor() async throws {
    let stores = try await RESTKit()
    let operations = stores.operations
    operations.with {
      $0.live = [CallRecordFixture.snapshot("one", "acme"), CallRecordFixture.snapshot("two", "other")]
    }
    try await RunningDoor.with(RecordingAcceptor(), operations: operations) {
      $0.limits.goodbyeMilliseconds = 20
    } _: { port, group in
      let peer = try await RawPeer.connect(port)
      try await peer.write("GET /v1/live-calls?watch=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer app\r\n\r\n")
      let head = try #require(await peer.head())
      #expect(head.lowercased().contains("content-type: application/x-ndjson"))
      let first = try #require(await peer.line(containing: "\"id\""))
      #expect(first.contains("\"id\":\"one\""))
      var changed = CallRecordFixture.snapshot("three", "acme")
      operations.change(CallRecordFixture.snapshot("four", "other"))
      operations.change(changed)
      #expect(await peer.line(containing: "\"id\"")?.contains("\"id\":\"three\"") == true)
      changed.state = .ended
      operations.change(changed)
      #expect(await peer.line(containing: "\"id\"")?.contains("\"state\":\"ended\"") == true)
      await group.triggerGracefulShutdown()
      _ = await peer.rest()
    }
    await stores.close()
  }
}
