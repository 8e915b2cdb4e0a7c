import CallModel
import Foundation
import PeerKit
import SDPCore

/// How cases with a browser are put together.
enum BrowserCase {
  /// Where pictures of the pages go; `LANDLINE_PICTURES` names another place.
  static let pictures: URL = {
    let named = ProcessInfo.processInfo.environment["LANDLINE_PICTURES"].map { URL(fileURLWithPath: $0) }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return named ?? root.appendingPathComponent(".build-pages")
  }()

  /// A gateway whose sandbox has pages, people and a far end, and a browser.
  /// - Parameter hasTelephone: Whether it has a trunk as well: SIPp, which takes one call and echoes it.
  static func make(
    _ name: String, expected: String, hasTelephone: Bool = false,
    _ body: @escaping @Sendable (PythonPeer, GatewayRunning, SIPpPeer?) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "Chromium", transport: "pages", name, expected: expected) {
      let telephone = hasTelephone ? try await EchoCases.echo(.pcmu) : nil
      var settings = GatewaySettings(
        telephone.map { [.init("carrier", port: $0.port)] } ?? [], payers: [.main, .trial, .sandboxPoor])
      settings.people = [.operations, .owner, .broke]
      settings.sandboxHasTrunks = true
      return try await GatewayRunning.run(settings) { gateway in
        try await BrowserDriver.shared.run { peer in try await body(peer, gateway, telephone) }
      }
    }
  }

  /// What +46000000000 says.
  static let prompt = "The call is connected. This is the free test number of your telephone gateway."

  /// The words of a recording.
  static func words(_ file: URL, expected: String) async throws -> String {
    let judge = try await BrowserDriver.shared.listener()
    let said = try await judge.ask("transcript", ["recording": file.path, "expected": expected], for: "judged")
    try require(said.text("skipped") != nil || said.number("share") == 1, "every word of \(expected): \(said)")
    return said.text("text") ?? "no speech model"
  }
}
