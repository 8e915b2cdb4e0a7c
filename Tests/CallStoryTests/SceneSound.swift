import CallModel
import CallStory

/// The seconds of a made-up call, way by way.
struct SceneSound: Sendable {
  static let packetsPerSecond = 50
  /// Seconds between reports of a peer.
  static let reportSeconds = 5

  /// One way of a leg: how many of its packets were lost, came too late or were made good in a second.
  struct Way: Sendable {
    var lost: @Sendable (Int) -> Int = { _ in 0 }
    var tooLate: @Sendable (Int) -> Int = { _ in 0 }
    var recovered: @Sendable (Int) -> Int = { _ in 0 }
    var jitter: Double = 1
    var bytes = 8_000
    var score = 4.4
    /// Parts per million.
    var clockDrift: Double?
  }

  var count = 20
  var fromApp = Way()
  var toApp = Way()
  var fromTrunk = Way()
  var toTrunk = Way()
  /// Milliseconds, of the app's leg in a second.
  var roundTrip: @Sendable (Int) -> Double? = { _ in 40 }
  /// Seconds in which nothing came of the side.
  var silent: [LegID: ClosedRange<Int>] = [:]
  /// Whether peers still report in those seconds.
  var reportsInSilence = false

  var seconds: [CallTrace.Second] {
    var all: [CallTrace.Second] = []
    for (side, inward, outward) in [(LegID.near, fromApp, toApp), (.far, fromTrunk, toTrunk)] {
      var received = CallTrace.Direction(packets: 0, bytes: 0, lost: 0, lossRate: 0, jitter: 0, score: 0)
      var sent = received
      var reports: Int64 = 0
      var lostSinceReport = 0
      (received.tooLate, received.recovered) = (0, 0)
      for second in 0..<count {
        let isSilent = silent[side]?.contains(second) ?? false
        let packets = SceneSound.packetsPerSecond
        if !isSilent {
          let (lost, late, recovered) = (inward.lost(second), inward.tooLate(second), inward.recovered(second))
          received.packets += Int64(packets - lost + late)
          received.bytes += Int64(inward.bytes * (packets - lost) / packets)
          received.lost += Int64(lost)
          received.tooLate = (received.tooLate ?? 0) + Int64(late)
          received.recovered = (received.recovered ?? 0) + Int64(recovered)
          received.lossRate = Double(lost) / Double(packets)
          received.effectiveLoss = Double(lost - recovered) / Double(packets)
        } else {
          received.lossRate = 0
          received.effectiveLoss = 0
        }
        received.jitter = inward.jitter
        received.clockDrift = inward.clockDrift
        received.score = isSilent ? 0 : inward.score
        sent.packets += Int64(packets)
        sent.bytes += Int64(outward.bytes)
        lostSinceReport += outward.lost(second)
        if (second + 1).isMultiple(of: SceneSound.reportSeconds), !isSilent || reportsInSilence {
          reports += 1
          sent.lost += Int64(lostSinceReport)
          sent.lossRate = Double(lostSinceReport) / Double(packets * SceneSound.reportSeconds)
          sent.effectiveLoss = sent.lossRate
          // Each report differs a little.
          sent.jitter = outward.jitter + Double(reports) / 1_000
          sent.score = outward.score
          lostSinceReport = 0
        }
        all.append(
          CallTrace.Second(
            at: 2_000_000 + Int64(second) * 1_000_000, side: side, received: received, sent: sent,
            roundTrip: side == .near ? roundTrip(second) : 30, reports: reports))
      }
    }
    return all.sorted { ($0.at, $0.side) < ($1.at, $1.side) }
  }
}

extension RulesScene {
  /// An answered call with such sound.
  mutating func talk(_ sound: SceneSound, near: String = "opus", far: String = "PCMA") {
    dialog()
    invite()
    talk(milliseconds: Int64(sound.count) * 1_000)
    plan(.near, near)
    plan(.far, far)
    trace.seconds = sound.seconds
    sources.trace = trace
  }
}
