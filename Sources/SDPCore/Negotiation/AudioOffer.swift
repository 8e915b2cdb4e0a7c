import CallModel

/// Our offer of the audio stream: what was offered, to hold the answer against.
struct AudioOffer: Hashable, Sendable {
  struct Codec: Hashable, Sendable {
    let codec: AudioCodec
    let payloadType: PayloadType
  }
  struct Events: Hashable, Sendable {
    let clockRate: Int
    let payloadType: PayloadType
  }
  struct Key: Hashable, Sendable {
    let tag: Int
    let suite: CryptoSuite
    let key: SRTPMasterKey
  }

  let policy: MediaPolicy
  let direction: MediaDirection
  let index: Int
  let media: MediaDescription
  let codecs: [Codec]
  let events: [Events]
  let keys: [Key]
  let usesDTLS: Bool
  let usesICE: Bool

  /// - Parameters:
  ///   - plan: What is in force, for a later offer: its codec stays first, its protection stays.
  ///   - former: Our section in the last description.
  init(
    policy: MediaPolicy, direction: MediaDirection, local: LocalMedia, plan: MediaPlan?, former: MediaDescription?,
    index: Int, numbers: inout PayloadNumbers
  ) throws(NegotiationRefusal) {
    self.policy = policy
    self.direction = direction
    self.index = index
    var text = AudioSectionText()
    codecs = AudioOffer.codecs(policy, plan, &numbers, &text)
    events = AudioOffer.events(policy, codecs, &numbers, &text)
    text.addStream(direction, policy)
    text.addRTCP(local, multiplexed: policy.multiplexesRTCP, reducedSize: policy.reducedSizeRTCP)
    usesDTLS = plan.map { $0.protection.isDTLS } ?? policy.protection.contains(.dtls)
    let mid = former?.attributes.first { $0.name == "mid" }?.value ?? (usesDTLS && former == nil ? "0" : nil)
    if let mid { text.add("mid", mid) }

    var keys: [Key] = []
    if usesDTLS {
      // RFC 5763 section 5 wants the choice left to the answerer.
      try text.addDTLS(local, .actpass)
    } else if policy.protection.contains(.sdes) {
      for (position, suite) in AudioOffer.suites(policy, plan).enumerated() {
        let key = try local.masterKey(for: suite)
        text.addKey(tag: position + 1, suite: suite.rawValue, key)
        keys.append(Key(tag: position + 1, suite: suite, key: key))
      }
    }
    self.keys = keys
    usesICE = policy.ice != .off
    if usesICE { try text.addICE(local) }
    text.addSource(local)
    let profile = AudioOffer.profile(policy, usesDTLS: usesDTLS)
    media = try text.section(
      local, profile: plan == nil ? profile.rawValue : former?.profile ?? profile.rawValue)
  }

  private static func profile(_ policy: MediaPolicy, usesDTLS: Bool) -> TransportProfile {
    if usesDTLS { return .dtlsSAVPF }
    // Where media in the clear is fine too, RFC 8643 offers keys under the plain profile.
    return policy.protection.contains(.sdes) && !policy.protection.contains(.none) ? .savp : .avp
  }

  private static func codecs(
    _ policy: MediaPolicy, _ plan: MediaPlan?, _ numbers: inout PayloadNumbers, _ text: inout AudioSectionText
  ) -> [Codec] {
    var order = policy.codecs
    if let current = plan?.audio.send.codec, order.contains(current) { order.insert(current, at: 0) }
    var codecs: [Codec] = []
    codecs.reserveCapacity(order.count)
    for codec in order {
      guard !codecs.contains(where: { $0.codec == codec }), let number = numbers.number(of: codec) else { continue }
      text.addCodec(codec, number, policy)
      codecs.append(Codec(codec: codec, payloadType: number))
    }
    return codecs
  }

  /// One payload type for each clock of the codecs.
  private static func events(
    _ policy: MediaPolicy, _ codecs: [Codec], _ numbers: inout PayloadNumbers, _ text: inout AudioSectionText
  ) -> [Events] {
    guard let known = policy.telephoneEvents, !known.isEmpty else { return [] }
    var events: [Events] = []
    for codec in codecs where !events.contains(where: { $0.clockRate == codec.codec.clockRate }) {
      let clockRate = codec.codec.clockRate
      guard let number = numbers.numberOfEvents(at: clockRate) else { continue }
      text.addEvents(number, clockRate: clockRate, known)
      events.append(Events(clockRate: clockRate, payloadType: number))
    }
    return events
  }

  private static func suites(_ policy: MediaPolicy, _ plan: MediaPlan?) -> [CryptoSuite] {
    guard case .sdes(let current) = plan?.protection else { return policy.suites }
    return [current.suite] + policy.suites.filter { $0 != current.suite }
  }
}

extension AudioOffer {
  /// What comes of the offer with this answer.
  func plan(answeredBy answer: AudioStreamTerms) throws(NegotiationRefusal) -> MediaPlan {
    let section = answer.section
    guard section.port != 0 else { throw .streamRefused }
    guard let profile = section.profile, profile == TransportProfile(name: media.profile) else {
      throw .answerShape
    }
    var terms = answer
    terms.formats = section.formats.map(completed)
    let usable = terms.usableFormats.filter { answered in codecs.contains { $0.codec == answered.codec } }
    guard let first = usable.first else { throw .codec }
    var receive: [MediaPlan.Format] = []
    for answered in usable {
      // Ours, whatever number the answer writes: the peer sends what we offered (RFC 3264 section 5.1).
      guard let offered = codecs.first(where: { $0.codec == answered.codec }),
        !receive.contains(where: { $0.codec == answered.codec })
      else { continue }
      receive.append(
        MediaPlan.Format(
          codec: offered.codec, payloadType: offered.payloadType,
          parameters: AudioSectionText.parameters(of: offered.codec, policy)))
    }
    let protection = try protection(answeredBy: terms, profile)
    let audio = MediaPlan.Stream(
      index: index, mid: section.mid, direction: direction.limited(to: terms.peerDirection.mirrored),
      send: MediaPlan.Format(
        codec: first.codec, payloadType: first.payloadType, parameters: first.format.parameters),
      receive: receive, redundancy: nil, audioLevelExtension: nil,
      events: events(answeredBy: terms, beside: first.codec),
      packetTime: terms.packetTime(for: first.codec, parameters: first.format.parameters),
      maximumPacketTime: terms.maximumPacketTime(for: first.codec))
    return MediaPlan(
      audio: audio, remote: try terms.reachable(),
      multiplexesRTCP: terms.multiplexesRTCP,
      reducedSizeRTCP: policy.reducedSizeRTCP && section.reducedSizeRTCP, protection: protection, ice: try terms.ice())
  }

  /// An answer that repeats one of our numbers without an `rtpmap` line means what we meant.
  private func completed(_ format: RTPFormat) -> RTPFormat {
    guard format.encoding == nil, let payloadType = format.payloadType else { return format }
    let encoding: RTPEncoding? =
      if let codec = codecs.first(where: { $0.payloadType == payloadType }) {
        codec.codec.encoding
      } else if let event = events.first(where: { $0.payloadType == payloadType }) {
        RTPEncoding(name: "telephone-event", clockRate: event.clockRate, channels: nil)
      } else {
        nil
      }
    return RTPFormat(
      token: format.token, payloadType: payloadType, encoding: encoding, parameters: format.parameters)
  }

  private func events(answeredBy terms: AudioStreamTerms, beside codec: AudioCodec) -> MediaPlan.Events? {
    guard let known = policy.telephoneEvents else { return nil }
    let formats = terms.eventFormats(beside: codec).filter { answered in
      events.contains { $0.clockRate == answered.clockRate }
    }
    guard let first = formats.first, let offered = events.first(where: { $0.clockRate == first.clockRate }) else {
      return nil
    }
    let others = events.filter { event in
      event.clockRate != first.clockRate && formats.contains { $0.clockRate == event.clockRate }
    }
    return MediaPlan.Events(
      clockRate: first.clockRate, sendPayloadType: first.payloadType, receivePayloadType: offered.payloadType,
      send: TelephoneEvents(first.format.parameters).intersection(known), receive: known,
      alsoReceived: others.map { .init(payloadType: $0.payloadType, clockRate: $0.clockRate) })
  }

  private func protection(
    answeredBy terms: AudioStreamTerms, _ profile: TransportProfile
  ) throws(NegotiationRefusal) -> MediaPlan.Protection {
    if usesDTLS {
      let fingerprints = terms.transport.acceptableFingerprints
      guard !fingerprints.isEmpty else { throw .fingerprint }
      switch terms.transport.setup {
      case .active, .actpass, nil: return .dtls(MediaPlan.DTLS(role: .server, fingerprints: fingerprints))
      case .passive where policy.opensDTLS:
        return .dtls(MediaPlan.DTLS(role: .client, fingerprints: fingerprints))
      case .passive, .holdconn: throw .dtlsRole
      }
    }
    if keys.isEmpty || !profile.isSecure && terms.section.crypto.isEmpty {
      // Keys that we did not ask for protect nothing; a secure profile is never taken without.
      guard !profile.isSecure, policy.protection.contains(.none) else { throw .keys([]) }
      return .none
    }
    let line = try terms.usableKey()
    guard let offered = keys.first(where: { $0.tag == line.tag && $0.suite == line.suite }) else {
      throw .keyNotOffered
    }
    return .sdes(MediaPlan.SDES(tag: line.tag, suite: line.suite, send: offered.key, receive: line.key))
  }
}

extension MediaPlan.Protection {
  /// Whether keys come from DTLS.
  var isDTLS: Bool {
    if case .dtls = self { true } else { false }
  }
}
