import Foundation
import PeerKit

/// The page that README.md shows, pasted as it stands, and what pages of refused origins are told.
enum SnippetCases {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  /// A name that is none of this machine's.
  private static let site = "http://shop.example"

  static let cases = [
    PeerCase(
      peer: "Chromium", transport: "README.md", "the page of the README, from a file and from another port",
      expected: "both call the test number", run: { try await pasted() }),
    PeerCase(
      peer: "Chromium", transport: "landline.js", "a page of a refused origin",
      expected: "gw.origin with the line to add; with it, the page is let in", run: { try await refused() }),
  ]

  private static func start() async throws -> (PythonPeer, URL) {
    let peer = try await PythonPeer(.snippet, ["--landline", GatewayBooks.landline.path])
    return (peer, peer.folder.url)
  }

  @discardableResult
  private static func run(
    _ peer: PythonPeer, _ command: String, _ values: [String: any Sendable] = [:]
  ) async throws -> PythonEvent {
    let done = try await peer.ask(command, values, for: "done", within: 60)
    try require(done.text("do") == command, "\(command) is done: \(done)")
    return done
  }

  private static func pasted() async throws -> String {
    let (peer, folder) = try await start()
    try await run(peer, "dev", ["folder": folder.path])
    try await run(
      peer, "paste",
      ["folder": folder.path, "readme": root.appendingPathComponent("README.md").path, "name": "call.html"])
    var said: [String] = []
    for origin in ["file", "http://localhost"] {
      let called = try await run(peer, "call", ["folder": folder.path, "name": "call.html", "origin": origin])
      try require(called.texts("texts").last?.contains("hungUp") == true, "\(origin): \(called)")
      said.append("\(origin): \(called.texts("texts").last ?? "")")
    }
    _ = try await peer.ask("close", for: "closed")
    return said.joined(separator: "; ")
  }

  private static func refused() async throws -> String {
    let (peer, folder) = try await start()
    try await run(peer, "dev", ["folder": folder.path])
    let refused = try await run(peer, "connect", ["origin": site])
    let origin = refused.text("origin") ?? ""
    try require(refused.text("code") == "gw.origin", "typed: \(refused)")
    let phrase = refused.text("phrase") ?? ""
    try require(phrase.contains("http.origins: [\"\(origin)\"]"), "the line to add: \(refused)")
    try require(phrase.contains("landline dev --origin \(origin)"), "or the option: \(refused)")
    try require(refused.number("milliseconds") ?? .infinity < 2_000, "at once: \(refused)")
    try await run(peer, "stop")
    try await run(peer, "dev", ["folder": folder.path, "origins": [site]])
    // Let in: now the credentials are what is wrong.
    let admitted = try await run(peer, "connect", ["origin": site])
    try require(admitted.text("code") == "gw.registration", "let in: \(admitted)")
    _ = try await peer.ask("close", for: "closed")
    return phrase
  }
}
