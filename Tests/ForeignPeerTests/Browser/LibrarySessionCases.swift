import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// Sessions of landline.js: proofs, losses, ends, and what is written about it.
enum LibrarySessionCases {
  static let cases: [PeerCase] = [
    LibraryCase.make("proofs", expected: "signature, token and secret taken, asked for once; lies refused") {
      try await proofs($0)
    },
    LibraryCase.make("the WebSocket is lost", expected: "sound goes on, nothing is told twice, nothing is lost") {
      try await lost($0)
    },
    LibraryCase.make("another network", expected: "the session is taken up, ICE starts anew, sound goes on") {
      try await anotherNetwork($0)
    },
    LibraryCase.make("the network is away for a while", expected: "the call is still there afterwards") {
      try await away($0)
    },
    LibraryCase.make(
      "the network does not come back in time", expected: "network.lost after 30 s on both sides", isLong: true
    ) { try await gone($0) },
    LibraryCase.make("the page goes", expected: "its call ends at once") { try await left($0) },
    LibraryCase.make("declarations", expected: "every export is declared; words and members as the protocol has them") {
      try await declared($0)
    },
    LibraryCase.make("the guide", expected: "its scripts run as they are written") { try await guided($0) },
  ]

  private static func proofs(_ page: LibraryPage) async throws -> String {
    // A client asks once; one that knows nothing is told the least that would do.
    try await page.connected(["credentials": "callback"])
    _ = try await page.peer.ask("stop", for: "stopped")
    _ = try await page.peer.ask("connect", for: "connected")
    _ = try await page.peer.ask("stop", for: "stopped")
    try await page.connected(["credentials": "callback"])
    _ = try await page.peer.ask("stop", for: "stopped")
    let asked = page.peer.events.filter { $0.name == "asked" }
    try require(
      asked.allSatisfy { $0.text("members") == "applicationKey device leastSequence user" },
      "what it is given: \(asked)")
    let numbers = asked.compactMap { $0.text("sequence") }
    try require(numbers == ["1", "1", "2"], "asked three times, no clock in it: \(numbers)")

    try await page.connected(["credentials": "token"])
    _ = try await page.peer.ask("stop", for: "stopped")
    try await page.isEmpty()

    let refusals: [(values: [String: any Sendable], code: String)] = [
      (["credentials": "callback", "wrong": true], "gw.registration"),
      (["secret": "AAAAAAAAAAAAAAAAAAAAAA=="], "gw.registration"),
      (["key": "00000000-0000-0000-0000-000000000000"], "gw.registration"),
      (["credentials": "throws"], "network.unreachable"),
      (["credentials": "empty"], "gw.registration"),
    ]
    for refusal in refusals {
      let error = try await page.refused(refusal.values)
      try require(error.flag("is") == true && error.text("code") == refusal.code, "\(refusal.code): \(error)")
      try await page.isEmpty()
    }
    return "three kinds taken, \(refusals.count) refused"
  }

  private static func lost(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    let call = try await page.established("+46000000202")
    try await page.hears(LibraryPage.tone, "the echo")
    // The last keys come back while nobody is connected.
    for code in [4000, 1000] {
      let before = page.count("call-digit")
      try await page.ask("sendDigits", ["4711"])
      _ = try await page.peer.ask("cut", ["code": code], for: "cut")
      _ = try await Deadline(seconds: 10).first("the keys of \(code)", everyMilliseconds: 50) { () -> Bool? in
        page.count("call-digit") >= before + 4 ? true : nil
      }
    }
    try await page.hears(LibraryPage.tone, "the echo still")
    try await page.hangUp()
    let end = try await page.ended()
    try require(end.text("cause") == "hungUp" && end.text("error.code") == nil, "hung up: \(end)")
    let keys = page.peer.events.filter { $0.name == "call-digit" }.compactMap { $0.text("digit") }
    try require(keys.joined() == "47114711", "each key once, in order: \(keys)")
    for event in ["call-placed", "call-accepted", "call-established", "call-ended"] {
      try require(page.count(event) == 1, "\(event) once: \(page.count(event))")
    }
    let states = page.peer.events.filter { $0.name == "state" }.compactMap { $0.text("value") }
    try require(
      states == ["connecting", "ready", "reconnecting", "ready", "reconnecting", "ready"], "states: \(states)")
    let messages = try await page.peer.ask("messages", for: "messages")
    try require(
      messages.number("sent.register") == 1 && messages.number("sent.resume") == 2, "taken up twice: \(messages)")
    try await page.gateway.uncharged(call, page.payer)
    return "taken up twice, \(keys.count) keys"
  }

  private static func anotherNetwork(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    _ = try await page.established("+46000000202")
    try await page.hears(LibraryPage.tone, "the echo")
    let before = try await page.peer.ask("path", for: "path")
    _ = try await page.peer.ask("restart", for: "restarting")
    let after = try await Deadline(seconds: 10).first("another path", everyMilliseconds: 100) { () -> PythonEvent? in
      let path = try await page.peer.ask("path", for: "path")
      let isOther = path.text("local") != before.text("local") && path.text("remote") != before.text("remote")
      return isOther && path.text("state") == "connected" ? path : nil
    }
    try await page.hears(LibraryPage.tone, "the echo over it")
    try await page.hangUp()
    _ = try await page.ended()
    return "credentials of ICE changed on both sides: \(after.text("state") ?? "")"
  }

  /// Attempts to connect that are seen to fail while the network is away.
  private static let failedAttempts = 4
  /// Longest wait for them: the waits between attempts double from a quarter of a second.
  private static let attemptSeconds = 15.0

  private static func away(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    _ = try await page.established("+46000000202")
    _ = try await page.peer.ask("offline", ["value": true], for: "network")
    let before = try await page.sockets()
    _ = try await page.peer.ask("cut", ["code": 4000], for: "cut")
    // Attempts fail meanwhile.
    _ = try await Deadline(seconds: attemptSeconds).first("attempts that fail", everyMilliseconds: 50) { () -> Bool? in
      try await page.sockets() >= before + failedAttempts ? true : nil
    }
    try await page.hears(LibraryPage.tone, "the echo without a WebSocket")
    _ = try await page.peer.ask("offline", ["value": false], for: "network")
    try await page.ask("sendDigits", ["5"])
    try require(try await page.told("digit").text("digit") == "5", "the key comes back")
    try await page.hangUp()
    let end = try await page.ended()
    try require(end.text("error.code") == nil, "hung up: \(end)")
    return "taken up after \(failedAttempts) attempts in vain"
  }

  private static func gone(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    let call = try await page.established("+46000000202")
    _ = try await page.peer.ask("offline", ["value": true], for: "network")
    _ = try await page.peer.ask("cut", ["code": 4000], for: "cut")
    let end = try await page.ended(within: 40)
    try require(end.text("error.code") == "network.lost", "lost: \(end)")
    _ = try await page.peer.ask("offline", ["value": false], for: "network")
    // The next session stands, and calls.
    _ = try await page.established("+46000000202")
    try await page.hangUp()
    _ = try await page.ended()
    // Nobody told the gateway: a ping without an answer does, and its own 30 s follow.
    let records = try page.gateway.stores(page.payer.environment).records
    let record = try await Deadline(seconds: 80).first("record of the lost call", everyMilliseconds: 500) {
      try await records.record(CallID(unchecked: call))
    }
    try require(record.summary.failure?.code == .networkLost, "the gateway's view: \(record.summary)")
    return "lost after \(end.number("duration_ms") ?? 0) ms"
  }

  private static func left(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    let call = try await page.established("+46000000202")
    let start = ContinuousClock.now
    _ = try await page.peer.ask("reload", for: "loaded")
    let record = try await page.gateway.record(call, in: page.payer.environment)
    try require(record.summary.cause == .hungUp, "hung up: \(record.summary)")
    // No 30 s of a session that nobody will take up.
    try require(start.duration(to: .now) < .seconds(10), "at once")
    try await page.connected()
    return "hung up after \(record.summary.durationMilliseconds) ms"
  }

  private static func declared(_ page: LibraryPage) async throws -> String {
    let exports = try await page.peer.ask("exports", for: "exports")
    for kind in ["undeclared", "absent", "types"] {
      try require(exports.count(kind) == 0, "\(kind): \(exports)")
    }
    try require(exports.number("count") ?? 0 > 60, "names: \(exports)")
    // The library's own failures are told in the gateway's words.
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/CLandlinePages/Pages/landline.js")
    let rows = try String(contentsOf: script, encoding: .utf8).matches(
      of: /\n  "([a-z]+\.[a-zA-Z]+)": \["([^"]+)", "([a-zA-Z]+)"\],/)
    try require(rows.count >= 10, "the table of failures is found: \(rows.count)")
    for row in rows {
      guard let code = CallFailureCode(rawValue: String(row.1)) else { throw PeerFailure("there is no \(row.1)") }
      try require(code.details.meaning == row.2, "\(code.rawValue): \(code.details.meaning)")
      try require(code.details.retry.rawValue == row.3, "\(code.rawValue): \(code.details.retry)")
    }
    return "\(Int(exports.number("count") ?? 0)) names, \(rows.count) failures"
  }

  private static func guided(_ page: LibraryPage) async throws -> String {
    let first = try await page.peer.ask(
      "example",
      ["heading": "## A first call", "names": ["key": page.payer.key, "secret": GatewayPayer.secret]], for: "example")
    try page.peer.run("click", ["selector": "#call"])
    _ = try await page.peer.ask("shown", ["pattern": "^connected$"], for: "shown")
    let over = try await page.peer.ask("shown", ["pattern": "^over: 0\\.0+ [A-Z]{3}$"], for: "shown")
    // Its page goes, and so does its client.
    _ = try await page.peer.ask("reload", for: "loaded")
    _ = try await page.peer.ask(
      "vouch",
      ["heading": "### A page that people use", "key": page.payer.key, "secret": GatewayPayer.secret], for: "vouching")
    _ = try await page.peer.ask(
      "example", ["heading": "### A page that people use", "names": ["key": page.payer.key]], for: "example")
    _ = try await page.peer.ask("shown", ["pattern": "^ready$"], for: "shown")
    _ = try await page.peer.ask("leave", for: "gone")
    return "\(Int(first.number("lines") ?? 0)) lines: \(over.text("text") ?? "")"
  }
}
