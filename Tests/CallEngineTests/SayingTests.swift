import AppProtocol
import CallEngine
import CallModel
import Testing

/// What operators have said in calls and conferences.
@Suite("Words for the sides of a call, and for a conference") struct SayingTests {
  private let greeting = PreparedSound(number: 7, name: "greeting", milliseconds: 1_500)

  private func order(_ bench: Bench, _ order: CallOrder, _ call: CallID) -> CallFailure? {
    bench.feed(.order(CallOrderID(7), call, order, by: "olga"))
    let answers = bench.effects.compactMap {
      if case .ordered(CallOrderID(7), let refusal) = $0 { Optional(refusal) } else { nil }
    }
    return answers.last ?? CallFailure(.internal)
  }

  private func media(_ bench: Bench, since start: Int) -> [String] {
    bench.ladder(since: start).filter { $0.hasPrefix("media") }.map { String($0.dropFirst(6)) }
  }

  @Test("each side hears them in place of the other, until they are over or ended; the story says so")
  func sides() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    #expect(order(bench, .say(greeting, to: [.called]), call) == nil)
    #expect(order(bench, .say(greeting, to: [.caller, .called]), call) == nil)
    #expect(order(bench, .stopSaying([.caller, .called]), call) == nil)
    #expect(
      media(bench, since: start)
        == ["play far 7", "play near 7", "play far 7", "stop near", "stop far", "play beneath nothing"])
    bench.feed(.media(call, .playEnded(.near, finished: false)))
    #expect(bench.engine.call(call)?.state == .established, "the call goes on")
    bench.request(.hangUp(call))
    #expect(bench.records.first?.story.contains { $0.text == "olga has greeting said to the called side" } == true)
  }

  @Test("both sides hear a sound beneath their talk, where both can be heard")
  func beneath() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    #expect(order(bench, .sayBeneath(greeting), call) == nil)
    #expect(order(bench, .stopSaying([.called]), call) == nil, "of the called side alone")
    #expect(media(bench, since: start) == ["play beneath 7", "stop far"])
    #expect(order(bench, .hold(.called, true), call) == nil)
    #expect(order(bench, .sayBeneath(greeting), call)?.code == .saying)
    bench.request(.hangUp(call))
    #expect(bench.records.first?.story.contains { $0.text == "olga has greeting played beneath the talk" } == true)
  }

  @Test("whoever waits with a tone, rings or talks with the gateway's own voice is told nothing")
  func refused() throws {
    let bench = try Bench()
    let ringing = try #require(bench.place())
    #expect(order(bench, .say(greeting, to: [.caller]), ringing)?.code == .saying)
    try bench.answer()
    bench.secured(ringing)
    #expect(order(bench, .hold(.called, true), ringing) == nil)
    #expect(order(bench, .say(greeting, to: [.called]), ringing)?.code == .saying)
    #expect(order(bench, .say(greeting, to: [.caller]), ringing) == nil)
    let test = try #require(bench.place("+46000000000"))
    bench.secured(test)
    bench.pass(seconds: 2)
    #expect(order(bench, .say(greeting, to: [.caller]), test)?.code == .saying)
  }

  @Test("all of a conference hear them; a call in it does not by itself")
  func conference() throws {
    let bench = try Bench()
    let call = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    let key = RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
    let start = bench.effects.count
    bench.feed(.room(key, .say(greeting), by: "olga"))
    bench.feed(.room(key, .stopSaying, by: "olga"))
    #expect(media(bench, since: start) == ["play in room 1 7", "play in room 1 nothing"])
    let refusal = order(bench, .say(greeting, to: [.caller]), call)
    #expect(refusal?.code == .saying && refusal?.phrase?.contains("conference") == true)
    let empty = RoomReport(key: key, since: Instant(milliseconds: 0))
    #expect(empty.refusal(of: .say(greeting))?.code == .saying)
  }
}
