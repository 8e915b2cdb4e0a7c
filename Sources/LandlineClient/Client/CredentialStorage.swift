public import CallModel
import Synchronization

/// Whose credentials are kept.
public struct CredentialOwner: Hashable, Sendable {
  /// The application key.
  public let application: String
  /// The user's id inside the application.
  public let user: String
  /// The app's name for the device.
  public let device: String

  public init(application: String, user: String, device: String) {
    self.application = application
    self.user = user
    self.device = device
  }
}

/// What a device keeps between two runs of an app.
public struct KeptCredentials: Hashable, Sendable {
  /// Of the credential that the gateway gave this device.
  public var id: String?
  /// Of that credential; `nil` where none is kept.
  public var secret: Redacted<String>?
  /// `nil`: no end is known.
  public var expiresAt: Instant?
  /// The highest sequence that was signed here; the next is higher.
  public var sequence: UInt64

  /// Without arguments: nothing is kept, and no sequence was signed.
  public init(id: String? = nil, secret: Redacted<String>? = nil, expiresAt: Instant? = nil, sequence: UInt64 = 0) {
    self.id = id
    self.secret = secret
    self.expiresAt = expiresAt
    self.sequence = sequence
  }
}

/// Where a device keeps its credentials. An implementation may wait: it is never called on an event loop.
public protocol CredentialStorage: Sendable {
  /// `nil` where nothing is kept, or nothing that can be read.
  func load(_ owner: CredentialOwner) async throws -> KeptCredentials?
  func save(_ credentials: KeptCredentials, for owner: CredentialOwner) async throws
}

/// Keeps credentials for as long as the process runs.
public final class MemoryCredentialStorage: CredentialStorage {
  private let kept = Mutex<[CredentialOwner: KeptCredentials]>([:])

  /// Begins empty.
  public init() {}

  /// `nil` where nothing was saved since the process began.
  public func load(_ owner: CredentialOwner) async -> KeptCredentials? { kept.withLock { $0[owner] } }

  /// Takes the place of what was kept for the same owner.
  public func save(_ credentials: KeptCredentials, for owner: CredentialOwner) async {
    kept.withLock { $0[owner] = credentials }
  }
}
