import CallModel
import CallStory
import Testing

@Suite("What is kept of a call")
struct CallTraceRecorderTests {
  private func recorder() -> CallTraceRecorder {
    var recorder = CallTraceRecorder(call: "A", startedAt: 1_000_000)
    recorder.dialog(.init(sipCallID: "x", side: .far, trunk: "t"))
    return recorder
  }

  private func tell(_ recorder: inout CallTraceRecorder, _ bytes: [UInt8], isSent: Bool = true, of id: String = "x") {
    recorder.message(
      bytes, of: id, isSent: isSent, transport: "udp", local: "127.0.0.1:5060", remote: "127.0.0.1:5080", at: 1_500_000)
  }

  @Test("A dialog is known once; messages of another one are passed over")
  func dialogOnce() {
    var recorder = recorder()
    recorder.dialog(.init(sipCallID: "x", side: .near, trunk: nil))
    tell(&recorder, Array("OPTIONS".utf8), of: "y")
    #expect(recorder.trace.dialogs == [.init(sipCallID: "x", side: .far, trunk: "t")])
    #expect(recorder.trace.messages.isEmpty)
    #expect(recorder.trace.omittedMessages == 0)
  }

  @Test("The same bytes the same way are a repeated message")
  func repeated() {
    var recorder = recorder()
    for (text, isSent) in [("INVITE a", true), ("INVITE a", true), ("INVITE a", false), ("INVITE b", true)] {
      tell(&recorder, Array(text.utf8), isSent: isSent)
    }
    #expect(recorder.trace.messages.map(\.isRepeated) == [false, true, false, false])
    #expect(recorder.trace.messages.map(\.at) == [500_000, 500_000, 500_000, 500_000])
  }

  @Test("Two messages that differ in a secret alone are not the same")
  func differentSecrets() {
    var recorder = recorder()
    for response in ["11111111", "22222222"] {
      tell(&recorder, Array("Authorization: Digest response=\"\(response)\"\r\n".utf8))
    }
    #expect(recorder.trace.messages.map(\.isRepeated) == [false, false])
    #expect(Set(recorder.trace.messages.map(\.text)).count == 1)
  }

  @Test("Messages beyond a limit are counted only")
  func limits() {
    var recorder = recorder()
    for number in 0..<CallTrace.maximumMessages + 7 { tell(&recorder, Array("OPTIONS \(number)".utf8)) }
    #expect(recorder.trace.messages.count == CallTrace.maximumMessages)
    #expect(recorder.trace.omittedMessages == 7)
    for number in 0..<CallTrace.maximumLines + 3 { recorder.line("ringing", "\(number)", isFromApp: false, at: 0) }
    #expect(recorder.trace.lines.count == CallTrace.maximumLines)
    for _ in 0..<CallTrace.maximumNotes + 2 { recorder.note(.story, "x", at: 0) }
    #expect(recorder.trace.notes.count == CallTrace.maximumNotes)
    #expect(recorder.trace.omittedLines == 5)
    #expect(recorder.trace.lines.allSatisfy { $0.at == 0 })
    for number in 0..<CallTrace.maximumPlans * 2 {
      recorder.plan(
        .init(
          at: Int64(number), side: .near, codec: "opus", clockRate: 48_000, payloadType: 111, packetMilliseconds: 20,
          security: "DTLS-SRTP", direction: "sendrecv", remote: ""))
    }
    #expect(recorder.trace.plans.count == CallTrace.maximumPlans)
    #expect(recorder.trace.plans.last?.at == Int64(CallTrace.maximumPlans * 2 - 1))
    for number in 0..<CallTrace.maximumDialogs * 2 {
      recorder.dialog(.init(sipCallID: "\(number)", side: .far, trunk: nil))
    }
    #expect(recorder.trace.dialogs.count == CallTrace.maximumDialogs)
  }

  @Test("All bytes together stay within the limit, and one message within its own")
  func bytes() {
    var recorder = recorder()
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)
    for number in 0..<100 { tell(&recorder, Array("M\(number) ".utf8) + large) }
    let kept = recorder.trace.messages
    #expect(kept.allSatisfy { $0.text.utf8.count == CallTrace.maximumMessageBytes && $0.bytes > 60_000 })
    #expect(kept.map(\.text.utf8.count).reduce(0, +) <= CallTrace.maximumBytes)
    #expect(kept.count + recorder.trace.omittedMessages == 100)
    recorder.line("call", String(repeating: "y", count: 5000), description: "z", isFromApp: true, at: 0)
    #expect(recorder.trace.lines.isEmpty)
    #expect(recorder.trace.omittedLines == 1)
  }

  @Test("Of a long call seconds are thinned out evenly, and the last one is always there")
  func seconds() throws {
    var recorder = recorder()
    let direction = CallTrace.Direction(packets: 1, bytes: 1, lost: 0, lossRate: 0, jitter: 0, score: 4)
    for second in 0..<10_007 {
      for side in [LegID.near, .far] where side == .near || second < 100 {
        recorder.second(
          .init(at: Int64(second) * 1_000_000, side: side, received: direction, sent: direction, roundTrip: nil))
      }
      if second == 899 { #expect(recorder.trace.seconds.count { $0.side == .near } == 900) }
      if second == 901 { #expect(recorder.trace.seconds.count { $0.side == .near } == 452) }
    }
    let near = recorder.trace.seconds.filter { $0.side == .near }.map { $0.at / 1_000_000 }
    #expect(near.count <= CallTrace.maximumSeconds)
    #expect(near.last == 10_006)
    let gaps = Set(zip(near, near.dropFirst().dropLast()).map { $1 - $0 })
    #expect(gaps == [16])
    #expect(recorder.trace.seconds.count { $0.side == .far } == 100)
    #expect(recorder.trace.seconds.map(\.at) == recorder.trace.seconds.map(\.at).sorted())
  }

  @Test("Times before the start, and times that no clock has, are the start")
  func times() {
    let recorder = CallTraceRecorder(call: "A", startedAt: 5)
    #expect(recorder.offset(3) == 0)
    #expect(recorder.offset(.min) == 0)
    #expect(recorder.offset(7) == 2)
  }

  @Test("Bytes that are no text are kept as far as they can be read")
  func garbage() {
    var recorder = recorder()
    tell(&recorder, [0xFF, 0xFE, 0xC3, 0x28, 0x00, 0x0A, 0x41])
    tell(&recorder, [])
    #expect(recorder.trace.messages.count == 2)
    #expect(recorder.trace.messages[0].text.hasSuffix("\nA"))
    #expect(recorder.trace.messages[0].bytes == 7)
  }

  @Test("What comes every second is not a line")
  func passedOver() {
    var recorder = recorder()
    for type in ["quality", "report", "ping", "pong", "ringing"] { recorder.line(type, "", isFromApp: true, at: 0) }
    #expect(recorder.trace.lines.map(\.type) == ["ringing"])
  }
}
