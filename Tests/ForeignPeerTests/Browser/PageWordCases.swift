import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import PeerKit

/// What stands on the pages: words, figures with their units, drawings.
enum PageWordCases {
  static let cases: [PeerCase] = [home, story, documents]

  private static let home = BrowserCase.make(
    "home, numbers to try, ends in words", expected: "a number is filled in, five dial at once, credit in the header",
    hasTelephone: true
  ) { peer, gateway, telephone in
    let window = try await BrowserWindow(peer, gateway, as: .owner)
    let chips = try await Deadline(seconds: 10).first("five numbers to try", everyMilliseconds: 100) {
      () -> PythonEvent? in
      let found = try await window.run("overview")
      return found.count("chips") == 5 ? found : nil
    }
    try require(chips.text("number") == "+46000000000", "the test number is filled in: \(chips)")
    try require(chips.text("credit")?.contains("1.00 EUR") == true, "the credit stands in the header: \(chips)")
    try require(chips.text("code")?.contains("+46000000000") == true, "its code stands below: \(chips)")
    // Each is one press away from being heard, or from failing.
    let busy = try await window.run("chip", ["name": "Busy"]).text("call") ?? ""
    _ = try await window.ended(busy)
    _ = try await gateway.record(busy, in: "sandbox")
    let declined = try await window.run("refused", ["number": "+46000000603", "code": "sip.declined"])
    _ = try await gateway.record(declined.text("call") ?? "", in: "sandbox")
    let paid = try await window.call(GatewayRate.number)
    try await window.run("sounded")
    try await window.run("hang-up")
    _ = try await window.ended(paid)
    let cost = try await gateway.record(paid, in: "sandbox").summary.costMicro ?? 0
    try await telephone?.succeeds()
    let left = (GatewayPayer.trial.credit - cost).brief
    try await window.run("wait", ["text": "Credit \(left.replacing(".", with: "\\.")) EUR"])
    let calls = try await window.text("/calls")
    try require(calls.contains("busy") && calls.contains("declined"), "ends have words: \(calls)")
    let list = try await window.run("overview")
    try require(!list.texts("badges").contains("failed"), "a busy line is busy: \(list.texts("badges"))")
    let times = list.texts("times")
    try require(
      times.count >= 3 && times.allSatisfy { $0.contains(/:[0-9]{2} [A-Z]{2,5}([+-][0-9:]+)?$/) },
      "a zone beside each time: \(times)")
    try await window.run("visit", ["path": "/account"])
    let account = try await Deadline(seconds: 10).first("the course of the balance", everyMilliseconds: 200) {
      () -> PythonEvent? in
      let found = try await window.run("overview")
      return found.number("plots") == 3 && found.count("amounts") > 5 ? found : nil
    }
    try require(account.count("decimals") == 1, "one number of decimals: \(account.texts("amounts"))")
    let operations = try await BrowserWindow(peer, gateway, as: .operations, at: "/trunks")
    try await operations.run("visit", ["path": "/trunks"])
    let bars = try await operations.run("overview").texts("bars")
    try require(bars.contains { $0.contains("% of") && $0.contains("answered") }, "answered by the hour: \(bars)")
    try await operations.close()
    try await window.close()
    return "\(left) EUR left"
  }

  private static let story = BrowserCase.make(
    "the page of a good call and of a busy one", expected: "no guesses on the good one, a ladder to its BYE, one plot"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .owner)
    let call = try await window.call("+46000000203")
    let folder = try TemporaryFolder("words")
    // Long enough for the reports that a round trip is known by (RFC 3550 section 6.2).
    _ = try await window.heard(seconds: 12, in: folder)
    try await window.run("hang-up")
    _ = try await window.ended(call)
    _ = try await gateway.record(call, in: "sandbox")
    try await window.run("visit", ["path": "/calls/\(call)"])
    let seen = try await window.run("overview")
    let sure = seen.texts("badges").filter { $0.contains("% sure") }
    try require(sure.isEmpty, "nobody has to find out how sure it is that all is well: \(sure)")
    try require(seen.number("open") == 1, "one finding is open: \(seen)")
    for narrow in [false, true] {
      let ladder = try await window.run("ladder", ["narrow": narrow])
      let labels = ladder.texts("labels")
      try require(
        labels.contains("BYE") && labels.contains { $0.contains("(BYE)") }, "the ladder ends with its BYE: \(labels)")
      try require(ladder.flag("inside") == true, "nothing is cut off: \(ladder)")
      try require(ladder.flag("drawn") == !narrow, "drawn where there is room: \(ladder)")
      try require(!narrow || labels.allSatisfy { !$0.hasSuffix("…") }, "whole labels on a telephone: \(labels)")
      let ledger = labels.filter { $0.contains("ledger") }
      try require(
        !ledger.isEmpty && ledger.allSatisfy { $0.hasSuffix(" ms") || $0.hasSuffix("…") },
        "figures of the ledger have units: \(ledger)")
    }
    var told: [String] = []
    for (name, lines) in [("Round trip", 2), ("Buffer", 2), ("Loss", 4), ("Effective loss", 4), ("MOS", 4)] {
      let plot = try await window.run("switch", ["name": name])
      try require(plot.text("caption")?.hasPrefix(name) == true, "\(name) is shown: \(plot)")
      try require(plot.count("lines") == lines, "\(lines) lines of \(name): \(plot)")
      let (drawn, less) = (plot.number("drawn") ?? 0, plot.number("less") ?? 0)
      try require(drawn == Double(lines) && less == drawn - 1, "each has its switch: \(plot)")
      told.append(name)
    }
    try await window.run("visit", ["path": "/"])
    let failed = try await window.run("refused", ["number": "+46000000486", "code": "sip.busy"])
    let busy = failed.text("call") ?? ""
    _ = try await gateway.record(busy, in: "sandbox")
    try await window.run("visit", ["path": "/calls/\(busy)"])
    let page = try await window.run("overview")
    try require(page.texts("badges").first == "busy", "it says what it was: \(page.texts("badges"))")
    try require(page.texts("badges").contains { $0.contains("% sure") }, "and how sure its cause is: \(page)")
    try require(page.number("open") == 1 && page.number("folded") ?? 0 >= 1, "one open, the others folded: \(page)")
    try await window.close()
    return told.joined(separator: ", ")
  }

  private static let documents = BrowserCase.make(
    "documentation, codes, and what is not there", expected: "axe-core finds nothing; links lead somewhere"
  ) { peer, gateway, _ in
    try FileManager.default.createDirectory(at: BrowserCase.pictures, withIntermediateDirectories: true)
    let window = try await BrowserWindow(peer, gateway)
    var complaints: [String] = []
    for (path, name) in [
      ("/docs", "docs"), ("/docs/readme", "docs-readme"), ("/docs/messages", "docs-messages"),
      ("/docs/configuration", "docs-configuration"), ("/docs/rest", "docs-rest"), ("/errors", "errors"),
    ] {
      let status = try await window.run("visit", ["path": path]).number("status")
      try require(status == 200, "\(path): \(String(describing: status))")
      let seen = try await window.run("look", ["name": name, "folder": BrowserCase.pictures.path])
      complaints += seen.texts("complaints")
    }
    let missing = try await window.run("visit", ["path": "/no/such/page"])
    try require(missing.number("status") == 404, "404: \(missing)")
    let seen = try await window.run("look", ["name": "missing", "folder": BrowserCase.pictures.path])
    complaints += seen.texts("complaints")
    let text = try await window.text()
    try require(text.contains("There is no such page") && text.contains("Documentation"), "a page for people: \(text)")
    try require(complaints.isEmpty, complaints.joined(separator: "\n"))
    try await window.run("end")
    return "seven pages"
  }
}
