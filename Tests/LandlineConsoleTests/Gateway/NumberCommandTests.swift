import Foundation
import Glibc
import PeerKit
import Testing

@Suite("landline number: where calls of trunks lead", .serialized)
struct NumberCommandTests {
  @Test("dev has a number that leads to the first page's user, and a command changes it")
  func changes() async throws {
    let gateway = try await GatewayProcess.dev()
    let list = try await gateway.run(["number", "list"])
    #expect(list.status == 0 && list.output.contains("+46850000536") && list.output.contains("user:alice"), "\(list)")
    let set = try await gateway.run(["number", "set", "+46850000536", "--user", "bob"])
    #expect(set.status == 0 && set.output.contains("user:bob, rings 45s"), "\(set)")

    // In the order in which they were typed; what is not named stays.
    let many = try await gateway.run([
      "number", "set", "+46850000536", "--sip", "front@pbx.example.com", "--user", "eve", "--phone", "070-123 45 67",
    ])
    #expect(many.status == 2 && many.diagnostics.contains("targets[2].target"), "\(many)")
    let ordered = try await gateway.run([
      "number", "set", "+46850000536", "--sip", "front@pbx.example.com", "--user=eve", "--phone", "+46 70-123 45 67",
      "--ring", "20s", "--channels", "3", "--no-answer", "486", "--answer-first", "--block", "+4670", "--block", "+1",
      "--refuse-anonymous", "--record", "opus", "--no-record-announced", "--json",
    ])
    #expect(ordered.status == 0, "\(ordered)")
    for part in [
      #""targets":[{"kind":"sip","target":"front@pbx.example.com","ring_seconds":20"#,
      #"{"kind":"user","target":"eve","ring_seconds":20"#,
      #"{"kind":"phone","target":"+46701234567","ring_seconds":20"#,
      #""no_answer":486,"channels":3,"answer_first":true,"refuse_anonymous":true,"blocked":["+4670","+1"],"record":"opus","record_announced":false"#,
      #""configured_at":null"#,
    ] { #expect(ordered.output.contains(part), "\(part): \(ordered.output)") }
    let off = try await gateway.run([
      "number", "set", "+46850000536", "--inactive", "--block", "none", "--channels", "any", "--no-answer-first",
      "--record", "off", "--json",
    ])
    #expect(
      off.output.contains(#""active":false"#) && off.output.contains(#""target":"eve","ring_seconds":20"#)
        && off.output.contains(
          #""no_answer":486,"channels":null,"answer_first":false,"refuse_anonymous":true,"blocked":[],"record":null"#),
      "\(off)")
    let shown = try await gateway.run(["number", "show", "+46850000536", "--json"])
    #expect(shown.output == off.output)
    let pages = try await gateway.run(["number", "list", "--ndjson"])
    #expect(pages.output.split(separator: "\n").count == 1 && pages.output.contains(#""active":false"#), "\(pages)")

    let removed = try await gateway.run(["number", "remove", "+46850000536", "--json"])
    #expect(removed.output == "{\"number\":\"+46850000536\",\"removed\":true}\n", "\(removed)")
    for command in [["show", "+46850000536"], ["remove", "+46850000536"]] {
      let gone = try await gateway.run(["number"] + command)
      #expect(gone.status == 3 && gone.diagnostics.contains("the environment has no such number"), "\(gone)")
    }
  }

  @Test(
    "what is wrong is named, with its exit status",
    arguments: [
      (["+46850000536", "--no-answer", "404"], 2, "no_answer: not a status"),
      (["+46850000536", "--user", "b b"], 2, "targets[0].target"),
      (["+46850000536", "--application", "fone"], 2, "demo"),
      (["+46850000536", "--account", "nobody"], 2, "there is no account nobody"),
      (["+46850000536", "--ring", "4s"], 2, "ring_seconds: out of range"),
      (["+46850000536", "--channels", "0"], 2, "not a number of calls"),
      (["+46850000536", "--block", "4670"], 2, "blocked[0]"),
      (["+46850000599", "--inactive"], 2, "nothing says where its calls lead"),
      (["+46000000404", "--user", "bob"], 2, "answers itself"),
      (["abc", "--user", "bob"], 2, "number"),
    ])
  func wrong(arguments: [String], status: Int32, words: String) async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.run(["number", "set"] + arguments)
    #expect(result.status == status && result.diagnostics.contains(words), "\(result)")
  }

  @Test("a number of the configuration is changed there, and the error says where")
  func configured() async throws {
    let home = try CleanHome()
    let made = try await home.shell(
      """
      landline init own --http-bind 127.0.0.1:0 && \
      sed -i 's|:5060"|:15068"|; s|port: 10000|port: 0|; s|^    operators:|    numbers:\\n      "+46850000537": {user: bob}\\n    operators:|' own/landline.yaml
      """)
    #expect(made.status == 0, "\(made)")
    let (gateway, entry) = try await home.gateway("landline serve --config own/landline.yaml")
    defer { gateway.end() }
    let list = try await home.run(["number", "list", "--json"])
    #expect(list.output.contains(#""configured_at":"environments.production.numbers.+46850000537""#), "\(list)")
    for command in [["set", "+46850000537", "--user", "eve"], ["remove", "+46850000537"]] {
      let refused = try await home.run(["number"] + command)
      #expect(refused.status == 5, "\(refused)")
      for word in ["environments.production.numbers.+46850000537", "own/landline.yaml"] {
        #expect(refused.diagnostics.contains(word), "\(word): \(refused.diagnostics)")
      }
    }
    // Beside it, one that is kept over a restart; and a reload that takes the configured one away.
    #expect(try await home.run(["number", "set", "+46850000538", "--user", "eve"]).status == 0)
    _ = try await home.shell("sed -i 's|46850000537\": {user: bob}|46850000537\": {user: al}|' own/landline.yaml")
    kill(entry.process, SIGHUP)
    _ = try await Deadline(seconds: 10).first("a reload") {
      try await home.run(["number", "show", "+46850000537"]).output.contains("user:al") ? true : nil
    }
    kill(entry.process, SIGTERM)
    #expect(try await gateway.exited(within: 10) == 0)
    let (again, second) = try await home.gateway("landline serve --config own/landline.yaml")
    defer { again.end() }
    let kept = try await home.run(["number", "list"])
    #expect(kept.output.contains("+46850000538") && kept.output.contains("user:eve"), "\(kept)")
    kill(second.process, SIGTERM)
    #expect(try await again.exited(within: 10) == 0)
  }

  @Test("the far end calls a number, and whom it leads to answers")
  func called() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      until_in() { for n in $(seq 400); do grep -q "$2" "$1" && return; sleep 0.02; done; }
      landline number set +46850000536 --user bob > /dev/null
      landline answer --user bob --ring 300ms --calls 1 > answer.txt & answer=$!
      until_in answer.txt registered
      landline call --inbound +46850000536 --from +46702222222 --for 1s --record heard.wav > call.txt
      echo "call $?"
      wait $answer
      echo "answer $?"
      landline call --inbound +46850000599 --expect-sip 404 > /dev/null
      echo "unknown $?"
      landline number set +46850000536 --refuse-anonymous > /dev/null
      landline call --inbound +46850000536 --from anonymous --json > refused.txt
      echo "anonymous $?"
      cat call.txt answer.txt refused.txt
      """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.prefix(4) == ["call 0", "answer 0", "unknown 0", "anonymous 10"], "\(result)")
    for words in [
      "calling       +46850000536 from the far end, as +46702222222", "ringing       180 Ringing", "answered",
      "established   sound flows", "ended         hung up after 1.", "record   heard.wav", "story    landline explain ",
      "incoming      phone +46702222222",
    ] { #expect(lines.contains { $0.contains(words) }, "\(words): \(result.output)") }
    #expect(lines.last?.contains(#""sip_status":433"#) == true, "\(result.output)")
    #expect(lines.last?.contains(#"{"call":""#) == true, "a refused call has a story as well: \(result.output)")
    let heard = try Data(contentsOf: gateway.folder.url.appendingPathComponent("heard.wav"))
    #expect(heard.count > 8_000 && heard.prefix(4) == Data("RIFF".utf8))
  }

  @Test(
    "a call that cannot be ordered so is refused before it is asked for",
    arguments: [
      ["call"], ["call", "bob", "--inbound", "+46850000536"], ["call", "--inbound", "+46850000536", "--keys", "1"],
      ["call", "--inbound", "abc"], ["call", "--inbound", "+46850000536", "--for", "x"],
      ["call", "--inbound", "+46850000536", "--from", "nobody"],
      ["call", "--inbound", "+46850000536", "--expect-sip", "200"],
    ])
  func misordered(arguments: [String]) async throws {
    let home = try CleanHome()
    #expect(try await home.run(arguments).status == 2)
  }
}
