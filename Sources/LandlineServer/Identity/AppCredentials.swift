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
  /// What is taken beside devices' own credentials. A signature made in the app and one made by the app's server look
  /// alike on the wire, so where apps must not hold the secret, only tokens are listed.
  public var schemes: Set<RegistrationScheme>
  public var userRules: UserID.Rules

  public init(
    key: String, secret: Redacted<String>, environment: String, account: AccountName, callerNumbers: [E164Number] = [],
    schemes: Set<RegistrationScheme> = Set(RegistrationScheme.allCases), userRules: UserID.Rules = .standard
  ) {
    self.key = key
    self.secret = secret
    self.environment = environment
    self.account = account
    self.callerNumbers = callerNumbers
    self.schemes = schemes
    self.userRules = userRules
  }
}
