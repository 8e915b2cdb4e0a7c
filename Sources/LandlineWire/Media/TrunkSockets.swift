import SecureTransport

/// The open trunk sockets by number. A number carries how often its place was used, so that one that was given back means
/// nothing any more, neither to a bridge that still holds it nor in events that the kernel told before.
package struct TrunkSockets {
  struct Entry {
    /// Negative: free.
    var descriptor: Int32 = -1
    /// The leg's.
    var leg: LegNumber = .none
    var isIPv4 = true
    var generation: Int32 = 0
  }

  /// What the kernel is given for the mailbox in place of a port.
  static let mailboxTag = UInt64.max

  private static let placeBits: Int32 = 20
  private static let placeMask: Int32 = 1 << placeBits - 1
  private static let generationMask: Int32 = 0x7FF

  /// The number of the first; those below are app ports.
  private let first: Int32
  private var entries: ContiguousArray<Entry> = []
  private var free: [Int32] = []
  package private(set) var count = 0

  init(first: Int) { self.first = Int32(truncatingIfNeeded: first) }

  /// `nil` where the numbers are used up: beyond a million sockets.
  mutating func insert(descriptor: Int32, isIPv4: Bool, leg: LegNumber) -> MediaPort? {
    let place: Int32
    if let last = free.popLast() {
      place = last
    } else {
      guard entries.count < Int(Self.placeMask - first) else { return nil }
      place = Int32(truncatingIfNeeded: entries.count)
      entries.append(Entry())
    }
    let generation = entries[Int(place)].generation
    entries[Int(place)] = Entry(descriptor: descriptor, leg: leg, isIPv4: isIPv4, generation: generation)
    count += 1
    return MediaPort(rawValue: (place + first) | generation << Self.placeBits)
  }

  /// - Returns: The descriptor; negative when the number means nothing any more.
  mutating func remove(_ port: MediaPort) -> Int32 {
    let place = self.place(of: port.rawValue)
    guard place >= 0 else { return -1 }
    let entry = entries[place]
    entries[place] = Entry(generation: (entry.generation + 1) & Self.generationMask)
    free.append(Int32(truncatingIfNeeded: place))
    count -= 1
    return entry.descriptor
  }

  /// Negative when the number means nothing (any more).
  @inline(__always)
  func place(of number: Int32) -> Int {
    let place = Int(number & Self.placeMask) - Int(first)
    guard number >= 0, place >= 0, place < entries.count, entries[place].descriptor >= 0,
      entries[place].generation == number >> Self.placeBits
    else { return -1 }
    return place
  }

  @inline(__always)
  subscript(place: Int) -> Entry { entries[place] }
}
