import Foundation
import PeerKit

/// How cases of landline.js are put together: a gateway, a page, and at the end nothing left of either.
enum LibraryCase {
  static func make(
    _ name: String, expected: String, payer: GatewayPayer = .trial, isLong: Bool = false, library: String? = nil,
    _ body: @escaping @Sendable (LibraryPage) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "landline.js", transport: "Chromium", name, expected: expected, isLong: isLong) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        try await perform(LibraryPage(gateway, as: payer, library: library), body)
      }
    }
  }

  /// The trunk is a SIPp that answers with a script and sends back what it hears.
  static func withSIPp(
    _ name: String, _ scenario: String, expected: String,
    _ body: @escaping @Sendable (LibraryPage, SIPpPeer) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "landline.js", transport: "Chromium, SIPp", name, expected: expected) {
      var options = SIPpPeer.Options()
      options.echoesMedia = true
      let sipp = try await SIPpPeer(SIPpCase.scenario(scenario), as: .server, options)
      do {
        return try await GatewayRunning.run(GatewaySettings([.init(port: sipp.port)])) { gateway in
          let happened = try await perform(LibraryPage(gateway, as: .main)) { try await body($0, sipp) }
          try await sipp.succeeds()
          return happened
        }
      } catch {
        throw PeerFailure("\(error)\nSIPp: \(sipp.complaint)\n\(sipp.transcript)", wasLate: sipp.sawDelay)
      }
    }
  }

  private static func perform(
    _ page: LibraryPage, _ body: (LibraryPage) async throws -> String
  ) async throws -> String {
    do {
      let happened = try await body(page)
      if page.peer.events.contains(where: { $0.name == "client" }) {
        _ = try await page.peer.ask("stop", for: "stopped")
        try await page.isEmpty()
      }
      try await page.isSound()
      return happened
    } catch {
      let quiet: Set = ["call-quality", "level", "saved"]
      let told = page.peer.events.filter { !quiet.contains($0.name) }.map { String($0.description.prefix(600)) }
      let isLate = (error as? PeerFailure)?.wasLate ?? false
      throw PeerFailure("\(error)\npage: \(told.joined(separator: "\n"))", wasLate: isLate)
    }
  }
}
