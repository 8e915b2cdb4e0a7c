import CallModel

/// Builds our own audio section, line by line.
struct AudioSectionText {
  private(set) var formats: [String] = []
  private var attributes: [SessionAttribute] = []

  /// Has room for what a section of ours mostly holds.
  init() {
    formats.reserveCapacity(8)
    attributes.reserveCapacity(24)
  }

  mutating func add(_ name: String, _ value: String? = nil) { attributes.append(SessionAttribute(name, value)) }

  mutating func add(_ payloadType: PayloadType, _ encoding: RTPEncoding, _ parameters: FormatParameters) {
    let format = payloadType.description
    formats.append(format)
    add("rtpmap", format + " " + encoding.description)
    if !parameters.text.isEmpty { add("fmtp", format + " " + parameters.text) }
  }

  mutating func addCodec(_ codec: AudioCodec, _ payloadType: PayloadType, _ policy: MediaPolicy) {
    add(payloadType, codec.encoding, AudioSectionText.parameters(of: codec, policy))
  }

  /// Redundant audio (RFC 2198): each packet, and the one before it again.
  mutating func addRedundancy(_ payloadType: PayloadType, of codec: PayloadType) {
    let opus = AudioCodec.opus.encoding
    add(
      payloadType, RTPEncoding(name: "red", clockRate: opus.clockRate, channels: opus.channels),
      FormatParameters("\(codec)/\(codec)"))
  }

  /// A header extension that the peer may send and we do not (RFC 8285 section 6). What it says of its own sending, as
  /// whether it tells voice from noise, stays as it is.
  mutating func addExtension(receiving offered: HeaderExtensionMapping) {
    let attributes = ["vad=on", "vad=off"].contains(offered.attributes) ? " " + offered.attributes : ""
    add("extmap", "\(offered.identifier)/\(MediaDirection.receiveOnly.rawValue) \(offered.uri)\(attributes)")
  }

  mutating func addEvents(_ payloadType: PayloadType, clockRate: Int, _ events: TelephoneEvents) {
    add(payloadType, RTPEncoding(name: "telephone-event", clockRate: clockRate, channels: nil), events.parameters)
  }

  /// What we ask of a sender of the codec.
  static func parameters(of codec: AudioCodec, _ policy: MediaPolicy) -> FormatParameters {
    codec == .opus ? policy.opus.parameters : FormatParameters()
  }

  mutating func addStream(_ direction: MediaDirection, _ policy: MediaPolicy) {
    let range = MediaPolicy.packetTimes
    add("ptime", "\(min(max(policy.packetTime, range.lowerBound), range.upperBound))")
    add(direction.rawValue)
  }

  mutating func addRTCP(_ local: LocalMedia, multiplexed: Bool, reducedSize: Bool) {
    if multiplexed {
      add("rtcp-mux")
    } else if let port = local.rtcpPort, port != local.port + 1 {
      add("rtcp", "\(port)")
    }
    if reducedSize { add("rtcp-rsize") }
  }

  mutating func addICE(_ local: LocalMedia) throws(NegotiationRefusal) {
    guard let credentials = local.iceCredentials else { throw .localMedia("ICE credentials") }
    add("ice-ufrag", credentials.userFragment)
    add("ice-pwd", credentials.password.exposed)
    for candidate in local.candidates { add("candidate", candidate.description) }
    add("end-of-candidates")
  }

  mutating func addDTLS(_ local: LocalMedia, _ setup: DTLSSetup) throws(NegotiationRefusal) {
    guard let fingerprint = local.fingerprint, fingerprint.isAcceptable else {
      throw .localMedia("certificate fingerprint")
    }
    add("fingerprint", fingerprint.description)
    add("setup", setup.rawValue)
  }

  mutating func addKey(tag: Int, suite: String, _ key: SRTPMasterKey) {
    add("crypto", "\(tag) \(suite) inline:\(Base64.encode(key.keyAndSalt.exposed))")
  }

  mutating func addSource(_ local: LocalMedia) {
    if let source = local.source { add("ssrc", "\(source) cname:\(local.canonicalName)") }
  }

  /// - Throws: `localMedia` for a port that would refuse the stream or is none.
  func section(_ local: LocalMedia, profile: String) throws(NegotiationRefusal) -> MediaDescription {
    guard (1...65_535).contains(local.port) else { throw .localMedia("port") }
    return MediaDescription(
      kind: "audio", port: local.port, profile: profile, formats: formats, attributes: attributes)
  }

  /// The section that refuses one of an offer (RFC 3264 section 6): port 0, the rest kept.
  static func refusal(of offered: MediaDescription) -> MediaDescription {
    MediaDescription(
      kind: offered.kind, port: 0, profile: offered.profile, formats: offered.formats.isEmpty ? ["0"] : offered.formats,
      attributes: offered.attributes.filter { $0.name == "mid" })
  }
}
