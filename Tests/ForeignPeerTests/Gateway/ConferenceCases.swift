import CallEngine
import CallModel
import Foundation
import PeerKit

/// Conferences of apps that were written from the protocol's document alone.
enum ConferenceCases {
  static let cases: [PeerCase] = [
    GatewayCase.make(
      "aiortc", "UDP", "three apps in a conference", expected: "each hears the others, two go on when one leaves, free"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        var apps: [AppPeer] = []
        for user in ["alice", "bob", "carol"] {
          let app = try await AppPeer(gateway, as: .trial, user: user)
          _ = try await app.established("weekly", ["kind": "conference"])
          apps.append(app)
        }
        return try await GatewayCase.reported(apps[0]) { try await talk(apps[0], apps[1], apps[2]) }
      }
    }
  ]

  private static func talk(_ alice: AppPeer, _ bob: AppPeer, _ carol: AppPeer) async throws -> String {
    var heard: [String] = []
    for (listener, speaker, words) in [
      (bob, alice, "Good morning, is everybody there?"), (carol, alice, "Let us begin then."),
      (alice, carol, "I have one more question."),
    ] {
      heard.append(try await UserCases.heard(by: listener, from: speaker, words))
    }
    try alice.hangUp()
    let end = try await alice.ended()
    try require(end.text("cause") == "hungUp" && end.number("cost_micro") == 0, "hung up and free: \(end)")
    heard.append(try await UserCases.heard(by: bob, from: carol, "Now there are two of us."))
    for app in [bob, carol] {
      try app.hangUp()
      _ = try await app.ended()
    }
    return heard.joined(separator: ", ")
  }
}
