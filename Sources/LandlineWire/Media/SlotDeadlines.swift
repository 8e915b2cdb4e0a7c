import CallModel

/// What is due when, for things that are numbered from 0: a binary heap that knows where each thing stands, so that a
/// deadline moves without a search, and nothing is allocated after the start.
package struct SlotDeadlines: ~Copyable {
  private let heap: UnsafeMutablePointer<Int32>
  /// The place of each slot in the heap; negative: it has no deadline.
  private let places: UnsafeMutablePointer<Int32>
  private let deadlines: UnsafeMutablePointer<Int64>
  private let capacity: Int
  package private(set) var count = 0

  package init(capacity: Int) {
    self.capacity = capacity
    heap = .allocate(capacity: capacity)
    places = .allocate(capacity: capacity)
    deadlines = .allocate(capacity: capacity)
    heap.initialize(repeating: 0, count: capacity)
    places.initialize(repeating: -1, count: capacity)
    deadlines.initialize(repeating: .max, count: capacity)
  }

  deinit {
    heap.deallocate()
    places.deallocate()
    deadlines.deallocate()
  }

  /// Microseconds of the earliest deadline; `Int64.max`: none.
  package var next: Int64 { count == 0 ? .max : deadlines[Int(heap[0])] }

  /// Microseconds; `Int64.max`: none.
  package func deadline(of slot: Int32) -> Int64 {
    check(slot)
    return deadlines[Int(slot)]
  }

  /// `Int64.max` takes the deadline away.
  package mutating func set(_ slot: Int32, _ microseconds: Int64) {
    check(slot)
    let old = deadlines[Int(slot)]
    guard microseconds != old else { return }
    deadlines[Int(slot)] = microseconds
    let place = Int(places[Int(slot)])
    if microseconds == .max {
      remove(at: place)
    } else if place < 0 {
      count += 1
      put(slot, at: count - 1)
      rise(from: count - 1)
    } else if microseconds < old {
      rise(from: place)
    } else {
      sink(from: place)
    }
  }

  /// The slot that is due; it keeps its deadline. Negative: none.
  package func due(at microseconds: Int64) -> Int32 {
    count > 0 && deadlines[Int(heap[0])] <= microseconds ? heap[0] : -1
  }

  private mutating func remove(at place: Int) {
    places[Int(heap[place])] = -1
    count -= 1
    guard place < count else { return }
    put(heap[count], at: place)
    rise(from: place)
    sink(from: Int(places[Int(heap[place])]))
  }

  private func put(_ slot: Int32, at place: Int) {
    heap[place] = slot
    places[Int(slot)] = Int32(truncatingIfNeeded: place)
  }

  private func rise(from start: Int) {
    let slot = heap[start]
    let deadline = deadlines[Int(slot)]
    var place = start
    while place > 0 {
      let parent = (place - 1) / 2
      guard deadline < deadlines[Int(heap[parent])] else { break }
      put(heap[parent], at: place)
      place = parent
    }
    put(slot, at: place)
  }

  private func sink(from start: Int) {
    let slot = heap[start]
    let deadline = deadlines[Int(slot)]
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < count else { break }
      if child + 1 < count, deadlines[Int(heap[child + 1])] < deadlines[Int(heap[child])] { child += 1 }
      guard deadlines[Int(heap[child])] < deadline else { break }
      put(heap[child], at: place)
      place = child
    }
    put(slot, at: place)
  }

  private func check(_ slot: Int32) {
    // Slots are given out by this process, never read from a packet.
    precondition(slot >= 0 && Int(slot) < capacity, "a deadline for a slot that is not there")
  }
}
