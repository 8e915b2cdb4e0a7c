/// The protocols of an `m=` line that carry RTP over UDP.
///
/// A profile is answered by itself, letter by letter: RFC 3264 section 6.1 lets an answer change anything but that.
public enum TransportProfile: String, Hashable, Sendable, CaseIterable {
  /// RFC 3551.
  case avp = "RTP/AVP"
  /// RFC 4585.
  case avpf = "RTP/AVPF"
  /// RFC 3711, keys from RFC 4568.
  case savp = "RTP/SAVP"
  /// RFC 5124. Browsers before RFC 5764 was common wrote it for DTLS too.
  case savpf = "RTP/SAVPF"
  /// RFC 5764.
  case dtlsSAVP = "UDP/TLS/RTP/SAVP"
  case dtlsSAVPF = "UDP/TLS/RTP/SAVPF"

  /// Reads a name in any case.
  init?(name: String) {
    // Nearly always in capitals as it is.
    guard let profile = TransportProfile(rawValue: name) ?? TransportProfile(rawValue: name.uppercased()) else {
      return nil
    }
    self = profile
  }

  /// Media in the clear would break what the profile promises.
  public var isSecure: Bool { self != .avp && self != .avpf }
  /// Keys can only come from DTLS.
  public var isDTLS: Bool { self == .dtlsSAVP || self == .dtlsSAVPF }
}
