import AppProtocol
import CallModel

/// Brings the proof for a registration, and keeps what the gateway gives for the next one. Used off the loop.
struct Registrar: Sendable {
  let owner: CredentialOwner
  let credentials: ClientCredentials
  let storage: any CredentialStorage
  let capabilities: Set<AppCapability>
  /// Is told before the app's server is asked.
  let asks: @Sendable () -> Void

  /// - Parameter isFresh: Kept credentials will not do: they were refused.
  /// - Throws: ``CallFailure`` where no proof could be had.
  func registration(isFresh: Bool) async throws -> Registration {
    let kept = await kept()
    let proof =
      if !isFresh, let credential = Registrar.credential(kept) { credential } else {
        try await signed(kept, least: 1)
      }
    return Registration(
      application: owner.application, user: owner.user, device: owner.device, proof: proof, capabilities: capabilities)
  }

  /// A proof in place of one whose sequence was passed.
  func proof(least: UInt64) async throws -> Registration.Proof { try await signed(await kept(), least: least) }

  /// What cannot be read is as good as nothing: a fresh proof leads on.
  private func kept() async -> KeptCredentials { (try? await storage.load(owner)) ?? KeptCredentials() }

  private static func credential(_ kept: KeptCredentials) -> Registration.Proof? {
    guard let id = kept.id, let secret = kept.secret, kept.expiresAt.map({ $0 > Clock.wall }) ?? true else {
      return nil
    }
    return .credential(id: id, secret: secret.exposed)
  }

  /// The counter of a user goes on from what this device knows; the gateway names a higher number where others were ahead.
  private func signed(_ kept: KeptCredentials, least: UInt64) async throws -> Registration.Proof {
    let next = kept.sequence == .max ? .max : kept.sequence + 1
    let sequence = max(next, least)
    switch credentials {
    case .secret(let secret):
      try await save(sequence, over: kept)
      return .signature(
        try Registrar.signature(
          user: owner.user, application: owner.application, sequence: sequence, secret: secret.exposed),
        sequence: sequence)
    case .callback(let ask):
      asks()
      let answer: RegistrationCredential
      do {
        answer = try await ask(CredentialRequest(user: owner.user, device: owner.device, leastSequence: sequence))
      } catch {
        throw CallFailure(.networkUnreachable, phrase: "the app's server gave no credentials: \(error)")
      }
      switch answer {
      case .signature(let text, let sequence):
        try await save(sequence, over: kept)
        return .signature(text, sequence: sequence)
      case .token(let text): return .token(text)
      }
    }
  }

  /// Keeps the sequence; what was kept of a credential is out of date.
  private func save(_ sequence: UInt64, over kept: KeptCredentials) async throws {
    try await storage.save(KeptCredentials(sequence: max(sequence, kept.sequence)), for: owner)
  }

  /// Base64 of SHA-1 over user, application key, sequence in decimal and the secret as its text.
  static func signature(user: String, application: String, sequence: UInt64, secret: String) throws -> String {
    guard
      let signature = RegistrationSignature.compute(
        user: user, application: application, sequence: sequence, secret: secret)
    else { throw CallFailure(.networkSecurity, phrase: "the libcrypto of this machine has no SHA-1") }
    return signature
  }

  /// Keeps the gateway's own credential for the next start.
  func keep(_ credential: DeviceCredential) async throws {
    var kept = (try? await storage.load(owner)) ?? KeptCredentials()
    kept.id = credential.id
    kept.secret = credential.secret
    kept.expiresAt = credential.expiresAt
    try await storage.save(kept, for: owner)
  }
}
