/// Why two ends cannot agree. The session stays as it was before the offer.
public enum NegotiationRefusal: Error, Hashable, Sendable {
  /// The offer has no audio stream, or refuses its own.
  case noAudio
  /// No audio stream uses RTP over UDP.
  case profile
  /// No codec of the offer, or of the answer, may be used here.
  case codec
  /// Only protected media is allowed, and the peer offers it in the clear.
  case protectionRequired
  /// The offer insists on a kind of protection that is not allowed here. It is never answered in the clear.
  case protectionNotAllowed
  /// No `crypto` line can be used; why, line by line.
  case keys([CryptoAttribute.SkipReason])
  /// No whole certificate hash of SHA-256 or better.
  case fingerprint
  /// The peer wants to be the DTLS server, and so do we.
  case dtlsRole
  /// The peer has no ICE, and this leg demands it.
  case ice
  /// The answer has another number of media sections than the offer, or changes the kind or the transport of ours.
  case answerShape
  /// The answer refuses the audio stream.
  case streamRefused
  /// The answer's key has a tag or a suite that was not offered.
  case keyNotOffered
  /// An offer of ours awaits its answer (RFC 3261 section 14.2: 491).
  case offerPending
  /// An answer came without an offer.
  case noOffer
  /// The peer wants its sound where this policy sends none: ``MediaPolicy/reachesInternalHosts``.
  case address
  /// Ours: what the policy needs and the media side did not bring.
  case localMedia(String)
}

extension NegotiationRefusal {
  /// The SIP status that refuses the offer.
  public var sipStatus: Int {
    switch self {
    case .offerPending: 491
    case .localMedia: 500
    default: 488
    }
  }

  /// Code and text of the Warning header (RFC 3261 section 20.43); `nil` when the offer is not at fault.
  public var warning: (code: Int, text: String)? {
    switch self {
    case .noAudio, .streamRefused: (304, "Media type not available: \(self)")
    case .codec: (305, "Incompatible media format: \(self)")
    case .profile, .protectionRequired, .protectionNotAllowed, .answerShape, .address:
      (302, "Incompatible transport protocol: \(self)")
    case .keys, .fingerprint, .dtlsRole, .ice, .keyNotOffered: (306, "Attribute not understood: \(self)")
    case .offerPending, .noOffer, .localMedia: nil
    }
  }
}

extension NegotiationRefusal: CustomStringConvertible {
  /// One clause, without the peer's bytes.
  public var description: String {
    switch self {
    case .noAudio: "there is no audio stream"
    case .profile: "the audio stream is not RTP over UDP"
    case .codec: "no codec in common"
    case .protectionRequired: "media must be encrypted"
    case .protectionNotAllowed: "this kind of media encryption is not available"
    case .keys(let reasons):
      reasons.isEmpty
        ? "there is no crypto line" : "no crypto line is usable (\(reasons.map(\.rawValue).joined(separator: "; ")))"
    case .fingerprint: "there is no whole certificate fingerprint of SHA-256 or better"
    case .dtlsRole: "setup must be active or actpass"
    case .ice: "ICE is required"
    case .answerShape: "the answer does not fit the offer"
    case .address: "the address of the sound lies in a private network"
    case .streamRefused: "the audio stream was refused"
    case .keyNotOffered: "the answer's crypto line was not offered"
    case .offerPending: "another offer is pending"
    case .noOffer: "there was no offer to answer"
    case .localMedia(let part): "the local \(part) is missing"
    }
  }
}
