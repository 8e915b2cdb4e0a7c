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

  /// A recording with its words checked.
  /// - Parameters:
  ///   - reference: what it must be like, if that is checked as well.
  ///   - listen: makes the recording.
  /// - Returns: all that was said.
  static func words(
    expected: String, reference: URL? = nil, _ listen: () async throws -> URL
  ) async throws -> String {
    try await SoundJudge.shared.prepare()
    let listened = try await Listening.during(listen)
    var more: [Heard.Figure] = []
    if let reference {
      let quality = try await SoundJudge.shared.quality(of: listened.value, reference: reference)
      more.append(.init("correlation", quality.number("correlation"), atLeast: leastAlike))
    }
    return try await SoundControl.words(
      of: listened.value, expected: expected, and: more, listened.lateness, listened.seconds, as: .chromium)
  }

  /// A browser stretches time, and its microphone says its words again and again.
  private static let leastAlike = 0.3
}
