import AppProtocol
import CallEngine
import CallModel
import SDPCore
import Testing

/// Calls to conferences.
@Suite("Calls to conferences") struct RoomTests {
  /// A call to a conference, answered.
  private static func enter(_ bench: Bench, _ conference: String = "weekly", as session: UInt64 = 1) throws -> CallID {
    bench.session = SessionID(session)
    let call = try #require(bench.place(conference, kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    return call
  }

  /// The mixer's rooms that calls were sent to, in order.
  private static func rooms(_ bench: Bench) -> [String] {
    bench.ladder().filter { $0.hasPrefix("media enter") }
  }

  @Test("it is answered by the mixer, is free, and is hung up like any other")
  func enters() throws {
    let bench = try Bench()
    let call = try RoomTests.enter(bench)
    #expect(bench.ladder().contains("app accepted"))
    #expect(bench.ladder().contains("app established"))
    #expect(RoomTests.rooms(bench) == ["media enter near 1"])
    #expect(bench.asked.isEmpty)
    bench.request(.hangUp(call))
    #expect(bench.summary(of: call)?.cause == .hungUp)
    #expect(bench.ladder().contains("media close"))
    let record = try #require(bench.records.first)
    #expect(record.call.kind == .conference)
    #expect(record.call.destination == "weekly")
    #expect(bench.engine.isIdle)
  }

  @Test("all who name it are in one room, whatever else is named is another one")
  func shares() throws {
    let bench = try Bench()
    for session in 1...3 as ClosedRange<UInt64> { _ = try RoomTests.enter(bench, as: session) }
    _ = try RoomTests.enter(bench, "Weekly", as: 4)
    bench.caller.identity.application = "another"
    _ = try RoomTests.enter(bench, as: 5)
    #expect(RoomTests.rooms(bench) == [1, 1, 1, 2, 3].map { "media enter near \($0)" })
    // Their media are worked on by one thread.
    let needs = bench.effects.compactMap { if case .prepare(_, let needs) = $0 { needs.room } else { nil } }
    #expect(needs == [1, 1, 1, 2, 3])
  }

  @Test("when the last has left, whoever comes next finds a fresh room")
  func beginsAnew() throws {
    let bench = try Bench()
    let first = try RoomTests.enter(bench)
    let second = try RoomTests.enter(bench, as: 2)
    bench.session = SessionID(1)
    bench.request(.hangUp(first))
    _ = try RoomTests.enter(bench, as: 3)
    #expect(RoomTests.rooms(bench).last == "media enter near 1")
    bench.feed(.sessionEnded(SessionID(3)))
    bench.session = SessionID(2)
    bench.request(.hangUp(second))
    _ = try RoomTests.enter(bench, as: 4)
    #expect(RoomTests.rooms(bench).last == "media enter near 2")
  }

  @Test("the 201st is refused, with nothing billed, and finds a place when somebody has left")
  func isFull() throws {
    let bench = try Bench()
    var first: CallID?
    for session in 1...200 as ClosedRange<UInt64> {
      let call = try RoomTests.enter(bench, as: session)
      first = first ?? call
    }
    bench.session = SessionID(201)
    bench.place("weekly", kind: .conference)
    #expect(bench.lastRefusal?.code == .roomFull)
    #expect(bench.asked.isEmpty)
    // Another conference has room.
    _ = try RoomTests.enter(bench, "other", as: 202)
    bench.session = SessionID(1)
    bench.request(.hangUp(try #require(first)))
    _ = try RoomTests.enter(bench, as: 201)
  }

  @Test("an id of 64 characters is one, of 65 or none it is not", arguments: [(64, true), (65, false), (0, false)])
  func hasALimit(_ count: Int, _ isTaken: Bool) throws {
    let bench = try Bench()
    let call = bench.place(String(repeating: "r", count: count), kind: .conference)
    #expect((call != nil) == isTaken)
    #expect((bench.lastRefusal?.code == .address) != isTaken)
  }

  @Test("media that cannot be had give the place back")
  func refused() throws {
    let bench = try Bench()
    bench.answersMedia = false
    bench.request(.call(PlaceCall(kind: .conference, target: "weekly", headers: [], offer: Scene.appOffer())))
    let needs = try #require(bench.effects.compactMap { if case .prepare(let id, _) = $0 { id } else { nil } }.last)
    bench.feed(.prepared(needs, .failure(.overload)))
    bench.answersMedia = true
    _ = try RoomTests.enter(bench, as: 2)
    #expect(RoomTests.rooms(bench) == ["media enter near 2"])
  }

  @Test("its app is asked how loud its packets are, which no other call is")
  func levels() throws {
    let bench = try Bench()
    let line = "a=extmap:3 urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    let offer = Scene.appOffer().replacing("a=rtpmap:0 ", with: line + "\r\na=rtpmap:0 ")
    for (kind, target) in [(Destination.Kind.conference, "weekly"), (.phone, "+46701234567")] {
      bench.request(.call(PlaceCall(kind: kind, target: target, headers: [], offer: offer)))
      bench.pass(milliseconds: 50)
      let answers = bench.events.compactMap { event in
        if case .placed(_, _, let answer) = event { answer } else { nil as String? }
      }
      #expect(answers.last?.contains("extmap:3/recvonly") == (kind == .conference), "\(kind)")
    }
  }

  @Test("operators see how it is to hear each of them")
  func qualities() throws {
    let bench = try Bench()
    let first = try RoomTests.enter(bench)
    let second = try RoomTests.enter(bench, as: 2)
    #expect(bench.engine.rooms.first?.participants.map(\.quality) == [nil, nil])
    let direction = CallQuality.Direction(meanOpinionScore: 3.1, jitter: 40, loss: 0.2, packets: 50)
    bench.feed(.media(second, .quality(.near, direction, roundTrip: 80, level: -30)))
    bench.feed(.media(first, .quality(.near, .nothing(packets: 0), roundTrip: nil)))
    let measured = bench.engine.rooms.first?.participants.map(\.quality)
    #expect(
      measured == [
        ParticipantQuality(.nothing(packets: 0), roundTrip: nil, level: nil),
        ParticipantQuality(direction, roundTrip: 80, level: -30),
      ])
  }

  @Test("keys are nobody's, it cannot be put through, and a muted app stays in it")
  func keepsQuiet() throws {
    let bench = try Bench()
    let call = try RoomTests.enter(bench)
    bench.request(.sendDigits(call, "12"))
    #expect(bench.ladder().last == "app done")
    bench.request(.mute(call, true))
    #expect(bench.ladder().last == "app done")
    bench.request(.transfer(call, TransferOrder(kind: .phone, target: "+46701234567")))
    #expect(bench.lastRefusal?.code == .transfer)
    _ = try RoomTests.enter(bench, as: 2)
    bench.pass(seconds: 3_600)
    #expect(bench.engine.call(call) != nil)
  }
}
