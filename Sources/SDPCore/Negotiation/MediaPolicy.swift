/// What one leg of a call may agree to.
public struct MediaPolicy: Hashable, Sendable {
  /// Ways to protect media that are allowed. The order of preference is DTLS, SDES, none.
  public struct Protection: OptionSet, Hashable, Sendable {
    /// The sum of 1 for none, 2 for SDES and 4 for DTLS.
    public let rawValue: UInt8
    /// Bits without a name are kept and mean nothing.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// RTP in the clear.
    public static let none = Protection(rawValue: 1)
    /// SRTP with keys in the description (RFC 4568), so only as private as the signalling.
    public static let sdes = Protection(rawValue: 2)
    /// SRTP with keys from DTLS (RFC 5764).
    public static let dtls = Protection(rawValue: 4)
  }

  /// Whose order of codecs counts when an offer is answered.
  public enum Preference: String, Hashable, Sendable {
    /// The first format of the offer that ``codecs`` lists (RFC 3264 section 6.1 asks for it).
    case peer
    /// The first of ``codecs`` that the offer lists: spares transcoding.
    case own
  }

  /// Whether ICE is used on a leg, and which end of it we are.
  public enum ICE: String, Hashable, Sendable {
    case off
    /// Used when the peer offers it.
    case lite
    /// Without it there is no call: nothing may be sent to an address that no check has proved.
    case required
    /// The same, but we are the full end, which sends checks: an app's own side.
    case full

    /// Descriptions of ours say `ice-lite` (RFC 8839 section 5.3).
    var isLite: Bool { self == .lite || self == .required }
    /// A peer without ICE is refused.
    var isRequired: Bool { self == .required || self == .full }
  }

  /// Milliseconds of sound that a packet may carry, in steps of 10.
  public static let packetTimes = 10...60

  /// Codecs that may be used; an offer of ours lists them in this order.
  public var codecs: [AudioCodec]
  /// Counts only when an offer of the peer is answered.
  public var preference: Preference
  /// What we ask of a peer that sends us Opus.
  public var opus: OpusParameters
  /// A peer that offers redundant audio (RFC 2198) for Opus gets it; it is in no offer of ours.
  public var answersRedundancy = false
  /// A peer that offers to say of each packet how loud its sound is (RFC 6464) is asked to; it is in no offer of ours, and
  /// we say nothing of the kind.
  public var answersAudioLevels = false
  /// Events we understand; `nil`: touch tones are neither offered nor answered.
  public var telephoneEvents: TelephoneEvents?
  /// A first offer of ours has DTLS alone where that is allowed.
  public var protection: Protection
  /// SDES suites that may be used; an offer of ours lists them in this order.
  public var suites: [CryptoSuite]
  /// Milliseconds of sound in a packet, when the peer has no wish. Read within ``packetTimes``.
  public var packetTime: Int
  /// RTP and RTCP share a port (RFC 5761) when both ends say so.
  public var multiplexesRTCP: Bool
  /// RFC 5506, when both ends say so.
  public var reducedSizeRTCP: Bool
  /// Off by default; ``app`` and ``client`` need it.
  public var ice: ICE
  /// We may open the DTLS association when the peer insists on waiting for it. Without it such an offer is refused.
  public var opensDTLS: Bool
  /// Whether sound may be sent to an address that is ``SIPHost/isInternal``; not so for peers that others choose.
  public var reachesInternalHosts = true

  /// The defaults suit a trunk: no ICE, RTCP on a port of its own, 20 ms of sound in a packet.
  public init(
    codecs: [AudioCodec], preference: Preference = .peer, opus: OpusParameters = OpusParameters(),
    telephoneEvents: TelephoneEvents? = .keys, protection: Protection,
    suites: [CryptoSuite] = MediaPolicy.standardSuites,
    packetTime: Int = 20, multiplexesRTCP: Bool = false, reducedSizeRTCP: Bool = false, ice: ICE = .off,
    opensDTLS: Bool = false
  ) {
    self.codecs = codecs
    self.preference = preference
    self.opus = opus
    self.telephoneEvents = telephoneEvents
    self.protection = protection
    self.suites = suites
    self.packetTime = packetTime
    self.multiplexesRTCP = multiplexesRTCP
    self.reducedSizeRTCP = reducedSizeRTCP
    self.ice = ice
    self.opensDTLS = opensDTLS
  }

  /// Authenticated encryption first, then the suite every SRTP trunk knows; short tags last.
  public static let standardSuites: [CryptoSuite] = [
    .aesGCM128, .aesGCM256, .aesCM128HMAC80, .aesCM256HMAC80, .aesCM192HMAC80, .aesCM128HMAC32, .aesCM256HMAC32,
    .aesCM192HMAC32,
  ]

  /// Every decoder of ours repairs losses from copies that the sender adds.
  private static let repairing = OpusParameters(inBandFEC: true)

  /// A leg to a browser or an app: Opus first, DTLS in either role, ICE-lite, one port.
  public static let app: MediaPolicy = {
    var policy = MediaPolicy(
      codecs: [.opus, .pcmu, .pcma], opus: repairing, protection: .dtls, multiplexesRTCP: true, reducedSizeRTCP: true,
      ice: .required, opensDTLS: true)
    policy.answersRedundancy = true
    return policy
  }()

  /// The app's own side of its leg to a gateway: as ``app``, but the full end of ICE, and without a wish for less than
  /// the whole band of Opus.
  public static let client = MediaPolicy(
    codecs: [.opus, .pcmu, .pcma], opus: repairing, protection: .dtls, multiplexesRTCP: true, reducedSizeRTCP: true,
    ice: .full,
    opensDTLS: true)

  /// A leg to a trunk; `protection` is the trunk's: off is `.none`, optional `[.none, .sdes]`, required `.sdes`.
  public static func trunk(_ protection: Protection) -> MediaPolicy {
    MediaPolicy(codecs: [.pcma, .pcmu, .g722, .opus], opus: repairing, protection: protection)
  }
}
