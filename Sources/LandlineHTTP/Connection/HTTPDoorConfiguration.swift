public import CallModel

/// Where the HTTP door listens, whom it lets in, and how much anybody may use.
public struct HTTPDoorConfiguration: Sendable {
  /// PEM files of the server's certificate chain and of its key.
  public struct Certificate: Hashable, Sendable {
    /// The server's own certificate first.
    public var chainPath: String
    /// Without a passphrase.
    public var keyPath: String
    /// Whether TLS 1.2 is refused.
    public var needsTLS13: Bool

    /// Neither file is read here; ``HTTPDoor`` reads both when it is made. TLS 1.2 is spoken unless 1.3 is asked for.
    public init(chainPath: String, keyPath: String, needsTLS13: Bool = false) {
      self.chainPath = chainPath
      self.keyPath = keyPath
      self.needsTLS13 = needsTLS13
    }
  }

  /// Every limit of the door, each with its unit in its name.
  public struct Limits: Hashable, Sendable {
    /// Open at a time, WebSockets included.
    public var connections = 20_000
    /// From one address.
    public var connectionsPerHost = 256
    /// Of one host, over all of its connections; an IPv6 host is its /64. None on a socket of this machine's own.
    public var requestsPerSecond = 10_000
    /// Of one host, at once after a quiet time.
    public var requestBurst = 10_000
    /// From the connection's start, TLS included, to the end of the first request's head.
    public var headMilliseconds: Int64 = 10_000
    /// Between the end of one response and the end of the next request's head.
    public var idleMilliseconds: Int64 = 60_000
    /// From the head of a request to the end of its body.
    public var bodyMilliseconds: Int64 = 10_000
    /// From the end of a request to the last byte of its response.
    public var responseMilliseconds: Int64 = 60_000
    /// Bytes of one header field.
    public var headerFieldBytes = 8 * 1024
    /// Bytes of all header fields of a request together.
    public var headerBytes = 16 * 1024
    /// Header fields of one request.
    public var headerCount = 64
    /// Of a request's target.
    public var targetBytes = 4 * 1024
    /// Bytes of a request's body.
    public var bodyBytes = 64 * 1024
    /// Bytes of one WebSocket frame; a longer one is answered with close code 1009.
    public var frameBytes = 64 * 1024
    /// Bytes of one WebSocket message, all fragments together; a longer one is answered with close code 1009.
    public var messageBytes = 256 * 1024
    /// Frames that one WebSocket message may be cut into; more are answered with close code 1009.
    public var fragmentsPerMessage = 1024
    /// Bytes that wait to be sent on one WebSocket.
    public var outgoingBytes = 1024 * 1024
    /// From our close frame to the end of the connection.
    public var closeMilliseconds: Int64 = 3_000
    /// How long the acceptor may take to close a WebSocket whose peer broke the protocol.
    public var violationMilliseconds: Int64 = 1_000
    /// How long WebSockets and requests may go on after the door was told to end. What they are for has ended by then.
    public var goodbyeMilliseconds: Int64 = 300

    /// The configuration's `http.limits` take the place of those on connections, requests and bodies.
    public init() {}
  }

  /// A numeric address or a name.
  public var host: String
  /// 0 for any free one.
  public var port: Int
  /// `nil` for plain HTTP.
  public var certificate: Certificate?
  /// `https://app.example.com`: origins of web pages that may connect besides those of this host.
  public var allowedOrigins: [String]
  public var limits = Limits()
  /// Proxies in front, whose `X-Forwarded-For` names their clients. They may have as many connections as the door.
  public var proxies: [SIPHost] = []
  /// The web pages.
  public var pages = PageFiles.none
  /// Whether `/metrics` is answered.
  public var servesMetrics = true
  /// Whether pages on this machine are let in without a key, as an operator, and pages of its other ports and of files may
  /// connect as apps: for development, on loopback only.
  public var signsInLocally = false
  /// A Unix-domain socket in place of host and port: for this machine's own operator. No WebSocket is spoken there, and a
  /// request may name its environment in the query.
  public var socketPath: String?

  /// - Parameters:
  ///   - host: a numeric address or a name; IPv6 with or without brackets.
  ///   - certificate: `nil` for plain HTTP.
  public init(host: String, port: Int, certificate: Certificate? = nil, allowedOrigins: [String] = []) {
    self.host = host
    self.port = port
    self.certificate = certificate
    self.allowedOrigins = allowedOrigins
  }

  /// - Parameter socket: path of the socket's file, made for its owner alone; a file left there is replaced.
  public init(socket: String) {
    self.init(host: "", port: 0)
    socketPath = socket
  }
}
