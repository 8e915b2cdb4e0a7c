/// The highest packet index seen and which of the ``width`` up to it came (RFC 3711 sections 3.3.1 and 3.3.2).
struct ReplayWindow {
  static let width: UInt64 = 128

  private(set) var highest: UInt64 = 0
  /// Bit 0 is ``highest``, bit 63 the index 63 below it.
  private var near: UInt64 = 0
  /// The 64 indexes below those.
  private var far: UInt64 = 0

  init() {}

  /// As if everything up to `highest`, but not it, lay outside the window.
  init(resumedAt highest: UInt64) { self.highest = highest }

  /// The index a sequence number stands for: the one nearest to ``highest``; never below roll-over 0. `nil` past 2^48.
  @inline(__always) func estimate(_ sequence: UInt16) -> UInt64? {
    let distance = Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest))
    // Half a turn away counts as ahead in the lower half of the range and as behind in the upper one (RFC 3711 3.3.1).
    let isAhead = distance > 0 || (distance == .min && highest & 0x8000 == 0)
    let rollover = highest >> 16
    if isAhead {
      let index = (sequence < UInt16(truncatingIfNeeded: highest) ? rollover + 1 : rollover) << 16 | UInt64(sequence)
      return index < 1 << 48 ? index : nil
    }
    let isBefore = sequence > UInt16(truncatingIfNeeded: highest)
    return (isBefore && rollover > 0 ? rollover - 1 : rollover) << 16 | UInt64(sequence)
  }

  /// Neither seen nor too old.
  @inline(__always) func admits(_ index: UInt64) -> Bool {
    if index > highest { return true }
    let age = highest - index
    if age < 64 { return near >> age & 1 == 0 }
    return age < ReplayWindow.width && far >> (age - 64) & 1 == 0
  }

  /// Only for a packet that is authentic and was admitted.
  @inline(__always) mutating func mark(_ index: UInt64) {
    guard index > highest else {
      let age = highest - index
      if age < 64 { near |= 1 << age } else { far |= 1 << (age - 64) }
      return
    }
    let shift = index - highest
    highest = index
    if shift < 64 {
      far = far << shift | near >> (64 - shift)
      near = near << shift | 1
    } else {
      // Swift's shift by 64 or more gives 0.
      far = near << (shift - 64)
      near = 1
    }
  }
}
