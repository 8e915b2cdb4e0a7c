import CallModel

/// What an offer and an answer have in common: how one section, with the policy, turns into parts of a plan.
struct AudioStreamTerms {
  let section: MediaSection
  /// The section that carries the transport of a bundle (RFC 9143 section 7.2), mostly `section` itself.
  let transport: MediaSection
  let policy: MediaPolicy
  /// Of the section; an answer may leave an encoding out that the offer gave, and it is put back here.
  var formats: [RTPFormat]

  init(_ section: MediaSection, in description: SessionDescription, sections: [MediaSection], policy: MediaPolicy) {
    self.section = section
    formats = section.formats
    self.policy = policy
    var transport = section
    if section.isBundled, section.iceUserFragment == nil, let mid = section.mid,
      let tag = description.bundleGroups.first(where: { $0.contains(mid) })?.first,
      let tagged = sections.first(where: { $0.mid == tag })
    {
      transport = tagged
    }
    self.transport = transport
  }

  var multiplexesRTCP: Bool { policy.multiplexesRTCP && transport.multiplexesRTCP }

  /// Formats whose codec the policy lists, in the order of the section.
  var usableFormats: [(format: RTPFormat, payloadType: PayloadType, codec: AudioCodec)] {
    formats.compactMap { format in
      guard let payloadType = format.payloadType, let codec = format.codec, policy.codecs.contains(codec),
        !(multiplexesRTCP && payloadType.isMistakenForRTCP)
      else { return nil }
      return (format, payloadType, codec)
    }
  }

  /// The format in which packets of Opus carry those before them again, and whether the peer likes it better than Opus
  /// alone: RFC 3264 section 6.1 has the order of the offer stand in the answer, and some senders use what is first.
  func redundancy(
    of codec: AudioCodec, _ payloadType: PayloadType
  ) -> (format: RTPFormat, payloadType: PayloadType, isPreferred: Bool)? {
    guard policy.answersRedundancy, codec == .opus,
      let place = formats.firstIndex(where: { $0.isRedundancy(of: payloadType) }),
      let number = formats[place].payloadType, !(multiplexesRTCP && number.isMistakenForRTCP)
    else { return nil }
    let plain = formats.firstIndex { $0.payloadType == payloadType } ?? place
    return (formats[place], number, place < plain)
  }

  /// The header extension by which the peer says of each packet how loud its sound is (RFC 6464), where it offers to send
  /// that. A number that stands for two things is none.
  var audioLevel: HeaderExtensionMapping? {
    guard policy.answersAudioLevels else { return nil }
    let mappings = section.extensions.compactMap(HeaderExtensionMapping.init)
    return mappings.first { mapping in
      mapping.uri == HeaderExtensionMapping.audioLevel && mapping.direction.sends
        && HeaderExtensionMapping.oneByteIdentifiers.contains(mapping.identifier)
        && mappings.count { $0.identifier == mapping.identifier } == 1
    }
  }

  /// The event formats to use beside a codec, best first: its own clock, then 8000, which is all some browsers offer.
  func eventFormats(beside codec: AudioCodec) -> [(format: RTPFormat, payloadType: PayloadType, clockRate: Int)] {
    let own = eventFormats(at: codec.clockRate)
    return codec.clockRate == 8_000 ? own : own + eventFormats(at: 8_000)
  }

  private func eventFormats(
    at clockRate: Int
  ) -> [(format: RTPFormat, payloadType: PayloadType, clockRate: Int)] {
    formats.compactMap { format in
      guard format.encoding?.clockRate == clockRate, format.isTelephoneEvent, let payloadType = format.payloadType,
        !(multiplexesRTCP && payloadType.isMistakenForRTCP)
      else { return nil }
      return (format, payloadType, clockRate)
    }
  }

  /// The peer's direction. An unspecified address without ICE is the hold of old phones: it takes nothing.
  var peerDirection: MediaDirection {
    let isNowhere = transport.iceUserFragment == nil && transport.connection?.isUnspecified ?? false
    return isNowhere ? section.direction.limited(to: .sendOnly) : section.direction
  }

  var remote: MediaPlan.Remote {
    let host = transport.connection?.unicastHost
    if multiplexesRTCP {
      return MediaPlan.Remote(host: host, port: transport.port, rtcpHost: host, rtcpPort: transport.port)
    }
    let next = (1..<65_535).contains(transport.port) ? transport.port + 1 : nil
    let rtcpHost = transport.rtcp?.connection == nil ? host : transport.rtcp?.unicastHost
    let port = transport.rtcp?.port ?? next
    return MediaPlan.Remote(
      host: host, port: transport.port, rtcpHost: rtcpHost, rtcpPort: port.flatMap { $0 == 0 ? nil : $0 })
  }

  /// - Throws: `address` when the policy keeps sound from going there.
  func reachable() throws(NegotiationRefusal) -> MediaPlan.Remote {
    let remote = remote
    guard !policy.reachesInternalHosts, policy.ice == .off else { return remote }
    // Nowhere is the hold of old phones.
    let isNowhere = transport.connection?.isUnspecified ?? false
    guard isNowhere || ![remote.host, remote.rtcpHost].contains(where: { $0?.isInternal ?? false }) else {
      throw .address
    }
    return remote
  }

  /// - Throws: `ice` when the policy demands what the peer does not have.
  func ice() throws(NegotiationRefusal) -> MediaPlan.RemoteICE? {
    guard policy.ice != .off else { return nil }
    guard let credentials = transport.iceCredentials else {
      if policy.ice.isRequired { throw .ice }
      return nil
    }
    return MediaPlan.RemoteICE(
      credentials: credentials, isLite: transport.isICELite, candidates: transport.candidates,
      endOfCandidates: transport.endOfCandidates)
  }

  /// Milliseconds of sound in what we send: the peer's wish where it can be met.
  func packetTime(for codec: AudioCodec, parameters: FormatParameters) -> Int {
    let steps = AudioStreamTerms.packetTimes(of: codec)
    let wish = section.packetTime.map { $0 / 1_000 }.flatMap { MediaPolicy.packetTimes.contains($0) ? $0 : nil }
    var time = steps.last { $0 <= wish ?? policy.packetTime } ?? 10
    if codec == .opus {
      let minimum = OpusParameters.minimumPacketTime(parameters)
      if time < minimum { time = steps.first { $0 >= minimum } ?? 60 }
    }
    return min(time, maximumPacketTime(for: codec))
  }

  /// Milliseconds of sound that the peer takes in a packet.
  func maximumPacketTime(for codec: AudioCodec) -> Int {
    let maximum = section.maximumPacketTime ?? .max
    return AudioStreamTerms.packetTimes(of: codec).last { $0 <= maximum / 1_000 } ?? 10
  }

  private static func packetTimes(of codec: AudioCodec) -> [Int] {
    codec == .opus ? [10, 20, 40, 60] : [10, 20, 30, 40, 50, 60]
  }

  /// The first `crypto` line with a suite of the policy.
  func usableKey() throws(NegotiationRefusal) -> (name: String, tag: Int, suite: CryptoSuite, key: SRTPMasterKey) {
    var reasons: [CryptoAttribute.SkipReason] = []
    for line in section.crypto {
      switch line.verdict {
      case .usable(let tag, let suite, let key):
        if policy.suites.contains(suite), let name = line.suiteName { return (name, tag, suite, key) }
        if !reasons.contains(.suite) { reasons.append(.suite) }
      case .skipped(let reason):
        if !reasons.contains(reason) { reasons.append(reason) }
      }
    }
    throw .keys(reasons)
  }
}
