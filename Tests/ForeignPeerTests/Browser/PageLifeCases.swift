import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import NodeCore
import PeerKit

/// What becomes of a call when its page goes, or its connection.
enum PageLifeCases {
  private static let echo = "+46000000202"

  static let cases: [PeerCase] = [
    BrowserCase.make(
      "the page is loaded again during a call",
      expected: "the call ends at once, hung up by the app; the page calls again"
    ) { peer, gateway, _ in
      let window = try await BrowserWindow(peer, gateway, as: .owner)
      let call = try await window.call(echo)
      try await window.run("sounded")
      try await window.run("reload")
      let record = try await gateway.record(call, in: "sandbox")
      try require(record.summary.cause == .hungUp, "hung up: \(record.summary)")
      // The page signs in no second time, and works as before.
      let again = try await window.call(echo)
      try await window.run("hang-up")
      _ = try await window.ended(again)
      // Leaving for another site is the same.
      let left = try await window.call(echo)
      try await window.run("leave")
      let last = try await gateway.record(left, in: "sandbox")
      try require(last.summary.cause == .hungUp, "hung up by leaving: \(last.summary)")
      try await window.close()
      return "hung up after \(record.summary.durationMilliseconds) ms"
    },
    BrowserCase.make(
      "the connection is lost during a call", expected: "sound goes on, the session is taken up again, then hung up"
    ) { peer, gateway, _ in
      let folder = try TemporaryFolder("loss")
      let window = try await BrowserWindow(peer, gateway, as: .owner, isRelayed: true)
      let call = try await window.call(echo)
      try await window.run("sounded")
      try await window.run("cut")
      try await window.run("wait", ["text": "reconnecting"])
      let before = try await heard(window, in: folder)
      // Sound does not go over the connection that is cut.
      _ = try await Deadline(seconds: 10).first("sound while the connection is away", everyMilliseconds: 100) {
        try await heard(window, in: folder) > before + 0.5 ? true : nil
      }
      try require(await gateway.operations.liveCalls(environment: nil).count == 1, "the call is up")
      try await window.run("mend")
      try await window.run("wait", ["text": "^ready as"])
      try await window.run("hang-up")
      let end = try await window.ended(call)
      try require(end.text("message.cause") == "hungUp", "hung up: \(end)")
      let record = try await gateway.record(call, in: "sandbox")
      try require(record.summary.cause == .hungUp, "hung up: \(record.summary)")
      // What a browser says of a connection that it cannot make.
      try await window.close(allowing: [
        "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET", "WebSocket connection to",
      ])
      return "the call outlived the connection"
    },
  ]

  private static func heard(_ window: BrowserWindow, in folder: TemporaryFolder) async throws -> Double {
    let file = folder.url.appendingPathComponent("heard.wav").path
    return try await window.run("recorded", ["file": file]).number("seconds") ?? 0
  }
}
