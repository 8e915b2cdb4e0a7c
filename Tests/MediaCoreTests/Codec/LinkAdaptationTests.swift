import CallModel
import MediaCore
import Testing

/// What is sent into links that are too thin, and into those that merely lose.
@Suite struct LinkAdaptationTests {
  /// A link of so many bit/s behind a queue, which also loses at random; a peer that reports every second.
  private struct Link {
    var capacity: Double
    var loss = 0.0
    /// Milliseconds that the queue holds at most.
    var queueLimit = 200.0
    let roundTrip = 40.0
    var generator: SeededNumbers
    /// bit that wait.
    var waiting = 0.0
    var adaptation: LinkAdaptation
    var now = MonotonicInstant.zero
    var sent = 0.0
    var lost = 0.0

    init(capacity: Double, loss: Double = 0, mayRepeat: Bool = false, seed: UInt64 = 1) {
      adaptation = LinkAdaptation(mayRepeat: mayRepeat)
      self.capacity = capacity
      self.loss = loss
      generator = SeededNumbers(seed: seed)
    }

    /// Milliseconds of queue after it.
    @discardableResult mutating func second() -> Double {
      now = now.advanced(byMilliseconds: 1_000)
      let step = adaptation.step
      let packets = 1_000 / step.packetTime
      let bits = Double(step.wireRate(protection: 16, isRepeated: adaptation.isRepeating)) / Double(packets)
      var gone = 0
      for _ in 0..<packets {
        waiting = max(0, waiting - capacity * Double(step.packetTime) / 1_000)
        if waiting + bits > capacity * queueLimit / 1_000 || Double.random(in: 0..<1, using: &generator) < loss {
          gone += 1
        } else {
          waiting += bits
        }
      }
      sent += Double(packets)
      lost += Double(gone)
      let queue = waiting * 1_000 / capacity
      adaptation.report(
        lossRate: Double(gone) / Double(packets),
        roundTrip: RoundTrip(
          milliseconds: roundTrip + queue, began: now.advanced(byMicroseconds: -Int64(1_000 * (roundTrip + queue)))),
        at: now)
      return queue
    }
  }

  @Test(arguments: [20_000.0, 25_000, 30_000, 40_000, 50_000], [100.0, 200, 1_000])
  func aThinLinkIsFilledAndNotFlooded(_ capacity: Double, _ queueLimit: Double) {
    fill(Link(capacity: capacity), queueLimit)
    fill(Link(capacity: capacity, mayRepeat: true), queueLimit)
  }

  private func fill(_ link: Link, _ queueLimit: Double) {
    var link = link
    link.queueLimit = queueLimit
    for _ in 0..<3 { link.second() }
    // A link that is a little too thin shows late, and does little harm.
    #expect(Double(link.adaptation.step.wireRate(protection: 16)) <= link.capacity || link.capacity > 45_000)
    for _ in 0..<5 { link.second() }
    link.sent = 0
    link.lost = 0
    var queues = 0.0
    for _ in 0..<120 { queues += link.second() }
    #expect(link.lost / link.sent < 0.03)
    #expect(queues / 120 < 150)
  }

  /// Where the first report shows it plainly, one is enough.
  @Test func halfOfThePacketsLostIsBelievedAtOnce() {
    var adaptation = LinkAdaptation()
    adaptation.report(lossRate: 0.5, roundTrip: nil, at: MonotonicInstant(milliseconds: 900))
    #expect(adaptation.step.wireRate(protection: 16) <= 25_000)
    #expect(adaptation.step.packetTime > 20)
  }

  /// Loss that fewer packets do not mend is no reason to send less.
  @Test(arguments: [0.03, 0.1, 0.2, 0.3], 1...5 as ClosedRange<UInt64>)
  func aBadLinkIsNotTakenForAThinOne(_ loss: Double, _ seed: UInt64) {
    var link = Link(capacity: 10_000_000, loss: loss, seed: seed)
    var full = 0
    for _ in 0..<300 {
      link.second()
      if link.adaptation.step.bitRate >= LinkAdaptation.harmlessRate { full += 1 }
    }
    #expect(full > 120)
  }

  /// A link with room that goes on losing is sent everything twice, and once again when it is good.
  @Test(arguments: [0.05, 0.1, 0.2, 0.3], 1...5 as ClosedRange<UInt64>)
  func aBadLinkWithRoomIsSentEverythingTwice(_ loss: Double, _ seed: UInt64) {
    var link = Link(capacity: 10_000_000, loss: loss, mayRepeat: true, seed: seed)
    var twice = 0
    for _ in 0..<300 {
      link.second()
      if link.adaptation.isRepeating { twice += 1 }
      #expect(!link.adaptation.isRepeating || !link.adaptation.isThin)
    }
    #expect(twice > 240)
    link.loss = 0
    for _ in 0..<20 { link.second() }
    #expect(!link.adaptation.isRepeating)
  }

  /// A link that loses and has room for everything once but not twice: that is tried seldom, and more and more so.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func aBadLinkWithoutRoomIsSentEverythingOnce(_ seed: UInt64) {
    var link = Link(capacity: 60_000, loss: 0.06, mayRepeat: true, seed: seed)
    var twice = 0
    for _ in 0..<600 {
      link.second()
      if link.adaptation.isRepeating { twice += 1 }
    }
    #expect(twice < 30)
    #expect(link.lost / link.sent < 0.09)
  }

  @Test func aLinkThatIsWideAgainIsUsedAgain() {
    var link = Link(capacity: 25_000)
    for _ in 0..<30 { link.second() }
    #expect(link.adaptation.isThin)
    link.capacity = 10_000_000
    var seconds = 0
    while link.adaptation.isThin, seconds < 200 {
      link.second()
      seconds += 1
    }
    #expect(seconds <= 60)
  }

  /// A peer that takes fewer bits is cut from there on, and not in vain from more.
  @Test func itStartsAtWhatThePeerTakes() {
    var adaptation = LinkAdaptation(highestBitRate: 24_000)
    #expect(adaptation.step.bitRate == 24_000 && adaptation.step.packetTime == 20)
    #expect(!adaptation.isNarrowed)
    adaptation.report(lossRate: 0.3, roundTrip: nil, at: MonotonicInstant(milliseconds: 900))
    // 46.4 kb/s were sent, and 32.5 came through.
    #expect(adaptation.step.bitRate == 14_000 && adaptation.step.packetTime == 40)
    // Who takes less than the thinnest step is helped by larger packets alone.
    var narrow = LinkAdaptation(highestBitRate: 6_000)
    #expect(narrow.step.bitRate == 6_000 && narrow.step.packetTime == 20)
    narrow.report(lossRate: 0.5, roundTrip: nil, at: MonotonicInstant(milliseconds: 900))
    #expect(narrow.step.bitRate == 6_000 && narrow.step.packetTime == 60)
  }

  /// The tag of AES-GCM is longer than that of HMAC-SHA1, and 50 packets a second carry it.
  @Test func whatProtectionAddsIsCounted() {
    let step = LinkAdaptation.steps[0]
    #expect(step.wireRate(protection: 16) == 54_400)
    #expect(step.wireRate(protection: 10) == 52_000)
    #expect(step.wireRate(protection: 0) == 48_000)
  }

  @Test func whatIsNoNumberChangesNothing() {
    var adaptation = LinkAdaptation()
    adaptation.report(lossRate: .nan, roundTrip: RoundTrip(milliseconds: .infinity, began: .zero), at: .zero)
    adaptation.report(lossRate: -1, roundTrip: RoundTrip(milliseconds: .nan, began: .zero), at: .zero)
    #expect(!adaptation.isThin)
  }
}
