import CallModel
import Foundation
import LedgerCore
import NodeCore
import PeerKit

/// What the pages do where something is missing: the gateway, a call's end, a microphone.
enum PageStateCases {
  private static let echo = "+46000000202"
  /// Seconds after which a page says that its gateway is gone, with what a busy machine takes to draw it.
  private static let mostSeconds = 3.5
  /// What a browser says of a connection that it cannot make.
  private static let noise = [
    "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET", "WebSocket connection to", "ERR_ABORTED",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
  ]

  static let cases: [PeerCase] = [gone, killed, leaving, silent]

  private static let gone = BrowserCase.make(
    "the gateway vanishes and comes back", expected: "each page says so after 2 s, in grey; then figures are fresh"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .owner, isRelayed: true)
    let call = try await window.call("+46000000000")
    _ = try await window.ended(call)
    _ = try await gateway.record(call, in: "sandbox")
    var told: [String] = []
    for (path, figure) in [
      ("/account", "main dd .big"), ("/calls", "main td.num"), ("/calls/\(call)", "main td.num"),
    ] {
      try await window.run("visit", ["path": path])
      let fresh = try await window.run("back", ["figure": figure])
      try require(fresh.text("own") != fresh.text("muted"), "\(path): figures have their colour: \(fresh)")
      try await window.run("cut")
      let gone = try await window.run("gone", ["figure": figure])
      let seconds = gone.number("seconds") ?? 0
      try require(seconds < mostSeconds, "\(path) says so after 2 s: \(gone)")
      try require(gone.text("own") == gone.text("muted"), "\(path): stale figures are grey: \(gone)")
      try await window.run("mend")
      let back = try await window.run("back", ["figure": figure])
      try require(back.text("own") == fresh.text("own"), "\(path): they are as before: \(back)")
      told.append("\(rounded(seconds)) s")
    }
    // What was booked meanwhile is there without a reload.
    try await window.run("visit", ["path": "/account"])
    try await window.run("cut")
    try await window.run("gone", ["figure": "main dd .big"])
    let payer = GatewayPayer.trial
    let movement = MoneyMovement(
      account: AccountName(unchecked: payer.name), key: RequestKey(unchecked: "meanwhile"),
      .topup(method: RequestKey(unchecked: "card")), amount: try Credits(micros: 1_250_000, .eur), detail: "meanwhile")
    _ = try await gateway.stores("sandbox").ledger.perform(
      LedgerOperation(
        .move(movement), at: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)), actor: "test"))
    try await window.run("mend")
    try await window.run("wait", ["text": "2\\.25 EUR"])
    try await window.close(allowing: noise)
    return told.joined(separator: ", ")
  }

  /// A gateway that is killed during a call: the page learns what it cost when another one runs.
  private static let killed = PeerCase(
    peer: "Chromium", transport: "pages", "landline dev is killed during a call and started again",
    expected: "the page says that it is gone, then what the call cost"
  ) {
    let folder = try TemporaryFolder("killed")
    func start(_ port: UInt16) throws -> PeerProcess {
      try PeerProcess(
        path: GatewayBooks.landline.path,
        ["dev", "--state", folder.url.appendingPathComponent("state").path, "--port", "\(port)"],
        environment: ["HOME": folder.url.path, "LC_ALL": "C.UTF-8"], startedIn: folder.url, in: folder)
    }
    func port(of process: PeerProcess) async throws -> UInt16 {
      try await Deadline(seconds: 20).first("port of landline dev", everyMilliseconds: 50) {
        let text = process.output
        guard text.contains("\n  try "), let place = text.firstRange(of: "//127.0.0.1:") else { return UInt16?.none }
        return UInt16(text[place.upperBound...].prefix(while: \.isNumber))
      }
    }
    let process = try start(0)
    let number = try await port(of: process)
    return try await BrowserDriver.shared.run { peer in
      let window = try await BrowserWindow(peer, port: number) { [] }
      try await window.run("visit", ["path": "/"])
      _ = try await window.call("+46701234567")
      try await window.run("wait", ["text": "Connected"])
      // Whoever settles it charges up to the last heartbeat, one of which is to come after the answer.
      try await window.run("wait", ["text": "0:03"])
      // Nobody has time to say anything.
      process.end()
      let gone = try await window.run("gone", ["figure": "#timer"])
      try require(gone.text("own") == gone.text("muted"), "the figures are grey: \(gone)")
      let again = try start(number)
      defer { again.end() }
      _ = try await port(of: again)
      try await window.run("back", ["figure": "#timer"])
      let cost = try await window.run("cost-told").text("cost") ?? ""
      try require(cost.contains(/0\.[0-9]+ EUR/), "what the call cost: \(cost)")
      try await window.run("end")
      return cost
    }
  }

  private static let leaving = BrowserCase.make(
    "reload, back and other pages during a call", expected: "the page asks first, links open beside, the call goes on"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .owner, at: "/account")
    try await window.run("visit", ["path": "/"])
    // Nothing is asked where nothing is lost.
    try await window.run("reload")
    let call = try await window.call(echo)
    try await window.run("sounded")
    for how in ["reload", "back", "address"] {
      let asked = try await window.run("leave-asks", ["how": how])
      try require(asked.texts("dialogs") == ["beforeunload"], "\(how) asks: \(asked)")
      try require(await gateway.operations.liveCalls(environment: nil).count == 1, "\(how): the call is up")
    }
    let page = try await window.run("beside", ["name": "Calls"])
    try require(page.text("address")?.hasSuffix("/calls") == true, "the list opens beside: \(page)")
    let ladder = try await window.run("beside", ["name": "Watch this call"])
    try require(ladder.text("address")?.hasSuffix("/calls/\(call)") == true, "the call's own page: \(ladder)")
    try require(ladder.text("text")?.contains("Ladder") == true, "with its ladder: \(ladder)")
    try require(await gateway.operations.liveCalls(environment: nil).count == 1, "the call is up")
    try await window.run("hang-up")
    let end = try await window.ended(call)
    try require(end.text("message.cause") == "hungUp", "hung up here: \(end)")
    // Afterwards the page is left without a question.
    try await window.run("visit", ["path": "/account"])
    try await window.close()
    return "asked three times"
  }

  private static let silent = BrowserCase.make(
    "without a microphone", expected: "asked before dialling; no score of what was not sent"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .owner)
    try await window.run("silence", ["absent": true])
    try await window.run("visit", ["path": "/"])
    let cancelled = try await window.run("asked", ["number": echo, "choice": "Cancel"])
    try require(cancelled.number("before") == 0, "nothing is dialled before: \(cancelled)")
    try require(cancelled.text("text")?.contains("microphone") == true, "it says why: \(cancelled)")
    try require(await gateway.operations.liveCalls(environment: nil).isEmpty, "cancelled")
    let listened = try await window.run("asked", ["number": "+46000000201", "choice": "Listen only"])
    try require(listened.number("before") == 0, "nothing is dialled before: \(listened)")
    try await window.run("wait", ["text": "MOS [0-9]"])
    let shown = try await window.run("overview")
    let legs = shown.texts("legs")
    try require(legs.first?.contains(/[0-9]/) == false, "no figures of what was not sent: \(legs)")
    try require(legs.last?.contains(/[0-9]\.[0-9]/) == true, "those of what came: \(legs)")
    try await window.run("hang-up")
    try await window.run("wait", ["text": "You ended the call"])
    try await window.close()
    return legs.joined(separator: "; ")
  }
}
