import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import PeerKit
import Synchronization

/// Calls that people make on the phone page.
enum PhonePageCases {
  static let cases: [PeerCase] = [
    BrowserCase.make(
      "the test number by a click, then numbers that fail",
      expected: "every word of the prompt; each failure with its explanation"
    ) { peer, gateway, _ in
      let window = try await BrowserWindow(peer, gateway, as: .owner)
      let said = try await prompt(window, gateway)
      for failure in failures { try await refused(window, failure) }
      let broke = try await BrowserWindow(peer, gateway, as: .broke)
      try await refused(broke, Failure(number: GatewayRate.number, code: "gw.funds", words: ["credit"]))
      try await broke.close()
      return "\(said); \(try await window.close()) bytes of pages"
    },
    BrowserCase.make(
      "a phone number over a trunk, SIPp echoes", expected: "the page hears its own words, and says what they cost",
      hasTelephone: true
    ) { peer, gateway, telephone in
      let window = try await BrowserWindow(peer, gateway, as: .owner)
      let heard = try await echo(window, gateway)
      try await window.close()
      try await telephone?.succeeds()
      return heard
    },
    keyboard,
  ]

  private struct Failure: Sendable {
    let number: String
    let code: String
    /// Of the explanation.
    let words: [String]
    /// Whether the number is one, and the gateway is asked.
    var isPlaced = true
  }

  private static let failures = [
    Failure(number: "+46000000486", code: "sip.busy", words: ["busy"]),
    Failure(number: "+46000000603", code: "sip.declined", words: ["declin"]),
    Failure(number: "+46000000402", code: "gw.funds", words: ["credit"]),
    Failure(number: "+46000000404", code: "sip.unallocated", words: ["number"]),
    Failure(number: "+4612", code: "gw.number", words: ["number"], isPlaced: false),
  ]

  /// The explanation stands on the page, with what to do, and leads to a page of its own.
  private static func refused(_ window: BrowserWindow, _ failure: Failure) async throws {
    let command = failure.isPlaced ? "refused" : "mistyped"
    let shown = try await window.run(command, ["number": failure.number, "code": failure.code])
    try require(shown.number("placed") ?? 0 == 0, "what is no number is not called: \(shown)")
    let text = shown.text("text")?.lowercased() ?? ""
    for word in failure.words { try require(text.contains(word), "\(word) in the explanation: \(text)") }
  }

  private static func prompt(_ window: BrowserWindow, _ gateway: GatewayRunning) async throws -> String {
    let folder = try TemporaryFolder("prompt")
    let call = Mutex("")
    let said = try await BrowserCase.words(expected: BrowserCase.prompt) {
      let id = try await window.call("+46 000 000 000")
      call.withLock { $0 = id }
      let end = try await window.ended(id)
      try require(end.text("message.cause") == "hungUp", "it ends by itself: \(end)")
      try require(end.number("message.cost_micro") == 0, "it is free: \(end)")
      return try await window.heard(seconds: 4, in: folder)
    }
    let record = try await gateway.record(call.withLock { $0 }, in: "sandbox")
    try require(record.summary.cause == .hungUp && record.summary.costMicro == 0, "the record: \(record.summary)")
    return said
  }

  private static func echo(_ window: BrowserWindow, _ gateway: GatewayRunning) async throws -> String {
    let folder = try TemporaryFolder("echo")
    let spoken = try await BrowserDriver.shared.spoken()
    let call = try await window.call(GatewayRate.number)
    let words = try await BrowserCase.words(expected: BrowserDriver.speech, reference: spoken.file) {
      // Two turns of the microphone hold all of its words once.
      let file = try await window.heard(seconds: 2 * spoken.seconds, in: folder)
      try await window.run("hang-up")
      let end = try await window.ended(call)
      try require(end.text("message.cause") == "hungUp", "hung up: \(end)")
      return file
    }
    let cost = try await gateway.record(call, in: "sandbox").summary.costMicro ?? 0
    try require(cost > 0, "it costs")
    try require(
      try await gateway.account(.trial).posted == GatewayPayer.trial.credit - cost, "the account pays \(cost)")
    // Prices of the test are whole cents.
    let shown = String(format: "%.2f", Double(cost.count) / 1_000_000)
    try await window.run("wait", ["text": shown.replacing(".", with: "\\.")])
    return "\(words) \(shown)"
  }

  /// Nothing but keys, from the sign-in to the end.
  private static let keyboard = BrowserCase.make(
    "by keyboard alone", expected: "signed in, called, heard, digits, hung up; no pointer; every focus seen"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .owner)
    let call = try await window.call("+46000000202", byKeys: true)
    try await window.run("sounded")
    try await window.run("hang-up", ["by": "key"])
    let end = try await window.ended(call)
    try require(end.text("message.cause") == "hungUp", "hung up: \(end)")
    let used = try await window.run("used")
    try require(used.number("pointer") == 0, "no pointer was used: \(used)")
    let keys = Int(used.number("keys") ?? 0)
    try require(keys > 20, "\(keys) keys")
    try await window.close()
    return "\(keys) keys"
  }
}
