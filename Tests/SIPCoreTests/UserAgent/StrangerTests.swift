import CallModel
import SIPCore
import Testing

/// Who gets an answer at all: outside of dialogs, and inside of a dialog from elsewhere.
@Suite struct StrangerTests {
  private static func host(_ peer: String) -> SIPHost { Ladder.paths[peer]?.remote.host ?? .ipv4(0) }

  @Test(
    arguments: [
      "OPTIONS", "INVITE", "REGISTER", "SUBSCRIBE", "MESSAGE", "PUBLISH", "BYE", "CANCEL", "REFER", "DANCE",
    ], ["v", "a", "t"])
  func strangersHearNothing(_ method: String, from peer: String) throws {
    let ladder = Ladder(acceptsCalls: true, acquaintance: .peers([StrangerTests.host("u")]))
    let stranger = try #require(Ladder.paths[peer])
    ladder.receive(DispatchTests.request(method, peer: peer), from: stranger)
    ladder.receive(DispatchTests.request(method, peer: peer, toTag: true, branch: "2"), from: stranger)
    ladder.receive(DispatchTests.request(method, peer: peer, branch: "3", version: "3.0"), from: stranger)
    ladder.advance(64_000)
    #expect(ladder.drainLines() == [])
    #expect(ladder.agent.counters.strangersIgnored == 3)
    #expect(ladder.agent.holdings["transactions"] == 0)
    // A trunk's host is told, over whatever it comes.
    for peer in ["u", "w"] {
      let path = try #require(Ladder.paths[peer])
      let ladder = Ladder(acceptsCalls: true, acquaintance: .peers([StrangerTests.host("u")]))
      ladder.receive(DispatchTests.request("OPTIONS", peer: peer, branch: "4"), from: path)
      #expect(ladder.drainLines() == ["-> 200 OPTIONS \(peer)"])
    }
  }

  @Test func whoeverWeCallIsNoStranger() throws {
    let ladder = Ladder(paths: "u", acquaintance: .peers([]))
    let path = try #require(Ladder.paths["u"])
    ladder.receive(DispatchTests.request("OPTIONS", peer: "u"), from: path)
    #expect(ladder.drainLines() == [])
    ladder.run(
      """
      place
      -> INVITE 1 u
      <- 200 x sdp
      -> ACK 1 u
      == established 'v=0 peer'
      """)
    ladder.receive(DispatchTests.request("OPTIONS", peer: "u", branch: "2"), from: path)
    #expect(ladder.drainLines() == ["-> 200 OPTIONS u"])
  }

  @Test func peersThatWereMetMakeRoomForNewOnes() {
    var limits = UserAgentLimits()
    limits.peers = 1
    let ladder = Ladder(paths: "uv", limits: limits, acquaintance: .peers([]))
    ladder.run(
      """
      place
      -> INVITE 1 u
      <- 486 x
      -> ACK 1 u
      == ended failed sip.busy 486
      """)
    guard let met = Ladder.paths["v"], let forgotten = Ladder.paths["u"] else { return }
    ladder.receive(DispatchTests.request("OPTIONS", peer: "u"), from: forgotten)
    #expect(ladder.drainLines() == [])
    ladder.receive(DispatchTests.request("OPTIONS", peer: "v"), from: met)
    #expect(ladder.drainLines() == ["-> 200 OPTIONS v"])
  }

  /// Somebody who has heard the tags of a call sends from a host of his own.
  @Test(arguments: ["BYE", "INVITE", "UPDATE", "INFO", "REFER", "OPTIONS", "NOTIFY"], ["b", "v"])
  func aDialogTakesRequestsOfItsPeerAlone(_ method: String, from peer: String) throws {
    let ladder = Ladder { $0.allowsTransfer = true }
    ladder.run(
      """
      place
      -> INVITE 1 a
      <- 200 x sdp
      -> ACK 1 a
      == established 'v=0 peer'
      """)
    let invite = try #require(ladder.lastSent(.invite))
    let forger = try #require(Ladder.paths[peer])
    let text =
      DispatchTests.request(method, peer: peer, branch: "forged").split(separator: "\r\n")
      .map { line -> String in
        if line.hasPrefix("From:") { return "From: <sip:+15550100@example.com>;tag=x" }
        if line.hasPrefix("To:") { return "To: <sip:+15550199@example.net>;tag=\(invite.from.tag ?? "")" }
        if line.hasPrefix("Call-ID:") { return "Call-ID: \(invite.callID)" }
        if line.hasPrefix("CSeq:") { return "CSeq: 7 \(method)" }
        return String(line)
      }.joined(separator: "\r\n") + "\r\n\r\n"
    ladder.receive(text, from: forger)
    #expect(ladder.drainLines() == ["-> 481 \(method) \(peer)"])
    if method == "INVITE", forger.remote.transport == .udp {
      ladder.advance(32_000)
      #expect(ladder.drainLines().allSatisfy { $0 == "-> 481 INVITE \(peer)" })
    }
    // The number of the forged request was not taken over either.
    ladder.run(
      """
      <- BYE x 1
      -> 200 BYE a
      == ended remote
      """)
  }

  /// The name that an app called resolves to an address inside: nothing goes there.
  @Test func aNameThatLeadsInsideReachesNobody() throws {
    let ladder = Ladder(paths: "") { $0.reachesInternalHosts = false }
    ladder.run("place\n?? sip:+15550100@example.com")
    let outside = try #require(Ladder.paths["u"])
    var inside = outside
    inside.remote = TransportAddress(.udp, .ipv4(0x7F00_0001), port: 5060)
    let question = try #require(ladder.locations.last)
    ladder.command(.located(question, [inside, outside]))
    #expect(ladder.drainLines() == ["-> INVITE 1 u"])

    let second = Ladder(paths: "") { $0.reachesInternalHosts = false }
    second.run("place\n?? sip:+15550100@example.com")
    second.command(.located(try #require(second.locations.last), [inside]))
    let lines = second.drainLines()
    #expect(lines.count == 1 && lines.allSatisfy { $0.hasPrefix("== ended") }, "\(lines)")
  }
}
