/// Who found the failure.
public enum CallFailureDomain: String, Hashable, Sendable, CaseIterable {
  /// A SIP peer or trunk.
  case sip
  /// The transport between an app and the gateway: the one domain where an app may send the same thing again.
  case network
  /// A side that lacks what the call needs.
  case capability
  /// The gateway itself, before or during the call.
  case gateway

  /// What the dotted codes of the domain begin with.
  public var codePrefix: String {
    switch self {
    case .sip: "sip."
    case .network: "network."
    case .capability: "capability."
    case .gateway: "gw."
    }
  }
}
