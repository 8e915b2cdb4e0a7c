import CallModel

/// When each party of a scene is due next. A party is asked again only after something was done to it.
struct Alarms {
  private var instants: [MonotonicInstant]
  private var isStale: [Bool]
  private var stale: [Int]
  private static let never = MonotonicInstant(microseconds: .max)

  /// - Parameter parties: how many; the first, number 0, is set by ``set(_:_:)`` alone.
  init(parties: Int = 0) {
    instants = Array(repeating: Alarms.never, count: parties)
    isStale = Array(repeating: true, count: parties)
    stale = Array(0..<parties)
  }

  mutating func touch(_ party: Int) {
    guard party < isStale.count, !isStale[party] else { return }
    isStale[party] = true
    stale.append(party)
  }

  mutating func set(_ party: Int, _ instant: MonotonicInstant?) { instants[party] = instant ?? Alarms.never }

  mutating func refresh(_ ask: (Int) -> MonotonicInstant?) {
    for party in stale {
      isStale[party] = false
      if party > 0 { instants[party] = ask(party) ?? Alarms.never }
    }
    stale.removeAll(keepingCapacity: true)
  }

  var next: MonotonicInstant? {
    var next = Alarms.never
    for instant in instants where instant < next { next = instant }
    return next == Alarms.never ? nil : next
  }

  func countDue(at now: MonotonicInstant) -> Int {
    var count = 0
    for instant in instants where instant <= now { count += 1 }
    return count
  }

  /// The party that is at a place among those that are due; -1 where there is none.
  func due(_ place: Int, at now: MonotonicInstant) -> Int {
    var left = place
    for (party, instant) in instants.enumerated() where instant <= now {
      if left == 0 { return party }
      left -= 1
    }
    return -1
  }
}
