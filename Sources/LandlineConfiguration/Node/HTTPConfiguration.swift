public import CallModel
public import LandlineWire

/// `http`: where apps, operators and monitoring reach the gateway.
public struct HTTPConfiguration: Hashable, Sendable {
  /// A numeric address of this machine.
  public var host: SIPHost = .ipv4(0x7F00_0001)
  /// 0: the system chooses.
  public var port: UInt16 = 8080
  /// What stands in links to this gateway, where it is not the address above.
  public var advertisedHost: SIPHost?
  /// Goes with ``advertisedHost``; `nil` where that names no port.
  public var advertisedPort: UInt16?
  /// `nil` for plain HTTP.
  public var tls: TLSServerSettings?
  /// Origins of web pages that may connect (RFC 6454), lower-case, such as `https://phone.example.com`. Connections
  /// without an origin come from no web page and are not concerned.
  public var origins: [String] = []
  /// Whether `/metrics` is there.
  public var hasMetrics = true
  /// Those of this executable where the file says nothing.
  public var pages = Pages.builtIn
  /// Proxies whose `X-Forwarded-For` says who their clients are.
  public var proxies: [SIPHost] = []
  /// `http.limits` in the file.
  public var limits = Limits()

  /// The web pages: those of this executable, none, or the files of a folder.
  public enum Pages: Hashable, Sendable, CustomStringConvertible {
    case builtIn
    case none
    case folder(String)

    /// As the key is written.
    public var description: String {
      switch self {
      case .builtIn: "true"
      case .none: "false"
      case .folder(let path): path
      }
    }
  }

  /// Bounds of what peers may make grow.
  public struct Limits: Hashable, Sendable {
    /// Open at a time, WebSockets included.
    public var connections = 10_000
    /// Open at a time from one host; those of ``HTTPConfiguration/proxies`` are bound by ``connections`` only.
    public var connectionsPerHost = 128
    /// App sessions, absent ones included.
    public var sessions = 10_000
    /// Of one host, over all of its connections and sessions; an IPv6 host is its /64. A proof that is refused counts
    /// tenfold.
    public var requestsPerSecond = 100
    /// Several people behind one address may open a page of some twenty files at a time.
    public var requestBurst = 400
    /// Of one host: registrations that may be tried.
    public var registrationsPerSecond = 10
    /// Bytes of one request's body.
    public var bodyBytes = 262_144

    /// What holds where the file has no `http.limits`.
    public init() {}
  }

  /// Origins at most.
  public static let maximumOrigins = 64
  /// Proxies at most.
  public static let maximumProxies = 64

  /// What holds where the file has no `http`: plain HTTP on port 8080 of loopback, with built-in pages and metrics.
  public init() {}
}
