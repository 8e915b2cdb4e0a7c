/// What a media loop has done since its start. Counters only grow.
public struct MediaLoopStatistics: Hashable, Sendable {
  /// All that was read from app and trunk ports, dropped ones included.
  public var receivedDatagrams: UInt64 = 0
  /// UDP payload of these.
  public var receivedBytes: UInt64 = 0
  /// System calls that read.
  public var receiveCalls: UInt64 = 0
  /// System calls that failed to read.
  public var receiveErrors: UInt64 = 0
  /// Taken by the kernel.
  public var sentDatagrams: UInt64 = 0
  /// UDP payload of these.
  public var sentBytes: UInt64 = 0
  /// System calls that sent.
  public var sendCalls: UInt64 = 0
  /// Times that the thread woke.
  public var wakeUps: UInt64 = 0

  /// Dropped: from an address that no bridge has proved, and no STUN.
  public var unknownSources: UInt64 = 0
  /// Dropped: STUN from an unknown address, for no bridge of ours.
  public var unknownUserFragments: UInt64 = 0
  /// Dropped: longer than any media packet.
  public var oversized: UInt64 = 0
  /// Dropped: empty.
  public var empty: UInt64 = 0
  /// Dropped: on a trunk port whose bridge is not open yet.
  public var early: UInt64 = 0
  /// Sent to a trunk port after its call.
  public var staleDatagrams: UInt64 = 0

  /// Not sent: the kernel had no room.
  public var sendsWithoutRoom: UInt64 = 0
  /// Not sent: no way to the address.
  public var sendsUnreachable: UInt64 = 0
  /// Not sent: anything else, such as an IPv6 address on an IPv4 port.
  public var sendsFailed: UInt64 = 0
  /// Not sent: on a port that its bridge has given back.
  public var sendsOnReleasedPort: UInt64 = 0
  /// Not sent: a bridge had more to send at a time than the outbox holds.
  public var outboxOverflows: UInt64 = 0

  /// An address was proved by a bridge while it belonged to another.
  public var contestedAddresses: UInt64 = 0
  /// An address or a user fragment beyond what one bridge may have.
  public var refusedRoutes: UInt64 = 0
  /// Commands for a bridge that is not (any more) there.
  public var lateCommands: UInt64 = 0
  /// Commands that found the mailbox full.
  public var refusedCommands: UInt64 = 0
  /// Reservations refused because no pair of ports was free.
  public var portsExhausted: UInt64 = 0
  /// Frames of all rooms that were not mixed, because the thread came too late.
  public var roomFramesLeftOut: UInt64 = 0
  /// Bridges that were opened.
  public var bridgesOpened: UInt64 = 0
  /// Bridges taken away because they did not end in time.
  public var bridgesForced: UInt64 = 0

  /// CPU time that the thread has used, in microseconds.
  public var processorMicroseconds: Int64 = 0
  /// Part of a processor that the thread used of late, 0 to 1.
  public var load: Double = 0
  /// How long packets are gathered at present, in microseconds.
  public var tickMicroseconds: Int64 = 0
  /// What the kernel granted to the app port that got least; 0 without app ports.
  public var receiveBufferBytes = 0

  /// All at zero, as a loop begins.
  public init() {}
}

/// What a media loop holds: after a shutdown nothing.
public struct MediaLoopHoldings: Hashable, Sendable {
  /// Calls that have ports, user fragments or a bridge.
  public var calls = 0
  /// Bridges that are open.
  public var bridges = 0
  /// Bridges that have something due at a certain time.
  public var deadlines = 0
  /// App addresses that packets are assigned to a leg by.
  public var addresses = 0
  /// User fragments that STUN is assigned to a leg by.
  public var userFragments = 0
  /// Pairs of trunk ports that belong to calls.
  public var trunkPairs = 0
  /// Pairs of trunk ports that nobody may use yet.
  public var quarantinedPairs = 0
  /// Pairs that can be reserved.
  public var freePairs = 0
  /// Open descriptors: sockets, those in quarantine included, and what the loop waits on.
  public var descriptors = 0
  /// Descriptors among them that are in quarantine.
  public var quarantinedDescriptors = 0

  /// Nothing is held.
  public init() {}

  /// Whether nothing is held for any call. Ports in quarantine and the loop's own descriptors do not count.
  public var isIdle: Bool {
    calls == 0 && bridges == 0 && deadlines == 0 && addresses == 0 && userFragments == 0 && trunkPairs == 0
  }
}
