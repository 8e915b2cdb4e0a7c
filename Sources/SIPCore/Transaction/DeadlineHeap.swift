/// Deadlines, the earliest first; of equal ones the smallest transaction first, so that every run has one order.
///
/// An entry is never taken out of the middle: whoever reads one checks whether it still holds.
struct DeadlineHeap {
  struct Entry: Comparable {
    /// Milliseconds.
    let time: Int64
    let id: TransactionID

    static func < (left: Entry, right: Entry) -> Bool {
      (left.time, left.id.number) < (right.time, right.id.number)
    }
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }
  var first: Entry? { entries.first }

  mutating func insert(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child] < entries[parent] else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard let last = entries.popLast(), !entries.isEmpty else { return }
    entries[0] = last
    sink(0)
  }

  /// Keeps the entries that still hold; costs a pass over all.
  mutating func removeAll(where isStale: (Entry) -> Bool) {
    entries.removeAll(where: isStale)
    for parent in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(parent) }
  }

  private mutating func sink(_ start: Int) {
    var parent = start
    while true {
      var smallest = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < entries.count && entries[child] < entries[smallest]
      {
        smallest = child
      }
      guard smallest != parent else { return }
      entries.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
