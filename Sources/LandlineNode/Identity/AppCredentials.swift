public import CallModel

/// An application as configured.
public struct AppCredentials: Hashable, Sendable {
  /// As the configuration names it, for people.
  public var name: String
  /// Lower-case GUID text.
  public var key: String
  /// Base64 of the secret's bytes.
  public var secret: Redacted<String>
  /// The environment whose ledger and trunks its calls use, as configured.
  public var environment: String
  /// Pays for the calls of all of its users.
  public var account: AccountName
  /// Numbers the application may show.
  public var callerNumbers: [E164Number]
  /// What is taken beside devices' own credentials. A signature made in the app and one made by the app's server look
  /// alike on the wire, so where apps must not hold the secret, only tokens are listed.
  public var schemes: Set<RegistrationScheme>
  /// How long ids of its users may be; 40 characters where nothing else is configured.
  public var userRules: UserID.Rules

  /// Nothing is checked. By default it has its key for a name, both schemes are taken, and user ids have at most 40
  /// characters.
  public init(
    name: String? = nil, key: String, secret: Redacted<String>, environment: String, account: AccountName,
    callerNumbers: [E164Number] = [],
    schemes: Set<RegistrationScheme> = Set(RegistrationScheme.allCases), userRules: UserID.Rules = .standard
  ) {
    self.name = name ?? key
    self.key = key
    self.secret = secret
    self.environment = environment
    self.account = account
    self.callerNumbers = callerNumbers
    self.schemes = schemes
    self.userRules = userRules
  }
}
