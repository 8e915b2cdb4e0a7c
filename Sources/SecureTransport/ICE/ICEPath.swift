import CallModel

/// A remote address that passed a check of one port of ours, with what its last check said.
struct ICEPath {
  let way: ICEWay
  /// Of the peer's candidate, as PRIORITY says; of a peer-reflexive one it is all we know (RFC 8445 section 7.3.1.3).
  var priority: UInt32
  /// Which of our credentials the last check was made with: counts restarts.
  var generation: UInt64
  var lastCheck: MonotonicInstant
  var lastNomination: MonotonicInstant?
  /// Its first packet of media since the selected path was last heard; `nil`: it has sent none.
  var speaksAlone: MonotonicInstant?
}

/// The transactions of recent checks, so that one that was recorded and is sent again from elsewhere proves nothing.
struct TransactionMemory {
  /// Checks that are remembered; the oldest is forgotten first. A browser makes one every 2.5 s on an idle pair.
  static let capacity = 256

  private var recent = ContiguousArray<UInt64>(repeating: 0, count: TransactionMemory.capacity)
  private var position = 0
  private var filled = 0

  func contains(_ transaction: STUNTransaction) -> Bool { recent[..<filled].contains(transaction.low) }

  mutating func remember(_ transaction: STUNTransaction) {
    recent[position] = transaction.low
    position = (position + 1) % TransactionMemory.capacity
    filled = min(filled + 1, TransactionMemory.capacity)
  }

  /// For new credentials: no old check is valid under them.
  mutating func removeAll() {
    position = 0
    filled = 0
  }
}
