import CallModel

/// What is to happen when: earliest first, and within one instant in the order of asking.
struct EventSchedule<Event> {
  private struct Entry {
    let at: MonotonicInstant
    let order: UInt64
    let event: Event

    func comesBefore(_ other: Entry) -> Bool { (at, order) < (other.at, other.order) }
  }

  private var heap: [Entry] = []
  private var lastOrder: UInt64 = 0

  var next: MonotonicInstant? { heap.first?.at }
  var count: Int { heap.count }

  mutating func add(_ event: Event, at instant: MonotonicInstant) {
    lastOrder += 1
    heap.append(Entry(at: instant, order: lastOrder, event: event))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].comesBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the next event whose time has come.
  mutating func popDue(at now: MonotonicInstant) -> Event? {
    guard let top = heap.first, top.at <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].comesBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return top.event }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
