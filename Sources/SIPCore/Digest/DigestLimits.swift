/// The most that a header field of digest authentication, and a party to it, may hold.
public struct DigestLimits: Hashable, Sendable {
  /// Bytes of one header field value.
  public var fieldBytes: Int
  /// Parameters of one field, empty list elements included.
  public var parameters: Int
  /// Bytes of one parameter name or value as written.
  public var parameterBytes: Int
  /// Challenges that are read of one response; later ones are skipped.
  public var challenges: Int
  /// Realms whose state a client keeps; the one kept longest goes first.
  public var realms: Int
  /// Times that one request is sent again with new credentials.
  public var rounds: Int
  /// Credentials that a server reads of one request.
  public var credentials: Int

  /// Bytes and counts as each property says; none is checked.
  public init(
    fieldBytes: Int, parameters: Int, parameterBytes: Int, challenges: Int, realms: Int, rounds: Int, credentials: Int
  ) {
    self.fieldBytes = fieldBytes
    self.parameters = parameters
    self.parameterBytes = parameterBytes
    self.challenges = challenges
    self.realms = realms
    self.rounds = rounds
    self.credentials = credentials
  }

  /// Room for the longest fields seen (tokens of some hundred bytes as nonce), and for a chain of three proxies.
  public static let standard = DigestLimits(
    fieldBytes: 4_096, parameters: 32, parameterBytes: 1_024, challenges: 16, realms: 8, rounds: 6, credentials: 8)
}
