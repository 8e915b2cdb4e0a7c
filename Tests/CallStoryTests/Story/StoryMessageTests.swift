import CallModel
import CallStory
import Testing

@Suite("A story of messages that are no good")
struct StoryMessageTests {
  /// The story of a trace with these messages of one dialog, each received a millisecond after the other.
  private func story(_ messages: [[UInt8]], fromGateway: Set<Int> = []) -> CallStory {
    var recorder = CallTraceRecorder(call: "A", startedAt: 0)
    recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "t"))
    for (index, bytes) in messages.enumerated() {
      recorder.message(
        bytes, of: "x", isSent: fromGateway.contains(index), transport: "udp", local: "127.0.0.1:1",
        remote: "127.0.0.1:2", at: Int64(index) * 1000)
    }
    return CallStory.tell(CallStorySources(trace: recorder.trace))
  }

  @Test("Garbage has a row that says so, and is told as a gap")
  func garbage() {
    let story = story([
      [], [0xFF, 0xC3, 0x28], Array("SIP/2.0".utf8), Array("SIP/2.0 99 Low\r\n\r\n".utf8), Array("\u{1B}[31mred".utf8),
      Array("SIP/2.0 200\r\nCSeq: 1 INVITE\r\n".utf8),
    ])
    #expect(story.ladder.count == 6)
    #expect(story.ladder.prefix(5).allSatisfy { $0.label.hasPrefix("no SIP message") })
    #expect(story.ladder[5].label == "200 ")
    #expect(!story.ladder[4].label.contains("\u{1B}"))
    #expect(story.gaps.contains { $0.hasPrefix("5 messages cannot be read") })
    #expect(!story.text(width: 80, isMasked: false).contains("\u{1B}"))
  }

  @Test("Headers may be missing, folded, short, doubled or far too many")
  func headers() {
    let many = String(repeating: "X-Y: z\r\n", count: 5000)
    let story = story([
      Array("INVITE sip:a SIP/2.0\r\n\r\n".utf8), Array("sip/2.0 486 Busy\r\nCSeq: x INVITE\r\n\r\n".utf8),
      Array("INVITE sip:a SIP/2.0\r\n\(many)\r\n".utf8),
      Array("SIP/2.0 488 No\r\nCSeq:\r\n 7\r\n\tinvite\r\nc: application/sdp\r\n\r\nv=0".utf8),
      Array("\r\n\r\n".utf8), Array(": :\r\n::\r\n".utf8),
    ])
    #expect(
      story.ladder.map(\.label) == [
        "INVITE", "486 Busy", "INVITE", "488 No (SDP)", "no SIP message", "no SIP message: : :",
      ])
    #expect(story.ladder.map(\.isFailure) == [false, true, false, true, false, false])
    #expect(story.descriptions.first?.summary.hasPrefix("cannot be read") ?? false)
  }

  @Test("A description is found in one part of several")
  func multipart() {
    let description = Scenario.description(["8 PCMA/8000"])
    let body =
      "--b\r\nContent-Type: application/sdp\r\n\r\n\(description)\r\n--b\r\nContent-Type: x/y\r\n\r\nz\r\n--b--\r\n"
    let message = "INVITE sip:a SIP/2.0\r\nCSeq: 1 INVITE\r\nContent-Type: multipart/mixed;boundary=b\r\n\r\n\(body)"
    let story = story([Array(message.utf8)], fromGateway: [0])
    #expect(story.descriptions.map(\.summary) == ["PCMA \u{B7} RTP \u{B7} 20 ms"])
    #expect(story.descriptions.map(\.role) == ["offer"])
  }

  @Test("An offer in the 200 has its answer in the ACK")
  func lateOffer() {
    let offer = Scenario.description(["0 PCMU/8000", "8 PCMA/8000"])
    let answer = Scenario.description(["8 PCMA/8000"])
    let messages = [
      Scenario.message(Scenario.invite, callID: "x", cseq: "1 INVITE"),
      Scenario.message("SIP/2.0 200 OK", callID: "x", cseq: "1 INVITE", body: offer),
      Scenario.message("ACK sip:a SIP/2.0", callID: "x", cseq: "1 ACK", body: answer),
    ]
    let story = story(messages, fromGateway: [0, 2])
    #expect(story.descriptions.map(\.role) == ["offer", "answer"])
    #expect(story.descriptions.map(\.from) == ["t", "gateway"])
    #expect(story.codecs?.reasons == ["Trunk t offered PCMU, PCMA.", "The gateway answered with PCMA."])
  }

  @Test("The same answer in a 183 and in the 200 is told once; a new offer is a new one")
  func repeatedAnswer() {
    let offer = Scenario.description(Scenario.allCodecs)
    let answer = Scenario.description(["8 PCMA/8000"])
    let messages = [
      Scenario.message(Scenario.invite, callID: "x", cseq: "1 INVITE", body: offer),
      Scenario.message("SIP/2.0 183 Session Progress", callID: "x", cseq: "1 INVITE", body: answer),
      Scenario.message("SIP/2.0 200 OK", callID: "x", cseq: "1 INVITE", body: answer),
      Scenario.message(Scenario.invite, callID: "x", cseq: "2 INVITE", body: offer),
      Scenario.message("SIP/2.0 488 Not Acceptable Here", callID: "x", cseq: "2 INVITE"),
    ]
    let story = story(messages, fromGateway: [0, 3])
    #expect(story.descriptions.map(\.role) == ["offer", "answer", "offer"])
    // What was agreed before stays in force.
    #expect(story.codecs?.reasons.contains("Its answer has G.711 A-law (PCMA) only.") ?? false)
  }

  @Test("Hostile text of every kind is told in lines within the width")
  func hostileText() {
    let wide = String(repeating: "\u{5BBD}\u{301}", count: 300)
    var recorder = CallTraceRecorder(call: wide, startedAt: 0)
    for index in 0..<9 { recorder.dialog(.init(sipCallID: "\(index)", side: .far, trunk: wide)) }
    recorder.line("call", wide, description: "v=0\r\n" + wide, isFromApp: true, at: 1)
    recorder.line(wide, "\u{202E}evil\u{0}", isFromApp: false, at: 2)
    recorder.note(.mediaFailed, side: .far, wide, at: 3)
    for index in 0..<9 {
      recorder.message(
        Array("INVITE sip:\(wide) SIP/2.0\r\nCSeq: 1 INVITE\r\n\r\n".utf8), of: "\(index)", isSent: true,
        transport: wide, local: wide, remote: wide, at: 4)
    }
    let trace = recorder.trace
    let story = CallStory.tell(CallStorySources(trace: trace, trunks: [wide: Scenario.facts]))
    for width in [-5, 0, 60, 61, 80, 200, 100_000] {
      let text = story.text(width: width, isMasked: width.isMultiple(of: 2))
      let limit = min(max(width, 60), 240)
      for line in text.split(separator: "\n") { #expect(columns(line) <= limit, "\(line)") }
      #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x202E })
    }
    #expect(!trace.capture().isEmpty)
  }

  private func columns(_ line: Substring) -> Int {
    line.unicodeScalars.map { $0.value == 0x301 ? 0 : $0.value >= 0x2E80 ? 2 : 1 }.reduce(0, +)
  }
}
