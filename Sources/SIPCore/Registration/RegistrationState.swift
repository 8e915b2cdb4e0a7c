/// Where a registration stands.
public enum RegistrationState: Hashable, Sendable {
  case registering
  case registered(expiresInSeconds: UInt32)
  /// Tried again after this time.
  case retrying(RegistrationFailure, afterMilliseconds: Int64)
  /// Not tried again until the configuration changes.
  case failed(RegistrationFailure)
  case unregistered
}

/// Why a REGISTER failed, by what can be done about it.
public struct RegistrationFailure: Hashable, Sendable {
  /// What went wrong; ``RegistrationState`` says whether it is tried again.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Nothing answered, or no connection: tried again.
    case unreachable
    /// 5xx, 408 and the like: tried again, after Retry-After where given.
    case temporary
    /// Wrong credentials, or no challenge that can be answered: tried again would lock the account.
    case credentials
    /// 403, 404, 6xx: the registrar does not want this address.
    case refused
    /// A response that makes no sense: no Contact, an impossible Min-Expires.
    case malformed
  }

  public var kind: Kind
  /// `nil` when nothing answered.
  public var status: Int?
  /// As the registrar wrote it; empty when nothing answered.
  public var phrase: String

  public init(kind: Kind, status: Int?, phrase: String) {
    self.kind = kind
    self.status = status
    self.phrase = phrase
  }
}
