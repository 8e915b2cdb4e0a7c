import CallModel

/// What becomes of datagrams, decided by a seed.
struct SimulatedNetwork {
  /// One way that a datagram takes; none for one that is lost.
  struct Delivery {
    var afterMilliseconds: Int64
    var isDamaged = false
  }

  /// One direction is cut for a while.
  private struct Cut {
    let sender: Int
    let from: MonotonicInstant
    let until: MonotonicInstant
  }

  /// A datagram lives no longer than T4 (RFC 3261 section 17.1.2.2): its transaction would be gone.
  static let longestDelay: Int64 = 4000

  private let options: SignallingOptions
  private var random: SeededGenerator
  private let cuts: [Cut]
  private(set) var lost = 0
  private(set) var duplicated = 0
  private(set) var reordered = 0
  private(set) var damaged = 0

  init(_ options: SignallingOptions, random: SeededGenerator) {
    self.options = options
    self.random = random
    var cuts: [Cut] = []
    for _ in 0..<self.random.index(options.cuts + 1) {
      let from = MonotonicInstant(milliseconds: self.random.number(0...120_000))
      let length = self.random.one(self.random.number(1000...10_000), self.random.number(10_000...50_000))
      cuts.append(Cut(sender: self.random.index(2), from: from, until: from.advanced(byMilliseconds: length)))
    }
    self.cuts = cuts
  }

  mutating func deliveries(from sender: Int, at now: MonotonicInstant) -> [Delivery] {
    guard !cuts.contains(where: { $0.sender == sender && $0.from <= now && now < $0.until }),
      !random.chance(options.lostPerThousand)
    else {
      lost += 1
      return []
    }
    var deliveries = [Delivery(afterMilliseconds: delay())]
    if random.chance(options.damagedPerThousand) {
      damaged += 1
      deliveries[0].isDamaged = true
    }
    if random.chance(options.duplicatedPerThousand) {
      duplicated += 1
      deliveries.append(Delivery(afterMilliseconds: delay()))
    }
    return deliveries
  }

  private mutating func delay() -> Int64 {
    guard random.chance(options.reorderedPerThousand) else { return random.number(1...60) }
    reordered += 1
    return random.one(
      random.number(60...500), random.number(500...1500), random.number(1500...SimulatedNetwork.longestDelay))
  }

  /// The bytes with something wrong in them; they may still make sense.
  mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    guard !bytes.isEmpty else { return bytes }
    switch random.index(4) {
    case 0: bytes.removeLast(min(bytes.count - 1, 1 + random.index(bytes.count)))
    case 1: bytes[random.index(bytes.count)] = 0
    case 2: bytes[random.index(bytes.count)] ^= UInt8(1 << random.index(8))
    default:
      for _ in 0..<(1 + random.index(20)) { bytes[random.index(bytes.count)] = UInt8(random.index(256)) }
    }
    return bytes
  }
}
