import Foundation
import PeerKit

/// What a gateway of ours seldom or never does to landline.js: played by a script, which checks what comes of it.
enum LibraryScenarioCases {
  private static let scenarios: [(name: String, expected: String, isLong: Bool)] = [
    ("repeats", "events that are told again are passed over, the token rotates", false),
    ("garbles", "the connection is made anew, the session goes on", false),
    ("falls_silent", "no pong in time: the connection is made anew", false),
    ("floods", "64 requests wait, more are refused", false),
    ("offers", "a change that the gateway wants is answered", false),
    ("drains", "a new session with a new proof; the call of the old one is lost", false),
    ("knows_no_incoming_calls", "listening is refused, calling is not", false),
    ("ends_a_credential", "the page is asked for another proof, once", false),
    ("refuses_for_a_while", "waits grow, and Retry-After stands", false),
    ("places_late", "what was given up is hung up", true),
  ]

  static let cases: [PeerCase] = scenarios.map { scenario in
    PeerCase(
      peer: "landline.js", transport: "Chromium, script",
      "the gateway \(scenario.name.replacing("_", with: " "))", expected: scenario.expected, isLong: scenario.isLong
    ) {
      // Nothing listens there: the script answers in the browser's place.
      let peer = try await PythonPeer(.landlineJS, ["--origin", "http://127.0.0.1:1", "--fake"])
      _ = try await peer.ask("scenario", ["name": scenario.name], for: "played", within: 60)
      let stray = peer.events.filter { ["unhandled", "page-error", "console"].contains($0.name) }
      try require(stray.isEmpty, "nothing astray: \(stray)")
      return "as expected"
    }
  }
}
