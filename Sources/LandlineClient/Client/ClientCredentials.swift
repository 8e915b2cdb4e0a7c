public import CallModel

/// What an app's own server is asked to vouch for.
public struct CredentialRequest: Hashable, Sendable {
  /// The user to vouch for, as the client was made with it.
  public let user: String
  /// The device to vouch for, as the client was made with it.
  public let device: String
  /// The least sequence that a signature needs, as far as this device knows: 1 where it knows nothing. The counter belongs to
  /// whoever signs: a server that keeps one uses the greater of the two, and is asked again where that is still too low.
  /// Tokens have none.
  public let leastSequence: UInt64

  public init(user: String, device: String, leastSequence: UInt64) {
    self.user = user
    self.device = device
    self.leastSequence = leastSequence
  }
}

/// What an app's own server answers when it is asked to vouch for a user.
public enum RegistrationCredential: Hashable, Sendable {
  /// Base64 of SHA-1 over user, application key, sequence and secret. The sequence is higher than all before it.
  case signature(String, sequence: UInt64)
  /// A signed token of the user.
  case token(String)
}

/// How a client proves for whom it speaks.
public enum ClientCredentials: Sendable {
  /// The application's secret, as the text in which it was handed out. Only for programs that run where nobody else
  /// reads their memory and files; an app that is given to people asks its server.
  case secret(Redacted<String>)
  /// Asks the app's own server, once for each user and device: afterwards the gateway's own credentials are used, kept
  /// in ``ClientOptions/storage``. Asked again, with the least sequence that would do, where another device's registration
  /// passed the signature's. An error thrown here fails the start with domain ``ErrorDomain/network``.
  case callback(@Sendable (_ request: CredentialRequest) async throws -> RegistrationCredential)

  /// The application's secret, which no log will show.
  public static func secret(_ text: String) -> ClientCredentials { .secret(Redacted(text)) }
}
