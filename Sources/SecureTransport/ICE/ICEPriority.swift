/// The priority of a candidate (RFC 8445 section 5.1.2.1).
public enum ICEPriority {
  /// What the `typ` of a candidate is worth, as section 5.1.2.2 recommends.
  public enum Kind: UInt32, Sendable {
    case relayed = 0
    case serverReflexive = 100
    case peerReflexive = 110
    case host = 126
  }

  /// - Parameters:
  ///   - localPreference: the higher, the better the local address; 65535 for the only one.
  ///   - component: 1 for RTP, 2 for RTCP.
  public static func of(_ kind: Kind, localPreference: UInt16 = .max, component: UInt8 = 1) -> UInt32 {
    kind.rawValue << 24 | UInt32(localPreference) << 8 | (256 - UInt32(component))
  }
}
