import CallModel

/// What is to happen when: earliest first, and within one instant in the order of asking.
struct EventSchedule<Event> {
  /// What is sorted is small; the events themselves stay where they were put.
  private struct Entry {
    let at: MonotonicInstant
    let order: UInt64
    let place: Int

    @inline(__always)
    func comesBefore(_ other: Entry) -> Bool { at != other.at ? at < other.at : order < other.order }
  }

  private var heap: [Entry] = []
  private var events: [Event?] = []
  private var freePlaces: [Int] = []
  private var lastOrder: UInt64 = 0

  var next: MonotonicInstant? { heap.first?.at }
  var count: Int { heap.count }

  mutating func add(_ event: Event, at instant: MonotonicInstant) {
    lastOrder += 1
    let place: Int
    if let free = freePlaces.popLast() {
      place = free
      events[place] = event
    } else {
      place = events.count
      events.append(event)
    }
    let entry = Entry(at: instant, order: lastOrder, place: place)
    heap.append(entry)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entry.comesBefore(heap[parent]) else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = entry
  }

  /// Takes the next event whose time has come.
  mutating func popDue(at now: MonotonicInstant) -> Event? {
    guard let top = heap.first, top.at <= now else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty { sink(last) }
    freePlaces.append(top.place)
    return events[top.place].take()
  }

  /// Puts an entry in the place of the first.
  private mutating func sink(_ entry: Entry) {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].comesBefore(heap[child]) { child += 1 }
      guard heap[child].comesBefore(entry) else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = entry
  }
}
