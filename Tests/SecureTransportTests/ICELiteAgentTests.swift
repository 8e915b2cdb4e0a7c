import CallModel
import SDPCore
import SecureTransport
import Testing

@Suite struct ICELiteAgentTests {
  @Test func aValidCheckProvesAnAddressAndANominationSelectsIt() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer()
    #expect(bench.receive(peer.check()) == .accepted)
    #expect(bench.taken() == [.addressProved(CheckingPeer.here)])
    #expect(bench.agent.selected == nil)
    #expect(bench.agent.latest?.address == CheckingPeer.here)
    peer.nominates = true
    #expect(bench.receive(peer.check()) == .accepted)
    #expect(bench.taken().isEmpty)
    #expect(bench.agent.selected == CheckingPeer.here)
    #expect(!bench.agent.isProved(CheckingPeer.elsewhere))
  }

  @Test func strangersGetNoAnswerOrOneThatDoesNotPay() throws {
    let bench = try AgentBench()
    var strangers: [CheckingPeer] = []
    for change in [
      { $0.hasIntegrity = false }, { $0.hasFingerprint = false }, { $0.userName = "" }, { $0.userName = "none:peer" },
      { $0.userName = "gwUf" }, { $0.userName = "gwUfX:peer" }, { $0.userName = "gwU:fpeer" },
      { $0.userName = String(repeating: "x", count: 1200) }, { $0.userName = "gwUf:" },
    ] as [(inout CheckingPeer) -> Void] {
      var peer = CheckingPeer(nominates: true)
      peer.password = "notThePasswordAtAll0000"
      change(&peer)
      strangers.append(peer)
    }
    for index in strangers.indices {
      let packet = strangers[index].check()
      let verdict = bench.receive(packet)
      // Only one who knows our user fragment hears that the password is wrong.
      let knows = strangers[index].userName == "gwUf:" && strangers[index].hasIntegrity
      #expect(verdict == (knows ? .refused(401) : .silent), "\(strangers[index].userName)")
      #expect(bench.reply.count <= packet.count)
    }
    #expect(bench.agent.selected == nil)
    #expect(bench.taken().isEmpty)
  }

  @Test func thePasswordWithoutAUserFragmentIsRefused() throws {
    let bench = try AgentBench()
    for (name, code) in [("", 400), ("gwUf", 400), ("none:peer", 401)] {
      var peer = CheckingPeer()
      peer.userName = name
      #expect(bench.receive(peer.check()) == .refused(code))
    }
    #expect(!bench.agent.isProved(CheckingPeer.here))
  }

  @Test func aCheckWithoutIntegrityIsRefusedWhereTheAddressIsProved() throws {
    let bench = try AgentBench()
    var bare = CheckingPeer(nominates: true)
    bare.hasIntegrity = false
    #expect(bench.receive(bare.check()) == .silent)
    var peer = CheckingPeer()
    #expect(bench.receive(peer.check()) == .accepted)
    let packet = bare.check()
    #expect(bench.receive(packet) == .refused(400))
    #expect(STUNMessage(bench.reply)?.errorCode == 400)
    #expect(bench.reply.count <= packet.count)
    #expect(bench.receive(bare.check(), from: CheckingPeer.elsewhere) == .silent)
    #expect(bench.agent.selected == nil)
  }

  @Test func whatStandsBehindTheIntegrityDoesNotNominate() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer()
    peer.behind = [(STUNAttribute.useCandidate.rawValue, []), (STUNAttribute.iceControlled.rawValue, [1])]
    #expect(bench.receive(peer.check()) == .accepted)
    #expect(bench.agent.selected == nil)
  }

  @Test func aPeerInTheControlledRoleIsToldOfTheConflict() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    peer.controlling = nil
    #expect(bench.receive(peer.check()) == .refused(487))
    #expect(!bench.agent.isProved(CheckingPeer.here))
    peer.controlling = 3
    #expect(bench.receive(peer.check()) == .accepted)
    #expect(bench.agent.selected == CheckingPeer.here)
  }

  @Test func unknownOptionalAttributesAreIgnoredAndRequiredOnesListed() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer()
    peer.before = [(0xC057, [0, 1, 3, 0xE7]), (0x8FFF, [])]
    #expect(bench.receive(peer.check()) == .accepted)
    // A handshake inside the check: as large as a datagram gets.
    peer.before = [(0xC070, Array(repeating: 22, count: 1_104)), (0xC071, [1, 2, 3, 4])]
    let large = peer.check()
    #expect(large.count >= 1_200)
    #expect(bench.receive(large) == .accepted)
    #expect(bench.reply.count < large.count)
    peer.before = (0..<20).map { (0x7000 + $0, []) }
    let packet = peer.check()
    #expect(bench.receive(packet) == .refused(420))
    #expect(STUNMessage(bench.reply) != nil)
  }

  @Test func aPeerReflexiveAddressTakesOver() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    bench.receive(peer.check())
    _ = bench.taken()
    bench.advance(milliseconds: 5000)
    #expect(bench.receive(peer.check(), from: CheckingPeer.elsewhere) == .accepted)
    #expect(bench.taken() == [.addressProved(CheckingPeer.elsewhere), .moved(CheckingPeer.elsewhere)])
    #expect(bench.agent.selected == CheckingPeer.elsewhere)
    #expect(bench.agent.isProved(CheckingPeer.here))
  }

  @Test func theNominatedPortIsTheOneThatMediaLeavesBy() throws {
    let bench = try AgentBench()
    let second = MediaPort(rawValue: 6)
    var peer = CheckingPeer()
    bench.receive(peer.check())
    #expect(bench.agent.selectedWay == nil)
    peer.nominates = true
    bench.receive(peer.check(), on: second)
    #expect(bench.agent.selectedWay?.port == second && bench.agent.selected == CheckingPeer.here)
    // One address, told once, whichever port it checks.
    #expect(bench.taken() == [.addressProved(CheckingPeer.here)])
    // Later the peer moves to the other port: its address stays proved.
    bench.advance(milliseconds: 5000)
    bench.receive(peer.check())
    #expect(bench.agent.selectedWay?.port == AppLeg.port && bench.agent.selected == CheckingPeer.here)
    #expect(bench.taken() == [.moved(CheckingPeer.here)])
    // The pair that is not checked any more ends alone.
    bench.advance(milliseconds: 26_000)
    #expect(bench.taken().isEmpty)
    #expect(bench.agent.isProved(CheckingPeer.here))
    bench.advance(milliseconds: 5000)
    #expect(bench.taken() == [.addressDropped(CheckingPeer.here), .failed(.consentLost)])
  }

  @Test func ofAggressiveNominationsTheBestPairWins() throws {
    let bench = try AgentBench()
    var good = CheckingPeer(nominates: true)
    var poor = good
    poor.priority = 5
    poor.series = 8
    bench.receive(good.check())
    bench.advance(milliseconds: 50)
    bench.receive(poor.check(), from: CheckingPeer.elsewhere)
    #expect(bench.agent.selected == CheckingPeer.here)
    #expect(bench.agent.isProved(CheckingPeer.elsewhere))
    // Later it is what the peer moved to.
    bench.advance(milliseconds: 400)
    bench.receive(poor.check(), from: CheckingPeer.elsewhere)
    #expect(bench.agent.selected == CheckingPeer.elsewhere)
  }

  @Test func aRecordedCheckProvesNothingElsewhere() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    let recorded = peer.check()
    #expect(bench.receive(recorded) == .accepted)
    let lost = bench.reply.bytes
    #expect(bench.receive(recorded, from: CheckingPeer.elsewhere) == .silent)
    #expect(!bench.agent.isProved(CheckingPeer.elsewhere))
    #expect(bench.agent.selected == CheckingPeer.here)
    // Sent again because the answer was lost, it gets the same answer.
    #expect(bench.receive(recorded) == .accepted)
    #expect(bench.reply.bytes == lost)
    // But it keeps no consent alive.
    bench.advance(milliseconds: 29_000)
    bench.receive(recorded)
    bench.advance(milliseconds: 1000)
    #expect(bench.agent.failure == .consentLost)
    #expect(bench.receive(peer.check()) == .silent)
    #expect(bench.agent.selected == nil)
  }

  @Test func consentEndsWhenChecksStop() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    bench.receive(peer.check())
    peer.nominates = false
    for _ in 0..<20 {
      bench.advance(milliseconds: 29_999)
      #expect(bench.receive(peer.check()) == .accepted)
    }
    #expect(bench.agent.failure == nil)
    _ = bench.taken()
    #expect(bench.agent.nextDeadline == bench.now.advanced(byMilliseconds: 30_000))
    bench.advance(milliseconds: 30_000)
    #expect(bench.taken() == [.addressDropped(CheckingPeer.here), .failed(.consentLost)])
    #expect(bench.agent.selected == nil)
    #expect(bench.agent.nextDeadline == nil)
    // The same credentials are of no use any more (RFC 7675 section 5.1).
    #expect(bench.receive(peer.check()) == .silent)
  }

  @Test func consentMovesToAnotherNominatedPath() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    bench.receive(peer.check(), from: CheckingPeer.elsewhere)
    bench.advance(milliseconds: 1000)
    bench.receive(peer.check())
    peer.nominates = false
    bench.advance(milliseconds: 20_000)
    bench.receive(peer.check(), from: CheckingPeer.elsewhere)
    _ = bench.taken()
    bench.advance(milliseconds: 10_000)
    #expect(bench.taken() == [.addressDropped(CheckingPeer.here), .moved(CheckingPeer.elsewhere)])
    #expect(bench.agent.selected == CheckingPeer.elsewhere)
  }

  @Test func withoutChecksThereIsNoConnectivity() throws {
    let bench = try AgentBench()
    #expect(bench.agent.nextDeadline == MonotonicInstant(milliseconds: 30_000))
    bench.advance(milliseconds: 29_999)
    #expect(bench.taken().isEmpty)
    bench.advance(milliseconds: 1)
    #expect(bench.taken() == [.failed(.noConnectivity)])
    var peer = CheckingPeer(nominates: true)
    #expect(bench.receive(peer.check()) == .silent)
  }

  @Test func afterARestartTheOldCredentialsHoldUntilTheNewOnesAreUsed() throws {
    let bench = try AgentBench()
    var old = CheckingPeer(nominates: true)
    bench.receive(old.check())
    let fresh = try CheckingPeer.credentials("newU", "anotherPassword0000000")
    bench.agent.restart(fresh)
    #expect(bench.agent.selected == CheckingPeer.here)
    bench.advance(milliseconds: 2500)
    #expect(bench.receive(old.check()) == .accepted)
    _ = bench.taken()
    var new = CheckingPeer(credentials: fresh)
    #expect(bench.receive(new.check(), from: CheckingPeer.elsewhere) == .accepted)
    // Media stays until the new pair is nominated.
    #expect(bench.agent.selected == CheckingPeer.here)
    #expect(bench.receive(old.check()) == .silent)
    new.nominates = true
    bench.receive(new.check(), from: CheckingPeer.elsewhere)
    #expect(
      bench.taken() == [
        .addressProved(CheckingPeer.elsewhere), .moved(CheckingPeer.elsewhere), .addressDropped(CheckingPeer.here),
      ])
    #expect(bench.agent.selected == CheckingPeer.elsewhere)
  }

  @Test func aRestartLeadsOutOfAFailure() throws {
    let bench = try AgentBench()
    bench.advance(milliseconds: 30_000)
    #expect(bench.agent.failure == .noConnectivity)
    let fresh = try CheckingPeer.credentials("newU", "anotherPassword0000000")
    bench.agent.restart(fresh)
    bench.agent.begin(at: bench.now)
    #expect(bench.agent.nextDeadline == bench.now.advanced(byMilliseconds: 30_000))
    var old = CheckingPeer()
    #expect(bench.receive(old.check()) == .silent)
    var new = CheckingPeer(credentials: fresh, nominates: true)
    #expect(bench.receive(new.check()) == .accepted)
    #expect(bench.agent.selected == CheckingPeer.here)
  }

  @Test func theTableOfPathsIsBounded() throws {
    let bench = try AgentBench()
    var peer = CheckingPeer(nominates: true)
    bench.receive(peer.check())
    peer.nominates = false
    for number in 0..<100 {
      bench.advance(milliseconds: 1)
      bench.receive(peer.check(), from: MediaAddress(ipv4: 0x0A00_0000 + UInt32(number), port: 9))
    }
    let proved = (0..<100).filter { bench.agent.isProved(MediaAddress(ipv4: 0x0A00_0000 + UInt32($0), port: 9)) }
    // The selected one stays, and of the rest those heard last.
    #expect(bench.agent.isProved(CheckingPeer.here))
    #expect(proved == Array((100 - ICELiteAgent.maximumPaths + 1)..<100))
    let events = bench.taken()
    #expect(events.count { if case .addressProved = $0 { true } else { false } } == 101)
    #expect(events.count { if case .addressDropped = $0 { true } else { false } } == 101 - ICELiteAgent.maximumPaths)
  }
}
