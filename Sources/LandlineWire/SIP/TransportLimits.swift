/// Bounds of everything that a peer could make grow or take long, in one node.
public struct TransportLimits: Hashable, Sendable {
  /// Streams at a time, both directions.
  public var connections = 10_000
  /// Accepted streams of one IPv4 address or one IPv6 /64.
  public var connectionsPerSource = 128
  /// Accepted TLS streams whose handshake is not over.
  public var handshakes = 256
  /// Bytes that wait to be written on one stream; above it is closed: the peer does not read.
  public var pendingBytes = 262_144
  /// Requests that one stream remembers to report when it breaks; the oldest are forgotten.
  public var trackedRequests = 4096
  /// From the first packet to an open TCP stream.
  public var connectTimeoutMilliseconds: Int64 = 4000
  /// From an open TCP stream to the end of the TLS handshake.
  public var handshakeTimeoutMilliseconds: Int64 = 5000
  /// From the first byte of a message to its last.
  public var messageTimeoutMilliseconds: Int64 = 10_000
  /// From an accepted stream to its first whole message: who only holds connections holds none for long.
  public var firstMessageTimeoutMilliseconds: Int64 = 8000
  /// How long the system waits for the peer to acknowledge what was sent (RFC 5482). Under timer F, so that a request
  /// learns of a dead stream before it gives up by itself.
  public var acknowledgementTimeoutMilliseconds: Int64 = 20_000
  /// Without a byte in either direction.
  public var idleTimeoutMilliseconds: Int64 = 900_000
  /// How often a stream that we opened gets a CRLF CRLF (RFC 5626 section 3.5.1); `nil` for never.
  public var pingIntervalMilliseconds: Int64?
  /// How long the answer to a ping may take; `nil` for peers that know no pings.
  public var pongTimeoutMilliseconds: Int64?
  /// Answers to pings in one second on one stream; further pings go unanswered.
  public var pongsPerSecond = 10
  /// Error responses in one second, in all, to what cannot be framed.
  public var refusalsPerSecond = 50
  /// Problems reported in one second; further ones are only counted.
  public var problemsPerSecond = 50
  /// Datagrams read with one system call.
  public var datagramBatch = 16
  /// Bytes that the kernel is asked to hold for a datagram socket, each way; it may grant less.
  public var datagramBufferBytes = 4_194_304
  /// Ports asked at a time whether they are closed, when a request over UDP goes there for the second time.
  public var portProbes = 64
  /// How long such a question waits for the ICMP message that says so.
  public var portProbeMilliseconds: Int64 = 100
  /// Until a listener that broke is opened again.
  public var reopenMilliseconds: Int64 = 1000

  /// Suits one node of a gateway. No pings are sent until ``pingIntervalMilliseconds`` is set.
  public init() {}

  /// What a node has where its configuration says nothing else.
  public static let standard = TransportLimits()
}
