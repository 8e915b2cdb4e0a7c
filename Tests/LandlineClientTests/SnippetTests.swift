import CallModel
import Foundation
import LandlineClient
import Testing

@Suite(.timeLimit(.minutes(1))) struct SnippetTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let source = tests.appendingPathComponent("Snippets/ClientSnippets.swift").path

  @Test(
    arguments: [
      "README.md", "Sources/LandlineClient/LandlineClient.docc/LandlineClient.md",
      "Sources/LandlineClient/LandlineClient.docc/Porting.md",
    ])
  func whatTheDocumentationShowsIsWhatRuns(_ page: String) throws {
    let root = SnippetTests.tests.deletingLastPathComponent().deletingLastPathComponent()
    let path = root.appendingPathComponent(page).path
    #expect(try SnippetCheck.strangers(inMarkdown: path, source: SnippetTests.source) == [])
  }

  @Test func aBlockThatDiffersIsFound() {
    let blocks = SnippetCheck.blocks(in: "text\n```swift\nimport A\n\nlet x = 1\n```\n```\nno\n```\n")
    #expect(blocks == ["let x = 1"])
    let regions = SnippetCheck.regions(in: "  // snippet: a\n    let x = 1\n\n    let y = 2\n  // end snippet\n")
    #expect(regions == ["a": "let x = 1\n\nlet y = 2"])
  }

  @Test func theFirstCallRuns() async throws {
    let gateway = try await TestGateway.start()
    // The far end of this number ends the call by itself.
    let call = try await ClientSnippets.firstCall(key: "key", secret: "c2VjcmV0", url: gateway.url)
    #expect(call.details.endCause == .hungUp)
    try await gateway.shutdown()
  }

  @Test func theVouchedClientStarts() async throws {
    let gateway = try await TestGateway.start()
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let client = try ClientSnippets.vouched(key: "key", url: gateway.url, path: path) { _ in
      ClientSnippets.ServerAnswer(signature: "4sk2/7AD0VoGke0qc1ZiJ2BtzYA=", sequence: 1)
    }
    try await client.started()
    await client.stop()
    #expect(FileManager.default.fileExists(atPath: path))
    try await gateway.shutdown()
  }

  @Test func aCallIsAnsweredOrDeclined() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway)
    try await client.started()
    let answering = Task { try await ClientSnippets.called(client: client) }
    while try await gateway.ask({ !$0.guests.values.contains(where: \.isListening) }) { await Task.yield() }
    _ = try await gateway.ask { _ = try? $0.invite() }
    #expect(await gateway.request { if case .decline(_, _, .busy) = $0 { true } else { nil } } == true)
    _ = try await gateway.ask { _ = try? $0.invite(.init(headers: ["urgent": "yes"])) }
    #expect(await gateway.request { if case .accept = $0 { true } else { nil } } == true)
    answering.cancel()
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func soundIsPlayedAndRecorded() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let greeting = directory.appendingPathComponent("greeting.wav").path
    try Data(SoundBytes.wav(samplingRate: 8_000, milliseconds: 200)).write(to: URL(fileURLWithPath: greeting))
    let record = directory.appendingPathComponent("record.wav").path
    try await withClient { _, client in
      let call = try ClientSnippets.sound(client: client, path: record, greeting: greeting)
      #expect(await call.reaches("established"))
      while call.audio.isSendingSoundFile { await Task.yield() }
      call.hangUp()
      await ClientSnippets.failure(call: call)
    }
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: record)))
    #expect(bytes.starts(with: "RIFF".utf8))
    let size = bytes[4..<8].enumerated().reduce(0) { $0 + Int($1.element) << (8 * $1.offset) }
    #expect(size == bytes.count - 8)
    // 200 ms of two channels at 16 kHz.
    #expect(bytes.count > 44 + 12_000)
    #expect(bytes[44...].contains { $0 != 0 })
  }
}
