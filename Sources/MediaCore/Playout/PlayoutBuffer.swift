import CallModel
import SecureTransport

/// Holds the packets of one incoming stream until it is their turn to be heard.
///
/// The listener's clock decides: who asks for the next packet is told what there is. How much waits is adapted to what
/// the network does: a gap that the network made is stretched and lengthens the delay by itself; where more has waited
/// than is needed all through a window of time, some is left out as its ``PlayoutPolicy`` says.
final class PlayoutBuffer {
  /// Packets it holds at most; the oldest give way.
  static let capacity = 64
  /// Packets in a row that are given up one by one; of a longer gap nothing is made up.
  static let maximumMissing: UInt16 = 5
  /// A packet that is further from the one that is due is another stream's beginning.
  static let maximumMisorder: UInt16 = 100

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
  /// Packets that may be left out where they are quiet.
  private var surplus = 0
  /// Packets whose turn was over when they came, and those left out to shorten the delay.
  private(set) var late: UInt64 = 0
  private(set) var skipped: UInt64 = 0

  init(_ policy: PlayoutPolicy) {
    self.policy = policy
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
  }

  /// Takes a copy of a packet that is neither stray nor seen before. `false`: its turn was over.
  func insert(
    _ packet: PacketBuffer, _ sequence: UInt16, isSound: Bool, isQuiet: Bool = false, at now: MonotonicInstant
  ) -> Bool {
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
    slots[index] = Slot(isUsed: true, isSound: isSound, isQuiet: isQuiet, sequence: sequence, buffer: place)
    count += 1
    buffers[place].copy(packet, from: 0, count: packet.count, to: 0)
    buffers[place].count = packet.count
    return true
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
    let target = targetPackets(jitter)
    let isFirst = isFilling
    if isFilling {
      guard count > target else { return .filling }
      isFilling = false
      windowEnd = nil
    }
    guard count > 0 else {
      starvedTurns = min(starvedTurns + 1, PlayoutBuffer.maximumMisorder)
      return .starved
    }
    let gap = slots.lazy.filter(\.isUsed).map { $0.sequence &- due }.min() ?? 0
    due = due &+ (isFirst || gap > PlayoutBuffer.maximumMissing ? gap : min(gap, starvedTurns))
    starvedTurns = 0
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
    watch(target, at: now)
    // A decoder that is given the packet before those that are heard again finds into them without a fault.
    let isQuiet = slots[index].isQuiet && sound(of: due &+ 1)?.isQuiet ?? true
    return .packet(buffers[slots[index].buffer], isQuiet: isQuiet)
  }

  /// The packet of a number; `nil`: it is not there, or bears no sound.
  private func sound(of sequence: UInt16) -> Slot? {
    let slot = slots[Int(sequence) % PlayoutBuffer.capacity]
    return slot.isUsed && slot.isSound && slot.sequence == sequence ? slot : nil
  }

  /// Nothing came for so long that it begins anew.
  func refill() { isFilling = true }

  /// Packets that are to wait behind the one that is taken.
  private func targetPackets(_ jitter: Double) -> Int {
    let wanted = min(
      max(Double(policy.minimumDelay), Double(packetTime) + 3 * jitter), Double(policy.maximumDelay))
    return max(1, Int((wanted / Double(packetTime)).rounded(.up)))
  }

  /// The packet that was taken is quiet: whether it is to be left out.
  func leavesOut() -> Bool {
    guard surplus > 0 else { return false }
    surplus -= 1
    skipped += 1
    return true
  }

  /// More waits than is needed, and a quiet packet may be left out.
  var hasSurplus: Bool { surplus > 0 }

  /// Milliseconds of sound that wait.
  var waiting: Int { count * packetTime }

  /// Leaves a packet out where too many have waited all along, or counts how many may be.
  private func watch(_ target: Int, at now: MonotonicInstant) {
    guard let windowEnd else {
      self.windowEnd = now.advanced(byMicroseconds: policy.window)
      least = count
      return
    }
    least = min(least, count)
    guard now >= windowEnd else { return }
    surplus = policy.shrinksInSilence ? max(0, least - target) : 0
    let isTooMuch = policy.shrinksInSilence ? least * packetTime >= policy.maximumDelay : least > target
    if isTooMuch, let due, count > 1 {
      drop(due)
      skipped += 1
    }
    self.windowEnd = now.advanced(byMicroseconds: policy.window)
    least = count
  }
}
