public import CallModel

/// How an app proves who it is, as it came; nothing is checked yet.
public struct Registration: Hashable, Sendable {
  /// What shows that the app may speak for the user.
  public enum Proof: Sendable, Hashable {
    /// Schemes A and B: Base64(SHA-1(user + key + sequence + secret)).
    case signature(String, sequence: UInt64)
    /// HS256 token with the day-derived key.
    case token(String)
    /// Credentials given to this user and device by an earlier registration: their id and secret.
    case credential(id: String, secret: String)
  }

  /// The application key.
  public var application: String
  /// The user's id as the app wrote it.
  public var user: String
  /// The app's name for the device: 1 to 64 printable characters.
  public var device: String
  /// What the app has to show for it.
  public var proof: Proof
  /// What the app asks for: calling or messaging among it. Words that the gateway does not know are left out.
  public var capabilities: Set<AppCapability>
  /// What the device can do and wants to hear of.
  public var profile: DeviceProfile

  /// Without a profile, a device that is never called.
  public init(
    application: String, user: String, device: String, proof: Proof, capabilities: Set<AppCapability>,
    profile: DeviceProfile = DeviceProfile()
  ) {
    self.application = application
    self.user = user
    self.device = device
    self.proof = proof
    self.capabilities = capabilities
    self.profile = profile
  }
}

/// What an app may ask for when it registers. Calls can be placed with `calling` alone.
public enum AppCapability: String, Hashable, Sendable, CaseIterable {
  case calling, messaging, push, managedPush, backgroundConnection
}

/// An application instance whose proof was good.
public struct AppIdentity: Hashable, Sendable {
  /// The application key.
  public var application: String
  /// The user that the app speaks for.
  public var user: UserID
  /// The app's name for the device.
  public var device: String
  /// What the registration asked for; without `calling` every call is refused.
  public var capabilities: Set<AppCapability>

  public init(application: String, user: UserID, device: String, capabilities: Set<AppCapability>) {
    self.application = application
    self.user = user
    self.device = device
    self.capabilities = capabilities
  }
}

/// What became of a proof. All refusals look alike to the app.
public enum RegistrationVerdict: Hashable, Sendable {
  /// With fresh credentials where the proof was no credential itself.
  case accepted(AppIdentity, DeviceCredential?)
  case refused
  /// The signature is right and its sequence is not above all before it of the user: whoever signs has to sign again, with
  /// this one or a higher one. Only a right signature gets here.
  case sequenceTooLow(least: UInt64)
  /// The store that knows could not be asked; the app may try again.
  case unavailable
}

/// What became of a sequence.
public enum SequenceVerdict: Hashable, Sendable {
  case used
  /// It is not above all before it; `least` would be, unless another registration comes first. `nil` where no number of 64
  /// bits is left.
  case notAbove(least: UInt64?)

  /// The verdict on a sequence that is not above `last`.
  public static func notAbove(last: UInt64) -> SequenceVerdict { .notAbove(least: last == .max ? nil : last + 1) }
}

/// The state of registrations that must survive a restart. Answers are durable.
public protocol IdentityStore: Sendable {
  /// Uses a sequence up if it is higher than all before it of this user, which begin at 0, in one step.
  func useSequence(_ sequence: UInt64, application: String, user: UserID) async throws -> SequenceVerdict
  /// Takes a token's nonce for as long as the token could be used.
  /// - Returns: `false` when it was taken before.
  func useNonce(_ nonce: String, application: String, until: Instant, now: Instant) async throws -> Bool
  /// Keeps a credential by the SHA-256 digest of its secret, in place of the device's former one.
  func keep(_ credential: StoredCredential) async throws
  /// The credential with this id, ended ones included; `nil` for none.
  func credential(_ id: String) async throws -> StoredCredential?
  /// Whether a device of the user has ever registered.
  func knows(_ user: UserID, application: String) async throws -> Bool
  /// Ends the credentials of a device: it registers anew.
  func forget(application: String, user: UserID, device: String) async throws
}
