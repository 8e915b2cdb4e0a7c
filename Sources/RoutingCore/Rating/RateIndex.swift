public import CallModel

/// A deck made ready for lookups: disjoint intervals of numbers, each owned by the longest prefix that covers it.
///
/// Numbers are padded with zeros to the deck's longest prefix. A table on the first digits leads to a short stretch of
/// interval starts, stored as 32-bit distances; every prefix knows its next shorter one, which answers when the prefix
/// is not in force at the instant asked for, or is longer than the number.
public struct RateIndex: Sendable {
  private static let none = UInt32.max

  /// Eight bytes side by side: a search reads both halves in one go.
  private struct Interval: Sendable {
    /// Distance of the start from the start of the bucket.
    let start: UInt32
    /// First row of the prefix that owns the interval.
    var owner: UInt32
  }

  /// The first row of a prefix in 32 bits: digits of the prefix, whether it has more rows, number of the terms.
  private struct Lead: Sendable {
    private let bits: UInt32

    /// Terms are at most as many as the rows of a deck, which 27 bits count.
    init(digits: UInt64, isGroup: Bool, terms: UInt32) {
      bits = UInt32(truncatingIfNeeded: digits) | (isGroup ? 16 : 0) | terms << 5
    }

    var digits: UInt64 { UInt64(bits & 15) }
    var isGroup: Bool { bits & 16 != 0 }
    var terms: Int { Int(bits >> 5) }
  }

  /// The whole deck, rows left out of the index included.
  public let deck: RateDeck
  /// The deck's rows that may still be in force, in the deck's order; shared with the deck when none was dropped.
  private let entries: [RateDeck.Entry]
  /// By the first row of a prefix: the first row of the next shorter prefix.
  private let parents: [UInt32]
  /// What an ordinary lookup needs of a row, in a quarter of its bytes: a lookup's cost is the memory that it misses.
  private let leads: [Lead]
  private let intervals: [Interval]
  /// First interval of each bucket, and one more for the end.
  private let buckets: [UInt32]
  /// Numbers, padded to fifteen digits, are divided by this to the deck's width.
  private let widthDivisor: UInt64
  /// Padded numbers in a bucket.
  private let bucketSize: UInt64
  private let hasWindows: Bool
  /// How many different prefixes the index knows.
  public let prefixCount: Int

  /// - Parameter instant: rows that have ended by then are left out.
  public init(_ deck: RateDeck, at instant: Instant) {
    self.deck = deck
    let milliseconds = instant.milliseconds
    let hasEnded = deck.terms.map { $0.effectiveUntil <= milliseconds }
    entries = hasEnded.contains(true) ? deck.entries.filter { !hasEnded[Int($0.terms)] } : deck.entries
    hasWindows = deck.terms.contains { $0.effectiveFrom != .min || $0.effectiveUntil != .max }

    var width = 1
    for entry in entries { width = max(width, Int(entry.key & 15)) }
    widthDivisor = NumberDigits.powersOfTen[NumberDigits.maximumCount - width]
    // Small decks get a small table; wide ones enough digits for the distances to fit 32 bits.
    let wanted = entries.count < 1000 ? 3 : entries.count < 20_000 ? 4 : 5
    let indexed = min(width, max(wanted, width - 9))
    bucketSize = NumberDigits.powersOfTen[width - indexed]

    var parents = [UInt32](repeating: RateIndex.none, count: entries.count)
    var intervals: [Interval] = []
    intervals.reserveCapacity(entries.count * 2)
    var buckets = [UInt32](repeating: 0, count: Int(NumberDigits.powersOfTen[indexed]) + 1)
    var filledBuckets = 0
    var lastStart = UInt64.max
    let bucketSize = self.bucketSize
    let limit = NumberDigits.powersOfTen[width]
    func emit(_ start: UInt64, _ owner: UInt32) {
      if start >= limit { return }
      if start == lastStart {
        intervals[intervals.count - 1].owner = owner
        return
      }
      lastStart = start
      let bucket = Int(start / bucketSize)
      while filledBuckets <= bucket {
        buckets[filledBuckets] = UInt32(intervals.count)
        filledBuckets += 1
      }
      intervals.append(Interval(start: UInt32(start % bucketSize), owner: owner))
    }
    // Prefixes whose interval is open, outermost first.
    var open: [(end: UInt64, row: UInt32)] = []
    var prefixCount = 0
    var row = 0
    while row < entries.count {
      let key = entries[row].key
      let start = (key >> 4) / widthDivisor
      let end = start + NumberDigits.powersOfTen[width - Int(key & 15)]
      while let top = open.last, top.end <= start {
        open.removeLast()
        emit(top.end, open.last?.row ?? RateIndex.none)
      }
      parents[row] = open.last?.row ?? RateIndex.none
      open.append((end, UInt32(row)))
      emit(start, UInt32(row))
      prefixCount += 1
      row += 1
      while row < entries.count, entries[row].key == key { row += 1 }
    }
    while let top = open.popLast() { emit(top.end, open.last?.row ?? RateIndex.none) }
    while filledBuckets < buckets.count {
      buckets[filledBuckets] = UInt32(intervals.count)
      filledBuckets += 1
    }
    self.parents = parents
    leads = entries.indices.map { [entries] row in
      Lead(
        digits: entries[row].key & 15,
        isGroup: row + 1 < entries.count && entries[row + 1].key == entries[row].key, terms: entries[row].terms)
    }
    // Without the room that was reserved for the worst case.
    self.intervals = intervals.withUnsafeBufferPointer { Array($0) }
    self.buckets = buckets
    self.prefixCount = prefixCount
  }

  /// Bytes of everything a lookup touches: intervals, table, rows, terms, tariffs and names.
  public var byteCount: Int {
    entries.count * (MemoryLayout<RateDeck.Entry>.stride + 8) + intervals.count * MemoryLayout<Interval>.stride
      + buckets.count * 4 + deck.sharedByteCount
  }
}

/// The rows that price a number at an instant. Valid with the index that made it.
public struct RateMatch: Hashable, Sendable {
  /// The number that was looked up.
  let number: NumberDigits
  let digits: Int
  /// First row of the prefix in the index.
  let row: Int
  let milliseconds: Int64

  /// The prefix of the deck that prices the number: its first digits.
  public var prefix: NumberDigits { number.prefix(digits) ?? number }
}

// MARK: - Lookup

extension RateIndex {
  /// The longest prefix of `number` with a row in force at `instant`.
  @inline(__always)
  public func match(_ number: NumberDigits, at instant: Instant) -> RateMatch? {
    var row = owner(of: number)
    let count = number.key & 15
    while row != RateIndex.none {
      let digits = leads[Int(row)].digits
      if digits <= count, !hasWindows || isInForce(Int(row), instant.milliseconds) {
        return RateMatch(number: number, digits: Int(digits), row: Int(row), milliseconds: instant.milliseconds)
      }
      row = parents[Int(row)]
    }
    return nil
  }

  /// Every prefix of `number` in the deck, longest first, with whether one of its rows is in force at `instant`.
  public func candidates(_ number: NumberDigits, at instant: Instant) -> [(match: RateMatch, isInForce: Bool)] {
    var result: [(match: RateMatch, isInForce: Bool)] = []
    var row = owner(of: number)
    while row != RateIndex.none {
      let digits = Int(leads[Int(row)].digits)
      if digits <= number.count {
        result.append(
          (
            RateMatch(number: number, digits: digits, row: Int(row), milliseconds: instant.milliseconds),
            isInForce(Int(row), instant.milliseconds)
          ))
      }
      row = parents[Int(row)]
    }
    return result
  }

  private func owner(of number: NumberDigits) -> UInt32 {
    let padded = (number.key >> 4) / widthDivisor
    let (bucket, distance) = padded.quotientAndRemainder(dividingBy: bucketSize)
    let first = Int(buckets[Int(bucket)])
    // The table has one entry more than there are buckets.
    var count = Int(buckets[Int(bucket) + 1]) - first
    let wanted = UInt32(truncatingIfNeeded: distance)
    // Nothing in this bucket starts early enough: the last interval of the buckets before reaches into it.
    guard count > 0, intervals[first].start <= wanted else {
      return first == 0 ? RateIndex.none : intervals[first - 1].owner
    }
    // Halves by arithmetic instead of by a jump: which way a random number goes cannot be predicted.
    var place = first
    while count > 1 {
      let half = count / 2
      place += intervals[place + half].start <= wanted ? half : 0
      count -= half
    }
    return intervals[place].owner
  }

  private func end(ofGroupAt row: Int) -> Int {
    var end = row + 1
    while end < entries.count, entries[end].key == entries[row].key { end += 1 }
    return end
  }

  private func isInForce(_ row: Int, _ milliseconds: Int64) -> Bool {
    for place in row..<end(ofGroupAt: row)
    where deck.terms[Int(entries[place].terms)].isInForce(at: milliseconds) { return true }
    return false
  }

  /// The first row in force of a match.
  private func leadingRow(_ match: RateMatch) -> Int {
    guard hasWindows else { return match.row }
    for place in match.row..<end(ofGroupAt: match.row)
    where deck.terms[Int(entries[place].terms)].isInForce(at: match.milliseconds) { return place }
    return match.row
  }

  /// The deck's name of the destination.
  public func name(of match: RateMatch) -> String { deck.names.text(entries[leadingRow(match)].name) }

  /// Whether a row in force refuses the destination.
  public func isBlocked(_ match: RateMatch) -> Bool { inForce(match).contains { $0.flags.contains(.blocked) } }

  /// What a call that crosses a time class does.
  public func boundaryPolicy(of match: RateMatch) -> RateSnapshot.BoundaryPolicy {
    inForce(match).first?.flags.contains(.split) == true ? .split : .atAnswer
  }

  /// Window of the first row: what a trace shows of a prefix that is not in force.
  func window(of match: RateMatch) -> (from: Int64, until: Int64) {
    let terms = deck.terms[Int(entries[match.row].terms)]
    return (terms.effectiveFrom, terms.effectiveUntil)
  }

  /// Whether a time class has a price of its own.
  func hasNamedClass(_ match: RateMatch) -> Bool { inForce(match).contains { $0.timeClass != 0 } }

  private func inForce(_ match: RateMatch) -> [RateTerms] {
    (match.row..<end(ofGroupAt: match.row)).map { deck.terms[Int(entries[$0].terms)] }
      .filter { $0.isInForce(at: match.milliseconds) }
  }

  /// The class whose row prices `timeClass`: itself, or the standard class; `nil` when neither has a row in force.
  public func pricedClass(_ match: RateMatch, for timeClass: Int) -> Int? {
    let rows = inForce(match)
    if rows.contains(where: { Int($0.timeClass) == timeClass }) { return timeClass }
    return rows.contains { $0.timeClass == 0 } ? 0 : nil
  }

  /// Micro-units for `seconds` of a match in its standard class; `nil` when that has no price.
  public func cost(of match: RateMatch, seconds: Int64) -> MicroUnits? {
    let lead = leads[match.row]
    if !lead.isGroup { return deck.tariffs[lead.terms].cost(seconds: seconds) }
    return composedTariff(match, 0)?.cost(seconds: seconds)
  }

  /// The tariff of a match in a time class (index in ``TimeClasses/names``), the standard one where the class has none.
  @inline(__always)
  public func tariff(of match: RateMatch, timeClass: Int = 0) -> Tariff? {
    let lead = leads[match.row]
    if !lead.isGroup { return deck.tariffs[lead.terms] }
    return composedTariff(match, timeClass)
  }

  /// Of a prefix with several rows.
  private func composedTariff(_ match: RateMatch, _ timeClass: Int) -> Tariff? {
    guard let priced = pricedClass(match, for: timeClass) else { return nil }
    let tiers = inForce(match).filter { Int($0.timeClass) == priced }
    // The deck's own check has built this tariff once already.
    return try? tiers.first?.tariff(followedBy: tiers.dropFirst().map(\.tier))
  }
}
