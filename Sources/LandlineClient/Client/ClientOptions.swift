public import AppProtocol
public import CallModel
public import NIOCore
import NIOSSL

/// How a client behaves, beside who it is.
public struct ClientOptions: Sendable {
  /// Whose certificates a `wss` connection trusts, and a relay of the gateway's that is reached through TLS.
  public enum Trust: Hashable, Sendable {
    /// The authorities of the system.
    case system
    /// The authorities of these PEM files alone.
    case authorities([String])
  }

  /// Where the gateway's credentials for this device are kept; by default they end with the process.
  public var storage: any CredentialStorage = MemoryCredentialStorage()
  /// Not looked at for `ws` and relays without TLS.
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

  /// Whether calls for the user ring on this device from the start; otherwise ``CallClient/startListening()`` begins with
  /// it. Nothing rings on a client without ``AppCapability/calling``.
  public var isListening = false
  /// What this device calls itself, shown to whoever its user calls: at most ``Client/maximumDeviceNameBytes`` bytes of
  /// UTF-8; empty for none.
  public var deviceName = ""
  /// What a call for the user does while this device is in a call; `nil`: as the application's configuration says.
  public var busyRule: BusyRule?

  /// Everything stands at its default until it is set.
  public init() {}
}

extension ClientOptions.Trust {
  /// What TLS connections of one kind are made with.
  /// - Parameter protocols: for ALPN (RFC 7301).
  func context(protocols: [String]) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = protocols
    do {
      if case .authorities(let files) = self {
        configuration.trustRoots = .certificates(try files.flatMap { try NIOSSLCertificate.fromPEMFile($0) })
      }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw CallFailure(.networkSecurity, phrase: "the authorities cannot be used: \(ErrorText.text(error))")
    }
  }
}
