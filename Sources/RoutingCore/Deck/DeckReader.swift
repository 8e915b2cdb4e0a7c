import CallModel

/// Reads a rate deck from CSV (RFC 4180) fed in chunks of any size: no file, no clock.
///
/// The first line names the columns (``DeckColumn``) and shows the delimiter: comma, semicolon or tab. Lines end with LF
/// or CRLF; a byte order mark is skipped; no field holds a line break. Fields may be quoted. Missing columns and
/// empty fields take their defaults: unit 60, no fee, 1/1 billing (initial = increment when only the increment is
/// given, increment = initial when only the initial is), always in force, class `standard`.
/// The whole file is checked before anything is refused; one fault and there is no deck.
public struct DeckReader: Sendable {
  /// Most bytes of a line; a longer one is skipped and counts as a fault.
  public static let maximumLineBytes = 16_384
  /// Columns of a line.
  public static let maximumColumns = 64
  static let maximumUnit: Int64 = 3600

  /// Bytes read so far.
  public private(set) var byteCount = 0
  /// Rows read so far, faulty ones included.
  public var rowCount: Int { builder.rowCount }
  /// Faults found so far.
  public var errorCount: Int { builder.errors.total }

  private var builder: DeckBuilder
  /// An unfinished line, carried over to the next chunk.
  private var carried: [UInt8] = []
  /// Inside a line that is too long: skip to its end.
  private var isSkippingLine = false
  private var line = 0
  private var delimiter = UInt8(ascii: ",")
  /// Column of each field; empty before the header.
  private var columns: [DeckColumn] = []
  private var hasColumn: Set<DeckColumn> = []
  private var headerIsUsable = true
  private var currency: Currency?
  private var midnights: [Int64: Int64] = [:]
  /// Where each field of the line at hand lies; reused.
  private var fields: [Field] = []
  private var unquoted: [UInt8] = []

  private struct Field: Sendable {
    var start: Int
    var end: Int
    /// Of a quoted field: the bytes between the quotes, doubled quotes still doubled.
    var isQuoted: Bool
    var hasDoubledQuotes: Bool
  }

  /// Without a currency in `settings` the rows have to name one, and only one.
  public init(settings: DeckSettings) {
    builder = DeckBuilder(settings: settings)
    currency = settings.currency
  }

  /// Takes the next bytes of the file.
  public mutating func feed(_ bytes: UnsafeRawBufferPointer) {
    let bytes = bytes.assumingMemoryBound(to: UInt8.self)
    byteCount += bytes.count
    var start = 0
    if isSkippingLine || !carried.isEmpty {
      guard let newline = DeckReader.newline(bytes, from: 0) else {
        carry(bytes[...])
        return
      }
      if isSkippingLine {
        isSkippingLine = false
      } else {
        carry(bytes[..<newline])
        parseCarriedLine()
      }
      start = newline + 1
    }
    while start < bytes.count {
      guard let newline = DeckReader.newline(bytes, from: start) else {
        carry(bytes[start...])
        return
      }
      parseLine(UnsafeBufferPointer(rebasing: bytes[start..<newline]))
      start = newline + 1
    }
  }

  /// Ends the file.
  /// - Throws: ``DeckRefusal`` with every fault of the file, up to its limit.
  public consuming func finish() throws(DeckRefusal) -> RateDeck {
    if !carried.isEmpty { parseCarriedLine() }
    if columns.isEmpty, headerIsUsable {
      refuse(1, 1, .prefix, "csv.header", "there is no header line", "a first line such as prefix,name,rate,increment")
    } else if headerIsUsable, rowCount > 0, currency == nil, !hasColumn.contains(.currency) || errorCount == 0 {
      refuse(
        1, 1, .currency, "deck.currency", "no row names a currency",
        "a currency column with one code such as EUR, or a currency given beside the file")
    }
    return try builder.build(currency: currency)
  }

  private static func newline(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if bytes[index] == 0x0A { return index }
      index += 1
    }
    return nil
  }

  private mutating func carry(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    if isSkippingLine { return }
    // One more than the limit, for the CR that a line end may bring.
    if carried.count + bytes.count > DeckReader.maximumLineBytes + 1 {
      refuseLongLine()
      isSkippingLine = true
      carried.removeAll(keepingCapacity: true)
    } else {
      carried.append(contentsOf: bytes)
    }
  }

  private mutating func refuseLongLine() {
    line += 1
    if columns.isEmpty { headerIsUsable = false }
    refuse(
      line, DeckReader.maximumLineBytes + 1, .prefix, "csv.line-length",
      "the line is longer than \(DeckReader.maximumLineBytes) bytes",
      "at most \(DeckReader.maximumLineBytes) bytes a line")
  }

  private mutating func parseCarriedLine() {
    if isSkippingLine { return }
    let bytes = carried
    carried.removeAll(keepingCapacity: true)
    bytes.withUnsafeBufferPointer { parseLine($0) }
  }

  private mutating func refuse(
    _ line: Int, _ column: Int, _ name: DeckColumn, _ rule: String, _ problem: String, _ accepted: String
  ) {
    refuse(line, column, name.rawValue, rule, problem, accepted)
  }

  private mutating func refuse(
    _ line: Int, _ column: Int, _ name: String, _ rule: String, _ problem: String, _ accepted: String
  ) {
    builder.errors.add(
      DeckError(line: line, column: column, columnName: name, rule: rule, problem: problem, accepted: accepted))
  }
}

// MARK: - Lines

extension DeckReader {
  private mutating func parseLine(_ whole: UnsafeBufferPointer<UInt8>) {
    var bytes = whole
    if bytes.last == 0x0D { bytes = UnsafeBufferPointer(rebasing: bytes.dropLast()) }
    if bytes.count > DeckReader.maximumLineBytes {
      refuseLongLine()
      return
    }
    line += 1
    if line == 1, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(3))
    }
    if bytes.isEmpty { return }
    guard headerIsUsable else { return }
    if columns.isEmpty {
      parseHeader(bytes)
    } else if split(bytes) {
      parseRow(bytes)
    }
  }

  /// Finds the fields of a line.
  private mutating func split(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    fields.removeAll(keepingCapacity: true)
    var index = 0
    while true {
      guard fields.count < DeckReader.maximumColumns else {
        refuse(
          line, character(bytes, index), "", "csv.columns", "more than \(DeckReader.maximumColumns) columns",
          "at most \(DeckReader.maximumColumns) columns")
        return false
      }
      if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
        let opening = index
        index += 1
        var field = Field(start: index, end: index, isQuoted: true, hasDoubledQuotes: false)
        while true {
          guard index < bytes.count else {
            refuse(
              line, character(bytes, opening), name(ofField: fields.count), "csv.quote",
              "the quoted field is not closed on its line", "a closing quote; no field holds a line break")
            return false
          }
          if bytes[index] == UInt8(ascii: "\"") {
            if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\"") {
              field.hasDoubledQuotes = true
              index += 2
              continue
            }
            break
          }
          index += 1
        }
        field.end = index
        index += 1
        guard index == bytes.count || bytes[index] == delimiter else {
          refuse(
            line, character(bytes, index), name(ofField: fields.count), "csv.quote",
            "\(InvalidValue.name(of: bytes[index])) after a closing quote", "the delimiter or the end of the line")
          return false
        }
        fields.append(field)
      } else {
        let start = index
        while index < bytes.count, bytes[index] != delimiter {
          if bytes[index] == UInt8(ascii: "\"") {
            refuse(
              line, character(bytes, index), name(ofField: fields.count), "csv.quote",
              "a quote inside a field that is not quoted", "a quoted field with the quote doubled")
            return false
          }
          index += 1
        }
        fields.append(Field(start: start, end: index, isQuoted: false, hasDoubledQuotes: false))
      }
      if index >= bytes.count { return true }
      index += 1
    }
  }

  private func name(ofField index: Int) -> String { index < columns.count ? columns[index].rawValue : "" }

  /// One-based character of the line at a byte: continuation bytes of UTF-8 do not count.
  private func character(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Int {
    bytes[..<min(offset, bytes.count)].reduce(1) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
  }

  private mutating func parseHeader(_ bytes: UnsafeBufferPointer<UInt8>) {
    // Outside quotes, whichever delimiter is there most often; comma when in doubt.
    var counts = (comma: 0, semicolon: 0, tab: 0)
    var isInQuotes = false
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""): isInQuotes.toggle()
      case UInt8(ascii: ",") where !isInQuotes: counts.comma += 1
      case UInt8(ascii: ";") where !isInQuotes: counts.semicolon += 1
      case 0x09 where !isInQuotes: counts.tab += 1
      default: break
      }
    }
    if counts.tab > counts.comma, counts.tab >= counts.semicolon {
      delimiter = 0x09
    } else if counts.semicolon > counts.comma {
      delimiter = UInt8(ascii: ";")
    }
    guard split(bytes) else {
      headerIsUsable = false
      return
    }
    var found: [DeckColumn] = []
    for field in fields {
      let text = text(field, bytes)
      let shown = DeckReader.shown(text)
      let place = character(bytes, field.start)
      guard let column = DeckColumn.named(text) else {
        headerIsUsable = false
        let hint = DeckColumn.suggestion(for: text).map { "; did you mean \($0.rawValue)?" } ?? ""
        refuse(
          line, place, shown, "deck.column",
          text.isEmpty ? "a column has no name" : "the column \(shown) is not known\(hint)",
          DeckColumn.allCases.map(\.rawValue).joined(separator: ", "))
        continue
      }
      if hasColumn.contains(column) {
        headerIsUsable = false
        refuse(
          line, place, column, "deck.column-twice",
          "the column \(shown) means \(column.rawValue), which is there already",
          "each column once")
      }
      hasColumn.insert(column)
      found.append(column)
    }
    if headerIsUsable {
      if !hasColumn.contains(.prefix) { refuseMissing(.prefix) }
      let rates = [DeckColumn.rate, .initialRate, .nextRate].filter(hasColumn.contains)
      if rates.isEmpty { refuseMissing(.rate) }
      if rates.count > 1, rates.contains(.rate) {
        headerIsUsable = false
        refuse(
          line, 1, .rate, "deck.column-twice", "both rate and \(rates[1].rawValue) are there",
          "either rate, or initial_rate and next_rate")
      }
      if rates == [.nextRate] { refuseMissing(.initialRate) }
      if rates.contains(.nextRate), hasColumn.contains(.fromSecond) {
        headerIsUsable = false
        refuse(
          line, 1, .fromSecond, "deck.column-twice", "next_rate makes its own tier beside from_second",
          "either next_rate or from_second")
      }
    }
    columns = found
  }

  private mutating func refuseMissing(_ column: DeckColumn) {
    headerIsUsable = false
    refuse(
      line, 1, column, "deck.column-missing", "the column \(column.rawValue) is missing",
      "a header with at least prefix and rate")
  }

  private func text(_ field: Field, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
    // A field is a range of these bytes that the splitter found in them.
    let text = String(decoding: bytes[field.start..<field.end], as: UTF8.self)
    guard field.hasDoubledQuotes else { return text }
    var result = ""
    var skips = false
    for character in text {
      if character == "\"", !skips {
        skips = true
        continue
      }
      skips = false
      result.append(character)
    }
    return result
  }

  /// A header's text cut and cleaned for a message.
  private static func shown(_ text: String) -> String {
    String(text.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
  }
}

// MARK: - Rows

extension DeckReader {
  private mutating func parseRow(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard fields.count == columns.count else {
      let place =
        fields.count > columns.count ? character(bytes, fields[columns.count].start) : character(bytes, bytes.count)
      refuse(
        line, place, name(ofField: fields.count), "csv.columns",
        "\(fields.count) fields where the header has \(columns.count)", "as many fields as the header has")
      return
    }
    let errorsBefore = builder.errors.total
    unquoted.removeAll(keepingCapacity: true)
    var terms = RateTerms(ratePerMinute: 0)
    var key: UInt64?
    var name = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    var rate: NanoUnits?
    var nextRate: NanoUnits?
    var unit: Int64 = 60
    var initial: Int64?
    var increment: Int64?
    var rateField: Int?
    var nextRateField: Int?
    for place in columns.indices {
      var field = fields[place]
      let column = columns[place]
      // Spaces around a field that is not quoted do not count.
      if !field.isQuoted {
        while field.start < field.end, bytes[field.start] == 0x20 { field.start += 1 }
        while field.end > field.start, bytes[field.end - 1] == 0x20 { field.end -= 1 }
        fields[place] = field
      }
      let isEmpty = field.start == field.end
      switch column {
      case .prefix: key = prefix(bytes, field)
      case .rate, .initialRate:
        rateField = place
        if !isEmpty { rate = price(bytes, field, column) }
      case .nextRate:
        nextRateField = place
        if !isEmpty { nextRate = price(bytes, field, column) }
      case _ where isEmpty: break
      case .name:
        name = UnsafeBufferPointer(rebasing: bytes[field.start..<field.end])
        check(name: name, bytes, field)
        if field.hasDoubledQuotes { undouble(bytes, field) }
      case .currency: parseCurrency(bytes, field)
      case .unit:
        if let value = whole(bytes, field, column, 1...DeckReader.maximumUnit) { unit = value }
      case .fee: terms.fee = price(bytes, field, column) ?? 0
      case .initial: initial = whole(bytes, field, column, 0...Tariff.maximumSeconds)
      case .increment: increment = whole(bytes, field, column, 1...Tariff.maximumIncrement)
      case .grace: terms.grace = whole(bytes, field, column, 0...Tariff.maximumSeconds) ?? 0
      case .minimumCharge: terms.minimumCharge = price(bytes, field, column) ?? 0
      case .freeSeconds: terms.freeSeconds = whole(bytes, field, column, 0...Tariff.maximumSeconds) ?? 0
      case .effectiveFrom: terms.effectiveFrom = instant(bytes, field, column) ?? .min
      case .effectiveTo: terms.effectiveUntil = instant(bytes, field, column) ?? .max
      case .timeClass: terms.timeClass = timeClass(bytes, field)
      case .fromSecond: terms.fromSecond = whole(bytes, field, column, 0...Tariff.maximumSeconds) ?? 0
      case .maximumSeconds:
        terms.maximumSeconds = whole(bytes, field, column, 1...Tariff.maximumSeconds) ?? Tariff.maximumSeconds
      case .maximumCost: terms.maximumCost = price(bytes, field, column)
      case .flags: parseFlags(bytes, field, &terms)
      case .rejectCalls: parseReject(bytes, field, &terms)
      }
    }
    terms.increment = increment ?? min(max(initial ?? 1, 1), Tariff.maximumIncrement)
    terms.initial = initial ?? terms.increment
    if let field = rateField {
      if rate == nil, builder.errors.total == errorsBefore, !terms.flags.contains(.blocked) {
        refuse(
          line, character(bytes, fields[field].start), columns[field], "deck.rate", "the rate is missing",
          "a decimal number such as 0.0145; a rate may be missing on a blocked row only")
      }
      terms.ratePerMinute = perMinute(rate ?? 0, unit, bytes, field)
    }
    var nextPerMinute: NanoUnits?
    if let field = nextRateField, let nextRate { nextPerMinute = perMinute(nextRate, unit, bytes, field) }
    guard builder.errors.total == errorsBefore, let key else {
      builder.countFaultyRow()
      return
    }
    let lineBytes = bytes
    let starts = fields
    let columns = self.columns
    let place = { (column: DeckColumn) -> Int in
      guard let index = columns.firstIndex(of: column) else { return 1 }
      return lineBytes[..<starts[index].start].reduce(1) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }
    let add = { (builder: inout DeckBuilder, name: UnsafeBufferPointer<UInt8>, line: Int) in
      if let next = nextPerMinute, next != terms.ratePerMinute {
        var later = terms
        later.ratePerMinute = next
        if terms.initial == 0 {
          builder.append(key: key, name: name, terms: later, line: line, columns: place)
        } else {
          builder.append(key: key, name: name, terms: terms, line: line, columns: place)
          later.fromSecond = terms.initial
          builder.append(key: key, name: name, terms: later, line: line, columns: place)
        }
      } else {
        builder.append(key: key, name: name, terms: terms, line: line, columns: place)
      }
    }
    if unquoted.isEmpty {
      add(&builder, name, line)
    } else {
      let copy = unquoted
      copy.withUnsafeBufferPointer { add(&builder, $0, line) }
    }
  }

  /// Fills ``unquoted`` with a field's bytes, doubled quotes made single.
  private mutating func undouble(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field) {
    var index = field.start
    while index < field.end {
      unquoted.append(bytes[index])
      index += bytes[index] == UInt8(ascii: "\"") ? 2 : 1
    }
  }

  private mutating func check(
    name: UnsafeBufferPointer<UInt8>, _ bytes: UnsafeBufferPointer<UInt8>, _ field: Field
  ) {
    guard let problem = DeckBuilder.nameProblem(name) else { return }
    refuse(
      line, character(bytes, field.start + problem.offset), .name, problem.rule, problem.problem, problem.accepted)
  }

  private mutating func prefix(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field) -> UInt64? {
    var index = field.start
    if index < field.end, bytes[index] == UInt8(ascii: "+") { index += 1 }
    let first = index
    var value: UInt64 = 0
    while index < field.end {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9, index - first < NumberDigits.maximumCount else { break }
      value = value * 10 + UInt64(digit)
      index += 1
    }
    if index == field.end, index > first { return NumberDigits(value: value, count: index - first).key }
    let problem: String
    if index == field.end {
      problem = "no digit is there"
    } else if index - first == NumberDigits.maximumCount {
      problem = "more than \(NumberDigits.maximumCount) digits"
    } else {
      problem = "\(InvalidValue.name(of: bytes[index])) is not a digit"
    }
    refuse(
      line, character(bytes, index), .prefix, "deck.prefix", problem,
      "1 to \(NumberDigits.maximumCount) digits, with or without a leading +, such as 4670")
    return nil
  }

  private mutating func price(
    _ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ column: DeckColumn
  ) -> NanoUnits? {
    // Up to eight digits before the point and nine after it stay far inside Int64.
    var index = field.start
    var value: Int64 = 0
    while index < field.end, index - field.start < 8 {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { break }
      value = value * 10 + Int64(digit)
      index += 1
    }
    if index > field.start {
      var decimals = 0
      if index < field.end, bytes[index] == UInt8(ascii: ".") {
        index += 1
        while index < field.end, decimals < NanoUnits.scale {
          let digit = bytes[index] &- UInt8(ascii: "0")
          guard digit <= 9 else { break }
          value = value * 10 + Int64(digit)
          index += 1
          decimals += 1
        }
        if decimals == 0 { index = field.start }
      }
      if index == field.end {
        for _ in decimals..<NanoUnits.scale { value *= 10 }
        if value <= Tariff.maximumPrice.count { return NanoUnits(value) }
      }
    }
    // Not a plain price: say exactly what is wrong.
    let accepted =
      "a decimal number from 0 to \(Tariff.maximumPrice.count / 1_000_000_000) with at most \(NanoUnits.scale) decimals such as 0.0145"
    if bytes[field.start] == UInt8(ascii: "-") {
      refuse(line, character(bytes, field.start), column, "amount.negative", "a price cannot be negative", accepted)
      return nil
    }
    let text = UnsafeBufferPointer(rebasing: bytes[field.start..<field.end])
    do throws(InvalidValue) {
      let value = NanoUnits(try DecimalText.parse(utf8: text, scale: NanoUnits.scale, kind: column.rawValue))
      if (0...Tariff.maximumPrice).contains(value) { return value }
      refuse(line, character(bytes, field.start), column, "amount.range", "the price is too large", accepted)
    } catch {
      refuse(
        line, character(bytes, field.start + (error.offset ?? 0)), column, error.rule, error.problem, accepted)
    }
    return nil
  }

  /// A whole number of seconds.
  private mutating func whole(
    _ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ column: DeckColumn, _ range: ClosedRange<Int64>
  ) -> Int64? {
    var index = field.start
    var value: Int64 = 0
    while index < field.end, index - field.start < 9 {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { break }
      value = value * 10 + Int64(digit)
      index += 1
    }
    if index == field.end, range.contains(value) { return value }
    let isCharacter = index < field.end && index - field.start < 9
    refuse(
      line, character(bytes, isCharacter ? index : field.start), column,
      isCharacter ? "seconds.character" : "seconds.range",
      isCharacter
        ? "\(InvalidValue.name(of: bytes[index])) is not part of a whole number" : "the number is out of range",
      "a whole number of seconds from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  private mutating func perMinute(
    _ rate: NanoUnits, _ unit: Int64, _ bytes: UnsafeBufferPointer<UInt8>, _ field: Int
  ) -> NanoUnits {
    if unit == 60 { return rate }
    let product = rate.count * 60
    let place = character(bytes, fields[field].start)
    if product % unit != 0 {
      refuse(
        line, place, columns[field], "deck.unit", "the rate a minute does not come out exact",
        "a rate and a unit whose rate a minute has at most \(NanoUnits.scale) decimals")
    } else if product / unit > Tariff.maximumPrice.count {
      refuse(
        line, place, columns[field], "amount.range", "the rate a minute is too large",
        "at most \(Tariff.maximumPrice.count / 1_000_000_000) a minute")
    }
    return NanoUnits(product / unit)
  }

  private mutating func parseCurrency(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field) {
    if let currency, field.end - field.start == 3, currency.matches(bytes, from: field.start) { return }
    do throws(InvalidValue) {
      let found = try Currency(String(decoding: bytes[field.start..<field.end], as: UTF8.self))
      if let currency {
        refuse(
          line, character(bytes, field.start), .currency, "deck.currency", "\(found) in a deck of \(currency)",
          "one currency a deck")
      } else {
        currency = found
      }
    } catch {
      refuse(
        line, character(bytes, field.start + (error.offset ?? 0)), .currency, error.rule, error.problem, error.accepted)
    }
  }

  private mutating func timeClass(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field) -> UInt8 {
    // A field is a range of these bytes that the splitter found in them.
    let text = String(decoding: bytes[field.start..<field.end], as: UTF8.self)
    let classes = builder.settings.timeClasses
    if let index = classes.index(of: text) { return UInt8(index) }
    refuse(
      line, character(bytes, field.start), .timeClass, "deck.time-class", "the time class is not defined",
      "one of \(classes.names.joined(separator: ", "))")
    return 0
  }

  private mutating func parseFlags(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ terms: inout RateTerms) {
    var start = field.start
    var isAtAnswer = false
    while start < field.end {
      var end = start
      while end < field.end, bytes[end] != 0x20, bytes[end] != UInt8(ascii: "|") { end += 1 }
      if end > start {
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        if text == "at-answer" {
          isAtAnswer = true
        } else if let flag = RateFlags.texts.first(where: { $0.text == text })?.flag {
          terms.flags.insert(flag)
        } else {
          refuse(
            line, character(bytes, start), .flags, "deck.flags", "the flag is not known",
            "\(RateFlags.texts.map(\.text).joined(separator: ", ")), at-answer; several separated by spaces or |")
        }
      }
      start = end + 1
    }
    if isAtAnswer, terms.flags.contains(.split) {
      refuse(
        line, character(bytes, field.start), .flags, "deck.flags", "both at-answer and split", "one of the two")
    }
  }

  private mutating func parseReject(_ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ terms: inout RateTerms) {
    // A field is a range of these bytes that the splitter found in them.
    switch String(decoding: bytes[field.start..<field.end], as: UTF8.self).lowercased() {
    case "true", "t", "yes", "1": terms.flags.insert(.blocked)
    case "false", "f", "no", "0": break
    default:
      refuse(
        line, character(bytes, field.start), .rejectCalls, "deck.boolean", "neither true nor false", "true or false")
    }
  }
}

extension Currency {
  /// Compares without making a string.
  fileprivate func matches(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    var index = start
    for byte in description.utf8 {
      guard bytes[index] == byte else { return false }
      index += 1
    }
    return true
  }
}

// MARK: - Instants

extension DeckReader {
  /// RFC 3339 with `T` and a zone, or `YYYY-MM-DD` for the start of the local day; milliseconds since 1970.
  private mutating func instant(
    _ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ column: DeckColumn
  ) -> Int64? {
    // A field is a range of these bytes that the splitter found in them.
    var scan = InstantScan(bytes: UnsafeBufferPointer(rebasing: bytes[field.start..<field.end]))
    guard let date = scan.date() else { return refuseInstant(bytes, field, column, scan.offset) }
    if scan.isAtEnd {
      if let known = midnights[date.dayNumber] { return known }
      let instant = builder.settings.zone.startOfDay(date).milliseconds
      midnights[date.dayNumber] = instant
      return instant
    }
    guard let inDay = scan.timeWithZone(), scan.isAtEnd else {
      return refuseInstant(bytes, field, column, scan.offset)
    }
    return date.dayNumber * 86_400_000 + inDay
  }

  private mutating func refuseInstant(
    _ bytes: UnsafeBufferPointer<UInt8>, _ field: Field, _ column: DeckColumn, _ offset: Int
  ) -> Int64? {
    refuse(
      line, character(bytes, field.start + offset), column, "deck.instant",
      "the date or time cannot be read from here on",
      "YYYY-MM-DD or an RFC 3339 instant such as 2026-11-01T00:00:00Z")
    return nil
  }
}

/// Reads the parts of an RFC 3339 instant (section 5.6).
private struct InstantScan {
  let bytes: UnsafeBufferPointer<UInt8>
  private(set) var offset = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  /// Exactly `count` digits.
  private mutating func number(_ count: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<count {
      guard offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") <= 9 else { return nil }
      value = value * 10 + Int64(bytes[offset] - UInt8(ascii: "0"))
      offset += 1
    }
    return value
  }

  private mutating func consume(_ byte: Unicode.Scalar) -> Bool {
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: byte) else { return false }
    offset += 1
    return true
  }

  mutating func date() -> CivilDate? {
    guard let year = number(4), consume("-"), let month = number(2), consume("-"), let day = number(2) else {
      return nil
    }
    guard let date = CivilDate(year: year, month: Int(month), day: Int(day)) else {
      offset = 0
      return nil
    }
    return date
  }

  /// Milliseconds of the UTC day; outside of it when the zone shifts the day.
  mutating func timeWithZone() -> Int64? {
    guard consume("T") || consume("t") else { return nil }
    let start = offset
    guard let hour = number(2), consume(":"), let minute = number(2), consume(":"), let second = number(2) else {
      return nil
    }
    // A leap second has no millisecond of its own.
    guard hour < 24, minute < 60, second < 60 else {
      offset = start
      return nil
    }
    var milliseconds: Int64 = 0
    if consume(".") {
      var unit: Int64 = 100
      guard let first = number(1) else { return nil }
      milliseconds = first * unit
      while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") <= 9 {
        unit /= 10
        milliseconds += Int64(bytes[offset] - UInt8(ascii: "0")) * unit
        offset += 1
      }
    }
    let inDay = (hour * 3600 + minute * 60 + second) * 1000 + milliseconds
    if consume("Z") || consume("z") { return inDay }
    let zoneStart = offset
    let sign: Int64 = consume("-") ? -1 : 1
    guard sign < 0 || consume("+") else { return nil }
    guard let zoneHour = number(2), consume(":"), let zoneMinute = number(2) else { return nil }
    guard zoneHour < 24, zoneMinute < 60 else {
      offset = zoneStart
      return nil
    }
    return inDay - sign * (zoneHour * 3600 + zoneMinute * 60) * 1000
  }
}
