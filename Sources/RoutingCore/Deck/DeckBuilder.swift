import CallModel

/// Builds a ``RateDeck`` from rows in any order, with every check that a file's rows undergo.
///
/// Faults are gathered, not thrown, until ``build()``; one fault and there is no deck.
public struct DeckBuilder: Sendable {
  /// Most bytes of a destination's name, in UTF-8.
  public static let maximumNameBytes = 256

  /// A row before it is sorted, with its place in the file.
  struct Pending: Sendable {
    let key: UInt64
    let name: UInt32
    let terms: UInt32
    let line: UInt32
    let column: UInt32
  }

  let settings: DeckSettings
  var errors = DeckErrorList()
  private var pending: [Pending] = []
  private var names = NameTable()
  private var terms = TermsTable()
  private var lastName: UInt32?
  private var lastTerms: UInt32?

  /// A currency is needed in `settings`: a ``RateRow`` names none, and ``build()`` refuses a deck without one.
  public init(settings: DeckSettings) { self.settings = settings }

  /// Rows taken so far, faulty ones included.
  public private(set) var rowCount = 0

  /// Adds a row; its number stands for the line in errors.
  public mutating func append(_ row: RateRow) {
    var name = row.name
    let line = rowCount + 1
    name.withUTF8 { bytes in
      if let problem = DeckBuilder.nameProblem(bytes) {
        errors.add(
          DeckError(
            line: line, column: problem.offset + 1, columnName: "name", rule: problem.rule, problem: problem.problem,
            accepted: problem.accepted))
      }
      append(key: row.prefix.key, name: bytes, terms: row.terms, line: line) { _ in 1 }
    }
  }

  mutating func countFaultyRow() { rowCount += 1 }

  /// - Parameter columns: the first character of a canonical column in the line.
  mutating func append(
    key: UInt64, name: UnsafeBufferPointer<UInt8>, terms rowTerms: RateTerms, line: Int, columns: (DeckColumn) -> Int
  ) {
    rowCount += 1
    guard pending.count < RateDeck.maximumRows else {
      if rowCount == RateDeck.maximumRows + 1 {
        errors.add(
          DeckError(
            line: line, column: 1, columnName: "prefix", rule: "deck.rows",
            problem: "more than \(RateDeck.maximumRows) rows", accepted: "at most \(RateDeck.maximumRows) rows a deck"))
      }
      return
    }
    // Decks are mostly sorted by destination: the row before usually has the same name and the same terms.
    let nameIndex: UInt32
    if let lastName, names.equals(lastName, name) {
      nameIndex = lastName
    } else if let index = names.intern(name) {
      nameIndex = index
    } else {
      errors.add(
        DeckError(
          line: line, column: columns(.name), columnName: "name", rule: "deck.names",
          problem: "the names together are too long",
          accepted: "at most \(NameTable.maximumBytes) bytes of different names"))
      return
    }
    lastName = nameIndex
    let termsIndex: UInt32
    if let lastTerms, terms.all[Int(lastTerms)] == rowTerms {
      termsIndex = lastTerms
    } else {
      termsIndex = terms.intern(rowTerms, timeClasses: settings.timeClasses)
    }
    lastTerms = termsIndex
    if let problem = terms.problems[Int(termsIndex)] {
      let column = DeckBuilder.column(ofRule: problem.rule)
      errors.add(
        DeckError(
          line: line, column: columns(column), columnName: column.rawValue, rule: problem.rule,
          problem: problem.problem, accepted: problem.accepted))
      return
    }
    pending.append(
      Pending(
        key: key, name: nameIndex, terms: termsIndex, line: UInt32(truncatingIfNeeded: line),
        column: UInt32(truncatingIfNeeded: columns(.prefix))))
  }

  /// Sorts, checks the rows against each other and gives the deck.
  /// - Throws: ``DeckRefusal`` with every fault.
  public consuming func build() throws(DeckRefusal) -> RateDeck {
    if settings.currency == nil {
      errors.add(
        DeckError(
          line: 1, column: 1, columnName: "currency", rule: "deck.currency", problem: "no row names a currency",
          accepted: "a currency column with one code such as EUR, or a currency given beside the file"))
    }
    return try build(currency: settings.currency)
  }

  consuming func build(currency: Currency?) throws(DeckRefusal) -> RateDeck {
    if rowCount == 0, errors.total == 0 {
      errors.add(
        DeckError(
          line: 1, column: 1, columnName: "prefix", rule: "deck.empty", problem: "the deck has no row",
          accepted: "at least one row"))
    }
    sort()
    checkGroups()
    guard errors.total == 0, let currency else { throw errors.refusal }
    names.seal()
    return RateDeck(
      name: settings.name, version: settings.version, currency: currency, timeClasses: settings.timeClasses,
      entries: pending.map { RateDeck.Entry(key: $0.key, name: $0.name, terms: $0.terms) }, names: names,
      terms: terms.all, tariffs: terms.tariffs)
  }

  static func nameProblem(_ bytes: UnsafeBufferPointer<UInt8>) -> (
    offset: Int, rule: String, problem: String, accepted: String
  )? {
    let accepted = "at most \(maximumNameBytes) bytes of UTF-8 without control characters"
    guard bytes.count <= maximumNameBytes else {
      return (maximumNameBytes, "deck.name-length", "the name is too long", accepted)
    }
    var isASCII = true
    for (offset, byte) in bytes.enumerated() {
      if byte < 0x20 || byte == 0x7F {
        return (offset, "deck.name-character", "\(InvalidValue.name(of: byte)) is not part of a name", accepted)
      }
      if byte >= 0x80 { isASCII = false }
    }
    if !isASCII, let offset = firstInvalidUTF8(bytes) {
      return (offset, "deck.name-encoding", "the bytes are not UTF-8", accepted)
    }
    return nil
  }

  private static func firstInvalidUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput: return nil
      case .error: return offset
      }
    }
  }

  /// Which column a rule about terms speaks of.
  private static func column(ofRule rule: String) -> DeckColumn {
    switch rule {
    case "tariff.initial": .initial
    case "tariff.increment": .increment
    case "tariff.fee": .fee
    case "tariff.minimum": .minimumCharge
    case "tariff.grace": .grace
    case "tariff.free": .freeSeconds
    case "tariff.maximum": .maximumCost
    case "tariff.limit": .maximumSeconds
    case "tariff.tier": .fromSecond
    case "deck.window": .effectiveTo
    case "deck.time-class": .timeClass
    case "deck.flags": .flags
    default: .rate
    }
  }
}

// MARK: - Order

extension DeckBuilder {
  private mutating func sort() {
    var isAscending = true
    for index in pending.indices.dropFirst() where pending[index].key < pending[index - 1].key {
      isAscending = false
      break
    }
    if !isAscending {
      // The tables of the radix sort are worth their cost from a few thousand rows on.
      if pending.count < 4096 {
        pending.sort { ($0.key, $0.line) < ($1.key, $1.line) }
      } else {
        pending = DeckBuilder.radixSorted(pending)
      }
    }
    // Rows of one prefix: by time class, window, tier.
    var start = 0
    while start < pending.count {
      var end = start + 1
      while end < pending.count, pending[end].key == pending[start].key { end += 1 }
      if end - start > 1 {
        let sorted = pending[start..<end].sorted { left, right in
          let leftTerms = terms.all[Int(left.terms)]
          let rightTerms = terms.all[Int(right.terms)]
          return (leftTerms.timeClass, leftTerms.effectiveFrom, leftTerms.fromSecond, left.line)
            < (rightTerms.timeClass, rightTerms.effectiveFrom, rightTerms.fromSecond, right.line)
        }
        pending.replaceSubrange(start..<end, with: sorted)
      }
      start = end
    }
  }

  /// Least significant digit first, 14 bits a pass; keys have 54 bits.
  private static func radixSorted(_ rows: [Pending]) -> [Pending] {
    let width: UInt64 = 14
    let mask: UInt64 = 1 << width - 1
    var current = rows
    var other = rows
    for pass in 0..<4 as Range<UInt64> {
      let shift = pass * width
      var places = [Int](repeating: 0, count: Int(mask) + 2)
      for row in current { places[Int(row.key >> shift & mask) + 1] += 1 }
      if places.contains(rows.count) { continue }
      for index in 1..<places.count { places[index] += places[index - 1] }
      for row in current {
        let digit = Int(row.key >> shift & mask)
        other[places[digit]] = row
        places[digit] += 1
      }
      swap(&current, &other)
    }
    return current
  }
}

// MARK: - Rows against each other

extension DeckBuilder {
  private mutating func checkGroups() {
    let reachable = settings.timeClasses.reachable
    // Bit 0 alone: a row of the standard class prices everything. Any other row alone leaves something unpriced.
    let isSufficientAlone = terms.all.map { terms in
      terms.fromSecond == 0 && (terms.timeClass == 0 || reachable & ~(1 << terms.timeClass) == 0)
        && !terms.flags.contains(.split)
    }
    var start = 0
    while start < pending.count {
      var end = start + 1
      while end < pending.count, pending[end].key == pending[start].key { end += 1 }
      if end - start > 1 || !isSufficientAlone[Int(pending[start].terms)] { check(start..<end, reachable: reachable) }
      start = end
    }
  }

  private mutating func refuse(
    _ row: Pending, _ column: DeckColumn, _ rule: String, _ problem: String, _ accepted: String
  ) {
    errors.add(
      DeckError(
        line: Int(row.line), column: Int(row.column), columnName: column.rawValue, rule: rule,
        problem: "prefix \(NumberDigits(key: row.key)): \(problem)", accepted: accepted))
  }

  /// The rows of one prefix, in order.
  private mutating func check(_ rows: Range<Int>, reachable: UInt8) {
    let errorsBefore = errors.total
    // Tiers: neighbours of one class and one window.
    var tierCount = 0
    /// First row of the tiers at hand and of those before them.
    var first = rows.lowerBound
    var latestEnd: (timeClass: UInt8, until: Int64, line: UInt32)?
    var groups: [(first: Int, end: Int)] = []
    for index in rows {
      let row = pending[index]
      let terms = self.terms.all[Int(row.terms)]
      let lead = pending[first]
      let leadTerms = self.terms.all[Int(lead.terms)]
      let continues =
        index > rows.lowerBound && terms.timeClass == leadTerms.timeClass
        && terms.effectiveFrom == leadTerms.effectiveFrom && terms.effectiveUntil == leadTerms.effectiveUntil
      if continues {
        let previous = pending[index - 1]
        let previousTerms = self.terms.all[Int(previous.terms)]
        tierCount += 1
        if terms.fromSecond == previousTerms.fromSecond {
          refuse(
            row, .prefix, "deck.duplicate", "the same time class, window and tier as line \(previous.line)",
            "one row for each prefix, time class, window and tier")
        } else if tierCount == Tariff.maximumTiers + 1 {
          refuse(
            row, .fromSecond, "deck.tiers", "more than \(Tariff.maximumTiers) tiers",
            "at most \(Tariff.maximumTiers) tiers a prefix")
        }
        groups[groups.count - 1].end = index + 1
        continue
      }
      if let latest = latestEnd, latest.timeClass == terms.timeClass, terms.effectiveFrom < latest.until {
        refuse(
          row, .effectiveFrom, "deck.overlap", "the window overlaps that of line \(latest.line)",
          "windows of one prefix and time class that follow each other: set effective_to on the earlier row")
      }
      if latestEnd == nil || latestEnd?.timeClass != terms.timeClass
        || (latestEnd?.until ?? .min) < terms.effectiveUntil
      {
        latestEnd = (terms.timeClass, terms.effectiveUntil, row.line)
      }
      if terms.fromSecond > 0 {
        refuse(
          row, .fromSecond, "deck.first-tier", "the tier that starts at second 0 is missing",
          "a row with from_second 0 and the same time class and window")
      }
      first = index
      tierCount = 1
      groups.append((index, index + 1))
    }
    guard errors.total == errorsBefore else { return }
    var tariffs: [Tariff] = []
    for group in groups {
      let lead = terms.all[Int(pending[group.first].terms)]
      do throws(InvalidValue) {
        tariffs.append(
          try lead.tariff(followedBy: (group.first + 1..<group.end).map { terms.all[Int(pending[$0].terms)].tier }))
      } catch {
        refuse(pending[group.end - 1], .fromSecond, error.rule, error.problem, error.accepted)
      }
    }
    guard errors.total == errorsBefore else { return }
    checkClasses(groups.map(\.first), tariffs: tariffs, reachable: reachable)
  }

  /// Whenever the prefix has any price, it must have one for every class that the week knows; classes that split a call
  /// may differ in their rate only.
  private mutating func checkClasses(_ leads: [Int], tariffs: [Tariff], reachable: UInt8) {
    for lead in leads {
      let row = pending[lead]
      for instant in [terms.all[Int(row.terms)].effectiveFrom, terms.all[Int(row.terms)].effectiveUntil] {
        var classes: UInt8 = 0
        var firstInForce: Int?
        for (place, other) in leads.enumerated() {
          let otherTerms = terms.all[Int(pending[other].terms)]
          guard otherTerms.isInForce(at: instant) else { continue }
          classes |= 1 << otherTerms.timeClass
          guard let reference = firstInForce else {
            firstInForce = place
            if otherTerms.flags.contains(.split), tariffs[place].tiers.count > 1 {
              refuse(
                pending[other], .flags, "deck.split", "a price with tiers cannot split a call",
                "one tier, or the flag at-answer")
              return
            }
            continue
          }
          let referenceFlags = terms.all[Int(pending[leads[reference]].terms)].flags
          guard referenceFlags.contains(.split) == otherTerms.flags.contains(.split) else {
            refuse(
              pending[other], .flags, "deck.split", "its time classes disagree on the flag split",
              "the flag on all rows of the prefix or on none")
            return
          }
          if referenceFlags.contains(.split), !tariffs[reference].differsOnlyInRate(from: tariffs[place]) {
            refuse(
              pending[other], .flags, "deck.split", "time classes that split a call differ in more than their rate",
              "equal fees, increments and limits in every time class, and one tier")
            return
          }
        }
        let priced = classes & 1 == 1 ? UInt8.max : classes
        if classes != 0, reachable & ~priced != 0 {
          let missing = settings.timeClasses.names.indices.first { reachable & ~priced & 1 << UInt8($0) != 0 } ?? 0
          refuse(
            row, .timeClass, "deck.class-gap", "no price for the time class \(settings.timeClasses.names[missing])",
            "a row for each time class over the same window, or one of the class \(TimeClasses.standardName)")
          return
        }
      }
    }
  }
}
