public import CallModel

/// How a ``Resolver`` asks, how long it remembers, and how much it takes on.
public struct ResolverConfiguration: Hashable, Sendable {
  /// A name server.
  public struct Server: Hashable, Sendable {
    /// Never a name.
    public var host: SIPHost
    /// 53 unless told otherwise.
    public var port: UInt16

    /// Expects a numeric host and does not check it.
    public init(_ host: SIPHost, port: UInt16 = 53) {
      self.host = host
      self.port = port
    }
  }

  /// Most name servers that are used.
  public static let maximumServers = 4

  /// In the order to ask. Empty: those of `/etc/resolv.conf`, as it reads when the resolver starts.
  public var servers: [Server] = []
  /// Whether `/etc/hosts` is looked at before A and AAAA are asked.
  public var usesHostsFile = true
  /// Time for the first answer of a server; each further round doubles it.
  public var timeoutMilliseconds: Int32 = 1500
  /// Rounds over all servers.
  public var tries: Int32 = 2
  /// Time for one location altogether.
  public var locationMilliseconds: Int64 = 10_000

  /// Locations under way at a time; one more is refused.
  public var locations = 1024
  /// Questions under way at a time; further ones wait.
  public var questions = 128

  /// Answers kept.
  public var cachedAnswers = 4096
  /// An answer is kept for its own time to live, but within these bounds.
  public var minimumSeconds: Int64 = 5
  /// Longest that a found answer is kept, however long its own time to live.
  public var maximumSeconds: Int64 = 3600
  /// Longest that "no such record" is kept (RFC 2308); its time to live is the SOA record's.
  public var maximumNegativeSeconds: Int64 = 60
  /// How long a failure is kept, so that dead servers are not asked for every call.
  public var failureSeconds: Int64 = 2
  /// How long after its time an answer may still be used while no server gives a newer one (RFC 8767); 0 for never.
  public var staleSeconds: Int64 = 86_400
  /// How long servers are waited for where such an answer is there; what they say later counts for the next call.
  public var staleAfterMilliseconds: Int64 = 500

  /// Each setting at the value written above.
  public init() {}

  /// The name servers of `/etc/resolv.conf`, and the values written above.
  public static let standard = ResolverConfiguration()
}
