/// What went through a node since its start.
public struct TransportStatistics: Hashable, Sendable {
  public var datagramsReceived: UInt64 = 0
  public var datagramsSent: UInt64 = 0
  /// The kernel had no room; retransmission heals it.
  public var datagramsDropped: UInt64 = 0
  public var datagramsFailed: UInt64 = 0
  /// Requests over UDP that ended because ICMP said that nobody is there.
  public var datagramsRefused: UInt64 = 0
  /// Datagrams of empty lines.
  public var keepAlives: UInt64 = 0
  /// Datagrams that cannot begin a SIP message.
  public var junkDatagrams: UInt64 = 0
  public var messagesReceived: UInt64 = 0
  public var messagesSent: UInt64 = 0
  public var pingsReceived: UInt64 = 0
  public var pongsSent: UInt64 = 0
  public var framingRefusals: UInt64 = 0
  public var connectionsAccepted: UInt64 = 0
  public var connectionsOpened: UInt64 = 0
  public var connectionsRefused: UInt64 = 0
  public var connectionsFailed: UInt64 = 0
  public var handshakesFailed: UInt64 = 0
  public var slowReaders: UInt64 = 0
  public var messageTimeouts: UInt64 = 0
  public var idleTimeouts: UInt64 = 0
  /// Requests whose way broke.
  public var requestsFailed: UInt64 = 0
  public var problems: UInt64 = 0
  public var problemsUnreported: UInt64 = 0
  /// Open now.
  public var connections = 0

  public init() {}
}
