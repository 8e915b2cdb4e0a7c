public import AppProtocol
public import CallModel

/// Who judges the proofs of apps.
public protocol RegistrationVerifier: Sendable {
  func verify(_ registration: Registration, clock: Instant) async -> RegistrationVerdict
  /// Whether a device of the user has ever registered; `nil` where the store that knows cannot be read.
  func knows(_ user: UserID, application: String) async -> Bool?
}
