import CallModel
import SDPCore
import SecureTransport
import Testing

/// Which way media takes when an app's address changes, whatever it checks and nominates.
@Suite struct PathTests {
  private static let stranger = MediaAddress(ipv4: 0xCB00_7107, port: 7_007)
  private static let hello = Result { try AppTransportHostileTests.hello() }
  /// Milliseconds in which both directions are to flow after a check from the live address.
  private static let recovery: Int64 = 2_000

  @Test("Whatever the order, both directions flow two seconds after a check", arguments: PathOrder.all)
  func everyOrder(order: PathOrder) throws {
    let app = try MovingApp()
    let leg = app.leg
    app.speak(for: 100)
    for step in order.steps {
      try app.take(step)
      app.speak(for: 700)
      try Self.expectNothingOfStrangers(app)
    }
    leg.check(nominates: false, from: app.here)
    let start = leg.now
    while !app.hears(), leg.now.milliseconds(since: start) < Self.recovery {
      #expect(app.speak() == .rtp)
      leg.advance(milliseconds: 20)
    }
    #expect(app.hears())
    #expect(app.speak() == .rtp)
    // And it stays so, while the app goes on as apps do.
    for _ in 0..<13 {
      leg.check(nominates: false, from: app.here)
      app.speak(for: 2_500, every: 100)
      #expect(app.hears())
    }
    #expect(!leg.taken().contains { if case .failed = $0 { true } else { false } })
  }

  private static func expectNothingOfStrangers(_ app: MovingApp) throws {
    let leg = app.leg
    let destination = leg.transport.destination
    let answers = leg.answers.count
    #expect(leg.deliver(PacketBuffer(try hello.get()), from: stranger) == .dropped(.source))
    #expect(leg.deliver(app.nextPacket(), from: stranger) == .dropped(.source))
    if let taken = app.taken {
      #expect(leg.deliver(PacketBuffer(taken.bytes), from: stranger) == .dropped(.source))
      // A copy of what was taken moves nothing, from wherever it comes.
      if case .dropped = leg.deliver(PacketBuffer(taken.bytes), from: taken.from) {
      } else {
        Issue.record("a replayed packet was taken")
      }
    }
    #expect(leg.answers.count == answers)
    #expect(leg.transport.destination == destination)
  }

  // MARK: The silence of the selected pair

  @Test("Sound from a checked pair is followed one second after the selected one was last heard, and not before")
  func silence() throws {
    let app = try MovingApp()
    let leg = app.leg
    app.speak(for: 1_000)
    try app.take(.rebinding)
    #expect(app.speak() == .dropped(.source))
    try app.take(.check)
    let start = leg.now
    _ = leg.taken()
    while leg.transport.destination == CheckingPeer.here, leg.now.milliseconds(since: start) < 5_000 {
      leg.advance(milliseconds: 20)
      #expect(app.speak() == .rtp)
    }
    #expect((1_000...1_040).contains(leg.now.milliseconds(since: start)))
    #expect(leg.taken() == [.moved(app.here)])
  }

  @Test("A nomination needs no silence")
  func nomination() throws {
    let app = try MovingApp()
    app.speak(for: 1_000)
    try app.take(.rebinding)
    try app.take(.nomination)
    #expect(app.hears())
  }

  @Test("A check from the selected pair, or a report, is as good as sound", arguments: [true, false])
  func otherSigns(isCheck: Bool) throws {
    let app = try MovingApp()
    let leg = app.leg
    try app.take(.rebinding)
    try app.take(.check)
    // Shorter than consent: reports keep none.
    for number in 0..<30 {
      app.speak(for: 900)
      if isCheck {
        leg.check(nominates: false, from: CheckingPeer.here)
      } else {
        let report = SRTPFixtures.rtcp(payload: 20 + number % 2 * 4)
        _ = leg.peerSending?.protectRTCP(report)
        #expect(leg.deliver(report, from: CheckingPeer.here) == .rtcp)
      }
      leg.check(nominates: false, from: app.here)
    }
    #expect(leg.transport.destination == CheckingPeer.here)
  }

  @Test("Two pairs that both speak do not toss media to and fro")
  func flapping() throws {
    let app = try MovingApp()
    let leg = app.leg
    leg.check(nominates: false, from: CheckingPeer.elsewhere)
    _ = leg.taken()
    for number in 0..<3_000 as Range<UInt16> {
      // Each in bursts of up to 0.8 s.
      let source = number / 40 % 2 == 0 ? CheckingPeer.here : CheckingPeer.elsewhere
      #expect(leg.deliver(leg.protected(number), from: source) == .rtp)
      leg.advance(milliseconds: 20)
      if number % 100 == 0 {
        leg.check(nominates: false, from: CheckingPeer.here)
        leg.check(nominates: false, from: CheckingPeer.elsewhere)
      }
    }
    #expect(leg.taken().isEmpty)
    #expect(leg.transport.destination == CheckingPeer.here)
  }

  @Test("What is replayed, forged or never checked moves nothing, however long the selected pair is silent")
  func replay() throws {
    let app = try MovingApp()
    let leg = app.leg
    leg.check(nominates: false, from: CheckingPeer.elsewhere)
    app.speak(for: 500)
    let copy = try #require(app.taken?.bytes)
    var forged = app.nextPacket().bytes
    forged[20] ^= 1
    _ = leg.taken()
    for _ in 0..<500 {
      #expect(leg.deliver(PacketBuffer(copy), from: CheckingPeer.elsewhere) == .dropped(.replay))
      #expect(leg.deliver(PacketBuffer(forged), from: CheckingPeer.elsewhere) == .dropped(.authentication))
      #expect(leg.deliver(app.nextPacket(), from: Self.stranger) == .dropped(.source))
      leg.advance(milliseconds: 20)
    }
    #expect(leg.taken().isEmpty)
    #expect(leg.transport.destination == CheckingPeer.here)
  }

  // MARK: Consent

  @Test("The end of one pair's consent leaves media with the one that is still checked, nominated or not")
  func consent() throws {
    let app = try MovingApp()
    let leg = app.leg
    leg.advance(milliseconds: 1_000)
    try app.take(.rebinding)
    _ = leg.taken()
    // An app that is silent: no sound tells where it is.
    for _ in 0..<12 {
      try app.take(.check)
      leg.advance(milliseconds: 2_500)
    }
    #expect(
      leg.taken() == [.addressProved(app.here), .addressDropped(CheckingPeer.here), .moved(app.here)])
    #expect(app.hears())
    leg.advance(milliseconds: 30_000)
    #expect(leg.taken() == [.addressDropped(app.here), .failed(.consentLost)])
    #expect(leg.transport.destination == nil)
  }
}
