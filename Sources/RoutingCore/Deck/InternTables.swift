import CallModel

/// Distinct texts in one stretch of bytes, each stored once and named by a number.
struct NameTable: Sendable {
  /// Bytes of all names together.
  static let maximumBytes = 512 * 1024 * 1024

  private(set) var bytes: [UInt8] = []
  /// Where each name ends; it starts where the one before ends.
  private(set) var ends: [UInt32] = []
  private var slots = [UInt32](repeating: .max, count: 64)

  var count: Int { ends.count }

  func range(_ index: UInt32) -> Range<Int> {
    (index == 0 ? 0 : Int(ends[Int(index) - 1]))..<Int(ends[Int(index)])
  }

  func text(_ index: UInt32) -> String { String(decoding: bytes[range(index)], as: UTF8.self) }

  /// FNV-1a, then a shift that carries the high bits into the low ones.
  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: hash ^ hash >> 29)
  }

  /// - Returns: the number of the name; `nil` when the table is full.
  mutating func intern(_ name: UnsafeBufferPointer<UInt8>) -> UInt32? {
    var mask = slots.count - 1
    var slot = NameTable.hash(name) & mask
    while slots[slot] != .max {
      if equals(slots[slot], name) { return slots[slot] }
      slot = (slot + 1) & mask
    }
    guard bytes.count + name.count <= NameTable.maximumBytes else { return nil }
    let index = UInt32(ends.count)
    bytes.append(contentsOf: name)
    ends.append(UInt32(bytes.count))
    slots[slot] = index
    if ends.count * 2 > slots.count {
      slots = [UInt32](repeating: .max, count: slots.count * 2)
      mask = slots.count - 1
      for known in 0..<UInt32(ends.count) {
        let range = range(known)
        var slot = bytes.withUnsafeBufferPointer { NameTable.hash(UnsafeBufferPointer(rebasing: $0[range])) } & mask
        while slots[slot] != .max { slot = (slot + 1) & mask }
        slots[slot] = known
      }
    }
    return index
  }

  func equals(_ index: UInt32, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let range = range(index)
    guard range.count == name.count else { return false }
    return bytes.withUnsafeBufferPointer { all in
      for place in 0..<name.count where all[range.lowerBound + place] != name[place] { return false }
      return true
    }
  }

  /// Frees what only interning needs.
  mutating func seal() { slots = [] }

  var byteCount: Int { bytes.capacity + ends.capacity * 4 }
}

/// Distinct terms, each stored once and named by a number.
struct TermsTable: Sendable {
  private(set) var all: [RateTerms] = []
  /// What is wrong with each of them by itself.
  private(set) var problems: [InvalidValue?] = []
  /// The tariff of each by itself; complete as long as there is no problem.
  private(set) var tariffs: [Tariff] = []
  private var slots = [UInt32](repeating: .max, count: 64)

  private static func hash(_ terms: RateTerms) -> Int {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    func mix(_ value: Int64) {
      hash = (hash ^ UInt64(bitPattern: value)) &* 0xD6E8_FEB8_6659_FD93
      hash ^= hash >> 32
    }
    mix(terms.ratePerMinute.count)
    mix(terms.fee.count &+ terms.minimumCharge.count &* 31)
    mix(terms.initial &+ terms.increment &<< 20 &+ terms.grace &<< 40)
    mix(terms.freeSeconds &+ terms.fromSecond &<< 20 &+ terms.maximumSeconds &<< 40)
    mix(terms.effectiveFrom &+ terms.effectiveUntil &* 31)
    mix((terms.maximumCost?.count ?? -1) &+ Int64(terms.timeClass) &<< 48 &+ Int64(terms.flags.rawValue) &<< 56)
    return Int(truncatingIfNeeded: hash)
  }

  mutating func intern(_ terms: RateTerms, timeClasses: TimeClasses) -> UInt32 {
    var mask = slots.count - 1
    var slot = TermsTable.hash(terms) & mask
    while slots[slot] != .max {
      if all[Int(slots[slot])] == terms { return slots[slot] }
      slot = (slot + 1) & mask
    }
    let index = UInt32(all.count)
    all.append(terms)
    do throws(InvalidValue) {
      tariffs.append(try terms.checked(timeClasses: timeClasses))
      problems.append(nil)
    } catch {
      problems.append(error)
    }
    slots[slot] = index
    if all.count * 2 > slots.count {
      slots = [UInt32](repeating: .max, count: slots.count * 2)
      mask = slots.count - 1
      for (known, terms) in all.enumerated() {
        var slot = TermsTable.hash(terms) & mask
        while slots[slot] != .max { slot = (slot + 1) & mask }
        slots[slot] = UInt32(known)
      }
    }
    return index
  }
}
