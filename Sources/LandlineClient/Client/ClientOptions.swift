public import CallModel
public import NIOCore

/// How a client behaves, beside who it is.
public struct ClientOptions: Sendable {
  /// Whose certificates a `wss` connection trusts.
  public enum Trust: Hashable, Sendable {
    /// The authorities of the system.
    case system
    /// The authorities of these PEM files alone.
    case authorities([String])
  }

  /// Where the gateway's credentials for this device are kept; by default they end with the process.
  public var storage: any CredentialStorage = MemoryCredentialStorage()
  /// Not looked at for `ws`.
  public var trust = Trust.system
  /// Milliseconds until a connection must stand.
  public var connectMilliseconds: Int64 = 10_000
  /// Milliseconds until the gateway must know the user, the app's server included.
  public var startMilliseconds: Int64 = 20_000
  /// Bytes of the longest message that is read.
  public var maximumMessageBytes = 262_144
  /// Most calls at a time.
  public var maximumCalls = 16
  /// What the installation allows in user ids.
  public var userRules = UserID.Rules.standard
  /// Where the client runs: one of its loops. `nil`: on a thread of its own, which ends with the client.
  public var group: (any EventLoopGroup)?
  /// The name of the app's software, for the gateway's records: at most 64 printable characters.
  public var software = "LandlineClient/\(LandlineVersion.text)"

  /// Everything stands at its default until it is set.
  public init() {}
}
