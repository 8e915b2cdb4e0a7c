import CallModel

/// Our answer to one audio section of an offer, and the plan that comes of it.
struct AudioAnswer {
  let media: MediaDescription
  let plan: MediaPlan

  /// - Parameters:
  ///   - written: The profile as the offer spells it.
  ///   - former: The agreement in force.
  init(
    _ terms: AudioStreamTerms, profile written: String, _ wanted: MediaDirection, _ local: LocalMedia,
    former: MediaPlan?
  ) throws(NegotiationRefusal) {
    let policy = terms.policy
    guard let profile = terms.section.profile else { throw .profile }
    guard let chosen = AudioAnswer.choice(of: terms) else { throw .codec }
    var text = AudioSectionText()
    let redundancy = terms.redundancy(of: chosen.codec, chosen.payloadType)
    if let redundancy, redundancy.isPreferred { text.addRedundancy(redundancy.payloadType, of: chosen.payloadType) }
    text.addCodec(chosen.codec, chosen.payloadType, policy)
    if let redundancy, !redundancy.isPreferred { text.addRedundancy(redundancy.payloadType, of: chosen.payloadType) }
    let events = AudioAnswer.events(terms, beside: chosen.codec)
    if let events {
      text.addEvents(events.receivePayloadType, clockRate: events.clockRate, events.receive)
    }
    let direction = terms.peerDirection.mirrored.limited(to: wanted)
    text.addStream(direction, policy)
    let reducedSize = policy.reducedSizeRTCP && terms.section.reducedSizeRTCP
    text.addRTCP(local, multiplexed: terms.multiplexesRTCP, reducedSize: reducedSize)
    if let mid = terms.section.mid { text.add("mid", mid) }
    let audioLevel = terms.audioLevel
    if let audioLevel { text.addExtension(receiving: audioLevel) }
    let protection = try AudioAnswer.protect(terms, profile, local, former, &text)
    let ice = try terms.ice()
    if ice != nil { try text.addICE(local) }
    text.addSource(local)
    media = try text.section(local, profile: written)
    let audio = MediaPlan.Stream(
      index: terms.section.index, mid: terms.section.mid, direction: direction,
      send: MediaPlan.Format(
        codec: chosen.codec, payloadType: chosen.payloadType, parameters: chosen.format.parameters),
      receive: [
        MediaPlan.Format(
          codec: chosen.codec, payloadType: chosen.payloadType,
          parameters: AudioSectionText.parameters(of: chosen.codec, policy))
      ],
      redundancy: redundancy?.payloadType, audioLevelExtension: audioLevel?.identifier, events: events,
      packetTime: terms.packetTime(for: chosen.codec, parameters: chosen.format.parameters),
      maximumPacketTime: terms.maximumPacketTime(for: chosen.codec))
    plan = MediaPlan(
      audio: audio, remote: try terms.reachable(), multiplexesRTCP: terms.multiplexesRTCP, reducedSizeRTCP: reducedSize,
      protection: protection, ice: ice)
  }

  private static func choice(
    of terms: AudioStreamTerms
  ) -> (format: RTPFormat, payloadType: PayloadType, codec: AudioCodec)? {
    let usable = terms.usableFormats
    if terms.policy.preference == .own {
      for codec in terms.policy.codecs {
        if let format = usable.first(where: { $0.codec == codec }) { return format }
      }
    }
    return usable.first
  }

  private static func events(_ terms: AudioStreamTerms, beside codec: AudioCodec) -> MediaPlan.Events? {
    guard let known = terms.policy.telephoneEvents, let offered = terms.eventFormats(beside: codec).first else {
      return nil
    }
    let common = TelephoneEvents(offered.format.parameters).intersection(known)
    guard !common.isEmpty else { return nil }
    return MediaPlan.Events(
      clockRate: offered.clockRate, sendPayloadType: offered.payloadType, receivePayloadType: offered.payloadType,
      send: common, receive: common, alsoReceived: [])
  }

  /// Chooses exactly one protection and writes its lines. What was offered as secure is never answered in the clear.
  private static func protect(
    _ terms: AudioStreamTerms, _ profile: TransportProfile, _ local: LocalMedia, _ former: MediaPlan?,
    _ text: inout AudioSectionText
  ) throws(NegotiationRefusal) -> MediaPlan.Protection {
    let allowed = terms.policy.protection
    var refusal: NegotiationRefusal?
    if allowed.contains(.dtls) {
      let fingerprints = terms.transport.acceptableFingerprints
      if !fingerprints.isEmpty {
        if let setup = setup(answering: terms.transport.setup, terms.policy, former) {
          try text.addDTLS(local, setup)
          return .dtls(MediaPlan.DTLS(role: setup == .active ? .client : .server, fingerprints: fingerprints))
        }
        refusal = .dtlsRole
      } else if profile.isDTLS || profile.isSecure && terms.section.crypto.isEmpty {
        refusal = .fingerprint
      }
    }
    if allowed.contains(.sdes), !profile.isDTLS, profile.isSecure || !terms.section.crypto.isEmpty {
      do throws(NegotiationRefusal) {
        let line = try terms.usableKey()
        let own = try local.masterKey(for: line.suite)
        text.addKey(tag: line.tag, suite: line.name, own)
        return .sdes(MediaPlan.SDES(tag: line.tag, suite: line.suite, send: own, receive: line.key))
      } catch {
        if case .localMedia = error { throw error }
        refusal = refusal ?? error
      }
    }
    if profile.isSecure { throw refusal ?? .protectionNotAllowed }
    guard allowed.contains(.none) else { throw refusal ?? .protectionRequired }
    return .none
  }

  /// We wait for the peer to open the association; an offer without `setup` means to open it (RFC 4145 section 4).
  /// An association that stands keeps its roles (RFC 8842).
  private static func setup(
    answering offered: DTLSSetup?, _ policy: MediaPolicy, _ former: MediaPlan?
  ) -> DTLSSetup? {
    if offered == .actpass, case .dtls(let standing) = former?.protection, standing.role == .client { return .active }
    return switch offered {
    case .active, .actpass, nil: .passive
    case .passive: policy.opensDTLS ? .active : nil
    case .holdconn: nil
    }
  }
}
