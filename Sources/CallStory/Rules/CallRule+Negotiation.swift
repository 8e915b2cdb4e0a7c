import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  private static let mediaStatuses = [406, 415, 488, 606]

  /// What both ends could not agree on.
  static let negotiation: [CallRule] = [
    CallRule("noCommonCodec", "No codec in common") { call in
      guard let status = call.status, mediaStatuses.contains(status), let attempt = call.last else { return nil }
      let isNamed = call.warningCodes.contains(305) || call.warningCodes.contains(304) || call.says("codec", "format")
      guard isNamed || !call.says("srtp", "encrypt", "crypto", "savp", "secure") else { return nil }
      let offered = attempt.offer?.codecs ?? []
      let warning = call.warningCodes.first.map { "Warning \($0)" }
      return Verdict(
        isNamed ? 92 : 45, .gateway,
        "The gateway offered \(offered.isEmpty ? "its codecs" : offered.joined(separator: ", ")) and the trunk took "
          + "none (\(warning ?? "\(status)")).",
        evidence: call.said + (attempt.offer.map { ["offered: \($0.line)"] } ?? []),
        fixes: [
          call.setting("codecs: [pcma, pcmu, g722, opus]   # now: \(list(attempt.facts?.codecs))"),
          "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("encryptionWanted", "The trunk wants encrypted media") { call in
      guard let status = call.status, mediaStatuses.contains(status) || [400, 403, 421, 494].contains(status),
        let offer = call.last?.offer, !offer.isProtected
      else { return nil }
      let isNamed = call.says("srtp", "encrypt", "crypto", "savp", "secure") || call.warningCodes.contains(302)
      guard isNamed || mediaStatuses.contains(status) && call.warningCodes.isEmpty && !call.says("codec", "format")
      else { return nil }
      return Verdict(
        isNamed ? 95 : 40, .gateway,
        "The gateway offered sound in the clear (\(offer.profile)) and the trunk said \(status)"
          + (isNamed ? ", naming the encryption." : ": some trunks say so where they insist on encryption."),
        evidence: call.said + ["offered: \(offer.line)"],
        fixes: [
          call.setting("srtp: required"),
          call.setting("uri: sip:HOST;transport=tls   # keys should not go in the clear"),
        ])
    },
    CallRule("encryptionRefused", "The trunk has no encrypted media") { call in
      guard let status = call.status, mediaStatuses.contains(status), let offer = call.last?.offer, offer.isProtected,
        !call.warningCodes.contains(305)
      else { return nil }
      let required = call.last?.facts?.encryption == "required"
      return Verdict(
        required ? 93 : 80, .gateway,
        "The gateway offered encrypted sound (\(offer.profile)) and the trunk said \(status): it takes sound in the clear "
          + "only, or other keys.",
        evidence: call.said + ["offered: \(offer.line)"],
        fixes: [call.setting("srtp: optional"), call.setting("srtp: off")])
    },
    CallRule("answeredOtherCodec", "The trunk answered with a codec that was not offered") { call in
      guard call.failure?.code == .media, let attempt = call.last, let answer = attempt.answer,
        let offer = attempt.offer, attempt.success != nil, answer.port != 0, !answer.shares(with: offer)
      else { return nil }
      return Verdict(
        95, .trunk,
        "The trunk said 200 and answered \(list(answer.codecs)), which the gateway had not offered "
          + "(\(list(offer.codecs))): RFC 3264 section 6.1 forbids that, and the call could have no sound.",
        evidence: ["offered: \(offer.line)", "answered: \(answer.line)"] + (call.failure?.warning.map { [$0] } ?? []),
        fixes: [
          "tell the carrier: the answer names a codec that was not offered",
          call.setting("codecs: [pcma, pcmu, g722, opus]   # offer more"),
        ])
    },
    CallRule("answerKeyNotOffered", "The trunk answered with encryption that was not offered") { call in
      guard call.failure?.code == .media, let attempt = call.last, let answer = attempt.answer,
        let offer = attempt.offer, attempt.success != nil, answer.isProtected, !offer.isProtected
      else { return nil }
      return Verdict(
        96, .trunk,
        "The gateway offered sound in the clear (\(offer.profile)), and the answer has \(answer.profile) with a key: "
          + "neither side could use it.",
        evidence: ["offered: \(offer.line)", "answered: \(answer.line)"],
        fixes: [call.setting("srtp: optional")])
    },
    CallRule("answerRefusesSound", "The trunk answered without sound") { call in
      guard call.failure?.code == .media, let attempt = call.last, attempt.success != nil else { return nil }
      guard attempt.answer?.port == 0 || attempt.answer == nil else { return nil }
      return Verdict(
        92, .trunk,
        attempt.answer == nil
          ? "The trunk said 200 without a session description that could be read: there was nothing to send sound to."
          : "The trunk said 200 and closed the stream of sound (port 0).",
        evidence: (attempt.success.map { [$0.startLine] } ?? [])
          + (attempt.answer.map { ["answered: \($0.line)"] } ?? []),
        fixes: [
          "ask the carrier why it refuses the stream; what was offered: \(list(attempt.offer?.codecs))",
          "landline trunk test \(call.trunkName)",
        ])
    },
    CallRule("brokenOffer", "The app's session description cannot be used") { call in
      guard call.failure?.code == .media, call.failure?.leg == .app else { return nil }
      return Verdict(
        96, .app,
        "The gateway could not use what the app offered: \(call.failure?.warning ?? "no reason was noted").",
        evidence: call.failure?.warning.map { [$0] } ?? [],
        fixes: [
          "offer one audio stream with opus, PCMU or PCMA, ICE and DTLS-SRTP, as RTCPeerConnection.createOffer() does"
        ])
    },
    CallRule("extensionWanted", "The trunk insists on a SIP extension") { call in
      guard let status = call.status, [420, 421].contains(status), let refusal = call.last?.refusal else { return nil }
      let wanted = refusal.values("require").joined(separator: ", ")
      let refused = refusal.values("unsupported").joined(separator: ", ")
      let names = status == 421 ? wanted : refused
      let isReliability = names.lowercased().contains("100rel")
      return Verdict(
        names.isEmpty ? 60 : 92, .gateway,
        status == 421
          ? "The trunk takes calls only with \(names.isEmpty ? "an extension that it does not name" : names)."
          : "The trunk does not know \(names.isEmpty ? "an extension of the call" : names), which the call insisted on.",
        evidence: call.said,
        fixes: isReliability
          ? [call.setting("reliable-provisionals: \(status == 421 ? "required" : "off")")]
          : names.lowercased().contains("timer")
            ? [call.setting("session-timer.enabled: \(status == 421 ? "true" : "false")")]
            : ["ask the carrier to do without \(names.isEmpty ? "the extension" : names)"])
    },
    CallRule("sessionInterval", "The trunk wants a longer session timer") { call in
      guard call.status == 422 else { return nil }
      let least = call.last?.refusal?.value("min-se") ?? ""
      let asked = call.last?.invite?.value("session-expires") ?? ""
      return Verdict(
        90, .trunk,
        "The trunk refused the session timer \(asked.isEmpty ? "" : "of \(asked) s ")again and again"
          + (least.isEmpty ? "." : ", at last with Min-SE: \(least)."),
        evidence: call.said + (asked.isEmpty ? [] : ["Session-Expires: \(asked)"]),
        fixes: [
          call.setting("session-timer.interval: 2h"), call.setting("session-timer.enabled: false"),
        ])
    },
    CallRule("brokenAnswer", "The trunk broke the rules of SIP") { call in
      guard call.failure?.code == .protocolBroken, call.unreadable == nil else { return nil }
      let success = call.last?.success
      let lacksContact = success.map { $0.value("contact") == nil } ?? false
      return Verdict(
        lacksContact ? 96 : 70, .trunk,
        lacksContact
          ? "The trunk's 200 has no Contact (RFC 3261 section 13.3.1.4): nobody can acknowledge or end such a call."
          : "The trunk's messages cannot be used as they are.",
        evidence: success.map { [$0.startLine] } ?? call.said,
        fixes: ["show the carrier this message: landline calls pcap \(call.call?.id ?? "ID")"])
    },
  ]

  static func list(_ names: [String]?) -> String {
    guard let names, !names.isEmpty else { return "not known" }
    return names.joined(separator: ", ")
  }
}
