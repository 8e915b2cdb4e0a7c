public import CallModel
import Synchronization

/// Whose credentials are kept.
public struct CredentialOwner: Hashable, Sendable {
  /// The application key.
  public let application: String
  public let user: String
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
  public var secret: Redacted<String>?
  /// `nil`: no end is known.
  public var expiresAt: Instant?
  /// The highest sequence that was signed here; the next is higher.
  public var sequence: UInt64

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

  public init() {}

  public func load(_ owner: CredentialOwner) async -> KeptCredentials? { kept.withLock { $0[owner] } }

  public func save(_ credentials: KeptCredentials, for owner: CredentialOwner) async {
    kept.withLock { $0[owner] = credentials }
  }
}
