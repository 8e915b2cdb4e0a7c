import AppProtocol
import CallModel
import Foundation
import LandlineDigest

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
    // What cannot be read is as good as nothing: a fresh proof leads on.
    let kept = (try? await storage.load(owner)) ?? KeptCredentials()
    return Registration(
      application: owner.application, user: owner.user, device: owner.device,
      proof: try await proof(kept, isFresh: isFresh), capabilities: capabilities)
  }

  private func proof(_ kept: KeptCredentials, isFresh: Bool) async throws -> Registration.Proof {
    let now = Clock.wall
    if !isFresh, let id = kept.id, let secret = kept.secret, kept.expiresAt.map({ $0 > now }) ?? true {
      return .credential(id: id, secret: secret.exposed)
    }
    switch credentials {
    case .secret(let secret):
      // Grows with time, so that a device that lost what it kept still is ahead of itself.
      let sequence = max(kept.sequence &+ 1, UInt64(clamping: Clock.unixMicroseconds))
      var kept = kept
      kept.sequence = sequence
      (kept.id, kept.secret, kept.expiresAt) = (nil, nil, nil)
      try await storage.save(kept, for: owner)
      return .signature(
        try Registrar.signature(
          user: owner.user, application: owner.application, sequence: sequence, secret: secret.exposed),
        sequence: sequence)
    case .callback(let ask):
      asks()
      let answer: RegistrationCredential
      do {
        answer = try await ask(owner.user, owner.device)
      } catch {
        throw CallFailure(.networkUnreachable, phrase: "the app's server gave no credentials: \(error)")
      }
      switch answer {
      case .signature(let text, let sequence): return .signature(text, sequence: sequence)
      case .token(let text): return .token(text)
      }
    }
  }

  /// Base64 of SHA-1 over user, application key, sequence in decimal and the secret as its text.
  static func signature(user: String, application: String, sequence: UInt64, secret: String) throws -> String {
    guard let digest = MessageDigest(.sha1) else {
      throw CallFailure(.networkSecurity, phrase: "the libcrypto of this machine has no SHA-1")
    }
    let text = Array("\(user)\(application)\(sequence)\(secret)".utf8)
    return Data(text.withUnsafeBytes { digest.digest(of: $0) }).base64EncodedString()
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
