/// What a ``UserAgent`` has done and holds: counts since its start but where it says live.
public struct UserAgentCounters: Hashable, Sendable {
  /// Messages handed in, keep-alives included.
  public var received: UInt64 = 0
  /// Messages handed out, repetitions included.
  public var sent: UInt64 = 0
  /// Messages that the gate or the parser refused.
  public var refused: UInt64 = 0
  /// The same by the rule they broke.
  public var refusedByRule: [GateRule: UInt64] = [:]
  /// Those of them that were responses.
  public var refusedResponsesByRule: [GateRule: UInt64] = [:]
  /// Refused messages that got an answer.
  public var refusalsAnswered: UInt64 = 0
  /// Requests that got a 503 because a cap was reached.
  public var overloads: UInt64 = 0
  /// Responses and ACKs that belong to nothing.
  public var strays: UInt64 = 0
  /// Requests outside of dialogs that came over UDP from hosts we have nothing to do with: dropped.
  public var strangersIgnored: UInt64 = 0
  /// Calls placed.
  public var callsPlaced: UInt64 = 0
  /// Calls that came in and were reported.
  public var callsReceived: UInt64 = 0
  /// Dialogs of forks that answered besides the first, and of calls that were cancelled: acknowledged and ended.
  public var dialogsDismissed: UInt64 = 0
  /// Messages of ours that could not be built.
  public var unbuildable: UInt64 = 0
  /// Calls that have not ended; live.
  public var calls: UInt64 = 0
  /// Live.
  public var dialogs: UInt64 = 0
  /// Live.
  public var transactions: UInt64 = 0

  /// All zero.
  public init() {}
}
