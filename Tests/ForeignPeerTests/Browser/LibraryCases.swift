import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// Calls with landline.js, from the first to the last message.
enum LibraryCases {
  /// From the call to a path with keys; the fastest of some, since the machine has other work.
  private static let mostConnectMilliseconds = 100.0
  private static let speedCalls = 5

  static let cases: [PeerCase] = [
    LibraryCase.make("the test number", expected: "every word of the prompt, free, figures kept with the record") {
      try await prompt($0)
    },
    LibraryCase.make("how fast a call is", expected: "connected within \(mostConnectMilliseconds) ms") {
      try await speed($0)
    },
    LibraryCase.withSIPp(
      "SIPp answers", "gateway-answers", expected: "headers, sound and money as with any app"
    ) { page, sipp in try await answered(page, sipp) },
    LibraryCase.withSIPp(
      "holds and takes back", "gateway-is-held", expected: "sendonly, then sendrecv at the trunk; silence meanwhile"
    ) { page, sipp in try await held(page, sipp) },
    LibraryCase.make("keys, mute and hold", expected: "keys echoed once each, silence while muted and held") {
      try await handled($0)
    },
    LibraryCase.make("failures", expected: "a typed error each, with the other side's status") {
      try await failures($0)
    },
    LibraryCase.make("mistakes in arguments", expected: "refused with rule and place before anything is sent") {
      try await mistakes($0)
    },
    LibraryCase.make("a microphone of the page's own, and none", expected: "the page's stays open; none is muted") {
      try await microphones($0)
    },
    LibraryCase.make(
      "a thin uplink", expected: "8 kb/s at once, the 24 kb/s that were agreed again when the gateway reports no loss"
    ) {
      try await thinned($0)
    },
    LibraryCase.withSIPp(
      "a thin downlink", "gateway-answers",
      expected: "it is sent less within \(mostThinSeconds) s, long before RTCP tells, and all again without loss"
    ) { page, _ in try await starved(page) },
    LibraryCase.make("hung up at every moment", expected: "ends, wherever it stood") { try await hungUp($0) },
  ]

  // MARK: Heard

  private static func prompt(_ page: LibraryPage) async throws -> String {
    try await SoundJudge.shared.prepare()
    try await page.connected()
    let listened = try await Listening.during {
      (call: try await page.established("+46000000000"), end: try await page.ended())
    }
    let (call, end) = listened.value
    try require(end.text("cause") == "hungUp" && end.text("error.code") == nil, "it ends by itself: \(end)")
    try require(end.number("cost_micro") == 0 && end.text("cost") != nil, "free: \(end)")
    let file = page.peer.folder.url.appendingPathComponent("heard.wav")
    _ = try await page.peer.ask("save", ["file": file.path], for: "saved")
    let said = try await SoundControl.words(
      of: file, expected: BrowserCase.prompt, listened.lateness, listened.seconds, as: .chromium)
    try await page.gateway.uncharged(call, page.payer)
    let records = try page.gateway.stores(page.payer.environment).records
    let figures = try await Deadline(seconds: 5).first("the page's figures", everyMilliseconds: 20) {
      let figures = try await records.record(CallID(unchecked: call))?.clientStatistics ?? [:]
      return figures.isEmpty ? nil : figures
    }
    try require(figures["packetsReceived"] ?? 0 > 50, "packets of the prompt: \(figures)")
    return "\(said), \(figures.count) figures kept"
  }

  /// bit/s on the wire: less than any step needs in packets of 20 ms.
  private static let thinLink = 25_000

  private static func thinned(_ page: LibraryPage) async throws -> String {
    func sends(_ rate: Double, within seconds: Double) async throws -> Double {
      let start = ContinuousClock.now
      _ = try await Deadline(seconds: seconds).first("\(Int(rate)) bit/s", everyMilliseconds: 100) { () -> Bool? in
        try await page.peer.ask("uplink", for: "uplink").number("rate") == rate ? true : nil
      }
      return start.duration(to: .now) / .seconds(1)
    }
    try await page.connected()
    let call = try await page.established("+46000000202")
    _ = try await page.peer.ask("carry", ["rate": thinLink], for: "carrying")
    let down = try await sends(8_000, within: 10)
    // Step by step, by the gateway's own reports: two seconds and a report for each of four.
    _ = try await page.peer.ask("carry", for: "carrying")
    let up = try await sends(24_000, within: 60)
    try await page.hangUp()
    _ = try await page.ended()
    try await page.gateway.uncharged(call, page.payer)
    return "down in \(down) s, up in \(up) s"
  }

  /// Until the gateway tells that it sends less: two looks of the library, a second apart, and the gateway's own second.
  private static let mostThinSeconds = 4.0

  private static func starved(_ page: LibraryPage) async throws -> String {
    func told(_ isRaised: Bool, within seconds: Double) async throws -> Double {
      let start = ContinuousClock.now
      while true {
        let left = seconds - start.duration(to: .now) / .seconds(1)
        let warning = try await page.told("warning", within: max(0.01, left))
        if warning.text("warning") == "thin-link", warning.flag("raised") == isRaised { break }
      }
      return start.duration(to: .now) / .seconds(1)
    }
    try await page.connected()
    let call = try await page.established()
    _ = try await page.peer.ask("lose", ["loss": 0.4], for: "losing")
    let down = try await told(true, within: mostThinSeconds)
    _ = try await page.peer.ask("lose", ["loss": 0], for: "losing")
    let up = try await told(false, within: 30)
    _ = try await page.peer.ask("lose", for: "losing")
    try await page.hangUp()
    return "less in \(down) s, all in \(up) s, "
      + (try await page.gateway.charged(try await page.ended(), call, page.payer))
  }

  private static func speed(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    let listened = try await Listening.during {
      var connected: [Double] = []
      var heard: [Double] = []
      for _ in 0..<speedCalls {
        try await page.call("+46000000000")
        heard.append(try await page.peer.event("heard").number("milliseconds") ?? .infinity)
        try await page.told("ended")
        let over = try await page.peer.event("over")
        guard let start = over.number("started"), let time = over.number("times.connected") else {
          throw PeerFailure("it was connected: \(over)")
        }
        connected.append(time - start)
      }
      return (connected: connected.sorted(), heard: heard.sorted())
    }
    let (connected, heard) = listened.value
    let text =
      "connected after \(rounded(connected.first)) to \(rounded(connected.last)) ms, "
      + "heard after \(rounded(heard.first)) to \(rounded(heard.last)) ms"
    try ListeningCase.judge(
      Heard(
        [.init("milliseconds to connect", connected.first, 0...mostConnectMilliseconds)], lateness: listened.lateness,
        seconds: listened.seconds))
    return text
  }

  private static func answered(_ page: LibraryPage, _ sipp: SIPpPeer) async throws -> String {
    try await page.connected()
    let call = try await page.established(
      GatewayRate.number,
      ["headers": ["x-order": "4711", "x-note": "two words"], "caller": GatewayRate.caller])
    let invite = sipp.message("INVITE", wasReceived: true)?.message
    try require(invite?["x-order"] == "4711" && invite?["x-note"] == "two words", "the page's headers in the INVITE")
    try require(invite?["From"]?.contains(GatewayRate.caller) == true, "the caller's number is shown")
    let ringing = try await page.told("ringing")
    try require(ringing.text("headers.X-Ringing") == "one eighty", "the header of the 180: \(ringing)")
    let accepted = try await page.told("accepted")
    try require(accepted.text("headers.X-Answer") == "two hundred", "the header of the 200: \(accepted)")
    let price = try await page.told("price")
    try require(price.number("rate_per_minute_nano") == 600_000_000, "the price: \(price)")
    try await page.hears(LibraryPage.tone, "the echo of the page's own tone")
    let quality = try await page.told("quality")
    try require(quality.number("sent.mos") ?? 0 > 1, "how it sounds: \(quality)")
    try await page.hangUp()
    let end = try await page.ended()
    try require(end.text("cause") == "hungUp" && end.text("error.code") == nil, "hung up: \(end)")
    return try await page.gateway.charged(end, call, page.payer)
  }

  private static func held(_ page: LibraryPage, _ sipp: SIPpPeer) async throws -> String {
    try await page.connected()
    let call = try await page.established()
    try await page.hears(LibraryPage.tone, "the echo")
    for (number, isHeld) in [true, false].enumerated() {
      try await page.ask("hold", [isHeld])
      _ = try await Deadline(seconds: 10).first("ACK of the re-INVITE", everyMilliseconds: 20) { () -> Bool? in
        let acks = sipp.messages.filter { $0.wasReceived && $0.message.method == "ACK" }
        return Set(acks.compactMap { $0.message["CSeq"] }).count >= number + 2 ? true : nil
      }
      try await page.hears(isHeld ? LibraryPage.silence : LibraryPage.tone, isHeld ? "nothing" : "the echo again")
    }
    try await page.hangUp()
    return try await page.gateway.charged(try await page.ended(), call, page.payer)
  }

  private static func handled(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    let call = try await page.established("+46000000202")
    // It says so first, and echoes afterwards.
    try await page.hears(LibraryPage.tone, "the echo")
    try await page.ask("sendDigits", ["12#A"])
    for key in "12#A" {
      let digit = try await page.told("digit")
      try require(digit.text("digit") == String(key), "\(key): \(digit)")
    }
    for (method, isOn) in [("mute", true), ("mute", false), ("hold", true), ("hold", false)] {
      try await page.ask(method, [isOn])
      let streams = try await page.peer.ask("streams", for: "streams")
      try require(streams.flag("enabled") == !isOn, "the microphone's track: \(streams)")
      try await page.hears(isOn ? LibraryPage.silence : LibraryPage.tone, "\(method) \(isOn)")
    }
    let thrice = try await page.peer.ask("twoHolds", for: "held-thrice")
    try require(thrice.text("outcome") == "fulfilled fulfilled fulfilled", "one after the other: \(thrice)")
    try require(thrice.flag("held") == true, "the last one stands: \(thrice)")
    try await page.ask("hold", [false])
    try await page.hears(LibraryPage.tone, "the echo at last")
    try await page.hangUp()
    _ = try await page.ended()
    try require(page.count("call-digit") == 4, "each key once: \(page.count("call-digit"))")
    try await page.gateway.uncharged(call, page.payer)
    return "keys, mute and hold as asked"
  }

  // MARK: Refused

  private struct Failure: Sendable {
    let target: String
    var values: [String: any Sendable] = [:]
    let code: String
    var status: Double?
  }

  private static let failed: [Failure] = [
    Failure(target: "+46000000404", code: "sip.unallocated", status: 404),
    Failure(target: "+46000000480", code: "sip.unreachable", status: 480),
    Failure(target: "+46000000486", code: "sip.busy", status: 486),
    Failure(target: "+46000000503", code: "sip.congestion", status: 503),
    Failure(target: "+46000000603", code: "sip.declined", status: 603),
    Failure(target: "+46000000402", code: "gw.funds", status: 402),
    Failure(target: "+999123456", code: "gw.number", status: 484),
    Failure(target: "bob", values: ["kind": "user"], code: "gw.userUnknown", status: 404),
    Failure(target: "bob@127.0.0.2", values: ["kind": "sip"], code: "gw.policy"),
  ]

  private static func failures(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    for row in failed {
      let end = try await page.failed(row.target, row.values)
      try require(end.text("error.code") == row.code, "\(row.code) of \(row.target): \(end)")
      if let status = row.status {
        try require(end.number("error.sip_status") == status, "\(status) of \(row.target): \(end)")
      }
      try require(end.text("failure.code") == row.code && end.text("error.retry") != nil, "with advice: \(end)")
    }
    try await page.gateway.uncharged(nil, page.payer)
    return failed.map(\.code).joined(separator: ", ")
  }

  private static let long = String(repeating: "a", count: 600)
  private static let refused: [Failure] = [
    Failure(target: "", code: "gw.number e164.plus 0"),
    Failure(target: "0701234567", code: "gw.number e164.plus 0"),
    Failure(target: "+46 70", code: "gw.number e164.digit 3"),
    Failure(target: "+0701234567", code: "gw.number e164.first 1"),
    Failure(target: "+46701", code: "gw.number e164.short 6"),
    Failure(target: "+4670123456789012", code: "gw.number e164.long 16"),
    Failure(target: "bob", values: ["kind": "sip"], code: "gw.address sip.at none"),
    Failure(target: "two words", values: ["kind": "user"], code: "gw.address user.character 3"),
    Failure(
      target: String(repeating: "r", count: 65), values: ["kind": "conference"], code: "gw.address conference.long 64"),
    Failure(target: "+46000000000", values: ["kind": "fax"], code: "gw.message message.value none"),
    Failure(target: "+46000000000", values: ["headers": ["order": "1"]], code: "gw.header header.prefix 0"),
    Failure(target: "+46000000000", values: ["headers": ["x-a b": "1"]], code: "gw.header header.name none"),
    Failure(target: "+46000000000", values: ["headers": ["x-a": "1\r\n2"]], code: "gw.header header.value none"),
    Failure(target: "+46000000000", values: ["headers": ["x-a": " 1"]], code: "gw.header header.blank none"),
    Failure(
      target: "+46000000000", values: ["headers": ["x-a": "1", "X-A": "2"]], code: "gw.header header.duplicate none"),
    Failure(
      target: "+46000000000", values: ["headers": ["x-a": long, "x-b": long]], code: "gw.header header.budget none"),
  ]

  private static func mistakes(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    for row in refused {
      let end = try await page.failed(row.target, row.values)
      let offset = end.number("error.offset").map { String(Int($0)) } ?? "none"
      let found = [end.text("error.code") ?? "", end.text("error.rule") ?? "", offset].joined(separator: " ")
      try require(found == row.code, "\(row.code) of \(row.target) \(row.values), not \(found)")
    }
    let messages = try await page.peer.ask("messages", for: "messages")
    try require(messages.number("sent.call") == nil, "no call is sent: \(messages)")
    for (values, word) in [(["url": "http://127.0.0.1/v1/connect?token=1"], "query"), (["key": ""], "applicationKey")] {
      let secret = ["key": page.payer.key, "secret": GatewayPayer.secret]
      let refusal = try await page.peer.ask("client", secret.merging(values) { $1 }, for: "refused")
      try require(
        refusal.text("name") == "TypeError" && refusal.text("message")?.contains(word) == true, "\(word): \(refusal)")
    }
    return "\(refused.count) refusals with rule and place"
  }

  // MARK: Around a call

  private static func microphones(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    _ = try await page.peer.ask("microphone", for: "microphone")
    _ = try await page.established("+46000000202", ["microphone": "stream"])
    let during = try await page.peer.ask("streams", for: "streams")
    try require(during.text("given") == "live" && during.text("own") == "live", "a clone is sent: \(during)")
    try await page.hangUp()
    _ = try await page.ended()
    let after = try await page.peer.ask("streams", for: "streams")
    try require(after.text("given") == "live" && after.text("own") == "ended", "the clone ends: \(after)")
    _ = try await page.peer.ask("release", for: "released")

    _ = try await page.established("+46000000202", ["microphone": false])
    let none = try await page.peer.ask("streams", for: "streams")
    try require(none.text("own") == nil && none.flag("muted") == true, "no microphone, and the gateway knows: \(none)")
    try await page.ask("useMicrophone", [true])
    try await page.ask("mute", [false])
    try await page.hears(LibraryPage.tone, "the microphone that came later")
    try await page.hangUp()
    _ = try await page.ended()
    let messages = try await page.peer.ask("messages", for: "messages")
    try require(messages.number("sent.mute") == 2, "told once each: \(messages)")
    return "the page's own, none, and one later"
  }

  private static func hungUp(_ page: LibraryPage) async throws -> String {
    try await page.client()
    // Before there is a connection.
    try await page.call("+46000000180")
    try await page.hangUp()
    try require(try await page.ended().text("cause") == "canceled", "canceled before it is connected")
    _ = try await page.peer.ask("connect", for: "connected")
    // On its way.
    try await page.call("+46000000180")
    try await page.hangUp()
    try require(try await page.ended().text("cause") == "canceled", "canceled on its way")
    // While it rings.
    try await page.call("+46000000180")
    try await page.told("ringing")
    try await page.hangUp()
    try require(try await page.ended().text("cause") == "canceled", "canceled while it rings")
    // The whole client ends, and waits for the costs.
    let call = try await page.established("+46000000202")
    let stopped = try await page.peer.ask("stopGracefully", for: "stopped")
    try require(stopped.text("state") == "stopped", "stopped: \(stopped)")
    let end = try await page.ended()
    try require(end.text("cause") == "hungUp" && end.text("cost") != nil, "with its cost: \(end)")
    try await page.isEmpty()
    try await page.call("+46000000202")
    let late = try await page.ended()
    try require(late.text("error.code") == "network.unreachable", "no call after the end: \(late)")
    try await page.gateway.uncharged(call, page.payer)
    return "canceled, canceled, canceled, hungUp"
  }
}
