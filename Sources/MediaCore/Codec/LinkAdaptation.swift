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
package struct LinkAdaptation: Sendable {
  /// What is sent: bit/s of Opus at most, and milliseconds of sound in a packet at least.
  package struct Step: Hashable, Sendable {
    package let bitRate: Int
    package let packetTime: Int

    /// bit/s on the wire of a network with IPv4: headers of IP, UDP and RTP, and the tag of SRTP (20 + 8 + 12 + 10 bytes).
    package var wireRate: Int { bitRate + 50 * 8 * 1000 / packetTime }
  }

  /// From the widest link to the thinnest. Larger packets before a worse voice: at 20 ms the headers alone are 20 kb/s.
  package static let steps = [
    Step(bitRate: 32_000, packetTime: 20), Step(bitRate: 26_000, packetTime: 20), Step(bitRate: 20_000, packetTime: 20),
    Step(bitRate: 20_000, packetTime: 40), Step(bitRate: 14_000, packetTime: 40), Step(bitRate: 12_000, packetTime: 60),
    Step(bitRate: 8_000, packetTime: 60),
  ]
  /// The step that costs no quality: a loss that lasts is answered with it whatever its reason.
  package static let harmless = 1
  /// Loss from which on a link may be too thin, from which on it may be a little too thin where it lasts, up to which
  /// more is tried, and up to which a cut has mended it.
  package static let heavyLoss = 0.1
  package static let lastingLoss = 0.025
  package static let bearableLoss = 0.07
  package static let lightLoss = 0.02
  /// Loss that is believed at once; less has to come in two reports one after the other, for few packets tell little.
  package static let plainLoss = 0.25
  /// Milliseconds that the round trip is longer than the shortest one: so much waits in a queue, or does not.
  package static let longQueue = 150.0
  package static let shortQueue = 50.0
  /// Milliseconds there and back which, beside heavy loss, are a queue that was full before the first report.
  package static let longRoundTrip = 500.0
  /// Of what came through, what is sent next: the queue has to drain.
  static let headroom = 0.9
  /// Less of what came through before a cut comes through after it: the cut was in vain.
  static let vainPart = 0.85
  /// Reports by which a cut is judged.
  static let judgingReports = 2
  /// Microseconds without loss before more is tried; four times as long each time it was too much.
  static let patience: ClosedRange<Int64> = 2_000_000...64_000_000
  /// Microseconds after a cut in vain before the next; doubled each time.
  static let pardon: ClosedRange<Int64> = 30_000_000...240_000_000
  /// Microseconds after a change in which reports speak of what was sent before it.
  static let settling: Int64 = 700_000
  /// Weight of the newest report in the loss that lasts.
  static let newest = 0.3

  /// A cut that is not judged yet.
  private struct Cut {
    /// bit/s that came through before it, and the loss it is to mend.
    let passed: Double
    let loss: Double
    var lossSince = 0.0
    var reports = 0
  }

  private var index = 0
  private var leastRoundTrip = Double.infinity
  private var meanLoss = 0.0
  private var wasHeavy = false
  private var openCut: Cut?
  private var changedAt: MonotonicInstant?
  private var quietSince: MonotonicInstant?
  private var noCutBefore: MonotonicInstant?
  private var pardon = LinkAdaptation.pardon.lowerBound
  private var wait = LinkAdaptation.patience.lowerBound
  /// The last change was a try for more.
  private var isTrying = false

  package init() {}

  /// What is to be sent now.
  package var step: Step { LinkAdaptation.steps[index] }
  /// Less is sent than the codec would like.
  package var isNarrowed: Bool { index > 0 }
  /// So much less that it is heard.
  package var isThin: Bool { index > LinkAdaptation.harmless }

  /// A report came. `lossRate`: 0 to 1, since the report before. `roundTrip`: milliseconds, `nil` where unknown.
  package mutating func report(lossRate: Double, roundTrip: Double?, at now: MonotonicInstant) {
    guard lossRate.isFinite else { return }
    let loss = min(max(lossRate, 0), 1)
    var queue = 0.0
    if let roundTrip, roundTrip.isFinite {
      leastRoundTrip = min(leastRoundTrip, roundTrip)
      queue = roundTrip - leastRoundTrip
    }
    let isCrowded =
      queue >= LinkAdaptation.longQueue
      || loss >= LinkAdaptation.heavyLoss && roundTrip ?? 0 >= LinkAdaptation.longRoundTrip
    meanLoss += LinkAdaptation.newest * (loss - meanLoss)
    if let changedAt, now.microseconds(since: changedAt) < LinkAdaptation.settling { return }
    if isCrowded { return cut(loss, at: now) }
    if let cut = openCut { return judge(cut, loss, at: now) }
    let mayCut = noCutBefore.map { $0 <= now } ?? true
    let isHeavy = loss >= LinkAdaptation.heavyLoss && mayCut
    defer { wasHeavy = isHeavy }
    if isHeavy, wasHeavy || isTrying || loss >= LinkAdaptation.plainLoss {
      cut(loss, at: now)
    } else if index < LinkAdaptation.harmless, meanLoss >= LinkAdaptation.lastingLoss {
      move(to: LinkAdaptation.harmless, at: now)
    } else if loss <= LinkAdaptation.bearableLoss, queue <= LinkAdaptation.shortQueue {
      widen(at: now)
    } else {
      quietSince = nil
    }
  }

  /// Sends no more than what came through.
  private mutating func cut(_ loss: Double, at now: MonotonicInstant) {
    quietSince = nil
    guard index < LinkAdaptation.steps.count - 1 else {
      openCut = nil
      return
    }
    if isTrying { wait = min(4 * wait, LinkAdaptation.patience.upperBound) }
    let passed = Double(step.wireRate) * (1 - loss)
    let fitting =
      LinkAdaptation.steps.firstIndex { Double($0.wireRate) <= passed * LinkAdaptation.headroom }
      ?? LinkAdaptation.steps.count - 1
    move(to: max(fitting, index + 1), at: now)
    openCut = Cut(passed: passed, loss: loss)
  }

  private mutating func judge(_ judged: Cut, _ loss: Double, at now: MonotonicInstant) {
    var judged = judged
    judged.lossSince += loss
    judged.reports += 1
    openCut = judged
    let mean = judged.lossSince / Double(judged.reports)
    let isStillTooMuch = Double(step.wireRate) * (1 - mean) >= LinkAdaptation.vainPart * judged.passed
    if loss >= LinkAdaptation.plainLoss, isStillTooMuch { return cut(loss, at: now) }
    guard judged.reports == LinkAdaptation.judgingReports else { return }
    openCut = nil
    guard mean > max(LinkAdaptation.lightLoss, judged.loss / 3) else {
      pardon = LinkAdaptation.pardon.lowerBound
      return
    }
    if isStillTooMuch { return cut(mean, at: now) }
    // Fewer packets, and the same part of them lost: the link is bad and not thin.
    noCutBefore = now.advanced(byMicroseconds: pardon)
    pardon = min(2 * pardon, LinkAdaptation.pardon.upperBound)
    move(to: min(index, LinkAdaptation.harmless), at: now)
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
  }

  private mutating func move(to step: Int, at now: MonotonicInstant) {
    index = step
    isTrying = false
    wasHeavy = false
    changedAt = now
    quietSince = nil
  }
}
