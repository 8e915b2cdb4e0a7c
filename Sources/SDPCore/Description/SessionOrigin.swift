/// The `o=` line (RFC 8866 section 5.2): who made the session, and which version of it this is.
public struct SessionOrigin: Hashable, Sendable {
  /// `-` when the maker has no user names.
  public var userName: String
  /// Decimal digits. Text, because peers write numbers above 64 bits.
  public var sessionID: String
  /// Decimal digits; one more for each changed description of the session (RFC 3264 section 8).
  public var sessionVersion: String
  /// `IN` for the Internet.
  public var networkType: String
  /// `IP4` or `IP6`.
  public var addressType: String
  /// Of the maker's machine; where media goes is said by ``ConnectionData``.
  public var address: String

  /// Nothing is checked; the defaults are no user name, and the Internet.
  public init(
    userName: String = "-", sessionID: String, sessionVersion: String, networkType: String = "IN",
    addressType: String, address: String
  ) {
    self.userName = userName
    self.sessionID = sessionID
    self.sessionVersion = sessionVersion
    self.networkType = networkType
    self.addressType = addressType
    self.address = address
  }
}

extension SessionOrigin: CustomStringConvertible {
  /// The value of the line.
  public var description: String { words.joined(separator: " ") }

  var words: [String] { [userName, sessionID, sessionVersion, networkType, addressType, address] }
}
