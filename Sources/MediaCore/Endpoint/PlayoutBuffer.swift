import CallModel
import SecureTransport

/// Holds the packets of one incoming stream until it is their turn to be heard.
///
/// The listener's clock decides: who asks for the next packet is told what there is. How much waits is adapted to what
/// the network does: a gap that the network made is stretched and lengthens the delay by itself; where more has waited
/// than is needed all through a window of time, a packet is left out.
final class PlayoutBuffer {
  /// Packets it holds at most; the oldest give way.
  static let capacity = 64
  /// Milliseconds of sound that wait behind what is heard on a calm network.
  static let minimumDelay = 40
  /// Milliseconds that are held at most, however uneven the network is.
  static let maximumDelay = 120
  /// Microseconds over which the least that waited is looked at before sound is left out.
  static let window: Int64 = 2_000_000
  /// Packets in a row that are given up one by one; of a longer gap nothing is made up.
  static let maximumMissing: UInt16 = 5
  /// A packet that is further from the one that is due is another stream's beginning.
  static let maximumMisorder: UInt16 = 100

  enum Turn {
    /// The packet that is due. It stays as it is until the next ``PlayoutBuffer/insert(_:_:isSound:at:)``.
    case packet(PacketBuffer)
    /// It is missing; the next one is there and may hold a copy.
    case missing(next: PacketBuffer?)
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
    var sequence: UInt16 = 0
  }

  private let buffers: ContiguousArray<PacketBuffer>
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
  /// Packets whose turn was over when they came, and those left out to shorten the delay.
  private(set) var late: UInt64 = 0
  private(set) var skipped: UInt64 = 0

  init() {
    buffers = ContiguousArray((0..<PlayoutBuffer.capacity).map { _ in PacketBuffer() })
    slots = ContiguousArray(repeating: Slot(), count: PlayoutBuffer.capacity)
  }

  /// Forgets all: another stream begins.
  func restart() {
    for index in slots.indices { slots[index].isUsed = false }
    count = 0
    due = nil
    isFilling = true
    starvedTurns = 0
    windowEnd = nil
  }

  /// Takes a copy of a packet that is neither stray nor seen before. `false`: its turn was over.
  func insert(_ packet: PacketBuffer, _ sequence: UInt16, isSound: Bool, at now: MonotonicInstant) -> Bool {
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
    if !slots[index].isUsed { count += 1 }
    slots[index] = Slot(isUsed: true, isSound: isSound, sequence: sequence)
    buffers[index].copy(packet, from: 0, count: packet.count, to: 0)
    buffers[index].count = packet.count
    return true
  }

  private func span(from sequence: UInt16) -> Int {
    slots.lazy.filter(\.isUsed).map { Int($0.sequence &- sequence) }.max() ?? 0
  }

  private func drop(_ sequence: UInt16) {
    let index = Int(sequence) % PlayoutBuffer.capacity
    if slots[index].isUsed, slots[index].sequence == sequence {
      slots[index].isUsed = false
      count -= 1
    }
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
      let next = Int(due &+ 1) % PlayoutBuffer.capacity
      let isThere = slots[next].isUsed && slots[next].sequence == due &+ 1 && slots[next].isSound
      return .missing(next: isThere ? buffers[next] : nil)
    }
    slots[index].isUsed = false
    count -= 1
    self.due = due &+ 1
    guard slots[index].isSound else { return .silent }
    watch(target, at: now)
    return .packet(buffers[index])
  }

  /// Nothing came for so long that it begins anew.
  func refill() { isFilling = true }

  /// Packets that are to wait behind the one that is taken.
  private func targetPackets(_ jitter: Double) -> Int {
    let wanted = min(
      max(Double(PlayoutBuffer.minimumDelay), Double(packetTime) + 3 * jitter), Double(PlayoutBuffer.maximumDelay))
    return max(1, Int((wanted / Double(packetTime)).rounded(.up)))
  }

  /// Leaves a packet out where too many have waited all along.
  private func watch(_ target: Int, at now: MonotonicInstant) {
    guard let windowEnd else {
      self.windowEnd = now.advanced(byMicroseconds: PlayoutBuffer.window)
      least = count
      return
    }
    least = min(least, count)
    guard now >= windowEnd else { return }
    if least > target, let due, count > 1 {
      drop(due)
      skipped += 1
    }
    self.windowEnd = now.advanced(byMicroseconds: PlayoutBuffer.window)
    least = count
  }
}
