public import CallModel

/// What the media side of a leg brings to a negotiation: addresses and secrets, made before the description.
///
/// The same value in a later exchange means the same stream: keys and counters go on.
public struct LocalMedia: Hashable, Sendable {
  /// Bytes of random key material, enough for a key of its own in every suite.
  public static let keyMaterialLength = 46 * CryptoSuite.allCases.count

  /// Where the peer is to send to; stands in the `c=` line.
  public var host: SIPHost
  /// For RTP, and for RTCP when both share it.
  public var port: Int
  /// For RTCP alone; `nil`: the port after ``port``.
  public var rtcpPort: Int?
  /// Random bytes; ``keyMaterialLength`` of them when the policy allows SDES.
  public var keyMaterial: Redacted<[UInt8]>
  /// Of our certificate, when the policy allows DTLS.
  public var fingerprint: CertificateFingerprint?
  /// Needed where ICE is used, else the exchange throws ``NegotiationRefusal/localMedia(_:)``.
  public var iceCredentials: ICECredentials?
  /// All of ours: the description says that no more will follow.
  public var candidates: [ICECandidate]
  /// Our synchronization source, if it is to be announced (RFC 5576).
  public var source: UInt32?
  /// The canonical name that goes with ``source``; letters, digits and `-`.
  public var canonicalName: String

  /// Nothing is checked here; what the policy needs is looked for when a description is made.
  public init(
    host: SIPHost, port: Int, rtcpPort: Int? = nil, keyMaterial: [UInt8] = [],
    fingerprint: CertificateFingerprint? = nil, iceCredentials: ICECredentials? = nil, candidates: [ICECandidate] = [],
    source: UInt32? = nil, canonicalName: String = "landline"
  ) {
    self.host = host
    self.port = port
    self.rtcpPort = rtcpPort
    self.keyMaterial = Redacted(keyMaterial)
    self.fingerprint = fingerprint
    self.iceCredentials = iceCredentials
    self.candidates = candidates
    self.source = source
    self.canonicalName = canonicalName
  }

  /// Each suite has its own part of the material, so that a choice made later does not change a key in use.
  func masterKey(for suite: CryptoSuite) throws(NegotiationRefusal) -> SRTPMasterKey {
    guard let position = CryptoSuite.allCases.firstIndex(of: suite),
      keyMaterial.exposed.count >= LocalMedia.keyMaterialLength
    else { throw .localMedia("key material") }
    let part = keyMaterial.exposed.dropFirst(position * 46).prefix(suite.keyLength + suite.saltLength)
    return SRTPMasterKey(keyAndSalt: Array(part))
  }
}
