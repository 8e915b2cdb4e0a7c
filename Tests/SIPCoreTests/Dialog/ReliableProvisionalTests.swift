import CallModel
import SIPCore
import Testing

/// RFC 3262 on both sides.
@Suite struct ReliableProvisionalTests {
  private static func instant(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(milliseconds: milliseconds)
  }

  private static let description = MessageBody(sessionDescription: Array("v=0\r\n".utf8))

  private func sender(draw: UInt64 = 41, limit: Int = 3) -> ReliableProvisionalSender {
    ReliableProvisionalSender(invite: 7, limit: limit, identifiers: IdentifierSource { draw })
  }

  private func sequence(_ response: OutgoingResponse) -> UInt32? {
    response.fields.first { $0.name == "RSeq" }.flatMap { UInt32($0.value) }
  }

  @Test func `responses are taken in order and each once`() {
    var receiver = ReliableProvisionalReceiver(invite: 7)
    let table: [(UInt32, ReliableProvisionalReceiver.Verdict)] = [
      (100, .acknowledge(RAck(response: 100, cseq: CSeq(7, .invite)))), (100, .duplicate), (102, .gap),
      (101, .acknowledge(RAck(response: 101, cseq: CSeq(7, .invite)))),
      (100, .duplicate), (102, .acknowledge(RAck(response: 102, cseq: CSeq(7, .invite)))), (.max, .gap),
      (1, .duplicate),
    ]
    for (sequence, verdict) in table { #expect(receiver.receive(RSeq(sequence)) == verdict, "RSeq \(sequence)") }
  }

  @Test func `the first number lies between 1 and 2³¹ − 1`() {
    for (draw, first): (UInt64, UInt32) in [(0, 1), (0x7FFF_FFFE, 0x7FFF_FFFF), (0x7FFF_FFFF, 1), (.max, 4)] {
      var sender = sender(draw: draw)
      guard case .send(let response) = sender.send(OutgoingResponse(180), at: .zero) else {
        Issue.record("refused")
        continue
      }
      #expect(sequence(response) == first, "drawn \(draw)")
      #expect(response.fields.contains { $0.name == "Require" && $0.value == "100rel" })
    }
  }

  @Test func `it is repeated with doubling intervals and given up after 64 × T1`() {
    var sender = sender()
    guard case .send(let response) = sender.send(OutgoingResponse(183), at: Self.instant(0)) else {
      Issue.record("refused")
      return
    }
    for time: Int64 in [500, 1_500, 3_500, 7_500, 15_500, 31_500] {
      #expect(sender.nextDeadline == Self.instant(time))
      #expect(sender.advance(to: Self.instant(time - 1)) == nil)
      #expect(sender.advance(to: Self.instant(time)) == .sendAgain(response))
    }
    #expect(sender.advance(to: Self.instant(32_000)) == .fail)
    #expect(sender.nextDeadline == nil)
    #expect(sender.send(OutgoingResponse(180), at: Self.instant(32_001)) == .refused)
  }

  @Test func `one is outstanding, the next waits for its PRACK, and the queue has an end`() {
    var sender = sender()
    guard case .send(let first) = sender.send(OutgoingResponse(180), at: .zero) else {
      Issue.record("refused")
      return
    }
    #expect(sequence(first) == 42)
    #expect(!sender.holdsSuccess)
    #expect(sender.send(OutgoingResponse(183, body: Self.description), at: .zero) == .queued)
    #expect(sender.holdsSuccess)
    #expect(sender.send(OutgoingResponse(181), at: .zero) == .queued)
    #expect(sender.send(OutgoingResponse(182), at: .zero) == .refused)

    let strangers: [(UInt32, UInt32, SIPMethod)] = [
      (41, 7, .invite), (43, 7, .invite), (42, 8, .invite), (42, 7, .update),
    ]
    for (number, invite, method) in strangers {
      #expect(sender.acknowledge(RAck(response: number, cseq: CSeq(invite, method)), at: .zero) == .unknown)
    }
    guard
      case .accepted(let second?) = sender.acknowledge(
        RAck(response: 42, cseq: CSeq(7, .invite)), at: Self.instant(100))
    else {
      Issue.record("not matched")
      return
    }
    #expect(second.status == 183)
    #expect(sequence(second) == 43)
    #expect(sender.nextDeadline == Self.instant(600))
    #expect(sender.holdsSuccess)
    #expect(sender.acknowledge(RAck(response: 42, cseq: CSeq(7, .invite)), at: Self.instant(200)) == .unknown)
    guard
      case .accepted(let third?) = sender.acknowledge(RAck(response: 43, cseq: CSeq(7, .invite)), at: Self.instant(300))
    else {
      Issue.record("not matched")
      return
    }
    #expect(third.status == 181)
    #expect(!sender.holdsSuccess)

    // The final response crosses the last PRACK.
    sender.finish()
    #expect(sender.nextDeadline == nil)
    #expect(sender.advance(to: Self.instant(50_000)) == nil)
    #expect(
      sender.acknowledge(RAck(response: 44, cseq: CSeq(7, .invite)), at: Self.instant(400)) == .accepted(next: nil))
  }
}
