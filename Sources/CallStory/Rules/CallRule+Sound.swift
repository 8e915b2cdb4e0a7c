import AppProtocol
import CallEngine
import CallModel
import SDPCore

extension CallRule {
  /// Milliseconds above which somebody hears it; that of the warning that apps get.
  static let highJitter: Double = 30
  /// Bad seconds that make a bad call.
  static let badSeconds = 3

  /// What was heard.
  static let sound: [CallRule] = [
    CallRule("noSoundAtAll", "No sound either way") { call in
      guard talked(call), call.far?.received.packets == 0, call.near?.received.packets == 0 else { return nil }
      return Verdict(
        88, .gateway,
        "The call was up and not one packet of sound came from either side: both media paths are closed, which points "
          + "at the gateway's own media ports or addresses.",
        evidence: packets(call),
        fixes: [
          "landline.yaml: media.trunk[].advertise: the public address of this machine",
          "open the UDP ports of landline.yaml: media.trunk[].ports and media.app[].port",
        ])
    },
    CallRule("noSoundFromTrunk", "No sound from the called side") { call in
      guard talked(call), let far = call.far, far.received.packets == 0, (call.near?.received.packets ?? 1) > 0,
        receives(call, .far)
      else { return nil }
      let address = call.last?.answer?.address
      return Verdict(
        90, .trunk,
        "The call was up, sound went out to the trunk and not one packet came back: its packets do not reach the "
          + "gateway, or it sends none\(address.map { "; its answer names \($0)" } ?? "").",
        evidence: packets(call) + (call.last?.answer.map { ["answered: \($0.line)"] } ?? []),
        fixes: [
          "landline.yaml: media.trunk[].advertise: the address that the trunk can reach",
          "open the UDP ports of landline.yaml: media.trunk[].ports", "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("noSoundFromApp", "No sound from the calling side") { call in
      guard talked(call), let near = call.near, near.received.packets == 0, (call.far?.received.packets ?? 0) > 0,
        receives(call, .near)
      else { return nil }
      return Verdict(
        90, .app,
        "The call was up, the called side sent sound, and not one packet came from the calling side: its microphone is "
          + "off or not allowed, or its packets are lost on the way.",
        evidence: packets(call),
        fixes: ["ask for the microphone before calling", "check that the sending track is live and not muted"])
    },
    CallRule("soundDied", "The sound stopped in mid-call") { call in
      guard call.failure?.code == .mediaLost, call.isEstablished else { return nil }
      let side = call.failure?.leg == .app ? "calling" : "called"
      let flag = call.failure?.leg == .app ? CallRecord.Flag.noSoundFromCaller : .noSoundFromCalled
      guard !call.flags.contains(flag) else { return nil }
      let isBoth = call.happened(.dead(.near)) && call.happened(.dead(.far))
      return Verdict(
        93, call.failure?.leg == .app ? .app : .trunk,
        "Sound came from \(isBoth ? "both sides, then from neither" : "the \(side) side and then no more"); the gateway "
          + "waited and ended the call, which is charged up to the last packet.",
        evidence: packets(call) + call.told { if case .noSound = $0 { true } else { false } }
          + call.lines { if case .dead = $0 { true } else { false } }.map(\.text),
        fixes: [
          "a side that lost its network looks like this: call again",
          "landline.yaml: calls.dead-media: 30s   # how long silence is borne",
        ])
    },
    CallRule("wayLost", "An app's way to the gateway was lost") { call in
      guard call.failure?.code == .mediaLost, call.isEstablished,
        let side = [LegID.near, .far].first(where: { hasLostWay(call, $0) })
      else { return nil }
      return Verdict(
        94, .app,
        "Nothing at all came any more from the app of the \(side == .near ? "calling" : "called") side, neither sound nor "
          + "the checks that prove a muted or held app; it found no other way, and the gateway ended the call.",
        evidence: call.lines { $0 == .wayLost(side) || $0 == .dead(side) }.map(\.text),
        fixes: [
          "an app that changes its network restarts ICE: landline.js and the Swift SDK do so by themselves",
          "landline.yaml: calls.dead-media: 30s   # how long another way is waited for",
        ])
    },
    CallRule("soundNeverCame", "One side never sent sound, and the call was ended for it") { call in
      guard call.failure?.code == .mediaLost, call.isEstablished else { return nil }
      let isApp = call.failure?.leg == .app
      guard call.flags.contains(isApp ? .noSoundFromCaller : .noSoundFromCalled) else { return nil }
      return Verdict(
        93, isApp ? .app : .trunk,
        "Not one packet of sound came from the \(isApp ? "calling" : "called") side; the gateway waited and ended the "
          + "call, which is charged from its answer to its end, like any other.",
        evidence: packets(call) + call.told { if case .dead = $0 { true } else { false } },
        fixes: [
          isApp
            ? "ask for the microphone before calling, and check that its track is live"
            : "landline.yaml: media.trunk[].advertise: the address that the trunk can reach",
          "landline.yaml: calls.dead-media: 30s   # how long silence is borne",
        ])
    },
    CallRule("iceFailed", "The app's media path never opened") { call in
      guard neverOpened(call), !call.isEstablished, call.failure?.leg == .app,
        !said(call, "fingerprint", "handshake")
      else { return nil }
      return Verdict(
        91, .app,
        "No ICE check of the app reached the gateway's media port: its UDP packets are blocked, or the gateway's answer "
          + "names an address that it cannot reach.",
        evidence: mediaNotes(call),
        fixes: [
          "landline.yaml: media.app[].advertise: an address that apps can reach",
          "open UDP to landline.yaml: media.app[].port", "try the app from another network",
          "Firefox on a computer without a network: media.peerconnection.ice.loopback = true in about:config, and the microphone allowed",
        ])
    },
    CallRule("fingerprintMismatch", "The app's certificate is not the one it announced") { call in
      guard neverOpened(call), said(call, "fingerprint") else { return nil }
      return Verdict(
        97, .app,
        "The app's DTLS certificate does not have the fingerprint of its offer: something between app and gateway changed "
          + "the offer, or the app offered with one connection and sent with another.",
        evidence: mediaNotes(call),
        fixes: ["send the offer of the very RTCPeerConnection that carries the call", "look for what rewrites the SDP"])
    },
    CallRule("handshakeFailed", "Keys for the sound could not be agreed") { call in
      guard neverOpened(call), !call.isEstablished, said(call, "handshake"), !said(call, "fingerprint")
      else { return nil }
      return Verdict(
        92, .app,
        "ICE found a path and the DTLS handshake on it did not end: large packets are lost, or the app knows none of the "
          + "gateway's SRTP profiles.",
        evidence: mediaNotes(call),
        fixes: ["check that UDP of 1200 bytes passes", "try the app from another network"])
    },
    CallRule("privateAddress", "The trunk named an address of its own network") { call in
      guard let attempt = call.attempts.last(where: { $0.answer != nil }), let answer = attempt.answer,
        let host = answer.host, EvidenceDescription.isPrivate(host), let address = answer.address,
        address != attempt.remoteHost
      else { return nil }
      let silent = call.far.map { $0.received.packets == 0 } ?? false
      return Verdict(
        silent ? 95 : 38, .trunk,
        "The trunk answered from \(attempt.remoteHost ?? "its address") and wants sound sent to \(address), an address "
          + "inside somebody's own network: a NAT stands between, and nothing there rewrites the answer.",
        evidence: ["c=\(address)", "answered: \(answer.line)"] + packets(call),
        fixes: [
          "ask the carrier to announce its public media address, or to learn the gateway's from its packets",
          "let the trunk's own NAT (its SIP ALG or SBC) rewrite the answer",
        ])
    },
    CallRule("jitter", "Packets of sound came unevenly") { call in
      guard let worst = worst(call, { $0.received.jitter }, above: highJitter) else { return nil }
      return Verdict(
        66, worst.side == .near ? .app : .trunk,
        "The sound from the \(name(worst.side)) came unevenly: jitter of \(Int(worst.mean)) ms in \(worst.seconds) "
          + "seconds, \(Int(worst.peak)) ms at worst. Above \(Int(highJitter)) ms words are cut or late.",
        evidence: packets(call),
        fixes: ["look for a full line or a wireless network on that side"])
    },
    CallRule("transcoded", "Both sides speak different codecs") { call in
      guard let plans = call.sources.trace?.plans, let near = plans.last(where: { $0.side == .near }),
        let far = plans.last(where: { $0.side == .far }), near.codec.lowercased() != far.codec.lowercased()
      else { return nil }
      // The side that an app is on chooses by itself; the trunk is the other one.
      let trunk = call.attempts.last { $0.side == (call.isArrival ? .near : .far) }
      let offer = trunk?.offer ?? trunk?.received("INVITE").flatMap { EvidenceDescription($0.body) }
      let offered = offer?.codecs ?? []
      let answered = trunk?.answer?.codecs ?? []
      let wanted = call.isArrival ? far.codec : near.codec
      return Verdict(
        20, .nobody,
        "The calling side speaks \(near.codec) and the called side \(far.codec), so the gateway converts every packet. The "
          + (call.isArrival
            ? "trunk offered \(list(offered))." : "trunk was offered \(list(offered)) and took \(list(answered))."),
        evidence: ["near: \(near.codec)/\(near.clockRate)", "far: \(far.codec)/\(far.clockRate)"],
        fixes: [
          "landline.yaml: trunks.\(call.trunkName).codecs: \(wanted.lowercased()) first, if the carrier has it"
        ])
    },
    CallRule("keysNotCarried", "Keys pressed cannot reach the called side") { call in
      guard call.isAnswered, let attempt = call.last, let offer = attempt.offer, offer.hasTelephoneEvents,
        let answer = attempt.answer, !answer.hasTelephoneEvents
      else { return nil }
      let pressed = call.sources.trace?.lines.contains { $0.isFromApp && $0.type == "dtmf" } ?? false
      return Verdict(
        pressed ? 78 : 22, .trunk,
        "The trunk's answer leaves telephone-event out (RFC 4733), so keys have no packets of their own to the called "
          + "side\(pressed ? ", and keys were pressed in this call." : ".")",
        evidence: ["offered: \(offer.line)", "answered: \(answer.line)"],
        fixes: ["ask the carrier to accept telephone-event for \(list(answer.codecs))"])
    },
    CallRule("heldByOther", "The called side put the call on hold") { call in
      guard call.happened(.held) else { return nil }
      return Verdict(
        30, .callee,
        "The called side held the call"
          + (call.happened(.takenBack) ? " and took it back" : " to its end")
          + ": silence in that time is meant.",
        evidence: call.lines { $0 == .held || $0 == .takenBack }
          .map { "\($0.milliseconds) ms: \($0.text)" })
    },
  ]

  /// Whether the call ended for want of media: of the app's way, or of a trunk's.
  private static func neverOpened(_ call: CallEvidence) -> Bool {
    call.failure?.code == .networkMedia || call.failure?.code == .mediaLost
  }

  /// Whether the way of an app was lost to the end.
  private static func hasLostWay(_ call: CallEvidence, _ side: LegID) -> Bool {
    call.story.last { $0.event == .wayLost(side) || $0.event == .wayBack(side) }?.event == .wayLost(side)
  }

  // MARK: Figures

  /// Whether it was up long enough to judge its sound.
  private static func talked(_ call: CallEvidence) -> Bool {
    call.isAnswered && (call.isLive || call.durationMilliseconds >= 2_000) && call.far != nil
  }

  /// Whether the last plan of a side lets sound in from there.
  private static func receives(_ call: CallEvidence, _ side: LegID) -> Bool {
    let direction = call.sources.trace?.plans.last { $0.side == side }?.direction
    return direction.flatMap(MediaDirection.init)?.receives ?? true
  }

  private struct Worst {
    let side: LegID
    let seconds: Int
    let mean: Double
    let peak: Double
  }

  /// The side with the most seconds above a limit; the first second of a stream says little.
  private static func worst(
    _ call: CallEvidence, _ figure: (CallTrace.Second) -> Double, above limit: Double
  ) -> Worst? {
    (call.sources.trace?.soundingLegs ?? []).compactMap { side -> Worst? in
      let bad = (call.sources.trace?.seconds ?? []).filter { $0.side == side }.dropFirst().map(figure)
        .filter { $0 > limit && $0.isFinite && $0 < 1e9 }
      guard bad.count >= badSeconds else { return nil }
      return Worst(
        side: side, seconds: bad.count, mean: bad.reduce(0, +) / Double(bad.count), peak: bad.max() ?? 0)
    }.max { $0.seconds < $1.seconds }
  }

  private static func mediaNotes(_ call: CallEvidence) -> [String] {
    call.notes(.mediaFailed).map { "media of the \($0.side.map(name) ?? "call") failed: \($0.text)" }
      + (call.failure?.phrase.map { [$0] } ?? []) + call.told(.noMediaInTime)
  }

  /// Whether the media's failure is named so.
  private static func said(_ call: CallEvidence, _ names: String...) -> Bool {
    let texts = call.notes(.mediaFailed).map(\.text) + [call.failure?.phrase ?? ""]
    return names.contains { name in texts.contains { $0.lowercased().contains(name) } }
  }
}
