import CallModel
import CallStory
import Testing

@Suite("A trace as bytes")
struct CallTraceCodingTests {
  @Test("What is written is read again")
  func roundTrip() throws {
    let trace = Scenario.answered.recorder.trace
    #expect(try CallTrace(trace.encoded()) == trace)
  }

  @Test("Something in every place comes back")
  func everyPlace() throws {
    var trace = CallTrace(call: "A", startedAt: 7)
    trace.dialogs = [.init(sipCallID: "x@host", side: .far, trunk: "carrier")]
    trace.messages = [
      .init(
        at: 1, isSent: true, dialog: 0, transport: "tls", local: "[2001:db8::1]:5061", remote: "192.0.2.1:5061",
        text: "INVITE \"ü\"\r\n\u{1}\u{7F}\\", bytes: 99, isRepeated: true)
    ]
    trace.lines = [.init(at: 2, isFromApp: true, type: "call", text: "phone", description: "v=0")]
    trace.plans = [
      .init(
        at: 3, side: .near, codec: "opus", clockRate: 48_000, payloadType: 111, packetMilliseconds: 20,
        security: "DTLS-SRTP", direction: "sendrecv", remote: "192.0.2.9:4000")
    ]
    func direction(_ number: Int64) -> CallTrace.Direction {
      .init(
        packets: number, bytes: number + 1, lost: 3, lossRate: 0.25, jitter: 1e-7, score: 4.5,
        buffered: Double(number) + 0.5, effectiveLoss: 0.125, tooLate: 2, recovered: 1,
        clockDrift: -12.5)
    }
    trace.seconds = [
      .init(at: 4, side: LegID(2), received: direction(10), sent: direction(20), roundTrip: 12.75, reports: 7)
    ]
    trace.notes = CallTrace.Note.Kind.allCases.map { .init(at: 5, kind: $0, side: .far, text: "t") }
    trace.trunks = [
      "carrier": .init(
        uri: "sip:carrier.example", codecs: ["PCMA", "opus"], encryption: "required", username: "u", fromUser: "caller",
        assertsIdentity: true, dialFormat: "00", maximumCalls: 30)
    ]
    trace.omittedMessages = 8
    trace.omittedLines = 9
    #expect(try CallTrace(trace.encoded()) == trace)
  }

  @Test("No loss is below 0, whatever a network doubled and a former version wrote")
  func nothingNegative() throws {
    let direction = CallTrace.Direction(packets: 9, bytes: 9, lost: -4, lossRate: 0, jitter: 0, score: 4)
    #expect(direction.lost == 0)
    var trace = CallTrace(call: "A", startedAt: 7)
    trace.seconds = [.init(at: 1, side: .near, received: direction, sent: direction, roundTrip: nil)]
    trace.seconds[0].received.lost = -4
    trace.seconds[0].sent.lost = -5
    let read = try CallTrace(trace.encoded())
    #expect(read.seconds[0].received.lost == 0 && read.seconds[0].sent.lost == 0)
  }

  @Test("Damaged bytes are refused or read within the limits, and a story is told of what is read")
  func damaged() {
    let bytes = Scenario.answered.recorder.trace.encoded()
    var generator = Numbers(state: 3)
    var read = 0
    for round in 0..<400 {
      var damaged = bytes
      switch round % 3 {
      case 0: damaged.removeLast(Int(generator.next() % UInt64(bytes.count)))
      case 1: damaged[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
      default:
        // A digit more in one of the numbers.
        let digits = damaged.indices.filter { (0x30...0x39).contains(damaged[$0]) }
        let place = digits[Int(generator.next() % UInt64(digits.count))]
        damaged.insert(contentsOf: Array("\(generator.next() % 100_000_000_000)".utf8), at: place)
      }
      guard let trace = try? CallTrace(damaged) else { continue }
      read += 1
      let story = CallStory.tell(CallStorySources(trace: trace))
      #expect(!story.text(width: 80, isMasked: true).isEmpty)
      #expect(!trace.capture().isEmpty)
    }
    #expect(read > 50)
  }

  @Test("No trace at all, one of a later version, and one that is too long are told apart")
  func refused() {
    #expect(throws: InvalidCallTrace.unreadable) { try CallTrace([]) }
    #expect(throws: InvalidCallTrace.unreadable) { try CallTrace(Array("{}".utf8)) }
    #expect(throws: InvalidCallTrace.laterVersion(9)) { try CallTrace(Array(#"{"version":9}"#.utf8)) }
    #expect(throws: InvalidCallTrace.tooLong) {
      try CallTrace([UInt8](repeating: 0x20, count: CallTrace.maximumEncodedBytes + 1))
    }
  }

  @Test("What no recorder would write is left out")
  func limited() throws {
    var trace = CallTrace(call: "A", startedAt: .max)
    trace.dialogs = [.init(sipCallID: "x", side: .far, trunk: nil)]
    for (dialog, at) in [(0, Int64(-1)), (7, 0), (-1, 0), (0, Int64.max)] {
      trace.messages.append(
        .init(
          at: at, isSent: true, dialog: dialog, transport: "udp", local: "", remote: "", text: "", bytes: 0,
          isRepeated: false))
    }
    trace.lines = Array(repeating: .init(at: 0, isFromApp: true, type: "x", text: ""), count: 5000)
    trace.omittedLines = -4
    let read = try CallTrace(trace.encoded())
    #expect(read.messages.map(\.at) == [.max])
    #expect(read.lines.count == CallTrace.maximumLines)
    #expect(read.omittedLines == 0)
    #expect(!read.capture().isEmpty)
  }
}
