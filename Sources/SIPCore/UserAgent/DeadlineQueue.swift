import CallModel

/// What is due when, for any number of things with one deadline each: setting one costs the logarithm of the number,
/// reading the next one nothing. A deadline that was replaced stays in the heap until it surfaces or too many have
/// gathered.
struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    let deadline: MonotonicInstant
    let key: Key
  }

  private var heap: [Entry] = []
  private var current: [Key: MonotonicInstant] = [:]

  init() {}

  /// Things with a deadline.
  var count: Int { current.count }

  /// The earliest deadline. The top of the heap is always one that counts.
  var next: MonotonicInstant? { heap.first?.deadline }

  mutating func set(_ key: Key, _ deadline: MonotonicInstant?) {
    guard current[key] != deadline else { return }
    current[key] = deadline
    if let deadline { push(Entry(deadline: deadline, key: key)) }
    dropReplaced()
    if heap.count > 64, heap.count / 4 > current.count { rebuild() }
  }

  /// Takes one thing whose time has come; it has no deadline then.
  mutating func popDue(at now: MonotonicInstant) -> Key? {
    guard let top = heap.first, top.deadline <= now else { return nil }
    current[top.key] = nil
    dropReplaced()
    return top.key
  }

  private mutating func dropReplaced() {
    while let top = heap.first, current[top.key] != top.deadline { popTop() }
  }

  private mutating func rebuild() {
    heap = current.map { Entry(deadline: $0.value, key: $0.key) }.sorted { $0.deadline < $1.deadline }
  }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].deadline < heap[parent].deadline else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func popTop() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].deadline < heap[least].deadline {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
