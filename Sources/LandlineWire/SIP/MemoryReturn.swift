import CLandlineSockets
package import CallModel

/// When memory that a flood has left is given back to the system: the allocator keeps it otherwise, for the next one.
///
/// Giving back walks all that is allocated, so it is done only after many transactions were live and most of them are over.
package struct MemoryReturn {
  /// Fewer live transactions than this leave nothing that is worth a walk.
  static let leastPeak = 5000
  /// The part of the most that were live which is still live when memory is given back.
  static let share = 8
  static let leastMilliseconds: Int64 = 5000

  private var peak = 0
  private var returnedAt: MonotonicInstant?

  package init() {}

  /// - Parameter live: transactions now.
  /// - Returns: whether memory is to be given back now.
  package mutating func isDue(live: Int, at now: MonotonicInstant) -> Bool {
    peak = max(peak, live)
    guard peak >= MemoryReturn.leastPeak, live <= peak / MemoryReturn.share else { return false }
    if let returnedAt, now.milliseconds(since: returnedAt) < MemoryReturn.leastMilliseconds { return false }
    returnedAt = now
    peak = live
    return true
  }

  package static func giveBack() { landline_return_memory() }
}
