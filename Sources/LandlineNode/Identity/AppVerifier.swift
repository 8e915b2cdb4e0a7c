public import AppProtocol
public import CallModel

/// Checks registrations against the applications and what the environments' stores remember.
///
/// Every proof costs one reading of a store and one comparison, whether or not there is such an application or device,
/// so neither the answer nor its time tells which part was wrong. What a proof uses up is taken after it was found good.
public struct AppVerifier: RegistrationVerifier {
  /// Bounds of the credentials that devices are given.
  public struct Policy: Hashable, Sendable {
    /// How long a device's credential lives; `nil` for no end.
    public var credentialMilliseconds: Int64? = 90 * 86_400_000
    /// Credentials that live 90 days.
    public init() {}
  }

  private let applications: [String: AppCredentials]
  private let stores: [String: any IdentityStore]
  /// Asked where the application is unknown.
  private let decoy: (any IdentityStore)?
  private let policy: Policy
  private let draw: @Sendable () -> UInt64

  /// Sixteen bytes, as secrets are; an unknown application's proof is compared under it and refused all the same.
  private static let noSecret = "AAAAAAAAAAAAAAAAAAAAAA=="

  /// - Parameters:
  ///   - applications: of one key only the first counts.
  ///   - stores: by environment.
  ///   - draw: 64 bits from the system's generator; credentials are made of them.
  public init(
    applications: [AppCredentials], stores: [String: any IdentityStore], policy: Policy = Policy(),
    draw: @escaping @Sendable () -> UInt64
  ) {
    self.applications = Dictionary(applications.map { ($0.key, $0) }) { first, _ in first }
    self.stores = stores
    decoy = stores.min { $0.key < $1.key }?.value
    self.policy = policy
    self.draw = draw
  }

  /// The application with this key: its environment, account and numbers.
  public func application(_ key: String) -> AppCredentials? { applications[key] }

  /// Whether a device of the user has ever registered; `nil` where the store that knows cannot be read.
  public func knows(_ user: UserID, application: String) async -> Bool? {
    guard let store = applications[application].flatMap({ stores[$0.environment] }) else { return nil }
    return try? await store.knows(user, application: application)
  }

  /// Checks a proof, uses it up, and gives the device fresh credentials where the proof was none itself.
  public func verify(_ registration: Registration, clock: Instant) async -> RegistrationVerdict {
    let application = applications[registration.application]
    let user = try? UserID(registration.user, rules: application?.userRules ?? .standard)
    guard let store = application.map({ stores[$0.environment] }) ?? decoy else { return .unavailable }
    do {
      let identity = user.map {
        AppIdentity(
          application: registration.application, user: $0, device: registration.device,
          capabilities: registration.capabilities)
      }
      if case .credential(let id, let secret) = registration.proof {
        let stored = try await store.credential(id)
        guard AppVerifier.isGood(stored, secret, registration, clock), application != nil, let identity else {
          return .refused
        }
        return .accepted(identity, nil)
      }
      let bounded = StoredCredential.id(
        application: registration.application, user: registration.user, device: registration.device, isBounded: true)
      let former = try await store.credential(bounded)
      guard let good = AppVerifier.examine(registration, application, clock), application != nil, let identity else {
        return .refused
      }
      if let verdict = try await use(good, identity, store, clock) { return verdict }
      let credential = self.credential(for: identity, good.instanceExpiresAt, former, clock)
      try await store.keep(
        credential.stored(application: identity.application, user: identity.user, device: identity.device))
      return .accepted(identity, credential)
    } catch {
      return .unavailable
    }
  }

  // MARK: - Proofs

  /// What a good proof uses up.
  private enum Examined {
    case sequence(UInt64)
    case token(ApplicationToken)

    var instanceExpiresAt: Instant? {
      switch self {
      case .sequence: nil
      case .token(let token): token.instanceExpiresAt
      }
    }
  }

  private static func examine(
    _ registration: Registration, _ application: AppCredentials?, _ clock: Instant
  ) -> Examined? {
    let secret = application?.secret.exposed ?? noSecret
    switch registration.proof {
    case .signature(let signature, let sequence):
      let isValid = RegistrationSignature.isValid(
        signature, user: registration.user, application: registration.application, sequence: sequence, secret: secret)
      return isValid && application?.schemes.contains(.signature) == true ? .sequence(sequence) : nil
    case .token(let token):
      let good = ApplicationToken(
        token, application: registration.application, user: registration.user, secret: secret, clock: clock)
      return application?.schemes.contains(.token) == true ? good.map(Examined.token) : nil
    case .credential: return nil
    }
  }

  /// Uses a good proof up.
  /// - Returns: What speaks against it; `nil` where it had not been used.
  private func use(
    _ proof: Examined, _ identity: AppIdentity, _ store: any IdentityStore, _ clock: Instant
  ) async throws -> RegistrationVerdict? {
    switch proof {
    case .sequence(let sequence):
      switch try await store.useSequence(sequence, application: identity.application, user: identity.user) {
      case .used: nil
      case .notAbove(let least?): .sequenceTooLow(least: least)
      case .notAbove(nil): .refused
      }
    case .token(let token):
      try await store.useNonce(
        token.nonce, application: identity.application, until: token.usableUntil, now: clock) ? nil : .refused
    }
  }

  /// Compared where no credential has the id: no text is known that has this digest, and it is refused all the same.
  private static let noDigest = [UInt8](repeating: 0, count: 32)

  private static func isGood(
    _ stored: StoredCredential?, _ secret: String, _ registration: Registration, _ clock: Instant
  ) -> Bool {
    let isSame = StoredCredential.isDigest(stored?.digest ?? noDigest, of: secret)
    guard isSame, let stored, stored.application == registration.application,
      stored.user.text == registration.user, stored.device == registration.device
    else { return false }
    return stored.expiresAt.map { clock < $0 } ?? true
  }

  // MARK: - Credentials

  private func credential(
    for identity: AppIdentity, _ bound: Instant?, _ former: StoredCredential?, _ clock: Instant
  ) -> DeviceCredential {
    // A bound that an app's server once set holds until it is over, whatever later registrations say.
    let formerBound = former?.expiresAt.flatMap { clock < $0 ? $0 : nil }
    let end = [bound, formerBound].compactMap { $0 }.min()
    let ownEnd = policy.credentialMilliseconds.map(clock.advanced(byMilliseconds:))
    let id = StoredCredential.id(
      application: identity.application, user: identity.user.text, device: identity.device, isBounded: end != nil)
    return DeviceCredential.make(id: id, expiresAt: [end, ownEnd].compactMap { $0 }.min(), draw: draw)
  }
}
