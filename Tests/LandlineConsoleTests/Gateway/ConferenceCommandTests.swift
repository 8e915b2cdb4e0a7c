import Foundation
import PeerKit
import Testing

@Suite("landline conference: who is in it, and what an operator does", .serialized)
struct ConferenceCommandTests {
  @Test("a telephone is called into a conference, muted, heard again and taken out; the conference is locked and ended")
  func manages() async throws {
    let gateway = try await GatewayProcess.dev()
    let none = try await gateway.run(["conference", "show", "weekly"])
    #expect(none.status == 3 && none.diagnostics.contains("nobody is in a conference of that id"), "\(none)")
    for number in ["+46701234567", "+46701234568"] {
      let added = try await gateway.run(["conference", "add", "weekly", number, "--json"])
      #expect(added.status == 0 && added.output.contains(#""conference":"weekly""#), "\(added)")
    }
    var shown = try await gateway.run(["conference", "show", "weekly"])
    for _ in 0..<200 where !(shown.output.contains("+46701234567") && shown.output.contains("+46701234568")) {
      shown = try await gateway.run(["conference", "show", "weekly"])
    }
    #expect(shown.output.contains("+46701234568"), "\(shown)")
    let list = try await gateway.run(["conference", "list"])
    #expect(list.status == 0 && list.output.contains("weekly"), "\(list)")
    let muted = try await gateway.run(["conference", "mute", "weekly", "2", "--json"])
    #expect(muted.status == 0 && muted.output.contains(#""muted":true"#), "\(muted)")
    let heard = try await gateway.run(["conference", "mute", "weekly", "2", "--off", "--json"])
    #expect(heard.status == 0 && heard.output.contains(#""muted":false"#), "\(heard)")
    let locked = try await gateway.run(["conference", "lock", "weekly", "--json"])
    #expect(locked.status == 0 && locked.output.contains(#""locked":true"#), "\(locked)")
    let kicked = try await gateway.run(["conference", "kick", "weekly", "2"])
    #expect(kicked.status == 0, "\(kicked)")
    let gone = try await gateway.run(["conference", "kick", "weekly", "2"])
    #expect(gone.status == 3 && gone.diagnostics.contains("landline conference show"), "\(gone)")
    let ended = try await gateway.run(["conference", "end", "weekly", "--json"])
    #expect(ended.output == "{\"conference\":\"weekly\",\"ended\":true}\n", "\(ended)")
    #expect(try await gateway.run(["conference", "show", "weekly"]).status == 3)
  }

  @Test(
    "what is wrong is named, with its exit status",
    arguments: [
      (["add", "weekly", "conf:other"], 2, "a conference cannot be added"),
      (["add", "weekly", "+4670"], 2, "number"),
      (["show", String(repeating: "r", count: 65)], 2, "64"),
      (["mute", "weekly", "1"], 3, "nobody is in a conference of that id"),
      (["end", "weekly", "--application", "none"], 2, "no application"),
    ])
  func wrong(_ arguments: [String], _ status: Int32, _ words: String) async throws {
    let gateway = try await GatewayProcess.dev()
    let refused = try await gateway.run(["conference"] + arguments)
    #expect(refused.status == status && refused.diagnostics.contains(words), "\(refused)")
  }
}
