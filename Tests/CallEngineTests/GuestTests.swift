import AppProtocol
import CallEngine
import CallModel
import SIPCore
import Testing

/// Others who are brought in to a call of two.
@Suite("Guests of calls") struct GuestTests {
  private static let phone = "+46701234568"

  /// Somebody is called who is to talk with the two.
  private static func add(
    _ bench: Bench, to host: CallID, _ destination: Destination? = nil, muted: Bool = false
  ) throws -> Result<CallID, CallFailure>? {
    var origination = Origination(
      first: .conference(ConferenceID(guestsOf: host)), second: try destination ?? .phone(try E164Number(phone)),
      payer: bench.caller.payer)
    origination.beginsMuted = muted
    let start = bench.effects.count
    bench.feed(.originate(OriginationID(5), origination))
    return bench.effects.dropFirst(start).compactMap {
      if case .originated(OriginationID(5), let result) = $0 { result } else { nil }
    }.last
  }

  private static func media(_ bench: Bench, since start: Int) -> [String] {
    bench.ladder(since: start).filter { $0.hasPrefix("media") }.map { String($0.dropFirst(6)) }
  }

  /// A call of two, and a telephone that has come in to it.
  private static func threeTalk(_ bench: Bench) throws -> (host: CallID, guest: CallID) {
    let host = try bench.talk()
    let guest = try #require(try add(bench, to: host)).get()
    try bench.answer(bench.invites.count - 1)
    return (host, guest)
  }

  @Test("a guest rings, comes in to the room that is the call's own, pays for itself and leaves by itself")
  func comesAndGoes() throws {
    let bench = try Bench()
    let host = try bench.talk()
    let start = bench.effects.count
    let guest = try #require(try Self.add(bench, to: host, muted: true)).get()
    #expect(bench.engine.call(host)?.guests.isEmpty == true, "it rings")
    try bench.answer(bench.invites.count - 1)
    #expect(
      Self.media(bench, since: start) == [
        "plan far sendrecv", "share room true", "enter far \(Bench.ownRoom)", "mute far",
      ])
    #expect(bench.engine.call(host)?.guests == [guest] && bench.engine.call(guest)?.guestOf == host)
    #expect(bench.engine.rooms.isEmpty, "it is no conference")
    bench.pass(seconds: 10)
    let leaving = bench.effects.count
    bench.feed(.hangUp(guest, by: "olga", cause: 16))
    bench.pass(seconds: 2)
    #expect(Self.media(bench, since: leaving) == ["close", "share room false"])
    #expect(bench.engine.call(host)?.guests.isEmpty == true && bench.engine.call(host)?.state == .established)
    bench.request(.hangUp(host))
    let stories = bench.records.map { $0.story.map(\.text) }
    #expect(stories.first?.contains("is brought in to call \(host)") == true, "\(stories)")
    #expect(stories.last?.contains("phone \(Self.phone) is brought in, by call \(guest)") == true)
    #expect(stories.last?.contains("phone \(Self.phone) has left, by call \(guest)") == true)
    #expect(bench.records.allSatisfy { ($0.summary.costMicro ?? 0) > 0 }, "each has a bill of its own")
  }

  @Test("the call's end is that of its guests, of those who still ring as well; two guests may be there")
  func endsWithTheCall() throws {
    let bench = try Bench()
    let (host, first) = try Self.threeTalk(bench)
    let second = try #require(try Self.add(bench, to: host, .phone(try E164Number("+46701234569")))).get()
    #expect(bench.engine.call(host)?.guests == [first])
    bench.request(.hangUp(host))
    bench.pass(seconds: 3)
    #expect(bench.engine.call(first) == nil && bench.engine.call(second) == nil && bench.engine.call(host) == nil)
    let causes = Dictionary(uniqueKeysWithValues: bench.records.map { ($0.call.id, $0.summary.cause) })
    #expect(causes[first] == .hungUp && causes[host] == .hungUp)
    // The CANCEL of the one that rang is answered by its trunk.
    #expect(causes[second] == .canceled || causes[second] == nil)
  }

  @Test("nobody comes in to a call that rings, speaks itself, is for help, in a conference, a guest or elsewhere")
  func refused() throws {
    let bench = try Bench()
    func refusal(_ host: CallID) throws -> String? {
      guard case .failure(let failure)? = try Self.add(bench, to: host) else { return nil }
      return failure.code == .transfer ? failure.phrase : "\(failure)"
    }
    let ringing = try #require(bench.place())
    #expect(try refusal(ringing) == "the call is not answered, or over")
    #expect(try refusal(CallID(unchecked: "none")) == "the call is not answered, or over")
    bench.request(.hangUp(ringing))
    bench.session = SessionID(2)
    let test = try #require(bench.place("+46000000000"))
    bench.secured(test)
    bench.pass(seconds: 2)
    #expect(try refusal(test) == "the gateway's own voice speaks in it")
    bench.session = SessionID(3)
    let member = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(member)
    #expect(try refusal(member)?.contains("in a conference") == true)
    bench.session = SessionID(4)
    let (host, guest) = try Self.threeTalk(bench)
    #expect(try refusal(guest)?.contains("another call") == true)
    let help = try Self.add(bench, to: host, .emergency(try EmergencyNumber("112")))
    if case .failure? = help {} else { Issue.record("an emergency service was called in") }
  }

  @Test("no more than eight guests; the ninth is refused before anything is dialled")
  func limit() throws {
    let bench = try Bench()
    let host = try bench.talk()
    for number in 0..<8 {
      let guest = try Self.add(bench, to: host, .phone(try E164Number("+4670123457\(number)")))
      if case .failure(let failure)? = guest { Issue.record("\(failure)") }
    }
    let start = bench.effects.count
    guard case .failure(let failure)? = try Self.add(bench, to: host) else {
      Issue.record("a ninth is called")
      return
    }
    #expect(failure.code == .roomFull)
    #expect(!bench.ladder(since: start).contains { $0.hasPrefix("sip") })
  }

  @Test("no app can name the place where guests meet")
  func isNoConference() throws {
    let bench = try Bench()
    let (host, _) = try Self.threeTalk(bench)
    bench.session = SessionID(2)
    #expect(bench.place(ConferenceID(guestsOf: host).text, kind: .conference) == nil)
    #expect(bench.lastRefusal?.code == .address)
    #expect(throws: InvalidValue.self) { try ConferenceID(ConferenceID(guestsOf: host).text) }
  }
}
