import AppProtocol
import CallModel
import LandlineNode

/// An application with its verifier over a store in memory.
struct IdentityScene {
  static let key = "196087a1-e815-4bc4-8984-60d8d8a43f1d"
  static let secret = "oYdgGRXoxEuJhGDY2KQ/HQ=="
  static let tokensOnly = "a32e5a8d-f7d8-411c-9645-9038e8dd051d"
  static let signaturesOnly = "f1a5b8c0-3d27-4e19-8b6a-77c2d94e0a35"
  /// 2026-11-22T01:00:00Z.
  static let now = Instant(milliseconds: 1_795_309_200_000)

  let store: MemoryIdentityStore
  let verifier: AppVerifier

  init() throws {
    store = MemoryIdentityStore()
    verifier = try IdentityScene.verifier(over: store)
  }

  static func verifier(over store: any IdentityStore) throws -> AppVerifier {
    let account = try AccountName(validating: "acme")
    return AppVerifier(
      applications: [
        AppCredentials(
          key: key, secret: Redacted(secret), environment: "sandbox", account: account),
        AppCredentials(
          key: tokensOnly, secret: Redacted(secret), environment: "sandbox", account: account, schemes: [.token]),
        AppCredentials(
          key: signaturesOnly, secret: Redacted(secret), environment: "sandbox", account: account,
          schemes: [.signature]),
      ], stores: ["sandbox": store], draw: { UInt64.random(in: 0...UInt64.max) })
  }

  static func registration(
    _ proof: Registration.Proof, application: String = key, user: String = "foo", device: String = "phone"
  ) -> Registration {
    Registration(application: application, user: user, device: device, proof: proof, capabilities: [.calling])
  }

  static func signed(
    _ sequence: UInt64, application: String = key, user: String = "foo", secret: String = secret
  ) throws -> Registration {
    guard
      let signature = RegistrationSignature.compute(
        user: user, application: application, sequence: sequence, secret: secret)
    else { throw Missing() }
    return registration(.signature(signature, sequence: sequence), application: application, user: user)
  }

  static func token(
    _ nonce: String, application: String = key, user: String = "foo", secret: String = secret,
    issuedAt: Instant = now, life: Int64 = 600, instance: Instant? = nil
  ) throws -> String {
    guard
      let token = ApplicationToken.make(
        application: application, user: user, secret: secret, nonce: nonce, issuedAt: issuedAt, lifeSeconds: life,
        instanceExpiresAt: instance)
    else { throw Missing() }
    return token
  }

  struct Missing: Error {}

  func verdict(_ registration: Registration, at clock: Instant = now) async -> RegistrationVerdict {
    await verifier.verify(registration, clock: clock)
  }

  /// Whether it gets in; the credential it was given.
  func enters(_ registration: Registration, at clock: Instant = now) async -> DeviceCredential?? {
    guard case .accepted(_, let credential) = await verdict(registration, at: clock) else { return nil }
    return .some(credential)
  }
}
