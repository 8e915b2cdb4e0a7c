/// What is due when, for any number of things with one deadline each: setting one costs the logarithm of the number,
/// reading the next one nothing. Of equal deadlines the one set first comes first. A deadline that was replaced stays in
/// the heap until it surfaces or too many have gathered.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  @usableFromInline struct Entry: Comparable, Sendable {
    @usableFromInline let deadline: MonotonicInstant
    /// Tells a deadline from those that it replaced.
    @usableFromInline let order: UInt64
    @usableFromInline let key: Key

    @inlinable init(deadline: MonotonicInstant, order: UInt64, key: Key) {
      self.deadline = deadline
      self.order = order
      self.key = key
    }

    @inlinable static func < (left: Entry, right: Entry) -> Bool {
      left.deadline != right.deadline ? left.deadline < right.deadline : left.order < right.order
    }
    @inlinable static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
  }

  /// Entries up to which replaced ones may gather.
  @usableFromInline static var fewEntries: Int { 64 }

  @usableFromInline var heap = BinaryHeap<Entry>()
  @usableFromInline var current: [Key: Entry] = [:]
  @usableFromInline var lastOrder: UInt64 = 0

  @inlinable public init() {}

  /// Things with a deadline.
  @inlinable public var count: Int { current.count }

  /// Entries of the heap, replaced ones included.
  public var heapCount: Int { heap.count }

  /// The earliest deadline. The top of the heap is always one that counts.
  @inlinable public var next: MonotonicInstant? { heap.first?.deadline }

  /// - Parameter deadline: `nil` for none.
  @inlinable public mutating func set(_ key: Key, _ deadline: MonotonicInstant?) {
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
    if heap.count > Self.fewEntries, heap.count / 4 > current.count {
      heap = BinaryHeap(sorted: current.values.sorted())
    }
  }

  /// Takes one thing whose time has come; it has no deadline then.
  @inlinable public mutating func popDue(at now: MonotonicInstant) -> Key? {
    guard let top = heap.first, top.deadline <= now else { return nil }
    current[top.key] = nil
    dropReplaced()
    return top.key
  }

  public mutating func removeAll() {
    heap = BinaryHeap()
    current = [:]
  }

  @inlinable mutating func dropReplaced() {
    while let top = heap.first, current[top.key] != top { heap.removeFirst() }
  }
}
