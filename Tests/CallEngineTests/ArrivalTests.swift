import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import RoutingCore
import SDPCore
import SIPCore
import Testing

/// Calls that a trunk sends us. The numbers are those of the list of edge cases.
@Suite("A call that comes in over a trunk is decided by the number that it is for")
struct ArrivalTests {
  private let phone = SessionID(2)
  private let tablet = SessionID(3)
  private let accept = Bench.Word.accept(offer: Scene.appOffer())
  private static let number = "+46850000536"

  private func row(
    _ targets: [InboundNumber.Target]? = nil, number: String = ArrivalTests.number,
    _ change: (inout InboundNumber) -> Void = { _ in }
  ) throws -> InboundNumber {
    var row = InboundNumber(
      try E164Number(number), application: "key", account: Scene.account,
      targets: try targets ?? [.init(.user(UserID("bob")))])
    change(&row)
    return row
  }

  private func bench(
    _ rows: [InboundNumber]? = nil, devices: Int = 2, _ configuration: EngineConfiguration? = nil
  ) throws -> Bench {
    let bench = try Bench(configuration)
    bench.devices["bob"] = Array(
      [try Bench.device(phone, "phone"), try Bench.device(tablet, "tablet")].prefix(devices))
    bench.feed(.numbers(environment: "production", try rows ?? [row()]))
    return bench
  }

  private func close(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.finish()
    let end = Invariants(bench, isOver: true)
    #expect(end.problems.isEmpty, "\(end.problems)", sourceLocation: sourceLocation)
  }

  // MARK: It rings, and somebody answers

  @Test("an app hears who calls and which number; 180 when it alerts, 200 when it accepts, BYE when it hangs up")
  func answered() throws {
    let bench = try bench()
    let handle = try bench.arrive(headers: CustomHeaders([("x-order", "42")]))
    #expect(bench.answers(handle).isEmpty, "nobody alerts yet")
    let call = try #require(bench.arrived)
    let invitation = try #require(bench.invitation(to: phone))
    #expect(invitation.from == CallerIdentity(kind: .phone, value: "+46701111111", name: ""))
    #expect(invitation.number == ArrivalTests.number && invitation.headers["x-order"] == "42")
    bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
    #expect(bench.answers(handle) == ["180"])
    bench.secured(call, .far)
    bench.say(
      call, .accept(offer: nil, headers: [.init(name: "x-desk", value: "7"), .init(name: "colour", value: "red")]),
      on: phone)
    #expect(bench.answers(handle) == ["180", "200"])
    let accepted = bench.effects.compactMap { effect -> CustomHeaders? in
      if case .sip(.accept(_, _, let headers)) = effect { headers } else { nil }
    }
    #expect(accepted.first?["x-desk"] == "7" && accepted.first?["colour"] == nil, "only x- leaves by SIP")
    #expect(bench.heard(tablet) == ["incoming", "ended otherDeviceAnswered"])
    #expect(bench.engine.call(call)?.state == .established)
    bench.pass(seconds: 5)
    try bench.askCalled(.hangUp(call))
    #expect(bench.answers(handle) == ["180", "200", "BYE"])
    let record = try #require(bench.records.first)
    #expect(record.callerNumber == "+46701111111" && record.call.from?.kind == .phone)
    #expect(record.call.destination == ArrivalTests.number && record.summary.durationMilliseconds == 5000)
    #expect(bench.plain.granted.isEmpty, "a number without a price costs nothing")
    close(bench)
  }

  @Test("the caller hangs up: the app hears so")
  func callerHangsUp() throws {
    let bench = try bench()
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, accept, on: phone)
    bench.secured(call, .far)
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: true))))
    #expect(bench.summary(for: phone)?.cause == .hungUp)
    #expect(bench.answers(handle) == ["200"])
    close(bench)
  }

  @Test(
    "22: with +, with 00, in national form and bare it is the same number",
    arguments: [
      ("+46850000536", InboundNumberFormat.international), ("46850000536", .international),
      ("0046850000536", .international), ("%2B46850000536", .international), ("0850000536", .national(countryCode: 46)),
      ("850000536", .national(countryCode: 46)), ("+46850000536", .national(countryCode: 46)),
    ])
  func formats(_ dialled: String, _ format: InboundNumberFormat) throws {
    let trunk = try Scene.trunk("carrier-1", host: 0xC633_6401)
    let configuration = try Scene.configuration([
      CallTrunk(
        trunk: trunk.trunk, uri: trunk.uri, identity: trunk.identity, media: trunk.media,
        inbound: InboundTrunkPolicy(numberFormat: format))
    ])
    let bench = try bench(nil, configuration)
    try bench.arrive(dialled)
    #expect(bench.invitation(to: phone)?.number == ArrivalTests.number)
    close(bench)
  }

  @Test("23: a number that moves while it rings is moved for the calls after it")
  func movedMidRing() throws {
    let bench = try bench()
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.feed(.numbers(environment: "production", []))
    bench.say(call, accept, on: phone)
    #expect(bench.answers(handle) == ["200"])
    #expect(bench.answers(try bench.arrive()) == ["404/1"])
    close(bench)
  }

  @Test("26: an INVITE without offer gets ours with the 200, and sound flows once it is answered")
  func offerless() throws {
    let bench = try bench()
    let handle = try bench.arrive(offer: nil)
    let call = try #require(bench.arrived)
    bench.say(call, accept, on: phone)
    bench.secured(call, .far)
    let body = bench.effects.lazy.compactMap { effect -> MessageBody? in
      if case .sip(.accept(handle, let body, _)) = effect { body } else { nil }
    }.first
    #expect(bench.engine.call(call)?.state == .answered)
    let answer = try bench.peer.answer(body)
    bench.feed(.sip(.answered(handle, ExchangeID(1), answer)))
    #expect(bench.engine.call(call)?.state == .established)
    close(bench)
  }

  @Test("27: what an untrusted trunk says in P-Asserted-Identity is not the network's word; a trusted one's is")
  func assertedIdentity() throws {
    for trusts in [false, true] {
      let trunk = try Scene.trunk("carrier-1", host: 0xC633_6401)
      let configuration = try Scene.configuration([
        CallTrunk(
          trunk: trunk.trunk, uri: trunk.uri, identity: trunk.identity, media: trunk.media,
          inbound: InboundTrunkPolicy(trustsIdentity: trusts))
      ])
      let bench = try bench(nil, configuration)
      try bench.arrive(network: "+46702222222")
      let from = try #require(bench.invitation(to: phone)?.from)
      #expect(from.value == (trusts ? "+46702222222" : "+46701111111"))
      #expect(from.verified == (trusts ? .network : .none))
      close(bench)
    }
  }

  @Test("28: Privacy beside P-Asserted-Identity is anonymous to the app and in the record")
  func privacy() throws {
    let bench = try bench()
    try bench.arrive(network: "+46702222222", isAnonymous: true)
    #expect(bench.invitation(to: phone)?.from == CallerIdentity(kind: .anonymous, value: "", name: ""))
    close(bench)
    #expect(bench.records.first?.callerNumber == nil && bench.records.first?.call.from?.value == "")
  }

  // MARK: Nobody takes it

  @Test("25: the caller's CANCEL ends it everywhere, with nothing more to the caller")
  func cancelled() throws {
    let bench = try bench()
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, .alert(offer: nil), on: phone)
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: false))))
    #expect(bench.answers(handle) == ["180"])
    #expect(bench.summary(for: phone)?.cause == .canceled && bench.summary(for: phone)?.isMissed == true)
    let late = bench.say(call, accept, on: tablet)
    #expect(
      bench.events.contains { if case .refused(late, let failure) = $0 { failure.code == .tooLate } else { false } })
    close(bench)
  }

  @Test("a CANCEL while it is asked who pays: no call comes of it")
  func cancelledEarly() throws {
    let bench = try bench()
    bench.findsPayers = false
    let handle = try bench.arrive()
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: false))))
    bench.findsPayers = true
    bench.feed(.payerFound(handle, bench.payer))
    #expect(bench.arrived == nil && bench.answers(handle).isEmpty)
    close(bench)
  }

  @Test("each way that nobody takes it has its status and its cause")
  func refusals() throws {
    func heard(
      _ rows: [InboundNumber]? = nil, devices: Int = 2, _ act: (Bench) throws -> Void = { _ in },
      arrive: (Bench) throws -> CallHandle = { try $0.arrive() }
    ) throws -> [String] {
      let bench = try bench(rows, devices: devices)
      let handle = try arrive(bench)
      try act(bench)
      bench.pass(seconds: 130)
      close(bench)
      #expect(bench.records.count <= 1)
      if bench.answers(handle).last != "403/21" { #expect(bench.records.count == 1, "its record tells why") }
      return bench.answers(handle)
    }
    #expect(try heard(arrive: { try $0.arrive(host: 0x0A0A_0A0A) }) == ["403/21"])
    #expect(try heard([]) == ["404/1"])
    #expect(try heard([row { $0.isActive = false }]) == ["404/1"])
    #expect(try heard([row([])]) == ["480/20"], "ours, and nobody to go to")
    #expect(try heard(devices: 0) == ["480/20"], "no device")
    #expect(try heard() == ["480/19"], "rang out")
    #expect(try heard([row { $0.noAnswerStatus = 503 }]) == ["503/19"], "carriers fail over by it")
    #expect(
      try heard([row { $0.callers.refusesAnonymous = true }], arrive: { try $0.arrive(isAnonymous: true) }) == [
        "433/21"
      ])
    #expect(try heard([row { $0.callers.blocked = ["+4670111"] }]) == ["603/21"])
    #expect(try heard([row { $0.channels = 0 }]) == ["486/17"])
    #expect(try heard(arrive: { try $0.arrive(diversions: 5) }) == ["482/25"])
    #expect(try heard(nil, { $0.say($0.arrived, .decline(.declined), on: phone) }) == ["603/21"])
    #expect(try heard(nil, { $0.say($0.arrived, .decline(.busy), on: phone) }) == ["486/17"])
    #expect(try heard(nil, { $0.feed(.hangUp($0.arrived ?? CallID(unchecked: "-"), by: "anna")) }) == ["480/16"])
  }

  @Test("36: a test number that a trunk calls is no number of ours: 404")
  func testNumbers() throws {
    for number in ["+46000000000", "+46000000486"] {
      let bench = try bench()
      let handle = try bench.arrive(number)
      close(bench)
      #expect(bench.answers(handle) == ["404/1"] && bench.records.count == 1)
    }
  }

  @Test("34: five devices alert: the caller hears one 180")
  func manyDevices() throws {
    let bench = try bench()
    let sessions = (2...6).map { SessionID($0) }
    bench.devices["bob"] = try sessions.map { try Bench.device($0, "device-\($0.number)") }
    let handle = try bench.arrive()
    for session in sessions { bench.say(bench.arrived, .alert(offer: nil), on: session) }
    #expect(bench.answers(handle) == ["180"])
    close(bench)
  }

  @Test("35: without an ACK the agent's BYE is an error, and it is charged to its end")
  func noAcknowledgement() throws {
    let bench = try bench()
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, accept, on: phone)
    bench.secured(call, .far)
    bench.pass(seconds: 32)
    let failure = CallFailure(.protocolBroken, phrase: "no ACK", leg: .trunk)
    bench.feed(.sip(.ended(handle, CallEnd(cause: .failed, failure: failure, wasEstablished: true))))
    #expect(bench.summary(for: phone)?.cause == .error)
    close(bench)
  }

  @Test("offers that nobody can use get 488 before anything rings")
  func noCommonCodec() throws {
    let trunk = try Scene.trunk("carrier-1", host: 0xC633_6401, protection: .sdes)
    let bench = try bench(nil, Scene.configuration([trunk]))
    bench.callerPeer = TrunkPeer(.none)
    let handle = try bench.arrive()
    #expect(bench.answers(handle) == ["488/88"])
    #expect(bench.heard(phone).isEmpty)
    close(bench)
  }

  // MARK: Money

  private func priced(_ rate: String = "0.06") throws -> Bench {
    let bench = try bench()
    bench.payer?.inboundPlan = try Scene.plan(
      "prefix,name,currency,rate,unit,fee,initial,increment,grace\n46,Sweden,EUR,\(rate),60,0,1,1,0\n")
    return bench
  }

  @Test("29: a hold that is refused is 480, and no device hears of the call")
  func holdRefused() throws {
    let bench = try priced()
    bench.plain.credit = 0
    let handle = try bench.arrive()
    #expect(bench.answers(handle) == ["480/31"])
    #expect(bench.heard(phone).isEmpty)
    #expect(bench.records.first?.summary.failure?.refusal == .insufficientCredit)
    close(bench)
  }

  @Test("30: when the credit ends, the call is cut at the second")
  func creditEnds() throws {
    let bench = try priced()
    bench.plain.credit = 20_000
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, accept, on: phone)
    bench.secured(call, .far)
    bench.speak(call)
    bench.pass(seconds: 19)
    #expect(bench.engine.call(call) != nil)
    bench.pass(seconds: 2)
    #expect(bench.answers(handle) == ["200", "BYE"])
    let record = try #require(bench.records.first)
    #expect(record.summary.billedSeconds == 20 && record.summary.costMicro == 20_000)
    close(bench)
  }

  // MARK: From one target to the next

  private func forwarding(_ leadsOn: Set<InboundNumber.Outcome> = [.busy, .noAnswer, .unreachable]) throws
    -> [InboundNumber]
  {
    [
      try row([
        .init(.user(UserID("bob")), ringSeconds: 20, leadsOn: leadsOn),
        .init(.phone(E164Number("+46701234567")), ringSeconds: 25),
      ])
    ]
  }

  @Test("31: the user rings out, then a phone answers: the caller's leg and the phone's leg are billed apart")
  func ringsOutThenPhone() throws {
    let bench = try bench(forwarding())
    bench.payer?.inboundPlan = try Scene.plan(
      "prefix,name,currency,rate,unit,fee,initial,increment,grace\n46,Sweden,EUR,0.012,60,0,1,1,0\n")
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
    bench.pass(seconds: 21)
    #expect(bench.summary(for: phone)?.cause == .timeout && bench.summary(for: phone)?.isMissed == true)
    #expect(bench.invites.count == 1)
    #expect(bench.invites.first?.call.identity.from.uri.user == ArrivalTests.number, "the number stands for the caller")
    #expect(bench.invites.first?.call.ringTimeoutMilliseconds == 25_000)
    try bench.progress(180)
    try bench.answer()
    bench.feed(.media(call, .firstMedia(.near)))
    #expect(bench.answers(handle) == ["180", "200"])
    let joined = bench.ladder().filter { $0.hasPrefix("media join") }
    #expect(joined == ["media join leg 3"], "two devices had legs before it")
    #expect(bench.engine.call(call)?.state == .established)
    bench.pass(seconds: 60)
    bench.bye()
    let record = try #require(bench.records.first)
    #expect(record.summary.costMicro == 72_000)
    #expect(bench.asked.map(\.operation.call.text).contains("\(call.text)-2"))
    close(bench)
  }

  @Test("a person's no is the end, unless the number says otherwise")
  func declineLeadsOn() throws {
    let ends = try bench(forwarding())
    let first = try ends.arrive()
    ends.say(ends.arrived, .decline(.declined), on: phone)
    #expect(ends.answers(first) == ["603/21"] && ends.invites.isEmpty)
    close(ends)
    let goesOn = try bench(forwarding([.declined]))
    let second = try goesOn.arrive()
    goesOn.say(goesOn.arrived, .decline(.declined), on: phone)
    #expect(goesOn.answers(second).isEmpty && goesOn.invites.count == 1)
    close(goesOn)
  }

  @Test("a device that comes while the phone rings is not rung: its user's turn is over")
  func lateDevice() throws {
    let bench = try bench(forwarding(), devices: 0)
    try bench.arrive()
    #expect(bench.invites.count == 1, "nobody there: the phone's turn at once")
    bench.feed(.deviceListens(try Bench.device(phone, "phone")))
    #expect(bench.heard(phone).isEmpty)
    close(bench)
  }

  @Test("the phone answers while the caller gives up: the agent ends it, nobody pays")
  func callerGivesUpInForward() throws {
    let bench = try bench(forwarding(), devices: 0)
    let handle = try bench.arrive()
    try bench.progress(180)
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: false))))
    #expect(bench.count("sip hangUp") == 1)
    try bench.answer()
    bench.hungUp(crossing: true)
    #expect(bench.records.first?.summary.cause == .canceled && bench.records.first?.summary.costMicro == 0)
    close(bench)
  }

  @Test("33: a forward that is busy is 486")
  func forwardBusy() throws {
    let bench = try bench(forwarding(), devices: 0)
    let handle = try bench.arrive()
    bench.fail(486)
    #expect(bench.answers(handle) == ["486/17"])
    close(bench)
  }

  @Test("32: numbers that forward to each other end after five hops")
  func forwardLoop() throws {
    let other = "+46850000537"
    let bench = try bench([
      row([.init(.phone(E164Number(other)))]), row([.init(.phone(E164Number(ArrivalTests.number)))], number: other),
    ])
    let handle = try bench.arrive()
    #expect(bench.answers(handle) == ["482/25"])
    #expect(bench.records.first?.summary.failure?.code == .forwardLoop)
    close(bench)
  }

  @Test("37: a forward to a denied range is refused with 480")
  func deniedForward() throws {
    let bench = try bench([row([.init(.phone(E164Number("+46901234567")))])])
    let handle = try bench.arrive()
    #expect(bench.answers(handle) == ["480/31"])
    #expect(bench.records.first?.summary.failure?.refusal == .destinationBlocked)
    close(bench)
  }

  @Test("a number that leads to one of ours which leads nowhere is 480")
  func forwardNowhere() throws {
    let other = "+46850000537"
    let bench = try bench([row([.init(.phone(E164Number(other)))]), row([], number: other)])
    #expect(bench.answers(try bench.arrive()) == ["480/20"])
    #expect(bench.records.first?.summary.failure?.code == .numberUnserved)
    close(bench)
  }

  @Test("a number that leads to one of ours rings that one's user")
  func forwardInside() throws {
    let other = "+46850000537"
    let bench = try bench([row([.init(.phone(E164Number(other)))]), row(number: other)])
    try bench.arrive()
    #expect(bench.heard(phone) == ["incoming"] && bench.invites.isEmpty)
    close(bench)
  }

  @Test("answer-first: 200 and our ringing tone before anybody takes it, BYE if nobody does")
  func answersFirst() throws {
    let bench = try bench([row { $0.answersFirst = true }])
    let handle = try bench.arrive()
    let call = try #require(bench.arrived)
    #expect(bench.answers(handle) == ["200"])
    #expect(bench.count("media ring near") == 1)
    bench.say(call, accept, on: phone)
    #expect(bench.count("media stop near") == 1)
    bench.secured(call, .far)
    #expect(bench.engine.call(call)?.state == .established)
    bench.feed(.hangUp(call, by: "anna"))
    #expect(bench.answers(handle) == ["200", "BYE"])
    close(bench)
    let nobody = try self.bench([row { $0.answersFirst = true }])
    let second = try nobody.arrive()
    nobody.feed(.media(nobody.arrived ?? call, .firstMedia(.near)))
    nobody.pass(seconds: 46)
    #expect(nobody.answers(second) == ["200", "BYE"])
    close(nobody)
  }

  @Test("a forward shows the caller, with Diversion, where the trunk takes other people's numbers")
  func diversion() throws {
    let trunk = try Scene.trunk("carrier-1", host: 0xC633_6401, owned: [E164Number(ArrivalTests.number)])
    let configuration = try Scene.configuration([
      CallTrunk(
        trunk: trunk.trunk, uri: trunk.uri, identity: trunk.identity, media: trunk.media,
        inbound: InboundTrunkPolicy(takesForeignCallers: true))
    ])
    let bench = try bench(forwarding(), devices: 0, configuration)
    try bench.arrive()
    let identity = try #require(bench.invites.first?.call.identity)
    #expect(identity.from.uri.user == "+46701111111" && identity.diversion?.uri.user == ArrivalTests.number)
    close(bench)
  }
}
