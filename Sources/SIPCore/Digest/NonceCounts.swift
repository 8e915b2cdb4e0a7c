/// The highest count seen with each nonce, for a bounded number of nonces.
///
/// Only nonces that came with a right response are entered, so nobody without a password can fill it.
struct NonceCounts {
  private struct Row {
    let nonce: DigestNonce
    var count: UInt32
  }

  /// By serial number.
  private var rows: [Row] = []
  private let limit: Int
  /// Serial numbers below this one were forgotten: their nonces count as stale, so that none is replayed.
  private var floor: UInt64 = 0

  init(limit: Int) { self.limit = max(1, limit) }

  var count: Int { rows.count }

  /// Enters a use.
  /// - Returns: `false` where the count is not above all seen before, or the nonce was forgotten.
  mutating func use(_ nonce: DigestNonce, count: UInt32) -> Bool {
    guard nonce.serial >= floor, count > 0 else { return false }
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].nonce.serial < nonce.serial { low = middle + 1 } else { high = middle }
    }
    if low < rows.count, rows[low].nonce.serial == nonce.serial {
      // The same serial number with another time is a nonce of an earlier server with the same key.
      guard rows[low].nonce == nonce, rows[low].count < count else { return false }
      rows[low].count = count
      return true
    }
    rows.insert(Row(nonce: nonce, count: count), at: low)
    if rows.count > limit {
      // An eighth at once, so that a full table does not move for each request.
      let dropped = max(1, limit / 8)
      floor = rows[dropped - 1].nonce.serial &+ 1
      rows.removeFirst(dropped)
      return nonce.serial >= floor
    }
    return true
  }
}
