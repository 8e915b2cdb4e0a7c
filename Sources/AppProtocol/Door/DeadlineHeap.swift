import CallModel

/// Deadlines in their order. An entry that no longer holds stays until its time comes; whoever takes it out asks its
/// subject whether it still means it.
struct DeadlineHeap<Subject: Hashable> {
  struct Entry {
    let at: MonotonicInstant
    let subject: Subject
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }
  var next: MonotonicInstant? { entries.first?.at }

  mutating func insert(_ subject: Subject, at: MonotonicInstant) {
    entries.append(Entry(at: at, subject: subject))
    var index = entries.count - 1
    while index > 0, entries[index].at < entries[(index - 1) / 2].at {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// The earliest entry, if its time has come.
  mutating func take(at now: MonotonicInstant) -> Entry? {
    guard let first = entries.first, first.at <= now else { return nil }
    return removeFirst(first)
  }

  /// The earliest entry goes if `isVoid` says so of it.
  mutating func dropFirst(if isVoid: (Entry) -> Bool) -> Bool {
    guard let first = entries.first, isVoid(first) else { return false }
    _ = removeFirst(first)
    return true
  }

  /// Keeps only entries that still hold.
  mutating func compact(_ holds: (Entry) -> Bool) {
    let kept = entries.filter(holds)
    entries = []
    for entry in kept { insert(entry.subject, at: entry.at) }
  }

  private mutating func removeFirst(_ first: Entry) -> Entry {
    let last = entries.removeLast()
    guard !entries.isEmpty else { return first }
    entries[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < entries.count && entries[child].at < entries[least].at {
        least = child
      }
      guard least != index else { return first }
      entries.swapAt(index, least)
      index = least
    }
  }
}
