/// What the layer kept to itself.
public struct TransactionCounters: Hashable, Sendable {
  /// Responses without a transaction, for another node, or repeated after the end.
  public var strayResponses: UInt64 = 0
  /// Copies of requests that were not passed on.
  public var repeatedRequests: UInt64 = 0
  /// Requests that came twice on different ways.
  public var mergedRequests: UInt64 = 0
  /// Requests above the limit of live transactions.
  public var refusedRequests: UInt64 = 0
  /// Messages that the parser refused behind the gate.
  public var unreadableMessages: UInt64 = 0
  /// The same by the rule they broke.
  public var unreadableByRule: [GateRule: UInt64] = [:]
  /// Those of them that were responses.
  public var unreadableResponsesByRule: [GateRule: UInt64] = [:]
  /// CANCELs without an INVITE.
  public var strayCancels: UInt64 = 0

  /// All zero.
  public init() {}

  mutating func countUnreadable(_ message: ScannedMessage, _ rule: GateRule) {
    unreadableMessages += 1
    unreadableByRule[rule, default: 0] += 1
    if message.status != nil { unreadableResponsesByRule[rule, default: 0] += 1 }
  }
}
