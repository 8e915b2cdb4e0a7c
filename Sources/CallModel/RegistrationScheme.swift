/// By what an app's first registration on a device may be proved; afterwards the device has a credential of its own.
public enum RegistrationScheme: String, Hashable, Sendable, CaseIterable {
  /// Base64 of SHA-1 over user, application key, sequence and secret: made by the app's server, or by an app that holds
  /// the secret. The two cannot be told apart.
  case signature
  /// A JSON Web Token of the app's server.
  case token
}
