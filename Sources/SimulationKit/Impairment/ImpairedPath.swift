public import CallModel

/// One direction of a bad network: takes datagrams in, hands them out when and as they arrive.
///
/// Everything is decided by the seed, the order and the times of the offers. Each kind of impairment draws from a stream
/// of its own, and draws for every datagram, so a change of one parameter leaves what the others do to the same traffic.
public struct ImpairedPath {
  /// Datagrams on their way at most; further ones are dropped and counted as overflow.
  public static let maximumInFlight = 16_384

  /// What happens to the datagrams that set out from now on; those on their way keep their fate.
  public var options: ImpairmentOptions
  private var lossChance: SeededGenerator
  private var delayChance: SeededGenerator
  private var reorderChance: SeededGenerator
  private var duplicateChance: SeededGenerator
  private var corruptChance: SeededGenerator
  private var isBad = false
  /// When the link has sent all that it was given, and when each that still waits will have left.
  private var linkFree = MonotonicInstant(microseconds: .min)
  private var departures = DepartureQueue()
  /// Arrival of the last datagram that keeps the order.
  private var lastArrival = MonotonicInstant(microseconds: .min)
  private var schedule = EventSchedule<[UInt8]>()
  /// Counts so far: what is still on its way is offered, but not yet delivered.
  public private(set) var counts = ImpairmentCounts()

  /// Options out of their range are taken as the nearest in it.
  public init(_ options: ImpairmentOptions, seed: UInt64) {
    self.options = options
    var random = SeededGenerator(seed: seed)
    lossChance = random.fork()
    delayChance = random.fork()
    reorderChance = random.fork()
    duplicateChance = random.fork()
    corruptChance = random.fork()
  }

  /// When ``next(at:)`` has something.
  public var nextDeadline: MonotonicInstant? { schedule.next }

  /// Datagrams on their way.
  public var inFlight: Int { schedule.count }

  /// A datagram sets out. Times of offers never step back.
  public mutating func offer(_ bytes: [UInt8], at now: MonotonicInstant) {
    counts.offered += 1
    let isLost = drawLoss()
    let isCorrupt = corruptChance.chance(of: options.corrupt)
    let isDouble = duplicateChance.chance(of: options.duplicate)
    let isReordered = reorderChance.chance(of: options.reorder)
    let delays = (drawDelay(), drawDelay())
    var bytes = bytes
    // Drawn for lost datagrams too, so that the others meet the same fate with another loss.
    if isCorrupt { flip(&bytes) }
    guard let departure = departure(bytes.count, at: now) else {
      counts.overflowed += 1
      return
    }
    guard !isLost else {
      counts.lost += 1
      return
    }
    if isCorrupt, !bytes.isEmpty { counts.corrupted += 1 }
    deliver(bytes, at: departure.advanced(byMicroseconds: delays.0), isReordered: isReordered)
    if isDouble, deliver(bytes, at: departure.advanced(byMicroseconds: delays.1), isReordered: false) {
      counts.duplicated += 1
    }
  }

  /// Takes the next datagram that has arrived.
  public mutating func next(at now: MonotonicInstant) -> [UInt8]? {
    guard let bytes = schedule.popDue(at: now) else { return nil }
    counts.delivered += 1
    counts.bytes += UInt64(bytes.count)
    return bytes
  }

  // MARK: Fates

  private mutating func drawLoss() -> Bool {
    switch options.loss {
    case .independent(let rate): return lossChance.chance(of: rate)
    case .gilbertElliott(let chain):
      let changes = lossChance.chance(of: isBad ? chain.toGood : chain.toBad)
      if changes { isBad.toggle() }
      return lossChance.chance(of: isBad ? chain.lossInBad : chain.lossInGood)
    }
  }

  /// Microseconds.
  private mutating func drawDelay() -> Int64 {
    let delay = ImpairmentOptions.time(options.delay)
    let jitter = ImpairmentOptions.time(options.jitter)
    switch options.distribution {
    case .uniform: return delay + delayChance.number(0...jitter)
    case .normal:
      // The sum of twelve uniform draws has variance 1; the same on every machine, which logarithms are not.
      let deviation = (0..<12).reduce(-6.0) { sum, _ in sum + delayChance.unit() }
      return max(0, delay + Int64(deviation * Double(jitter)))
    }
  }

  private mutating func flip(_ bytes: inout [UInt8]) {
    let flips = 1 + corruptChance.index(min(max(options.flips, 1), 64))
    for _ in 0..<flips {
      let bit = corruptChance.next()
      guard !bytes.isEmpty else { continue }
      bytes[Int(bit >> 3) % bytes.count] ^= 1 << UInt8(bit & 7)
    }
  }

  /// When the link has sent the datagram; `nil` where too many wait for it.
  private mutating func departure(_ count: Int, at now: MonotonicInstant) -> MonotonicInstant? {
    guard let bitRate = options.bitRate.map({ max($0, 1) }) else { return now }
    departures.removeAll(until: now)
    guard departures.count <= min(max(options.queue, 0), ImpairmentOptions.maximumQueue) else { return nil }
    let headers = min(max(options.headers, 0), ImpairmentOptions.maximumHeaders)
    let duration = Int64(count + headers) * 8_000_000 / bitRate
    linkFree = max(linkFree, now).advanced(byMicroseconds: duration)
    departures.append(linkFree)
    return linkFree
  }

  @discardableResult
  private mutating func deliver(_ bytes: [UInt8], at arrival: MonotonicInstant, isReordered: Bool) -> Bool {
    guard schedule.count < ImpairedPath.maximumInFlight else {
      counts.overflowed += 1
      return false
    }
    guard !isReordered else {
      counts.reordered += 1
      schedule.add(bytes, at: arrival.advanced(byMicroseconds: ImpairmentOptions.time(options.reorderDelay)))
      return true
    }
    lastArrival = max(lastArrival, arrival)
    schedule.add(bytes, at: lastArrival)
    return true
  }
}

/// When each datagram that waits for a link will have left, first in, first out.
private struct DepartureQueue {
  private var instants: [MonotonicInstant] = []
  private var first = 0

  var count: Int { instants.count - first }

  mutating func append(_ instant: MonotonicInstant) { instants.append(instant) }

  mutating func removeAll(until now: MonotonicInstant) {
    while first < instants.count, instants[first] <= now { first += 1 }
    // What is gone is cleared away once it is the larger part.
    guard first > 64, first * 2 > instants.count else { return }
    instants.removeFirst(first)
    first = 0
  }
}

extension SeededGenerator {
  /// 0 to just below 1, in steps of 2⁻⁵³.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// True for that part of all draws.
  mutating func chance(of part: Double) -> Bool { unit() < ImpairmentOptions.part(part) }
}
