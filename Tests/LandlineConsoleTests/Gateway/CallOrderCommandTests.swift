import Foundation
import PeerKit
import Testing

@Suite("landline calls: hands on a call that is up", .serialized)
struct CallOrderCommandTests {
  @Test("a side is muted, has to wait, hears keys and is transferred; the call is ended for a cause")
  func orders() async throws {
    let gateway = try await GatewayProcess.dev()
    let script = """
      landline call +46701234567 --for 60s > call.txt 2>&1 &
      for n in $(seq 400); do grep -q established call.txt && break; sleep 0.02; done
      landline calls mute last called --json
      landline calls mute last called --off --json
      landline calls hold last caller
      landline calls hold last caller --off
      landline calls press last called '12#'
      landline calls transfer last called +46701234568
      landline calls hangup last --cause 17
      wait
      cat call.txt
      """
    let done = try await gateway.shell(script)
    #expect(done.output.contains(#""muted":["called"]"#) && done.output.contains(#""muted":[]"#), "\(done)")
    #expect(done.output.contains("12#") && done.output.contains("+46701234568"), "\(done)")
    #expect(done.output.contains("ended         hung up"), "\(done)")
  }

  @Test("something is said in a call and in a conference, and ended")
  func saying() async throws {
    let gateway = try await GatewayProcess.dev()
    let script = """
      landline call +46701234567 --for 60s > call.txt 2>&1 &
      for n in $(seq 400); do grep -q established call.txt && break; sleep 0.02; done
      landline calls say last 'Hello there.' --json
      landline calls say last --stop
      landline calls say last --sound absent
      landline calls hangup last
      wait
      landline call conf:said --for 60s > room.txt 2>&1 &
      for n in $(seq 400); do grep -q established room.txt && break; sleep 0.02; done
      landline conference say said 'Five minutes are left.' --json
      landline conference say said --stop
      landline conference end said
      wait
      """
    let done = try await gateway.shell(script)
    #expect(done.output.components(separatedBy: #""duration_ms":"#).count == 3, "\(done)")
    #expect(done.output.components(separatedBy: "yes").count >= 4, "\(done)")
    #expect(done.diagnostics.contains("has no folder of sounds"), "\(done)")
    let wrong = try await gateway.run(["calls", "say", "last", "words", "--stop"])
    #expect(wrong.status == 2 && wrong.diagnostics.contains("one of a text"), "\(wrong)")
  }

  @Test(
    "what is wrong is named, with its exit status",
    arguments: [
      (["mute", "last", "left"], 2, "left"), (["press", "last", "called", "x"], 3, "call"),
      (["transfer", "last", "called", "conf:weekly"], 2, "conference"),
    ])
  func wrong(_ arguments: [String], _ status: Int32, _ words: String) async throws {
    let gateway = try await GatewayProcess.dev()
    let refused = try await gateway.run(["calls"] + arguments)
    #expect(refused.status == status && refused.diagnostics.contains(words), "\(refused)")
  }
}
