import CallModel
import SecureTransport

/// Holds the packets of one incoming stream until it is their turn to be heard.
///
/// The listener's clock decides: who asks for the next packet is told what there is. How much waits is adapted to what
/// the network does: a gap that the network made is stretched and lengthens the delay by itself; where more has waited
/// than is needed all through a window of time, some is left out as its ``PlayoutPolicy`` says.
///
/// ```
///   transit of each packet ─▶ the slowest of two seconds ┐
///                                                        ├─▶ its spare time ─▶ more than a packet: one is left out
///   its turn less its time on the sender's clock: lead ──┘                     less than wanted: a quiet one is repeated
/// ```
/// Where the policy adapts, the lead is what is kept short: the slowest packet comes ``margin(_:)`` before its turn.
final class PlayoutBuffer {
  /// Packets it holds at most; the oldest give way.
  static let capacity = 64
  /// Packets in a row that are given up one by one; of a longer gap nothing is made up.
  static let maximumMissing: UInt16 = 5
  /// A packet that is further from the one that is due is another stream's beginning.
  static let maximumMisorder: UInt16 = 100
  /// Milliseconds before its turn that the slowest packet is to come on a network without jitter.
  static let leastMargin = 6.0
  /// Milliseconds that a packet counts as slower than the fastest at most: for one that is slower still, nobody waits.
  static let maximumSpread: Int64 = 80
  /// Turns after a packet was missing in which the one behind it is waited for as well: it may hold a copy.
  static let troubledTurns = 500

  enum Turn {
    /// The packet that is due. It stays as it is until the next ``PlayoutBuffer/insert(_:_:isSound:isQuiet:at:)``.
    /// `isQuiet`: nobody would hear it, as its sender says, and no sound that is to be heard stands behind it yet.
    case packet(PacketBuffer, isQuiet: Bool)
    /// It is missing; the next one is there and may hold a copy.
    case missing(next: PacketBuffer?, isQuiet: Bool)
    /// A number that bore no sound (an event): ask again.
    case silent
    /// Nothing is there although something is due.
    case starved
    /// Not enough has come yet.
    case filling
  }

  private struct Slot {
    var isUsed = false
    var isSound = false
    /// Its sender says that nobody would hear it.
    var isQuiet = false
    var sequence: UInt16 = 0
    /// Where in ``PlayoutBuffer/buffers`` the packet stands.
    var buffer = 0
    var arrival = MonotonicInstant.zero
    /// Microseconds, as ``TransitMemory`` has it.
    var transit: Int64 = 0
  }

  private let policy: PlayoutPolicy
  /// As many as ever waited at a time.
  private var buffers: ContiguousArray<PacketBuffer> = []
  /// Of ``buffers``, those that hold no packet.
  private var free: ContiguousArray<Int> = []
  private var slots: ContiguousArray<Slot>
  private var count = 0
  /// The number whose turn it is; `nil` before the first packet.
  private var due: UInt16?
  private var isFilling = true
  /// Turns with nothing there since the last packet: their sound was made up already.
  private var starvedTurns: UInt16 = 0
  /// Milliseconds of sound in a packet.
  private var packetTime = 20
  /// The least that waited since the window began, in packets.
  private var least = Int.max
  private var windowEnd: MonotonicInstant?
  /// The least time since it came, and the least lead, of the packets that were taken since the window began: microseconds.
  private var leastWait = Int64.max
  private var leastLead = Int64.max
  private var transits: TransitMemory
  /// Turns for which the network still counts as one that loses packets.
  private var troubled = 0
  /// Milliseconds that may be left out where it is quiet.
  private var surplus = 0
  /// Less waits than is wanted: something quiet may be heard twice.
  private(set) var isShort = false
  /// Packets whose turn was over when they came, and those left out to shorten the delay.
  private(set) var late: UInt64 = 0
  private(set) var skipped: UInt64 = 0

  init(_ policy: PlayoutPolicy) {
    self.policy = policy
    transits = TransitMemory(maximumSpread: PlayoutBuffer.maximumSpread * 1000)
    slots = ContiguousArray(repeating: Slot(), count: PlayoutBuffer.capacity)
    free.reserveCapacity(PlayoutBuffer.capacity)
  }

  /// Forgets all: another stream begins.
  func restart() {
    for index in slots.indices { empty(index) }
    due = nil
    isFilling = true
    starvedTurns = 0
    windowEnd = nil
    surplus = 0
    isShort = false
    troubled = 0
    transits.forget()
  }

  /// Takes a copy of a packet that is neither stray nor seen before. `clockRate`: of its time stamp; `isCopy`: it came
  /// within another packet. `false`: its turn was over.
  func insert(
    _ packet: PacketBuffer, _ header: RTPHeader, clockRate: Int, isSound: Bool, isQuiet: Bool = false,
    isCopy: Bool = false, at now: MonotonicInstant
  ) -> Bool {
    let sequence = header.sequence
    let transit = isSound ? measureTransit(header, clockRate: clockRate, isCopy: isCopy, at: now) : 0
    if let due {
      let back = due &- sequence
      if back > 0, back <= PlayoutBuffer.maximumMisorder {
        // Before the first one was heard an earlier one may still take its place.
        guard isFilling, span(from: sequence) < PlayoutBuffer.capacity else {
          late += 1
          return false
        }
        self.due = sequence
      } else if sequence &- due > UInt16(PlayoutBuffer.capacity) * 8,
        sequence &- due < 0 &- PlayoutBuffer.maximumMisorder
      {
        restart()
        self.due = sequence
      }
    } else {
      due = sequence
    }
    // No room: the oldest turns are over.
    while let due, Int(sequence &- due) >= PlayoutBuffer.capacity { drop(due) }
    let index = Int(sequence) % PlayoutBuffer.capacity
    empty(index)
    let place = free.popLast() ?? buffers.count
    if place == buffers.count { buffers.append(PacketBuffer()) }
    slots[index] = Slot(
      isUsed: true, isSound: isSound, isQuiet: isQuiet, sequence: sequence, buffer: place, arrival: now,
      transit: transit)
    count += 1
    buffers[place].copy(packet, from: 0, count: packet.count, to: 0)
    buffers[place].count = packet.count
    return true
  }

  /// How long a packet was on its way. Late ones count as well, whose turn is over; a copy was so for longer than any packet.
  private func measureTransit(_ header: RTPHeader, clockRate: Int, isCopy: Bool, at now: MonotonicInstant) -> Int64 {
    guard policy.adapts else { return 0 }
    let transit = transits.transit(of: header.timestamp, clockRate: clockRate, at: now)
    if !isCopy { transits.add(transit, milliseconds: packetTime) }
    return transit
  }

  /// What stood in the buffer stays there until another packet comes.
  private func empty(_ index: Int) {
    guard slots[index].isUsed else { return }
    slots[index].isUsed = false
    free.append(slots[index].buffer)
    count -= 1
  }

  private func span(from sequence: UInt16) -> Int {
    slots.lazy.filter(\.isUsed).map { Int($0.sequence &- sequence) }.max() ?? 0
  }

  private func drop(_ sequence: UInt16) {
    let index = Int(sequence) % PlayoutBuffer.capacity
    if slots[index].sequence == sequence { empty(index) }
    due = sequence &+ 1
  }

  /// What comes next. `jitter`: milliseconds (RFC 3550) of the stream.
  func nextTurn(packetTime: Int, jitter: Double, at now: MonotonicInstant) -> Turn {
    self.packetTime = max(packetTime, 1)
    guard var due else { return .filling }
    let first = earliest(from: due)
    let isFirst = isFilling
    if isFilling {
      guard let first, first.isSound || !policy.adapts else { return skipSilent(first) }
      guard isReady(first, jitter, at: now) else { return .filling }
      isFilling = false
      windowEnd = nil
    }
    guard let first else {
      starvedTurns = min(starvedTurns + 1, PlayoutBuffer.maximumMisorder)
      return .starved
    }
    let gap = first.sequence &- due
    if isFirst || gap > PlayoutBuffer.maximumMissing {
      due = due &+ gap
    } else {
      if gap > 0 { troubled = PlayoutBuffer.troubledTurns }
      let made = min(gap, starvedTurns)
      due = due &+ made
      // All that follows is heard later by what was made up beside it: what was seen before says nothing of that.
      if made < starvedTurns { windowEnd = nil }
    }
    starvedTurns = 0
    troubled = max(troubled - 1, 0)
    self.due = due
    let index = Int(due) % PlayoutBuffer.capacity
    guard slots[index].isUsed, slots[index].sequence == due else {
      self.due = due &+ 1
      let next = sound(of: due &+ 1)
      return .missing(next: next.map { buffers[$0.buffer] }, isQuiet: next?.isQuiet ?? false)
    }
    empty(index)
    self.due = due &+ 1
    guard slots[index].isSound else { return .silent }
    if policy.adapts { adapt(slots[index], jitter, at: now) } else { watch(targetPackets(jitter), at: now) }
    // A decoder that is given the packet before those that are heard again finds into them without a fault.
    let isQuiet = slots[index].isQuiet && sound(of: due &+ 1)?.isQuiet ?? true
    return .packet(buffers[slots[index].buffer], isQuiet: isQuiet)
  }

  /// Before the first sound a number that bore none is over at once.
  private func skipSilent(_ first: Slot?) -> Turn {
    guard let first else { return .filling }
    drop(first.sequence)
    return .silent
  }

  /// The packet that waits whose turn is next.
  private func earliest(from due: UInt16) -> Slot? {
    guard count > 0 else { return nil }
    let index = Int(due) % PlayoutBuffer.capacity
    if slots[index].isUsed, slots[index].sequence == due { return slots[index] }
    var found: Int?
    for index in slots.indices where slots[index].isUsed {
      if let found, slots[found].sequence &- due <= slots[index].sequence &- due { continue }
      found = index
    }
    return found.map { slots[$0] }
  }

  /// The packet of a number; `nil`: it is not there, or bears no sound.
  private func sound(of sequence: UInt16) -> Slot? {
    let slot = slots[Int(sequence) % PlayoutBuffer.capacity]
    return slot.isUsed && slot.isSound && slot.sequence == sequence ? slot : nil
  }

  /// Nothing came for so long that it begins anew.
  func refill() { isFilling = true }

  // MARK: How much waits

  /// Packets that are to wait behind the one that is taken.
  private func targetPackets(_ jitter: Double) -> Int {
    let wanted = min(
      max(Double(policy.minimumDelay), Double(packetTime) + 3 * jitter), Double(policy.maximumDelay))
    return max(1, Int((wanted / Double(packetTime)).rounded(.up)))
  }

  /// Microseconds that the slowest packet is to come before its turn. What will be slower than all of two seconds is
  /// so the more the more uneven all are; what is missing is recovered from the packet behind it, where that is there.
  private func margin(_ jitter: Double) -> Int64 {
    let wanted = min(PlayoutBuffer.leastMargin + jitter, Double(policy.maximumDelay) / 2)
    return Int64(wanted * 1000) + reserve
  }

  private var reserve: Int64 { troubled > 0 ? Int64(packetTime) * 1000 : 0 }

  /// Microseconds between a packet's time on the sender's clock and now.
  private func lead(_ slot: Slot, at now: MonotonicInstant) -> Int64 {
    now.microseconds(since: slot.arrival) &+ slot.transit
  }

  /// The first sound may be heard.
  private func isReady(_ first: Slot, _ jitter: Double, at now: MonotonicInstant) -> Bool {
    guard policy.adapts else { return count > targetPackets(jitter) }
    // However its sender's clock leaps, nothing waits longer.
    guard let slowest = transits.slowest,
      now.microseconds(since: first.arrival) < Int64(policy.maximumDelay) * 1000
    else { return true }
    let wanted = transits.isKnown ? margin(jitter) : Int64(policy.minimumDelay) * 1000
    return lead(first, at: now) &- slowest >= wanted
  }

  /// Finds out at the end of each window how much more or less waits than is needed. Of all that were taken the one with the
  /// least to spare counts: where the thread is late, that is the one which was not.
  private func adapt(_ taken: Slot, _ jitter: Double, at now: MonotonicInstant) {
    let wait = now.microseconds(since: taken.arrival)
    guard let windowEnd else { return beginWindow(wait, wait &+ taken.transit, at: now) }
    leastWait = min(leastWait, wait)
    leastLead = min(leastLead, wait &+ taken.transit)
    least = min(least, count)
    guard now >= windowEnd else { return }
    (surplus, isShort) = (0, false)
    if transits.isSettled, let slowest = transits.slowest {
      let margin = margin(jitter)
      let spare = leastLead &- slowest
      // Whatever is remembered: what has waited for the listener just now is no surplus unless all of it has.
      let excess = min(spare &- margin, leastWait &- (margin - reserve) / 2)
      let packet = Int64(packetTime) * 1000
      surplus = Int(min(max(excess, 0), packet * Int64(PlayoutBuffer.capacity)) / 1000)
      isShort = spare < reserve + (margin - reserve) / 2 && leastWait < PlayoutBuffer.maximumSpread * 1000
    }
    if least * packetTime >= policy.maximumDelay, let due, count > 1 {
      drop(due)
      skipped += 1
    }
    beginWindow(.max, .max, at: now)
  }

  private func beginWindow(_ wait: Int64, _ lead: Int64, at now: MonotonicInstant) {
    windowEnd = now.advanced(byMicroseconds: policy.window)
    (leastWait, leastLead, least) = (wait, lead, count)
  }

  /// Some milliseconds of quiet sound were taken: how many of them are to be left out, all or whole frames.
  func leavesOut(of milliseconds: Int) -> Int {
    let frame = StreamPlayout.frameMilliseconds
    let leftOut = milliseconds <= surplus ? milliseconds : milliseconds > frame ? surplus / frame * frame : 0
    guard leftOut > 0 else { return 0 }
    surplus -= leftOut
    skipped += 1
    return leftOut
  }

  /// Something quiet is heard twice.
  func lengthened() {
    isShort = false
    windowEnd = nil
  }

  /// More waits than is needed, and something quiet may be left out.
  var hasSurplus: Bool { surplus > 0 }

  /// Milliseconds of sound that wait.
  var waiting: Int { count * packetTime }

  /// Leaves a packet out where too many have waited all along.
  private func watch(_ target: Int, at now: MonotonicInstant) {
    guard let windowEnd else { return beginWindow(0, 0, at: now) }
    least = min(least, count)
    guard now >= windowEnd else { return }
    if least > target, let due, count > 1 {
      drop(due)
      skipped += 1
    }
    beginWindow(0, 0, at: now)
  }
}
