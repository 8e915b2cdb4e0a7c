import AppProtocol
import CallModel
import Testing

@Suite("Client and door together")
struct RoundTripOverLossTests {
  private static let place = AppRequest.call(PlaceCall(kind: .phone, target: "+46", offer: "v"))

  /// A whole call, with the connection lost at the given message.
  private func wholeCall(breaksAt: Int?) throws -> Link {
    var link = Link()
    link.breaksAt = breaksAt
    try link.start()
    try link.pass(1000)
    let placed = try link.send(Self.place)
    #expect(placed != nil, "lost at \(breaksAt ?? 0): \(link.seen)")
    try link.pass(1000)
    let hungUp = try link.send(.hangUp(try Samples.call()))
    #expect(hungUp != nil, "lost at \(breaksAt ?? 0)")
    try link.pass(1000)
    try link.handle(.stop)
    return link
  }

  private static let events = [
    "placed c-1", "ringing c-1", "accepted c-1", "established c-1", "done", "ended c-1",
  ]

  private func words(_ link: Link) -> [String] {
    link.seen.map { $0.split(separator: " ").filter { !$0.hasPrefix("#") }.joined(separator: " ") }
  }

  @Test("a call without a loss") func plain() throws {
    let link = try wholeCall(breaksAt: nil)
    #expect(
      words(link) == ["connecting", "registering", "keep c-1", "ready"] + Self.events + ["ended"])
    #expect(link.requests == ["call +46", "hangup c-1"])
    #expect(link.door.sessionCount == 0 && link.door.connectionCount == 0 && link.ended == 1)
  }

  @Test("the connection lost at any message: every event once, in order; every request once") func lost() throws {
    let count = try wholeCall(breaksAt: nil).crossed
    #expect(count >= 10)
    for message in 1...count - 1 {
      let link = try wholeCall(breaksAt: message)
      let events = words(link).filter { Self.events.contains($0) }
      #expect(events == Self.events, "lost at \(message): \(link.seen)")
      #expect(link.requests == ["call +46", "hangup c-1"], "lost at \(message)")
      #expect(link.seen.last == "ended" && link.client.liveCalls.isEmpty, "lost at \(message)")
    }
  }

  @Test("calls end where the session cannot be taken up in time") func tooLate() throws {
    var link = Link()
    try link.start()
    _ = try link.send(Self.place)
    link.isUp = false
    try link.cut()
    _ = try link.send(.hangUp(try Samples.call()))
    try link.pass(14_999)
    #expect(link.seen.last == "reconnecting")
    try link.pass(1)
    #expect(link.seen.last == "refused #3 network.timeout")
    try link.pass(14_998)
    #expect(link.seen.last == "refused #3 network.timeout" && link.ended == 0)
    try link.pass(2)
    #expect(link.seen.last == "lost c-1 network.lost" && link.ended == 1 && link.client.liveCalls.isEmpty)
    #expect(try link.send(Self.place) == nil)
    link.isUp = true
    try link.pass(60_000)
    #expect(link.seen.last == "ready")
    #expect(link.requests == ["call +46"])
  }

  @Test("another network is used at once, with the session it had") func networkChanged() throws {
    var link = Link()
    try link.start()
    _ = try link.send(Self.place)
    try link.handle(.networkChanged)
    #expect(link.seen.suffix(2) == ["reconnecting", "ready"] && link.client.liveCalls.count == 1)
    #expect(link.door.sessionCount == 1 && link.door.connectionCount == 1)
  }

  @Test("a quiet connection lives for an hour") func quiet() throws {
    var link = Link()
    try link.start()
    try link.pass(3_600_000)
    #expect(link.seen.last == "ready" && link.door.connectionCount == 1)
  }

  @Test("the gateway's drain is told, and its end ends the session") func drain() throws {
    var link = Link()
    try link.start()
    var effects: [AppDoorEffect] = []
    link.door.handle(.drain, at: link.now, clock: Instant(milliseconds: 0), into: &effects)
    var seen: [String] = []
    var client: [AppSessionClientEffect] = []
    for effect in effects {
      switch effect {
      case .send(let id, let bytes): link.client.handle(.text(id, bytes), at: link.now, into: &client)
      case .close(let id, let code, _): link.client.handle(.closed(id, code: code), at: link.now, into: &client)
      default: break
      }
    }
    for case .state(let state) in client { seen.append("\(state)") }
    #expect(seen == ["reconnecting"])
    #expect(client.contains { if case .draining = $0 { true } else { false } })
  }
}
