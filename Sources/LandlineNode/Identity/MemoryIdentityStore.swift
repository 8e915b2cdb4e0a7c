public import AppProtocol
public import CallModel

/// Registrations that last as long as the process: for trials and tests.
public actor MemoryIdentityStore: IdentityStore {
  /// Most nonces, users and credentials kept; beyond, registrations find the store full.
  public static let maximumEntries = 1_000_000

  /// The store is full.
  public struct Full: Error {}

  private struct User: Hashable {
    let application: String
    let user: UserID
  }

  private struct Nonce: Hashable {
    let application: String
    let text: String
  }

  private var sequences: [User: UInt64] = [:]
  private var nonces: [Nonce: Instant] = [:]
  private struct Device: Hashable {
    let application: String
    let user: UserID
    let device: String
  }

  private var credentials: [String: StoredCredential] = [:]
  private var credentialOfDevice: [Device: String] = [:]

  /// Empty: every sequence is above those before it, and no device is known.
  public init() {}

  /// Takes a sequence that is above all before it of this user, which begin at 0.
  /// - Throws: ``Full`` when the user would be one too many.
  public func useSequence(_ sequence: UInt64, application: String, user: UserID) throws -> SequenceVerdict {
    let key = User(application: application, user: user)
    let last = sequences[key] ?? 0
    guard sequence > last else { return .notAbove(last: last) }
    guard sequences.count < MemoryIdentityStore.maximumEntries || sequences[key] != nil else { throw Full() }
    sequences[key] = sequence
    return .used
  }

  /// A nonce can be taken again once its `until` is over.
  /// - Returns: `false` while it is taken.
  /// - Throws: ``Full`` when there is no room, even without the nonces whose time is over.
  public func useNonce(_ nonce: String, application: String, until: Instant, now: Instant) throws -> Bool {
    let key = Nonce(application: application, text: nonce)
    if let taken = nonces[key], now < taken { return false }
    if nonces.count >= MemoryIdentityStore.maximumEntries { nonces = nonces.filter { now < $0.value } }
    guard nonces.count < MemoryIdentityStore.maximumEntries else { throw Full() }
    nonces[key] = until
    return true
  }

  /// Takes the place of the device's former credential.
  /// - Throws: ``Full`` when it would be one too many.
  public func keep(_ credential: StoredCredential) throws {
    forget(application: credential.application, user: credential.user, device: credential.device)
    guard credentials.count < MemoryIdentityStore.maximumEntries else { throw Full() }
    credentials[credential.id] = credential
    credentialOfDevice[
      Device(application: credential.application, user: credential.user, device: credential.device)] = credential.id
  }

  /// The credential with this id, ended ones included; `nil` for none.
  public func credential(_ id: String) -> StoredCredential? { credentials[id] }

  /// Whether a device of the user has ever registered.
  public func knows(_ user: UserID, application: String) -> Bool {
    sequences[User(application: application, user: user)] != nil
      || credentialOfDevice.keys.contains { $0.application == application && $0.user == user }
  }

  /// Drops the device's credential. Sequences and nonces that were used stay used.
  public func forget(application: String, user: UserID, device: String) {
    let device = Device(application: application, user: user, device: device)
    if let id = credentialOfDevice.removeValue(forKey: device) { credentials[id] = nil }
  }
}
