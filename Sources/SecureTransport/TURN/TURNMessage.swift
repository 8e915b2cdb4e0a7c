/// Methods of TURN (RFC 8656 section 17). Send, Data and CreatePermission are not needed: a channel brings its permission
/// (section 12.2), and all peers have one.
enum TURNMethod: UInt16 {
  case allocate = 0x003
  case refresh = 0x004
  case channelBind = 0x009
}

/// Attributes of TURN that the client reads or writes (RFC 8656 section 18).
enum TURNAttribute {
  static let channelNumber: UInt16 = 0x000C
  static let lifetime: UInt16 = 0x000D
  static let peerAddress: UInt16 = 0x0012
  static let relayedAddress: UInt16 = 0x0016
  static let addressFamily: UInt16 = 0x0017
  static let transport: UInt16 = 0x0019
}

/// Errors that the client deals with (RFC 8489 section 14.8, RFC 8656 section 19).
enum TURNError {
  static let unauthenticated = 401
  static let staleNonce = 438
  static let wrongCredentials = 441
}

/// Why a server relays nothing.
public enum TURNFailure: Hashable, Sendable, CustomStringConvertible {
  /// What it says is no TURN, or not what was asked.
  case malformed
  /// It does not take the credentials.
  case credentials
  /// It refuses with this code.
  case refused(Int)
  /// It does not answer.
  case timeout
  /// The connection could not be made, or ended.
  case closed

  /// In words, for a log.
  public var description: String {
    switch self {
    case .malformed: "what it says is not TURN"
    case .credentials: "it does not take the credentials"
    case .refused(let code): "it refuses with \(code)"
    case .timeout: "it does not answer"
    case .closed: "the connection could not be made, or ended"
    }
  }
}
