package import SecureTransport

/// Which leg an app's address belongs to: open addressing, one look at memory for almost every packet.
///
/// Only addresses that proved themselves come in, so that its size is bounded by the calls; the hash is seeded all the
/// same, lest a peer with many calls choose addresses that collide.
package struct AddressTable: ~Copyable {
  private struct Entry {
    var high: UInt64
    var low: UInt64
    var port: UInt16
    /// None: free.
    var leg: LegNumber

    static let free = Entry(high: 0, low: 0, port: 0, leg: .none)
  }

  /// Places at the start. A power of two, like every later size.
  private static let smallest = 1_024

  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  private let seed: UInt64
  package private(set) var count = 0

  package init(seed: UInt64) {
    self.seed = seed | 1
    mask = AddressTable.smallest - 1
    entries = AddressTable.places(AddressTable.smallest)
  }

  deinit { entries.deallocate() }

  private static func places(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let made = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    made.initialize(repeating: .free, count: count)
    return made
  }

  private func home(_ high: UInt64, _ low: UInt64, _ port: UInt16) -> Int {
    var hash = (low ^ UInt64(port) << 48 ^ UInt64(port)) &* seed
    hash ^= hash >> 32
    hash = (hash ^ high) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
    return Int(truncatingIfNeeded: hash) & mask
  }

  /// Where the address stands, or the free place where it would.
  private func place(_ address: MediaAddress) -> Int {
    let (high, low, port) = (address.high, address.low, address.port)
    var index = home(high, low, port)
    while true {
      let entry = entries[index]
      if entry.leg == .none || (entry.low == low && entry.port == port && entry.high == high) { return index }
      index = (index + 1) & mask
    }
  }

  /// The leg of an address.
  package func leg(of address: MediaAddress) -> LegNumber { entries[place(address)].leg }

  /// Gives an address to a leg; one that it had before loses it.
  package mutating func insert(_ address: MediaAddress, leg: LegNumber) {
    if 2 * (count + 1) > mask { grow() }
    let index = place(address)
    if entries[index].leg == .none { count += 1 }
    entries[index] = Entry(high: address.high, low: address.low, port: address.port, leg: leg)
  }

  package mutating func remove(_ address: MediaAddress) {
    var hole = place(address)
    guard entries[hole].leg != .none else { return }
    count -= 1
    // Closes the gap: what was pushed beyond it by a collision moves back, so that no look-up stops too early.
    var index = (hole + 1) & mask
    while entries[index].leg != .none {
      let entry = entries[index]
      let distance = (index &- home(entry.high, entry.low, entry.port)) & mask
      if distance >= (index &- hole) & mask {
        entries[hole] = entry
        hole = index
      }
      index = (index + 1) & mask
    }
    entries[hole] = .free
  }

  private mutating func grow() {
    let old = entries
    let oldCount = mask + 1
    entries = AddressTable.places(2 * oldCount)
    mask = 2 * oldCount - 1
    for index in 0..<oldCount where old[index].leg != .none {
      let entry = old[index]
      entries[place(MediaAddress(high: entry.high, low: entry.low, port: entry.port))] = entry
    }
    old.deallocate()
  }
}
