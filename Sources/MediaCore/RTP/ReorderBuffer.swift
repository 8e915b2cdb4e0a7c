public import CallModel
public import SecureTransport

/// Puts packets in order when one is missing, for a short and bounded time. Used only behind a gap: traffic in order
/// goes past it without a copy.
///
/// ```
/// if reorder.pass(sequence) { use(packet) } else { _ = reorder.insert(packet, sequence, at: now) }
/// loop: while true {
///   switch reorder.releaseNext(at: now) {
///   case .packet(let held): use(held)
///   case .missing(let count): conceal(count)
///   case .wait, .empty: break loop
///   }
/// }
/// ```
public final class ReorderBuffer {
  /// Packets it holds at most, whatever is asked for.
  public static let maximumCapacity = 64
  /// A gap of more packets is a jump and no loss: nothing is told missing.
  public static let maximumMissing: UInt16 = 50
  /// A packet that is older than the newest by more than so many is a jump and not late.
  public static let maximumMisorder: UInt16 = 100

  /// What is due.
  public enum Release {
    /// The next packet in order. It stays as it is until the next ``ReorderBuffer/insert(_:_:at:)``.
    case packet(PacketBuffer)
    /// So many packets are given up, 1 to ``ReorderBuffer/maximumMissing``; the one behind them is due next.
    case missing(Int)
    /// A gap is there; ask again then, or when another packet came.
    case wait(until: MonotonicInstant)
    case empty
  }

  /// What became of a packet.
  public enum Insertion: Hashable, Sendable {
    case held
    /// Its place was given up, or it was handed out before.
    case late
    case duplicate
    /// There is no room: what is due was not released.
    case full
  }

  /// A place for a packet. Those of a run that begins after a jump wait for the end of the run before.
  private struct Slot {
    var isUsed = false
    var isNextRun = false
    var sequence: UInt16 = 0
    var arrival = MonotonicInstant.zero
  }

  /// Microseconds that a packet behind a gap waits; another value counts for the packets that are held, too.
  public var maximumDelay: Int64
  private let buffers: ContiguousArray<PacketBuffer>
  private var slots: ContiguousArray<Slot>
  /// Packets in it.
  public private(set) var count = 0
  /// Packets that came when their place was given up, since the start.
  public private(set) var late: UInt64 = 0

  /// Microseconds that the packet released last had waited.
  public private(set) var lastWait: Int64 = 0

  private var hasStarted = false
  /// What is held is the end of what was; afterwards any number is in order.
  private var restarts = false
  /// The sequence number that is due.
  private var next: UInt16 = 0
  /// First packet of the next run, while any is held.
  private var nextRunStart: UInt16?

  /// `maximumPackets`: 2 to ``maximumCapacity``. `maximumDelay`: microseconds that a packet behind a gap waits.
  public init(maximumPackets: Int = 16, maximumDelay: Int64 = 30_000) {
    self.maximumDelay = max(0, maximumDelay)
    let capacity = min(max(maximumPackets, 2), ReorderBuffer.maximumCapacity)
    buffers = ContiguousArray((0..<capacity).map { _ in PacketBuffer() })
    slots = ContiguousArray(repeating: Slot(), count: capacity)
  }

  /// No packet is held.
  public var isEmpty: Bool { count == 0 }

  /// When ``releaseNext(at:)`` gives something although nothing new came.
  public var nextDeadline: MonotonicInstant? {
    count == 0 ? nil : earliestArrival.advanced(byMicroseconds: maximumDelay)
  }

  /// True: the packet is the one that is due and may be used where it is; what it held up is then to be released. False:
  /// it is to be inserted.
  public func pass(_ sequence: UInt16) -> Bool {
    if sequence != next || !hasStarted {
      guard count == 0, !hasStarted || isJump(sequence, from: next) else { return false }
      hasStarted = true
    }
    next = sequence &+ 1
    return true
  }

  /// Copies a packet that did not ``pass(_:)``. ``releaseNext(at:)`` is to be asked afterwards.
  public func insert(_ packet: PacketBuffer, _ sequence: UInt16, at now: MonotonicInstant) -> Insertion {
    if !hasStarted {
      hasStarted = true
      next = sequence
    }
    var isNextRun = false
    if let start = nextRunStart {
      isNextRun = !isJump(sequence, from: start)
      if !isNextRun && isJump(sequence, from: next) { return .full }
    } else if isJump(sequence, from: next) {
      isNextRun = true
    }
    if !isNextRun && sequence &- next > UInt16.max / 2 {
      late += 1
      return .late
    }
    var free: Int?
    for index in slots.indices {
      if !slots[index].isUsed {
        free = free ?? index
      } else if slots[index].sequence == sequence && slots[index].isNextRun == isNextRun {
        return .duplicate
      }
    }
    guard let free, packet.count <= PacketBuffer.capacity else { return .full }
    buffers[free].copy(packet, from: 0, count: packet.count, to: 0)
    buffers[free].count = packet.count
    slots[free] = Slot(isUsed: true, isNextRun: isNextRun, sequence: sequence, arrival: now)
    if isNextRun, nextRunStart == nil { nextRunStart = sequence }
    count += 1
    return .held
  }

  /// What is due now. To be asked until it says ``Release/wait(until:)`` or ``Release/empty``.
  public func releaseNext(at now: MonotonicInstant) -> Release {
    guard count > 0 else { return .empty }
    var index = first(ofNextRun: false)
    if index == nil {
      index = first(ofNextRun: true)
      beginNextRun(at: index)
    }
    guard let index else { return .empty }
    let gap = slots[index].sequence &- next
    if gap > 0, gap <= ReorderBuffer.maximumMissing {
      let deadline = earliestArrival.advanced(byMicroseconds: maximumDelay)
      guard nextRunStart != nil || count == slots.count || now >= deadline else { return .wait(until: deadline) }
      next = slots[index].sequence
      return .missing(Int(gap))
    }
    slots[index].isUsed = false
    let arrival = slots[index].arrival
    // One that was made due at once has lost its arrival.
    lastWait = arrival.microseconds == .min ? 0 : max(0, now.microseconds(since: arrival))
    count -= 1
    next = slots[index].sequence &+ 1
    if count == 0, restarts {
      hasStarted = false
      restarts = false
    }
    return .packet(buffers[index])
  }

  /// Another source begins: what is held is due at once, and the next packet that comes is in order whatever its number.
  /// To be called, and everything released, before that packet is shown to ``pass(_:)``.
  public func restart() {
    guard count > 0 else {
      hasStarted = false
      return
    }
    for index in slots.indices where slots[index].isUsed {
      slots[index].arrival = MonotonicInstant(microseconds: .min)
    }
    restarts = true
  }

  private func beginNextRun(at index: Int?) {
    guard let index else { return }
    next = slots[index].sequence
    nextRunStart = nil
    for index in slots.indices { slots[index].isNextRun = false }
  }

  private func first(ofNextRun isNextRun: Bool) -> Int? {
    let origin = isNextRun ? nextRunStart ?? next : next
    var best: Int?
    var bestDistance = Int.max
    for index in slots.indices where slots[index].isUsed && slots[index].isNextRun == isNextRun {
      let distance = Int(Int16(bitPattern: slots[index].sequence &- origin))
      if distance < bestDistance {
        best = index
        bestDistance = distance
      }
    }
    return best
  }

  private var earliestArrival: MonotonicInstant {
    var earliest = MonotonicInstant(microseconds: .max)
    for slot in slots where slot.isUsed && slot.arrival < earliest { earliest = slot.arrival }
    return earliest
  }

  /// Too far from `origin`, ahead or behind, for one run.
  private func isJump(_ sequence: UInt16, from origin: UInt16) -> Bool {
    let step = sequence &- origin
    return step > ReorderBuffer.maximumMissing && step <= UInt16.max - ReorderBuffer.maximumMisorder
  }
}
