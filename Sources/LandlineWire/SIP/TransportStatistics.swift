/// What went through a node since its start.
public struct TransportStatistics: Hashable, Sendable {
  /// Over UDP, keep-alives and junk included.
  public var datagramsReceived: UInt64 = 0
  /// Over UDP, as far as the kernel took them.
  public var datagramsSent: UInt64 = 0
  /// The kernel had no room; retransmission heals it.
  public var datagramsDropped: UInt64 = 0
  /// The kernel refused them for another reason than lack of room: too large, no way there.
  public var datagramsFailed: UInt64 = 0
  /// Requests over UDP that ended because ICMP said that nobody is there.
  public var datagramsRefused: UInt64 = 0
  /// Datagrams of empty lines.
  public var keepAlives: UInt64 = 0
  /// Datagrams that cannot begin a SIP message.
  public var junkDatagrams: UInt64 = 0
  /// SIP messages over UDP and streams, before anything judged them.
  public var messagesReceived: UInt64 = 0
  /// SIP messages that were to be sent over UDP and streams, those that failed included.
  public var messagesSent: UInt64 = 0
  /// Keep-alives on streams: CRLF CRLF (RFC 5626 section 3.5.1).
  public var pingsReceived: UInt64 = 0
  /// Answers to keep-alives; ``TransportLimits/pongsPerSecond`` bounds them.
  public var pongsSent: UInt64 = 0
  /// Streams ended because what came could not be cut into messages.
  public var framingRefusals: UInt64 = 0
  /// Streams that peers opened; over TLS counted before the handshake.
  public var connectionsAccepted: UInt64 = 0
  /// Streams of ours that became ready, over TLS with the handshake done.
  public var connectionsOpened: UInt64 = 0
  /// Streams, of peers and of ours, that a limit kept from being opened.
  public var connectionsRefused: UInt64 = 0
  /// Streams of ours that ended before they were ready.
  public var connectionsFailed: UInt64 = 0
  /// Streams, of peers and of ours, that ended because of TLS: its handshake, its time or a certificate.
  public var handshakesFailed: UInt64 = 0
  /// Streams ended because the peer did not read: ``TransportLimits/pendingBytes`` was reached.
  public var slowReaders: UInt64 = 0
  /// Streams ended because a message took longer than ``TransportLimits/messageTimeoutMilliseconds``.
  public var messageTimeouts: UInt64 = 0
  /// Streams ended because nothing came or went for too long, or no first message came.
  public var idleTimeouts: UInt64 = 0
  /// Requests whose way broke.
  public var requestsFailed: UInt64 = 0
  /// Every ``TransportProblem``, reported or not.
  public var problems: UInt64 = 0
  /// Those of them beyond ``TransportLimits/problemsPerSecond``, which the delegate was not told.
  public var problemsUnreported: UInt64 = 0
  /// Open now.
  public var connections = 0

  /// All at zero, as a node begins.
  public init() {}
}
