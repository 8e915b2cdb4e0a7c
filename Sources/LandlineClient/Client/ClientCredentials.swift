public import CallModel

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
  /// in ``ClientOptions/storage``. An error thrown here fails the start with domain ``ErrorDomain/network``.
  case callback(@Sendable (_ user: String, _ device: String) async throws -> RegistrationCredential)

  /// The application's secret, which no log will show.
  public static func secret(_ text: String) -> ClientCredentials { .secret(Redacted(text)) }
}
