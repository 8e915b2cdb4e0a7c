/// A request method; methods are case-sensitive (RFC 3261 section 7.1).
public struct SIPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// As it stands in the request line: `INVITE`.
  public let rawValue: String
  /// Takes any text; a request whose method is no token cannot be built.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Starts a call, or changes one that is up (RFC 3261 sections 13 and 14).
  public static let invite = SIPMethod(rawValue: "INVITE")
  /// Acknowledges the final response to an INVITE and gets no response itself.
  public static let ack = SIPMethod(rawValue: "ACK")
  /// Ends a call that was answered (RFC 3261 section 15).
  public static let bye = SIPMethod(rawValue: "BYE")
  /// Takes an INVITE back that has no final response yet (RFC 3261 section 9).
  public static let cancel = SIPMethod(rawValue: "CANCEL")
  /// Asks what a peer can do; sent as a ping too (RFC 3261 section 11).
  public static let options = SIPMethod(rawValue: "OPTIONS")
  /// Tells a registrar where an address can be reached (RFC 3261 section 10).
  public static let register = SIPMethod(rawValue: "REGISTER")
  /// Acknowledges a reliable provisional response (RFC 3262).
  public static let prack = SIPMethod(rawValue: "PRACK")
  /// Changes a session without a new INVITE, before the answer too (RFC 3311).
  public static let update = SIPMethod(rawValue: "UPDATE")
  /// Carries something of the application inside a call, such as DTMF (RFC 6086).
  public static let info = SIPMethod(rawValue: "INFO")
  /// Asks the peer to call somebody else (RFC 3515).
  public static let refer = SIPMethod(rawValue: "REFER")
  /// Reports on a subscription, such as how a transfer goes (RFC 6665).
  public static let notify = SIPMethod(rawValue: "NOTIFY")

  /// The method alone: `INVITE`.
  public var description: String { rawValue }
}
