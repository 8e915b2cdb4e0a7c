import Foundation
import PeerKit
import Testing

@Suite("landline answer: calls for a user", .serialized)
struct AnswerCommandTests {
  /// A shell's function: waits until a file has a word.
  private static let wait = "until_in() { for n in $(seq 400); do grep -q \"$2\" \"$1\" && return; sleep 0.02; done; }"

  @Test("who calls, what was heard, and how it ended")
  func answered() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      \(Self.wait)
      landline answer --user bob --device a --record heard.wav --calls 1 > answer.txt & answer=$!
      until_in answer.txt registered
      landline call bob --user alice --header 'id: 4711' > call.txt & call=$!
      until_in answer.txt quality
      kill -INT $call
      wait $call
      echo "call $?"
      wait $answer
      echo "answer $?"
      cat answer.txt
      """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.prefix(2) == ["call 130", "answer 0"], "\(result)")
    #expect(lines.contains { $0.contains("registered    bob on a, listening") }, "\(result.output)")
    #expect(lines.contains { $0.contains("incoming      user alice  id: 4711") }, "\(result.output)")
    for word in ["answered", "established   sound flows", "ended         hung up after "] {
      #expect(lines.contains { $0.contains(word) }, "\(word): \(result.output)")
    }
    #expect(lines.last == "record   heard.wav")
    let heard = try Data(contentsOf: gateway.folder.url.appendingPathComponent("heard.wav"))
    #expect(heard.count > 44)
  }

  @Test("of two devices one answers, and the other is told by which")
  func elsewhere() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      \(Self.wait)
      landline answer --user bob --device a --ring 300ms --for 500ms --calls 1 > a.txt & a=$!
      landline answer --user bob --device b --ring 30s --calls 1 --ndjson > b.txt & b=$!
      until_in a.txt registered
      until_in b.txt registered
      landline call user:bob --user alice > call.txt
      echo "call $?"
      wait $a
      echo "a $?"
      wait $b
      echo "b $?"
      cat b.txt
      """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.prefix(3) == ["call 0", "a 0", "b 10"], "\(result)")
    #expect(lines.last?.contains(#""end_cause":"otherDeviceAnswered","by":"a""#) == true, "\(result.output)")
  }

  @Test("declined, busy, given up and never there: exit statuses for scripts")
  func declined() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      \(Self.wait)
      for way in decline busy; do
        landline answer --user bob --$way --calls 1 > $way.txt & answer=$!
        until_in $way.txt registered
        landline call bob --user alice > call-$way.txt
        echo "$way: call $?"
        wait $answer
        echo "$way: answer $?"
      done
      landline answer --user bob --ring 30s --calls 1 --json > missed.txt & answer=$!
      for n in $(seq 100); do
        landline call bob --user alice > call.txt & call=$!
        until_in call.txt 'ringing\\|failed'
        grep -q ringing call.txt && break
        wait $call
      done
      kill -INT $call
      wait $call
      echo "missed: call $?"
      wait $answer
      echo "missed: answer $?"
      landline call nobody --user alice > nobody.txt
      echo "unknown $?"
      cat call-decline.txt call-busy.txt missed.txt nobody.txt
      """)
    for line in [
      "decline: call 10", "decline: answer 0", "busy: call 10", "busy: answer 0", "missed: call 130",
      "missed: answer 10", "unknown 10",
    ] {
      #expect(result.output.contains(line + "\n"), "\(line): \(result)")
    }
    for word in ["gw.userDeclined", "gw.userBusy", "gw.userUnknown", #""missed":true"#, #""end_cause":"canceled""#] {
      #expect(result.output.contains(word), "\(word): \(result.output)")
    }
  }

  @Test("an interrupt ends the command and its call")
  func interrupted() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      \(Self.wait)
      set -m
      landline answer --user bob > answer.txt & answer=$!
      until_in answer.txt registered
      landline call bob --user alice > call.txt & call=$!
      until_in call.txt established
      kill -INT $answer
      wait $answer
      echo "answer $?"
      wait $call
      echo "call $?"
      cat answer.txt
      """)
    #expect(result.output.contains("answer 130\ncall 0\n"), "\(result)")
    #expect(result.output.contains("ended         hung up after "), "\(result.output)")
  }

  @Test("what cannot be asked is refused before anything is connected")
  func refusals() async throws {
    let gateway = try await GatewayProcess.dev()
    for arguments in [
      ["--decline", "--busy"], ["--calls", "0"], ["--ring", "soon"], ["--for", "0s"], ["--header", "desk"],
      ["--play", "missing.wav"], ["--device", "my phone"],
    ] {
      let result = try await gateway.run(["answer"] + arguments)
      #expect(result.status == 2, "\(arguments): \(result)")
      #expect(result.output.isEmpty, "\(arguments): \(result.output)")
    }
    let closed = try await gateway.run(["answer", "--url", "ws://127.0.0.1:1"])
    #expect(closed.status == 11, "\(closed)")
  }
}
