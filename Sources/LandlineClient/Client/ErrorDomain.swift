public import CallModel

/// The four domains in which an app tells failures apart.
public enum ErrorDomain: String, Hashable, Sendable, CaseIterable {
  /// Between the app and the gateway: the one domain where doing the same again may help.
  case network
  /// One side lacks what was asked for.
  case capability
  /// The other side, or the way to it, refused with SIP.
  case sip
  /// The gateway itself.
  case other
}

extension CallFailure {
  /// The failure's domain as an app sees it.
  public var errorDomain: ErrorDomain {
    switch domain {
    case .network: .network
    case .capability: .capability
    case .sip: .sip
    case .gateway: .other
    }
  }
}
