package import CallModel

/// What is due when, for any number of things with one deadline each: setting one costs the logarithm of the number,
/// reading the next one nothing. Of equal deadlines the one set first comes first. A deadline that was replaced stays in
/// the heap until it surfaces or too many have gathered.
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Comparable, Sendable {
    let deadline: MonotonicInstant
    /// Tells a deadline from those that it replaced.
    let order: UInt64
    let key: Key

    static func < (left: Entry, right: Entry) -> Bool {
      (left.deadline, left.order) < (right.deadline, right.order)
    }
    static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
  }

  private var heap = BinaryHeap<Entry>()
  private var current: [Key: Entry] = [:]
  private var lastOrder: UInt64 = 0

  package init() {}

  /// Things with a deadline.
  package var count: Int { current.count }

  /// Entries of the heap, replaced ones included.
  package var heapCount: Int { heap.count }

  /// The earliest deadline. The top of the heap is always one that counts.
  package var next: MonotonicInstant? { heap.first?.deadline }

  package mutating func set(_ key: Key, _ deadline: MonotonicInstant?) {
    guard current[key]?.deadline != deadline else { return }
    if let deadline {
      lastOrder += 1
      let entry = Entry(deadline: deadline, order: lastOrder, key: key)
      current[key] = entry
      heap.insert(entry)
    } else {
      current[key] = nil
    }
    dropReplaced()
    if heap.count > 64, heap.count / 4 > current.count { heap = BinaryHeap(sorted: current.values.sorted()) }
  }

  /// Takes one thing whose time has come; it has no deadline then.
  package mutating func popDue(at now: MonotonicInstant) -> Key? {
    guard let top = heap.first, top.deadline <= now else { return nil }
    current[top.key] = nil
    dropReplaced()
    return top.key
  }

  private mutating func dropReplaced() {
    while let top = heap.first, current[top.key] != top { heap.removeFirst() }
  }
}
