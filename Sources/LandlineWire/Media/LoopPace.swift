/// How long packets are gathered before they are looked at. Waking for each packet costs more than the packet where there
/// are many; a wait costs delay. So an idle loop wakes at once, a busy one at a beat that grows with its load.
package struct LoopPace {
  /// Microseconds over which load is measured.
  package static let window: Int64 = 50_000
  /// Below this load nothing is gathered.
  package static let quiet = 0.03
  /// Up to this load the beat is short enough to be lost in the delay of any network.
  package static let busy = 0.5
  /// From this load on the beat is the longest.
  package static let full = 0.9
  /// The beat up to ``busy``, in microseconds.
  package static let shortTick: Int64 = 500

  /// Windows of ``full`` load in a row after which there is no room for more: half a second, so that no burst counts.
  package static let standingWindows = 10

  package let maximumTick: Int64
  /// Part of a processor that was used of late, 0 to 1.
  package private(set) var load = 0.0
  /// Microseconds from one look at the sockets to the next; 0: as soon as something comes.
  package private(set) var tick: Int64 = 0
  private var fullWindows = 0
  private var start: Int64
  private var processorAtStart: Int64

  package init(maximumTick: Int64, at now: Int64, processor: Int64) {
    self.maximumTick = maximumTick
    start = now
    processorAtStart = processor
  }

  /// Whether ``measure(at:processor:)`` has enough to go by.
  package func isDue(at now: Int64) -> Bool { now - start >= LoopPace.window }

  /// The thread has had more to do than it can, for a while.
  package var isFull: Bool { fullWindows == LoopPace.standingWindows }

  /// Both in microseconds: a monotonic clock, and the processor time that the thread has used.
  package mutating func measure(at now: Int64, processor: Int64) {
    guard now > start else { return }
    let latest = min(max(Double(processor - processorAtStart) / Double(now - start), 0), 1)
    // Up at once, down by halves: a burst is met, a pause in it changes little.
    load = max(latest, (load + latest) / 2)
    fullWindows = latest < LoopPace.full ? 0 : min(fullWindows + 1, LoopPace.standingWindows)
    start = now
    processorAtStart = processor
    tick = min(LoopPace.tick(at: load, maximum: maximumTick), maximumTick)
  }

  package static func tick(at load: Double, maximum: Int64) -> Int64 {
    if load < quiet { return 0 }
    if load < busy { return shortTick }
    let part = min((load - busy) / (full - busy), 1)
    return shortTick + Int64(Double(max(maximum - shortTick, 0)) * part)
  }
}
