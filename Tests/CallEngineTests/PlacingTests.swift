import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import RoutingCore
import SIPCore
import Testing

@Suite("Requests for calls")
struct PlacingTests {
  struct Refusal: Sendable {
    let kind: Destination.Kind
    let target: String
    let code: CallFailureCode
    let rule: String?
  }

  @Test(
    "are refused with the value that is wrong",
    arguments: [
      Refusal(kind: .phone, target: "46701234567", code: .number, rule: "e164.plus"),
      Refusal(kind: .phone, target: "+46 70", code: .number, rule: "e164.digit"),
      Refusal(kind: .phone, target: "", code: .number, rule: "e164.plus"),
      Refusal(kind: .sip, target: "alice", code: .address, rule: "sip.at"),
      Refusal(kind: .sip, target: "alice@192.168.1.1", code: .policy, rule: "sip.hostNotAllowed"),
      Refusal(kind: .sip, target: "alice@localhost", code: .policy, rule: "sip.hostNotAllowed"),
      Refusal(kind: .sip, target: "alice@[::1]", code: .policy, rule: "sip.hostNotAllowed"),
      Refusal(kind: .sip, target: "0046701234567@198.51.100.1", code: .policy, rule: "sip.number"),
      Refusal(kind: .sip, target: "alice@127.0.0.1", code: .policy, rule: "sip.trunk"),
      Refusal(kind: .phone, target: "46000000000", code: .number, rule: "e164.plus"),
      Refusal(kind: .phone, target: "0046000000000", code: .number, rule: "e164.plus"),
      Refusal(kind: .phone, target: "++46000000000", code: .number, rule: "e164.digit"),
      Refusal(kind: .phone, target: "+0046000000000", code: .number, rule: "e164.first"),
      Refusal(kind: .phone, target: "+46 000000000", code: .number, rule: "e164.digit"),
      Refusal(kind: .user, target: "a b", code: .address, rule: "user.character"),
      Refusal(kind: .user, target: "bob", code: .capabilityRemote, rule: nil),
      Refusal(
        kind: .conference, target: String(repeating: "c", count: 65), code: .address, rule: "conference.long"),
    ])
  func refused(_ case: Refusal) throws {
    let bench = try Bench()
    #expect(bench.place(`case`.target, kind: `case`.kind) == nil)
    #expect(bench.lastRefusal?.code == `case`.code)
    #expect(bench.lastRefusal?.invalidValue?.rule == `case`.rule)
    #expect(bench.ladder().count == 1, "nothing is asked of anybody: \(bench.ladder())")
    #expect(bench.engine.isIdle)
  }

  @Test("name the header that is refused")
  func headers() throws {
    let bench = try Bench()
    #expect(bench.place(headers: [.init(name: "x-a", value: "1"), .init(name: "Subject", value: "2")]) == nil)
    #expect(bench.lastRefusal?.code == .header)
    #expect(bench.lastRefusal?.invalidValue?.kind.contains("Subject") == true)
    #expect(bench.place(headers: [.init(name: "x-a", value: String(repeating: "v", count: 1021))]) != nil)
    #expect(bench.place(headers: [.init(name: "x-a", value: String(repeating: "v", count: 1022))]) == nil)
    #expect(bench.lastRefusal?.invalidValue?.rule == "header.budget")
    #expect(bench.place(headers: [.init(name: "x-a", value: "a\r\nVia: b")]) == nil)
    #expect(bench.lastRefusal?.invalidValue?.rule == "header.value")
    #expect(bench.invites.count == 1)
  }

  @Test("between apps need no prefix before a header's name, and have the same room for them")
  func headersBetweenApps() throws {
    let bench = try Bench()
    for kind in [Destination.Kind.user, .conference] {
      let call = bench.place("bob", kind: kind, headers: [.init(name: "message", value: "hello")])
      // The bench knows no users: then the headers are good, and the user is not found.
      #expect(kind == .conference ? call != nil : bench.lastRefusal?.code == .capabilityRemote)
      #expect(
        bench.place("bob", kind: kind, headers: [.init(name: "id", value: String(repeating: "v", count: 1023))]) == nil)
      #expect(bench.lastRefusal?.invalidValue?.rule == "header.budget")
      #expect(bench.place("bob", kind: kind, headers: [.init(name: "an id", value: "1")]) == nil)
      #expect(bench.lastRefusal?.invalidValue?.rule == "header.name")
    }
  }

  @Test("have ids that parse as UUID of version 7 and sort in the order of the calls")
  func ids() throws {
    let bench = try Bench()
    var ids: [String] = []
    for number in 0..<40 {
      if number % 8 == 0 { bench.pass(milliseconds: 1) }
      bench.session = SessionID(UInt64(1 + number / 8))
      ids.append(try #require(bench.place()).text)
    }
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    for id in ids {
      let uuid = try #require(UUID(uuidString: id))
      #expect(uuid.uuidString.lowercased() == id)
      #expect(uuid.uuid.6 >> 4 == 7 && uuid.uuid.8 >> 6 == 2)
      let milliseconds = id.filter { $0 != "-" }.prefix(12)
      #expect(Int64(milliseconds, radix: 16).map { abs($0 - bench.clock.milliseconds) <= 10 } == true)
    }
  }

  @Test("of a cluster's node have ids that tell which one it is")
  func idsOfNodes() throws {
    let origin = try #require(CallIDMaker.Origin(node: 7, life: 42))
    var configuration = try Scene.configuration()
    configuration.callOrigin = origin
    let bench = try Bench(configuration)
    #expect(try #require(bench.place()).origin == origin)
  }

  @Test("may show the application's numbers only")
  func callerNumbers() throws {
    let bench = try Bench()
    #expect(bench.place(callerNumber: "+46850000009") == nil)
    #expect(bench.lastRefusal?.invalidValue?.rule == "caller.owned")
    #expect(bench.lastRefusal?.code == .policy && bench.lastRefusal?.sipStatus == 403)
    #expect(bench.place(callerNumber: "+46850000002") != nil)
    #expect(bench.invites[0].call.identity.from.uri.user == "+46850000002")
    bench.caller.callerNumbers = []
    #expect(bench.place() != nil)
    #expect(bench.invites[1].call.identity.from.uri.host == .name("anonymous.invalid"))
  }

  @Test("with an offer that is no session description, or holds nothing usable, are refused before the trunk")
  func offers() throws {
    let bench = try Bench()
    #expect(bench.place(offer: "nonsense") == nil)
    #expect(bench.lastRefusal?.code == .media)
    #expect(bench.ladder() == ["app refused sip.media"])
    let withoutICE = Scene.appOffer().replacing("a=ice-", with: "a=x-")
    #expect(bench.place(offer: withoutICE) == nil)
    #expect(bench.lastRefusal?.code == .media)
    #expect(
      bench.ladder().dropFirst() == [
        "prepare", "ledger authorise", "media close", "ledger void", "app refused sip.media",
      ])
    #expect(bench.invites.isEmpty)
    #expect(bench.engine.isIdle)
  }

  @Test("ask an app for narrow-band Opus when the call goes to a phone")
  func opus() throws {
    let bench = try Bench()
    bench.place()
    let answer = bench.events.lazy.compactMap { event -> String? in
      if case .placed(_, _, let answer) = event { return answer }
      return nil
    }.first
    #expect(answer?.contains("maxplaybackrate=8000") == true)
    #expect(answer?.contains("maxaveragebitrate=24000") == true)
  }

  @Test("are capped for a session and for the engine, and refused while draining")
  func caps() throws {
    var configuration = try Scene.configuration()
    configuration.limits.callsPerSession = 2
    configuration.limits.calls = 3
    let bench = try Bench(configuration)
    #expect(bench.place() != nil)
    #expect(bench.place() != nil)
    #expect(bench.place() == nil)
    #expect(bench.lastRefusal?.refusal == .concurrencyCap)
    bench.session = SessionID(2)
    #expect(bench.place() != nil)
    bench.session = SessionID(3)
    #expect(bench.place() == nil)
    #expect(bench.lastRefusal?.sipStatus == 503)
    bench.session = SessionID(1)
    bench.session = SessionID(1)
    let help = try #require(bench.place("112"), "no cap keeps anybody from help")
    bench.request(.hangUp(help))
    bench.hungUp(3)
    bench.request(.hangUp(try #require(bench.engine.liveCalls.first).id))
    bench.hungUp(0)
    #expect(bench.place() != nil, "a call that ended leaves its place")
    bench.feed(.drain)
    bench.session = SessionID(4)
    #expect(bench.place() == nil)
    #expect(bench.lastRefusal?.code == .congestion)
  }

  @Test("reach SIP addresses: a trunk's own over it, others straight")
  func addresses() throws {
    var configuration = try Scene.configuration()
    configuration.environments[0].sipHosts.reachesAny = true
    let bench = try Bench(configuration)
    #expect(bench.place("alice@example.com", kind: .sip) != nil)
    #expect(bench.invites[0].call.target == SIPURI(scheme: .sip, user: "alice", host: .name("example.com")))
    #expect(bench.invites[0].call.account == nil)
    #expect(bench.place("bob@198.51.100.2", kind: .sip) != nil)
    #expect(bench.engine.liveCalls.contains { $0.trunk == "carrier-2" })
    // A number at a trunk costs what the number costs.
    #expect(bench.place("46709999999@198.51.100.2", kind: .sip) != nil)
    let destinations = bench.asked.compactMap { asked -> String? in
      if case .authorise(let authorisation) = asked.operation.phase { return authorisation.destination }
      return nil
    }
    #expect(destinations.last == "+46709999999")
    #expect(bench.plain.credit == 999_940_000)
  }

  @Test("sandbox numbers go to the far end, and one of them is beyond any credit")
  func sandbox() throws {
    let bench = try Bench()
    bench.caller.payer = try Scene.payer(nil, environment: "sandbox")
    #expect(bench.place("+46000000202") != nil)
    #expect(bench.engine.liveCalls.first?.trunk == "far-end")
    #expect(bench.plain.credit == 1_000_000_000)
    #expect(bench.place("+46000000402") == nil)
    #expect(bench.lastRefusal?.refusal == .insufficientCredit)
    #expect(bench.invites.count == 1)
    bench.caller.payer = try Scene.payer(Scene.plan())
    #expect(bench.place("+46000000202") != nil)
    #expect(bench.engine.liveCalls.contains { $0.trunk == "carrier-1" }, "an ordinary number elsewhere")
  }
}
