import AppProtocol
import CallEngine
import CallModel
import SIPCore
import Testing

/// What operators do to calls that are up.
@Suite("Orders about a call that is up") struct OrderTests {
  /// Gives an order.
  /// - Returns: why nothing was done; `nil` where it was.
  private static func order(_ bench: Bench, _ order: CallOrder, _ call: CallID) -> CallFailure? {
    bench.feed(.order(CallOrderID(7), call, order, by: "olga"))
    let answers = bench.effects.compactMap {
      if case .ordered(CallOrderID(7), let refusal) = $0 { Optional(refusal) } else { nil }
    }
    return answers.last ?? CallFailure(.internal)
  }

  /// What the media were asked.
  private static func media(_ bench: Bench, since start: Int) -> [String] {
    bench.ladder(since: start).filter { $0.hasPrefix("media") }.map { String($0.dropFirst(6)) }
  }

  @Test("keys reach the side that they are for; an app is told of them; what is no key is refused")
  func keys() throws {
    let bench = try Bench()
    let call = try bench.talk()
    var start = bench.effects.count
    #expect(OrderTests.order(bench, .press(.called, "12#"), call) == nil)
    #expect(OrderTests.media(bench, since: start) == ["digits far 12#"])
    start = bench.effects.count
    #expect(OrderTests.order(bench, .press(.caller, "a"), call) == nil)
    #expect(bench.ladder(since: start).contains("app digit A"))
    for keys in ["", "x", String(repeating: "1", count: 65)] {
      #expect(OrderTests.order(bench, .press(.called, keys), call)?.code == .number)
    }
  }

  @Test("a side that is muted stays so whatever its app says, and is shown so")
  func mute() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let start = bench.effects.count
    #expect(OrderTests.order(bench, .mute(.called, true), call) == nil)
    #expect(OrderTests.order(bench, .mute(.called, true), call) == nil)
    #expect(bench.engine.call(call)?.muted == [.called])
    #expect(OrderTests.order(bench, .mute(.called, false), call) == nil)
    #expect(OrderTests.media(bench, since: start) == ["mute far", "unmute far"])
    #expect(bench.engine.call(call)?.muted == [])
  }

  @Test("whoever is muted by the call is muted in its conference, and the other way round")
  func muteInConference() throws {
    let bench = try Bench()
    let call = try #require(bench.place("weekly", kind: .conference))
    bench.pass(milliseconds: 50)
    bench.secured(call)
    let key = RoomKey(environment: "production", application: "key", conference: try ConferenceID("weekly"))
    #expect(OrderTests.order(bench, .mute(.caller, true), call) == nil)
    #expect(bench.engine.room(key)?.participants.map(\.isSilenced) == [true])
    #expect(bench.engine.call(call)?.muted == [.caller])
    bench.feed(.room(key, .silence(participant: 1, false), by: "olga"))
    #expect(bench.engine.call(call)?.muted == [])
    #expect(OrderTests.order(bench, .mute(.called, true), call)?.code == .transfer, "that is all the others")
  }

  @Test(
    "a side that waits hears a tone, is not heard, and is not transferred meanwhile; muted as well it stays muted after it"
  )
  func hold() throws {
    let bench = try Bench()
    let call = try bench.talk()
    var start = bench.effects.count
    #expect(OrderTests.order(bench, .hold(.called, true), call) == nil)
    #expect(OrderTests.media(bench, since: start) == ["hold far", "mute far"])
    #expect(OrderTests.order(bench, .mute(.called, true), call) == nil)
    let away = CallOrder.transfer(.caller, TransferOrder(kind: .phone, target: "+46709999999"))
    #expect(OrderTests.order(bench, away, call)?.code == .transfer)
    start = bench.effects.count
    #expect(OrderTests.order(bench, .hold(.called, false), call) == nil)
    #expect(OrderTests.media(bench, since: start) == ["stop far", "mute far"])
    #expect(bench.engine.call(call)?.onHold == [])
    #expect(bench.engine.call(call)?.muted == [.called])
  }

  @Test("a side that is transferred leaves with the answer; another party there is heard again")
  func transfer() throws {
    let bench = try Bench()
    let call = try bench.talk()
    #expect(OrderTests.order(bench, .mute(.called, true), call) == nil)
    let away = CallOrder.transfer(.called, TransferOrder(kind: .phone, target: "+46709999999"))
    #expect(OrderTests.order(bench, away, call) == nil)
    #expect(OrderTests.order(bench, away, call)?.code == .transfer, "one is under way")
    bench.peer = TrunkPeer()
    try bench.progress(180, 1)
    try bench.answer(1)
    #expect(bench.engine.call(call)?.muted == [])
    #expect(bench.count("sip hangUp") == 1)
    bench.pass(seconds: 1)
    bench.request(.hangUp(call))
    #expect(bench.records.first?.attempts.count == 2)
    let wrong = CallOrder.transfer(.called, TransferOrder(kind: .phone, target: "46"))
    #expect(OrderTests.order(bench, wrong, call) != nil)
  }

  @Test("a call that is not answered, over or unknown takes no orders; the gateway's own voice cannot be muted")
  func refused() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    #expect(OrderTests.order(bench, .mute(.called, true), call)?.code == .transfer)
    #expect(OrderTests.order(bench, .mute(.called, true), CallID(unchecked: "none"))?.code == .transfer)
    let test = try #require(bench.place("+46000000000"))
    bench.secured(test)
    bench.pass(seconds: 2)
    #expect(OrderTests.order(bench, .mute(.called, true), test)?.code == .transfer)
    #expect(OrderTests.order(bench, .hold(.called, true), test)?.code == .transfer)
    #expect(OrderTests.order(bench, .mute(.caller, true), test) == nil)
  }

  @Test("trunks are told the cause that an operator hangs up with")
  func hangUp() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.hangUp(call, by: "olga", cause: 21))
    let reasons = bench.effects.compactMap {
      if case .sip(.hangUp(_, let end)) = $0 { end.reasons } else { nil }
    }
    #expect(reasons.last?.first?.cause == 21)
    #expect(reasons.last?.first?.protocolName == "Q.850")
    #expect(bench.records.first?.flags == [.endedByOperator] || bench.summary(of: call)?.cause == .hungUp)
  }
}
