import Foundation
import PeerKit

/// Every page as people see it, and as those do who see, hear or point in other ways.
enum PageLookCases {
  static let cases: [PeerCase] = [
    BrowserCase.make(
      "every page, light and dark, wide and narrow", expected: "axe-core finds nothing; no picture is blank or cut off",
      hasTelephone: true
    ) { peer, gateway, _ in
      try FileManager.default.createDirectory(at: BrowserCase.pictures, withIntermediateDirectories: true)
      let stranger = try await BrowserWindow(peer, gateway)
      var looks = Looks()
      try await looks.inspect(stranger, "/", "sign-in")
      try await looks.inspect(stranger, "/errors/sip.busy", "error")
      try await stranger.run("end")

      let caller = try await BrowserWindow(peer, gateway, as: .owner)
      let failed = try await caller.run("refused", ["number": "+46000000486", "code": "sip.busy"])
      try await looks.inspect(caller, nil, "phone-failed")
      let watcher = try await BrowserWindow(peer, gateway, as: .operations, at: "/calls")
      let call = try await caller.call("+46000000202")
      try await caller.run("sounded")
      try await looks.inspect(caller, nil, "phone-in-call")
      try await looks.inspect(watcher, "/calls", "calls-live")
      try await looks.inspect(watcher, "/calls/\(call)", "call-live")
      try await caller.run("hang-up")
      _ = try await caller.ended(call)
      _ = try await gateway.record(call, in: "sandbox")
      for (path, name) in [
        ("/", "phone"), ("/account", "account"), ("/calls", "calls"), ("/calls/\(call)", "call-finished"),
        ("/calls/\(failed.text("call") ?? "")", "call-failed"), ("/conferences", "conferences"),
        ("/numbers", "numbers"), ("/trunks", "trunks"),
        ("/calls/none", "call-unknown"),
      ] { try await looks.inspect(watcher, path, name) }
      // A call that never was is asked for on purpose.
      let bytes = try await watcher.close(allowing: ["status of 404 .*/v1/calls/none/"])
      try await caller.close()
      try require(looks.complaints.isEmpty, looks.complaints.joined(separator: "\n"))
      return "\(looks.pictures) pictures, \(bytes) bytes of all pages"
    }
  ]

  private struct Looks {
    var complaints: [String] = []
    var pictures = 0

    mutating func inspect(_ window: BrowserWindow, _ path: String?, _ name: String) async throws {
      var values: [String: any Sendable] = ["name": name, "folder": BrowserCase.pictures.path]
      if let path { values["path"] = path }
      let seen = try await window.run("look", values)
      complaints += seen.texts("complaints")
      pictures += seen.count("pictures")
      try require(seen.text("title")?.isEmpty == false, "\(name) has a title")
    }
  }
}
