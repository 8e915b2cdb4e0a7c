import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Share of the sound above which somebody hears what is missing; that of the warning that apps get. No call in which
  /// more is missing is called a fine one.
  static let highLoss = 0.03
  /// Share of packets that come too late from which on waiting is too short.
  static let manyTooLate = 0.01
  /// Millionths from which on a clock is said to be wrong: quartz is right to 100.
  private static let mostDrift = 200.0

  /// Rules that say of a call that its sound was no good one.
  static let lossy: Set<String> = [
    "participantLoss", "appUplinkLoss", "appDownlinkLoss", "trunkLoss", "trunkFarLoss", "thinLink", "pathLost",
  ]

  /// What was not heard, and where it was lost.
  static let loss: [CallRule] = [
    CallRule("pathLost", "The path of the sound was cut") { call in
      guard let longest = call.interruptions.max(by: { $0.milliseconds < $1.milliseconds }) else { return nil }
      let isBoth = call.interruptions.contains { $0.side != longest.side && $0.overlaps(longest) }
      let end = longest.comesBack ? "Then it came back." : "It did not come back."
      return Verdict(
        86, isBoth ? .gateway : owner(longest.side),
        (isBoth
          ? "For \(seconds(longest.milliseconds)) not one packet came from either side, neither sound nor a report: the "
            + "gateway's own network was cut. "
          : "For \(seconds(longest.milliseconds)) not one packet came from the \(name(longest.side)), neither sound nor a "
            + "report, while \(talkers(longest.side)): the path between was cut, and what was sent meanwhile was lost as "
            + "well. ") + end,
        evidence: call.interruptions.map {
          "\(name($0.side)): nothing from \(seconds($0.from / 1_000)) to \(seconds($0.to / 1_000)) of the call"
        } + packets(call),
        fixes: isBoth
          ? ["look at this machine's network at that time"]
          : longest.side == .near
            ? ["have the app restart ICE when its network changes (landline.js does so by itself)"]
            : ["show the carrier the time: its media stopped without a word in SIP"])
    },
    CallRule("thinLink", "A link was too thin for the sound") { call in
      guard let link = call.thinLinks.max(by: { $0.loss < $1.loss }) else { return nil }
      let way = link.isInward ? "from the \(name(link.side))" : "to the \(name(link.side))"
      return Verdict(
        82, owner(link.side),
        "\(percent(link.loss)) of the sound \(way) was lost in \(link.seconds) seconds while a packet took "
          + "\(whole(link.roundTrip)) ms there and back, \(whole(link.best)) ms at best: a queue stood before a link that "
          + "carries less than the call sends, and what did not fit was dropped."
          + (link.kilobits.map { " About \($0) kbit/s of sound got through." } ?? ""),
        evidence: [
          "\(name(link.side)): round trip \(whole(link.best)) ms at best, \(whole(link.roundTrip)) ms with the loss"
        ] + packets(call),
        fixes: link.side == .near
          ? [
            "have the app use another network, or stop what else fills its line",
            "have the app send fewer, longer packets (ptime 60): at low rates headers take more than the sound",
          ]
          : [
            "compare the line to the trunk with 100 kbit/s for each call and way of G.711",
            call.setting("max-calls: 30   # no more than the line carries"),
          ])
    },
    CallRule("latePackets", "Packets of sound came too late to be heard") { call in
      guard let late = call.losses.filter({ $0.tooLate > manyTooLate }).max(by: { $0.tooLate < $1.tooLate })
      else { return nil }
      let leads = late.isHeard && late.tooLate >= late.lost / 2
      return Verdict(
        leads ? 78 : late.isHeard ? 60 : 40, owner(late.side),
        "\(percent(late.tooLate)) of the packets from the \(name(late.side)) came, but when the gateway could wait no longer "
          + "and had made something up in their place: jitter of up to \(whole(late.jitter)) ms is more than it waits for.",
        evidence: packets(call),
        fixes: ["look for a full line or a wireless network on the way from the \(name(late.side))"])
    },
    CallRule("clockDrift", "The clock of a side runs faster or slower than the gateway's") { call in
      let sides = [(side: LegID.near, second: call.near), (.far, call.far)]
      let drifts = sides.compactMap { side, second in second?.received.clockDrift.map { (side: side, drift: $0) } }
      guard let worst = drifts.max(by: { abs($0.drift) < abs($1.drift) }), abs(worst.drift) >= mostDrift else {
        return nil
      }
      let (rate, hour) = (whole(abs(worst.drift)), whole(abs(worst.drift) * 3.6))
      return Verdict(
        55, owner(worst.side),
        "The clock of the \(name(worst.side)) runs \(rate) millionths too \(worst.drift > 0 ? "fast" : "slow"): in an hour that is "
          + "\(hour) ms of sound, which whoever plays it has to leave out or make up. In a conference the gateway does so in pauses.",
        evidence: ["clock of the \(name(worst.side)): \(worst.drift > 0 ? "+" : "-")\(rate) ppm"],
        fixes: ["look for a device or a sound card whose sampling rate is wrong, or for a virtual machine's clock"])
    },
    CallRule("appUplinkLoss", "The app's sound was lost on its way to the gateway") { call in
      guard conference(call) == nil, let loss = heard(call, .near, isSent: false) else { return nil }
      return Verdict(
        74, .app,
        "The called side missed \(described(loss)) of what the app sent: it was lost between the app and the gateway.",
        evidence: packets(call),
        fixes: [
          "have the app use a wire or a nearer access point",
          "have the app send Opus with in-band FEC: it repairs single losses",
        ])
    },
    CallRule("appDownlinkLoss", "Sound was lost on its way from the gateway to the app") { call in
      guard let loss = heard(call, .near, isSent: true) else { return nil }
      let before = lostBefore(call, loss)
      return Verdict(
        before == nil ? 73 : 62, before == nil ? .app : .trunk,
        "The app reports that it missed \(described(loss)) of what the gateway sent to it"
          + (before.map { ". Most of that, \(percent($0)), was missing already when it came from the trunk." }
            ?? ": it was lost between the gateway and the app."),
        evidence: packets(call),
        fixes: ["have the app use a wire or a nearer access point", "stop what else fills the app's line"])
    },
    CallRule("trunkLoss", "The trunk's sound was lost on its way to the gateway") { call in
      guard conference(call) == nil, let loss = heard(call, .far, isSent: false) else { return nil }
      return Verdict(
        72, .trunk,
        "The app missed \(described(loss)) of what the trunk sent: it was lost between the trunk and the gateway, or before.",
        evidence: packets(call),
        fixes: ["show the carrier the loss and the time", "look at this machine's own line to the trunk"])
    },
    CallRule("trunkFarLoss", "The trunk reports that it lost sound of the gateway") { call in
      guard let loss = heard(call, .far, isSent: true) else { return nil }
      let before = lostBefore(call, loss)
      return Verdict(
        before == nil ? 71 : 61, before == nil ? .trunk : .app,
        "The trunk reports that it missed \(described(loss)) of what the gateway sent to it"
          + (before.map { ". Most of that, \(percent($0)), was missing already when it came from the app." }
            ?? ": it was lost between the gateway and the trunk, or behind."),
        evidence: packets(call),
        fixes: ["show the carrier the loss and the time", "look at this machine's own line to the trunk"])
    },
  ]

  // MARK: Figures

  /// The loss of a way, where somebody heard it.
  private static func heard(_ call: CallEvidence, _ side: LegID, isSent: Bool) -> EvidenceLoss? {
    call.losses.first { $0.side == side && $0.isSent == isSent && $0.isHeard }
  }

  /// Packets that pass untouched keep their numbers: what came in with gaps goes out with them, and the peer counts them.
  /// - Returns: the share that was missing before, where it is the greater part.
  private static func lostBefore(_ call: CallEvidence, _ loss: EvidenceLoss) -> Double? {
    guard call.passesThrough, let source = call.losses.first(where: { $0.side != loss.side && !$0.isSent }),
      source.share >= loss.share / 2
    else { return nil }
    return min(source.share, loss.share)
  }

  static func described(_ loss: EvidenceLoss) -> String {
    "\(percent(loss.share))" + (loss.seconds > 0 ? " (\(percent(loss.peak)) in the worst second)" : "")
  }

  static func packets(_ call: CallEvidence) -> [String] {
    [call.near, call.far].compactMap { $0 }.map { second in
      let received = second.received
      let parts = [
        "\(received.packets) packets received", "\(received.lost) lost",
        received.tooLate.flatMap { $0 > 0 ? "\($0) of them too late" : nil },
        received.recovered.flatMap { $0 > 0 ? "\($0) made good" : nil }, "\(second.sent.packets) sent",
        second.sent.lost > 0 ? "\(second.sent.lost) of them lost by its reports" : nil,
      ]
      return "\(name(second.side)): " + parts.compactMap { $0 }.joined(separator: ", ")
    }
  }

  static func name(_ side: LegID) -> String { side == .near ? "calling side" : "called side" }

  private static func owner(_ side: LegID) -> Owner { side == .near ? .app : .trunk }

  private static func talkers(_ side: LegID) -> String {
    side == .near ? "the called side could talk on" : "the app could talk on"
  }

  static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }

  private static func seconds(_ milliseconds: Int64) -> String { "\(milliseconds / 1_000) s" }

  /// Without decimals; a stored trace may hold any number.
  private static func whole(_ value: Double) -> String {
    value.isFinite ? "\(Int(min(max(value, 0), 1e12).rounded()))" : "-"
  }
}
