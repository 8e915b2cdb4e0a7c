public import AppProtocol
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
  /// Whether an app may sign its registration itself (schemes A and B look alike on the wire).
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

/// Checks registrations against the applications and what the environments' stores remember.
public struct AppVerifier: Sendable {
  public struct Policy: Hashable, Sendable {
    /// How long a device's credential lives; `nil` for no end.
    public var credentialMilliseconds: Int64? = 90 * 86_400_000
    public init() {}
  }

  /// - Parameters:
  ///   - stores: by environment.
  ///   - draw: 64 bits from the system's generator; credentials are made of them.
  public init(
    applications: [AppCredentials], stores: [String: any IdentityStore], policy: Policy = Policy(),
    draw: @escaping @Sendable () -> UInt64
  ) {}

  /// The application with this key: its environment, account and numbers.
  public func application(_ key: String) -> AppCredentials? { nil }

  public func verify(_ registration: Registration, clock: Instant) async -> RegistrationVerdict { .unavailable }
}
