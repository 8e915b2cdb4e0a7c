package import CallModel

/// How many bits and packets a peer's link is given, by what the peer reports of our stream (RFC 3550 section 6.4).
///
/// A link that is too thin loses packets because there are too many, or lets them wait in a growing queue; one that is
/// merely bad loses the same part of fewer packets. So what is sent is cut to what came through, and where that mends
/// nothing, it is given back:
///
/// ```
///             loss ≥ 10 %, or a queue                    still lost as much
///   full rate ───────────────────────▶ a step that fits ────────────────────▶ full rate, no trial for a while
///       ▲                                  │ quiet for a while
///       └────────── one step ──────────────┘
/// ```
/// Where a link keeps losing packets that are not too many, each is sent twice, if the peer takes that: a link that then
/// loses more has no room for it.
package struct LinkAdaptation: Sendable {
  /// What is sent: bit/s of Opus at most, and milliseconds of sound in a packet at least.
  package struct Step: Hashable, Sendable {
    package let bitRate: Int
    package let packetTime: Int

    /// bit/s on the wire of a network with IPv4: with headers of IP, UDP and RTP (20 + 8 + 12 bytes), and the bytes that
    /// protection adds to a packet.
    package func wireRate(protection: Int, isRepeated: Bool = false) -> Int {
      (isRepeated ? 2 : 1) * bitRate + (40 + protection) * 8 * 1000 / packetTime
    }
  }

  /// From the widest link to the thinnest. Larger packets before a worse voice: at 20 ms the headers alone are 20 kb/s.
  package static let steps = [
    Step(bitRate: 32_000, packetTime: 20), Step(bitRate: 26_000, packetTime: 20), Step(bitRate: 20_000, packetTime: 20),
    Step(bitRate: 20_000, packetTime: 40), Step(bitRate: 14_000, packetTime: 40), Step(bitRate: 12_000, packetTime: 60),
    Step(bitRate: 8_000, packetTime: 60),
  ]
  /// bit/s that cost no quality: a loss that lasts is answered with them whatever its reason.
  package static let harmlessRate = 26_000
  /// Bytes: the tag of AES-GCM, which is agreed on first.
  package static let usualProtection = 16
  /// Loss from which on a link may be too thin, from which on it may be a little too thin where it lasts, up to which
  /// more is tried, and up to which a cut has mended it.
  package static let heavyLoss = 0.1
  package static let lastingLoss = 0.025
  package static let bearableLoss = 0.07
  package static let lightLoss = 0.02
  /// Loss that is believed at once; less has to come in two reports one after the other, for few packets tell little.
  package static let plainLoss = 0.25
  /// Loss that lasts from which on packets are sent twice, and up to which once is enough again.
  package static let repeatingLoss = 0.04
  package static let singleLoss = 0.015
  /// Milliseconds that the round trip is longer than the shortest one: so much waits in a queue, or does not.
  package static let longQueue = 150.0
  package static let shortQueue = 50.0
  /// Milliseconds there and back which, beside heavy loss, are a queue that was full before the first report.
  package static let longRoundTrip = 500.0
  /// Milliseconds in which a queue is to drain, and the part of the link that is left to that at most.
  static let drainTime = 2_000.0
  static let fastestDrain = 0.5
  /// Of what came through, what is sent next: the queue has to drain.
  static let headroom = 0.9
  /// Less of what came through before a cut comes through after it: the cut was in vain.
  static let vainPart = 0.85
  /// Of the loss at the full rate, so much of it at the least rate is the same.
  static let samePart = 0.7
  /// Reports by which a cut is judged, and most that are left out before them, since they may speak of what was sent earlier.
  static let judgingReports = 2
  static let unseenReports = 4
  static let patientReports = 2
  /// Microseconds without loss before more is tried; four times as long each time it was too much.
  static let patience: ClosedRange<Int64> = 2_000_000...64_000_000
  /// Microseconds after a cut in vain before the next, and after packets were sent twice in vain; doubled each time.
  static let pardon: ClosedRange<Int64> = 30_000_000...240_000_000
  /// Microseconds after a change in which reports speak of what was sent before it.
  static let settling: Int64 = 700_000
  /// Weight of the newest report in the loss that lasts.
  static let newest = 0.3

  /// What tells how much a link carries of what is sent into it.
  private struct Evidence {
    /// bit/s that were sent.
    let rate: Double
    /// Part of them that did not come through in time.
    var loss: Double
    /// Milliseconds that wait.
    var queue: Double

    var passed: Double { rate * (1 - loss) }
  }

  /// A cut that is not judged yet.
  private struct Cut {
    /// Of what was sent before it.
    var before: Evidence
    /// A round trip that began after it has ended: reports from now on speak of what was sent since.
    var isSeen = false
    /// Reports that came before that, and whether they had it cut once more.
    var unseen = 0
    var isRepeated = false
    var lossSince = 0.0
    var reports = 0
  }

  /// Of ``LinkAdaptation/steps``, those that a peer takes.
  private let steps: [Step]
  /// The first that costs no quality.
  private let harmless: Int
  /// Bytes that protection adds to a packet.
  private var protection = LinkAdaptation.usualProtection
  private var index = 0
  private var leastRoundTrip = Double.infinity
  /// More than one round trip was measured.
  private var hasBaseline = false
  /// Milliseconds that wait, by the newest round trip, and when it began.
  private var queue = 0.0
  private var queueBegan: MonotonicInstant?
  private var meanLoss = 0.0
  private var wasHeavy = false
  private var openCut: Cut?
  /// The peer takes packets that carry the one before again.
  private let mayRepeat: Bool
  /// Each packet is to carry the one before again.
  package private(set) var isRepeating = false
  private var lossBeforeRepeating = 0.0
  private var noRepeatBefore: MonotonicInstant?
  private var repeatPardon = LinkAdaptation.pardon.lowerBound
  /// Loss for which the last cut from the full rate was made.
  private var widestLoss = 0.0
  private var changedAt: MonotonicInstant?
  private var quietSince: MonotonicInstant?
  private var noCutBefore: MonotonicInstant?
  private var pardon = LinkAdaptation.pardon.lowerBound
  private var wait = LinkAdaptation.patience.lowerBound
  /// The last change was a try for more, and the loss that lasted before it.
  private var isTrying = false
  private var lossBeforeTry = 0.0

  /// `highestBitRate`: bit/s that the peer takes; `nil`: any. `mayRepeat`: it takes packets that carry the one before again.
  package init(highestBitRate: Int? = nil, mayRepeat: Bool = false) {
    self.mayRepeat = mayRepeat
    let most = highestBitRate ?? .max
    var steps: [Step] = []
    for step in LinkAdaptation.steps {
      let bounded = Step(bitRate: min(step.bitRate, most), packetTime: step.packetTime)
      if bounded != steps.last { steps.append(bounded) }
    }
    self.steps = steps
    harmless = steps.firstIndex { $0.bitRate <= LinkAdaptation.harmlessRate } ?? 0
  }

  /// What is to be sent now.
  package var step: Step { steps[index] }
  private var wireRate: Double { Double(step.wireRate(protection: protection, isRepeated: isRepeating)) }
  /// Less is sent than the codec would like.
  package var isNarrowed: Bool { index > 0 }
  /// So much less that it is heard.
  package var isThin: Bool { index > harmless }

  /// A report came. `lossRate`: 0 to 1, since the report before. `roundTrip`: where this report measured one. `protection`:
  /// bytes that it adds to a packet.
  package mutating func report(
    lossRate: Double, roundTrip: RoundTrip?, protection: Int = LinkAdaptation.usualProtection, at now: MonotonicInstant
  ) {
    guard lossRate.isFinite else { return }
    self.protection = protection
    let loss = min(max(lossRate, 0), 1)
    meanLoss += LinkAdaptation.newest * (loss - meanLoss)
    let delay = roundTrip.flatMap { measure($0, at: now) }
    // What waited before the last change waits no more.
    let isOfNow = roundTrip.map { trip in changedAt.map { $0 <= trip.began } ?? true } ?? false
    if let cut = openCut, !cut.isSeen, cut.unseen < LinkAdaptation.unseenReports {
      return waitToSee(cut, loss, delay, isSeen: isOfNow || leastRoundTrip == .infinity, at: now)
    }
    if let changedAt, now.microseconds(since: changedAt) < LinkAdaptation.settling { return }
    let isCrowded =
      isOfNow
      && (queue >= LinkAdaptation.longQueue
        || loss >= LinkAdaptation.heavyLoss && queue + leastRoundTrip >= LinkAdaptation.longRoundTrip)
    if isRepeating { return judgeRepeating(loss, isCrowded: isCrowded, at: now) }
    if isCrowded { return cut(max(loss, delay?.late ?? 0), queue: delay?.queue ?? queue, at: now) }
    if let cut = openCut { return judge(cut, loss, at: now) }
    let mayCut = noCutBefore.map { $0 <= now } ?? true
    let isHeavy = loss >= LinkAdaptation.heavyLoss && mayCut
    defer { wasHeavy = isHeavy }
    if isHeavy, wasHeavy || isTrying || loss >= LinkAdaptation.plainLoss {
      cut(loss, at: now)
    } else if isTrying, meanLoss >= max(LinkAdaptation.lastingLoss, lossBeforeTry + LinkAdaptation.lightLoss) {
      cut(loss, at: now)
    } else if index < harmless, meanLoss >= LinkAdaptation.lastingLoss {
      move(to: harmless, at: now)
    } else if mayRepeat, !isHeavy, index <= harmless, meanLoss >= LinkAdaptation.repeatingLoss,
      queue <= LinkAdaptation.shortQueue, noRepeatBefore.map({ $0 <= now }) ?? true
    {
      lossBeforeRepeating = meanLoss
      repeatEach(true, at: now)
    } else if loss <= LinkAdaptation.bearableLoss, queue <= LinkAdaptation.shortQueue {
      widen(at: now)
    } else {
      quietSince = nil
    }
  }

  /// Packets are sent twice: that goes on while it does not make the loss more, and while there is one.
  private mutating func judgeRepeating(_ loss: Double, isCrowded: Bool, at now: MonotonicInstant) {
    // The more is lost, the more it varies by chance.
    let most = lossBeforeRepeating * 1.25 + LinkAdaptation.heavyLoss
    if isCrowded || meanLoss >= most || loss >= lossBeforeRepeating + LinkAdaptation.plainLoss {
      noRepeatBefore = now.advanced(byMicroseconds: repeatPardon)
      repeatPardon = min(2 * repeatPardon, LinkAdaptation.pardon.upperBound)
      repeatEach(false, at: now)
    } else if meanLoss <= LinkAdaptation.singleLoss {
      repeatPardon = LinkAdaptation.pardon.lowerBound
      repeatEach(false, at: now)
    }
  }

  private mutating func repeatEach(_ isRepeating: Bool, at now: MonotonicInstant) {
    self.isRepeating = isRepeating
    move(to: index, at: now)
  }

  /// Milliseconds that wait by now, and the part of what is sent that makes them more.
  private mutating func measure(_ roundTrip: RoundTrip, at now: MonotonicInstant) -> (queue: Double, late: Double)? {
    guard roundTrip.milliseconds.isFinite else { return nil }
    leastRoundTrip = min(leastRoundTrip, roundTrip.milliseconds)
    hasBaseline = queueBegan != nil
    let former = queue
    queue = roundTrip.milliseconds - leastRoundTrip
    let elapsed = queueBegan.map { Double(roundTrip.began.microseconds(since: $0)) / 1_000 } ?? 0
    queueBegan = roundTrip.began
    guard elapsed > 0, queue > former else { return (queue, 0) }
    let growth = (queue - former) / elapsed
    let since = max(0, Double(now.microseconds(since: roundTrip.began)) / 1_000)
    return (queue + growth * since, growth / (1 + growth))
  }

  /// The widest step that the link carries while its queue drains.
  private func fittingStep(_ evidence: Evidence) -> Int {
    let draining = 1 - min(evidence.queue / LinkAdaptation.drainTime, LinkAdaptation.fastestDrain)
    let most = evidence.passed * LinkAdaptation.headroom * draining
    return steps.firstIndex { Double($0.wireRate(protection: protection)) <= most } ?? steps.count - 1
  }

  /// Sends no more than what came through.
  private mutating func cut(_ loss: Double, queue: Double = 0, at now: MonotonicInstant) {
    quietSince = nil
    guard index < steps.count - 1 else {
      openCut = nil
      // Of the least that can be sent the same part is lost.
      if loss >= max(LinkAdaptation.heavyLoss, LinkAdaptation.samePart * widestLoss),
        queue < LinkAdaptation.longQueue
      {
        giveBack(at: now)
      }
      return
    }
    if index <= harmless { widestLoss = loss }
    // The first round trip tells of no queue, since it may be all of it.
    let queue = hasBaseline || leastRoundTrip == .infinity ? queue : max(queue, leastRoundTrip)
    if isTrying { wait = min(4 * wait, LinkAdaptation.patience.upperBound) }
    let before = Evidence(rate: wireRate, loss: loss, queue: queue)
    move(to: max(fittingStep(before), index + 1), at: now)
    openCut = Cut(before: before)
  }

  /// A report that may still speak of what was sent before the cut: it can tell that more was to be cut, and nothing else.
  private mutating func waitToSee(
    _ open: Cut, _ loss: Double, _ delay: (queue: Double, late: Double)?, isSeen: Bool, at now: MonotonicInstant
  ) {
    var open = open
    open.isSeen = isSeen
    open.unseen += 1
    if !isSeen {
      open.before.loss = max(open.before.loss, loss, delay?.late ?? 0)
      open.before.queue = max(open.before.queue, delay?.queue ?? 0)
      widestLoss = max(widestLoss, open.before.loss)
      let fitting = fittingStep(open.before)
      if fitting > index {
        move(to: fitting, at: now)
      } else if open.unseen == LinkAdaptation.patientReports, !open.isRepeated, index < steps.count - 1,
        loss > LinkAdaptation.lightLoss || open.before.queue >= LinkAdaptation.longQueue
      {
        // A full queue loses our own reports as well, and then no round trip ends.
        cut(loss, queue: open.before.queue, at: now)
        openCut?.isRepeated = true
        return
      }
    } else if queue >= LinkAdaptation.longQueue {
      return cut(max(loss, delay?.late ?? 0), queue: delay?.queue ?? queue, at: now)
    }
    openCut = open
  }

  private mutating func judge(_ judged: Cut, _ loss: Double, at now: MonotonicInstant) {
    var judged = judged
    judged.lossSince += loss
    judged.reports += 1
    openCut = judged
    let mean = judged.lossSince / Double(judged.reports)
    let isStillTooMuch = wireRate * (1 - mean) >= LinkAdaptation.vainPart * judged.before.passed
    if loss >= LinkAdaptation.plainLoss, isStillTooMuch { return cut(loss, at: now) }
    guard judged.reports == LinkAdaptation.judgingReports else { return }
    openCut = nil
    guard mean > max(LinkAdaptation.lightLoss, judged.before.loss / 3) else {
      pardon = LinkAdaptation.pardon.lowerBound
      return
    }
    if isStillTooMuch { return cut(mean, at: now) }
    giveBack(at: now)
  }

  /// Fewer packets, and the same part of them lost: the link is bad and not thin.
  private mutating func giveBack(at now: MonotonicInstant) {
    openCut = nil
    noCutBefore = now.advanced(byMicroseconds: pardon)
    pardon = min(2 * pardon, LinkAdaptation.pardon.upperBound)
    move(to: min(index, harmless), at: now)
  }

  private mutating func widen(at now: MonotonicInstant) {
    guard index > 0 else { return }
    guard let since = quietSince else {
      quietSince = now
      return
    }
    if isTrying {
      // The last try went well.
      isTrying = false
      wait = max(wait / 2, LinkAdaptation.patience.lowerBound)
    }
    guard now.microseconds(since: since) >= wait else { return }
    move(to: index - 1, at: now)
    isTrying = true
    lossBeforeTry = meanLoss
  }

  private mutating func move(to step: Int, at now: MonotonicInstant) {
    index = step
    isTrying = false
    wasHeavy = false
    changedAt = now
    quietSince = nil
  }
}
