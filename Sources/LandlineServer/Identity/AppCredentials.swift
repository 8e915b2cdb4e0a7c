public import CallModel

/// An application as configured.
public struct AppCredentials: Hashable, Sendable {
  /// Lower-case GUID text.
  public var key: String
  /// Base64 of the secret's bytes.
  public var secret: Redacted<String>
  public var environment: String
  public var account: AccountName
  /// Numbers the application may show.
  public var callerNumbers: [E164Number]
  /// Whether registrations by signature are taken at all. One made in the app and one made by the app's server look
  /// alike on the wire, so where apps must not hold the secret, only tokens and device credentials are taken.
  public var allowsSelfSigned: Bool
  public var userRules: UserID.Rules

  public init(
    key: String, secret: Redacted<String>, environment: String, account: AccountName, callerNumbers: [E164Number] = [],
    allowsSelfSigned: Bool = false, userRules: UserID.Rules = .standard
  ) {
    self.key = key
    self.secret = secret
    self.environment = environment
    self.account = account
    self.callerNumbers = callerNumbers
    self.allowsSelfSigned = allowsSelfSigned
    self.userRules = userRules
  }
}
