/// What a media section says, with what it takes over from the session: the typed reading of a ``MediaDescription``.
///
/// An attribute that cannot be read counts as absent (RFC 8866 section 5.13), so a section can always be made; keys that
/// cannot be used say why in ``crypto``. The time taken is linear in the attributes.
public struct MediaSection: Hashable, Sendable {
  /// Candidates that are kept; more are passed over.
  public static let maximumCandidates = 64
  /// Other lists (fingerprints, sources, extensions) hold at most this many.
  public static let maximumListed = 32

  /// Position among the `m=` lines, from 0.
  public let index: Int
  /// `audio`, `video`, …, as written.
  public let kind: String
  /// 0 refuses the section, unless ``isBundleOnly``.
  public let port: Int
  /// How many ports follow each other; `nil` when the line does not say.
  public let portCount: Int?
  /// `nil` for a transport that does not carry RTP over UDP.
  public let profile: TransportProfile?
  /// Of the section, else of the session.
  public let connection: ConnectionData?
  /// As its writer sees it; `sendrecv` where neither section nor session says.
  public let direction: MediaDirection
  /// In the order of the `m=` line; empty unless the profile carries RTP or is unknown.
  public let formats: [RTPFormat]
  /// Microseconds of sound in a packet, from `ptime`; `nil` also for text that is no positive number.
  public let packetTime: Int?
  /// As ``packetTime``, from `maxptime`.
  public let maximumPacketTime: Int?

  /// `nil`: RTCP goes to the port after ``port``, or shares it.
  public let rtcp: RTCPAddress?
  /// Whether `rtcp-mux` is there: RTP and RTCP may share a port (RFC 5761).
  public let multiplexesRTCP: Bool
  /// RFC 5506.
  public let reducedSizeRTCP: Bool

  /// Of the section, else of the session; kept also when ``iceCredentials`` cannot be made of it.
  public let iceUserFragment: String?
  /// `nil` when user fragment or password is missing or not as RFC 8839 wants them.
  public let iceCredentials: ICECredentials?
  /// Words such as `trickle`; of the section, else of the session.
  public let iceOptions: [String]
  /// The session says `ice-lite`: its writer sends no checks (RFC 8839 section 5.3).
  public let isICELite: Bool
  /// At most ``maximumCandidates``; lines that are no candidate are left out.
  public let candidates: [ICECandidate]
  /// No more candidates will follow (RFC 8840 section 8.2).
  public let endOfCandidates: Bool

  /// Of the section, else of the session; those with an unknown hash are left out.
  public let fingerprints: [CertificateFingerprint]
  /// Of the section, else of the session; `nil` when missing or unknown.
  public let setup: DTLSSetup?
  /// In order, also the lines that cannot be used; at most one more than ``CryptoAttribute/maximumLines``.
  public let crypto: [CryptoAttribute]

  /// Names the section in ``SessionDescription/bundleGroups``.
  public let mid: String?
  /// The section is in a BUNDLE group of the session (RFC 9143).
  public let isBundled: Bool
  /// The port is 0 because another section of the group carries the transport.
  public let isBundleOnly: Bool
  /// Synchronization sources named by `ssrc` (RFC 5576), each once.
  public let sources: [UInt32]
  /// Values of the `extmap` lines (RFC 8285).
  public let extensions: [String]

  /// Those that can name a peer.
  public var acceptableFingerprints: [CertificateFingerprint] { fingerprints.filter(\.isAcceptable) }
  /// Only for `audio` in lower case.
  public var isAudio: Bool { kind == "audio" }

  /// Reads what stands in the section, then in the session; `index` is its place among the `m=` lines.
  public init(_ media: MediaDescription, index: Int = 0, of session: SessionDescription) {
    self.init(media, index: index, session: SessionLevel(session))
  }

  fileprivate init(_ media: MediaDescription, index: Int, session: SessionLevel) {
    let own = AttributeIndex(media.attributes)
    let level = session.attributes
    func inherited(_ name: String) -> String? { own[name] ?? level[name] }
    self.index = index
    kind = media.kind
    port = media.port
    portCount = media.portCount
    profile = TransportProfile(name: media.profile)
    connection = media.connections.first ?? session.connection
    direction = own.direction ?? level.direction ?? .sendAndReceive
    formats = MediaSection.formats(media.formats, own)
    packetTime = own["ptime"].flatMap(MediaSection.microseconds)
    maximumPacketTime = own["maxptime"].flatMap(MediaSection.microseconds)

    rtcp = own["rtcp"].flatMap(RTCPAddress.init)
    multiplexesRTCP = own.has("rtcp-mux")
    reducedSizeRTCP = own.has("rtcp-rsize")

    let userFragment = inherited("ice-ufrag")
    iceUserFragment = userFragment
    if let userFragment, let password = inherited("ice-pwd") {
      iceCredentials = ICECredentials(userFragment: userFragment, password: password)
    } else {
      iceCredentials = nil
    }
    let options = inherited("ice-options")?.utf8.split(separator: 0x20, maxSplits: 16) ?? []
    iceOptions = options.map { String(Substring($0)) }
    isICELite = level.has("ice-lite")
    candidates = own.all("candidate").prefix(MediaSection.maximumCandidates).compactMap(ICECandidate.init)
    endOfCandidates = own.has("end-of-candidates")

    let hashes = (own.has("fingerprint") ? own : level).all("fingerprint")
    fingerprints = hashes.prefix(MediaSection.maximumListed).compactMap(CertificateFingerprint.init)
    setup = inherited("setup").flatMap { DTLSSetup(rawValue: $0.lowercased()) }
    crypto = CryptoAttribute.list(own.all("crypto"))

    mid = own["mid"]
    isBundled = own["mid"].map { mid in session.bundleGroups.contains { $0.contains(mid) } } ?? false
    isBundleOnly = own.has("bundle-only") && media.port == 0
    var sources: [UInt32] = []
    for value in own.all("ssrc") where sources.count < MediaSection.maximumListed {
      // Lines of one source follow each other.
      let word = Substring(value.utf8.prefix { $0 != 0x20 })
      if let source = UInt32(word), sources.last != source { sources.append(source) }
    }
    self.sources = sources
    extensions = Array(own.all("extmap").prefix(MediaSection.maximumListed))
  }

  private static func formats(_ tokens: [String], _ attributes: AttributeIndex) -> [RTPFormat] {
    // Values such as `96 opus/48000/2`; the first line of a format wins.
    let encodings = attributes.all("rtpmap").compactMap(SessionDescriptionLine.firstWord)
    let parameters = attributes.all("fmtp").compactMap(SessionDescriptionLine.firstWord)
    return tokens.map { token in
      let payloadType = PayloadType(token)
      let encoding: RTPEncoding? =
        if let written = encodings.first(where: { $0.first == token }) {
          RTPEncoding(written.rest)
        } else {
          payloadType.flatMap { RTPEncoding.unwritten[$0.number] }
        }
      return RTPFormat(
        token: token, payloadType: payloadType, encoding: encoding,
        parameters: FormatParameters(parameters.first { $0.first == token }.map { String($0.rest) } ?? ""))
    }
  }

  /// `20` or `0.125` milliseconds, up to 9999, in microseconds.
  private static func microseconds(_ text: String) -> Int? {
    let (integer, decimals) = text.utf8[...].cut(at: UInt8(ascii: "."))
    guard let whole = SessionDescriptionLine.number(integer, upTo: 9_999) else { return nil }
    guard let decimals else { return whole > 0 ? whole * 1_000 : nil }
    let digits = decimals.prefix(3)
    guard SessionDescriptionLine.isDecimal(decimals, digits: 9),
      let fraction = SessionDescriptionLine.number(digits, upTo: 999)
    else { return nil }
    let value = whole * 1_000 + fraction * [100, 10, 1][digits.count - 1]
    return value > 0 ? value : nil
  }
}

extension SessionDescription {
  /// The typed reading of every media section.
  public var sections: [MediaSection] {
    let level = SessionLevel(self)
    return media.enumerated().map { MediaSection($1, index: $0, session: level) }
  }

  /// The `mid`s of each BUNDLE group, in order.
  public var bundleGroups: [[String]] {
    attributes.lazy.filter { $0.name == "group" }.compactMap { attribute in
      let words = attribute.value?.utf8.split(separator: 0x20, maxSplits: 33).map { Substring($0) } ?? []
      return words.first == "BUNDLE" ? words.dropFirst().map(String.init) : nil
    }
  }
}

/// What sections take over from their session, looked up once.
private struct SessionLevel {
  let connection: ConnectionData?
  let attributes: AttributeIndex
  let bundleGroups: [[String]]

  init(_ session: SessionDescription) {
    connection = session.connection
    attributes = AttributeIndex(session.attributes)
    bundleGroups = session.bundleGroups
  }
}

/// The values of attributes by name, each list in order. Every question looks through all of them: a section has a score,
/// and is asked for a score of names.
private struct AttributeIndex {
  private let attributes: [SessionAttribute]
  let direction: MediaDirection?

  init(_ attributes: [SessionAttribute]) {
    self.attributes = attributes
    direction = attributes.lazy.compactMap { $0.value == nil ? MediaDirection(rawValue: $0.name) : nil }.first
  }

  /// The first value; a flag has none.
  subscript(name: String) -> String? {
    attributes.first { $0.name == name }?.value.flatMap { $0.isEmpty ? nil : $0 }
  }

  func has(_ name: String) -> Bool { attributes.contains { $0.name == name } }

  func all(_ name: String) -> some Sequence<String> {
    attributes.lazy.filter { $0.name == name }.map { $0.value ?? "" }
  }
}
