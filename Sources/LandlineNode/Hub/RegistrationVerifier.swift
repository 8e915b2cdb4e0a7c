public import AppProtocol
public import CallModel

/// Who judges the proofs of apps.
public protocol RegistrationVerifier: Sendable {
  func verify(_ registration: Registration, clock: Instant) async -> RegistrationVerdict
}
