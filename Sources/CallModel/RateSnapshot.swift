/// The price of one call, frozen when it was authorised: nothing that happens to a deck later can change it.
///
/// Time classes are resolved to instants before the snapshot is made, so a cost can be recomputed for ever from the
/// snapshot, the answer's instant and the duration alone.
public struct RateSnapshot: Hashable, Sendable {
  /// A stretch of wall-clock time under one tariff, until the next segment begins.
  public struct Segment: Hashable, Sendable {
    /// The first instant under ``tariff``; ``Instant/distantPast`` where it always held.
    public let from: Instant
    /// Name of the time class, such as `peak`; `standard` where the deck knows none.
    public let timeClass: String
    /// What a call costs from ``from`` until the next segment begins.
    public let tariff: Tariff

    /// Not checked here: the order of segments is, when the snapshot is made.
    public init(from: Instant, timeClass: String, tariff: Tariff) {
      self.from = from
      self.timeClass = timeClass
      self.tariff = tariff
    }
  }

  /// Which tariff prices a call that crosses from one time class into another.
  public enum BoundaryPolicy: String, Hashable, Sendable, CaseIterable {
    /// The class at the answer prices the whole call.
    case atAnswer = "at-answer"
    /// Each second is priced by the class it lies in; the increments are the answer's.
    case split
  }

  /// Segments a snapshot can hold: a day's worth of half-hour classes would be refused by name.
  public static let maximumSegments = 16
  /// Most bytes of UTF-8 of ``RateSnapshot/text``.
  public static let maximumTextBytes = 4096

  /// Deck and version: `retail-eu@2026-11-01`.
  public let deck: String
  /// The digits that matched, without `+`; empty for a call that no deck prices.
  public let prefix: String
  /// The deck's name of the destination.
  public let destination: String
  /// The deck's: what every amount of the snapshot is in.
  public let currency: Currency
  /// Ascending by ``Segment/from``; never empty. The first also prices everything before it.
  public let segments: [Segment]
  /// Under ``BoundaryPolicy/split`` the tariffs of all segments have one tier and differ in its rate only.
  public let boundaryPolicy: BoundaryPolicy
  /// Canonical text, one line: what the ledger stores and hashes. ``init(parsing:)`` reads it back.
  public let text: String

  /// - Throws: ``InvalidValue`` with a `snapshot.…` rule.
  public init(
    deck: String, prefix: String, destination: String, currency: Currency, segments: [Segment],
    boundaryPolicy: BoundaryPolicy = .atAnswer
  ) throws(InvalidValue) {
    func refuse(_ rule: String, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "rate snapshot", rule: "snapshot.\(rule)", offset: nil, problem: problem,
        accepted: "1 to \(RateSnapshot.maximumSegments) segments in ascending order")
    }
    guard !segments.isEmpty, segments.count <= RateSnapshot.maximumSegments else {
      throw refuse("segments", "\(segments.count) segments")
    }
    for (earlier, later) in zip(segments, segments.dropFirst()) {
      guard earlier.from < later.from else { throw refuse("order", "segments overlap") }
      // Splitting prices one call by several rates; its closed form needs all else to be equal.
      guard boundaryPolicy == .atAnswer || earlier.tariff.differsOnlyInRate(from: later.tariff) else {
        throw refuse("split", "time classes that split a call may differ in their rate only")
      }
    }
    self.deck = deck
    self.prefix = prefix
    self.destination = destination
    self.currency = currency
    self.segments = segments
    self.boundaryPolicy = boundaryPolicy
    self.text = RateSnapshot.canonicalText(
      deck: deck, prefix: prefix, destination: destination, currency: currency, segments: segments,
      boundaryPolicy: boundaryPolicy)
    guard text.utf8.count <= RateSnapshot.maximumTextBytes else { throw refuse("length", "the text is too long") }
  }

  /// A snapshot with one tariff at all times.
  public init(
    deck: String, prefix: String, destination: String, currency: Currency, tariff: Tariff
  ) throws(InvalidValue) {
    try self.init(
      deck: deck, prefix: prefix, destination: destination, currency: currency,
      segments: [Segment(from: .distantPast, timeClass: "standard", tariff: tariff)])
  }

  /// The segment in force at `instant`.
  public func segment(at instant: Instant) -> Segment {
    var found = segments[0]
    for segment in segments.dropFirst() where segment.from <= instant { found = segment }
    return found
  }
}

extension RateSnapshot {
  /// What a call answered at `answeredAt` that lasted `milliseconds` costs.
  public func cost(milliseconds: Int64, answeredAt: Instant) -> MicroUnits {
    let answered = segment(at: answeredAt).tariff
    let seconds = answered.seconds(ofMilliseconds: milliseconds)
    switch boundaryPolicy {
    case .atAnswer: return answered.cost(seconds: seconds)
    case .split: return splitCost(seconds: seconds, answeredAt: answeredAt, answered: answered)
    }
  }

  /// Seconds billed for the same call.
  public func billedSeconds(milliseconds: Int64, answeredAt: Instant) -> Int64 {
    let answered = segment(at: answeredAt).tariff
    return answered.billedSeconds(answered.seconds(ofMilliseconds: milliseconds))
  }

  /// One tier only (``Tariff/differsOnlyInRate(from:)``): the billed seconds are cut at each boundary.
  private func splitCost(seconds: Int64, answeredAt: Instant, answered: Tariff) -> MicroUnits {
    guard seconds > answered.grace else { return 0 }
    let billed = answered.billedSeconds(seconds)
    var cost = answered.fee.sixtieths
    var from: Int64 = 0
    for (index, segment) in segments.enumerated() where from < billed {
      let isLast = index + 1 == segments.count
      var end = billed
      if !isLast {
        // A second belongs to the class in which it starts; billed seconds start after the free ones.
        let (whole, part) = segments[index + 1].from.milliseconds(since: answeredAt)
          .quotientAndRemainder(dividingBy: 1000)
        end = min(billed, max(from, whole + (part > 0 ? 1 : 0) - answered.freeSeconds))
      }
      cost += segment.tariff.firstTier.ratePerMinute.cost(ofSeconds: end - from)
      from = end
    }
    return answered.rounded(answered.clamped(cost))
  }

  /// What covers every outcome of a call of at most `seconds`: the dearest class that can apply.
  ///
  /// - Parameter answeredAt: `nil` before the answer, when any segment may still become the answer's.
  public func coveringCost(seconds: Int64, answeredAt: Instant?) -> MicroUnits {
    if let answeredAt, boundaryPolicy == .atAnswer {
      return segment(at: answeredAt).tariff.cost(seconds: seconds)
    }
    return segments.reduce(0) { max($0, $1.tariff.cost(seconds: seconds)) }
  }

  /// The longest call that `amount` pays for under every class that can apply.
  public func secondsBought(
    by amount: MicroUnits, answeredAt: Instant?, limit: Int64 = Tariff.maximumSeconds
  ) -> Int64 {
    if let answeredAt, boundaryPolicy == .atAnswer {
      return segment(at: answeredAt).tariff.secondsBought(by: amount, limit: limit)
    }
    return segments.reduce(limit) { min($0, $1.tariff.secondsBought(by: amount, limit: limit)) }
  }

  /// The dearest rate a minute, over all segments and tiers: what a "highest rate" cap looks at.
  public var highestRatePerMinute: NanoUnits {
    segments.reduce(.zero) { max($0, $1.tariff.highestRatePerMinute) }
  }

  /// The longest call that every class allows, in seconds.
  public var secondsLimit: Int64 { segments.reduce(Tariff.maximumSeconds) { min($0, $1.tariff.secondsLimit) } }
}

extension Tariff {
  /// Whether two tariffs of one tier differ in nothing but the rate a minute.
  package func differsOnlyInRate(from other: Tariff) -> Bool {
    tierCount == 1 && other.tierCount == 1 && firstTier.increment == other.firstTier.increment
      && initial == other.initial && fee == other.fee && minimumCharge == other.minimumCharge && grace == other.grace
      && freeSeconds == other.freeSeconds && maximumCost == other.maximumCost
      && maximumCostStrategy == other.maximumCostStrategy && secondsLimit == other.secondsLimit
      && tolerance == other.tolerance && rounding == other.rounding
  }
}

// MARK: - Canonical text
//
// deck|prefix|destination|currency|policy|from;class;initial;fee;minimum;grace;free;maximum;strategy;limit;tolerance;rounding;tier,tier
// where a tier is second:rate:increment. Prices are nano-units; `|`, `;` and `%` inside names are percent-escaped.

extension RateSnapshot {
  private static func canonicalText(
    deck: String, prefix: String, destination: String, currency: Currency, segments: [Segment],
    boundaryPolicy: BoundaryPolicy
  ) -> String {
    var text = "\(escaped(deck))|\(prefix)|\(escaped(destination))|\(currency)|\(boundaryPolicy.rawValue)"
    text.reserveCapacity(text.utf8.count + 96 * segments.count)
    for segment in segments {
      let tariff = segment.tariff
      text += "|\(segment.from == .distantPast ? "-" : String(segment.from.milliseconds));\(escaped(segment.timeClass))"
      text += ";\(tariff.initial);\(tariff.fee);\(tariff.minimumCharge);\(tariff.grace);\(tariff.freeSeconds)"
      text += ";\(tariff.maximumCost.map { "\($0)" } ?? "-");\(tariff.maximumCostStrategy.rawValue)"
      text += ";\(tariff.secondsLimit);\(tariff.tolerance);\(tariff.rounding.rawValue);"
      for (index, tier) in tariff.tiers.enumerated() {
        text += "\(index > 0 ? "," : "")\(tier.fromSecond):\(tier.ratePerMinute):\(tier.increment)"
      }
    }
    return text
  }

  private static func escaped(_ text: String) -> String {
    func mustEscape(_ byte: UInt8) -> Bool {
      byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "|") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "%")
    }
    guard text.utf8.contains(where: mustEscape) else { return text }
    var result: [UInt8] = []
    for byte in text.utf8 {
      if mustEscape(byte) {
        result.append(UInt8(ascii: "%"))
        result.append(contentsOf: (byte < 16 ? "0" : "").utf8)
        result.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func unescaped(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard rest.count >= 2, let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      result.append(code)
      rest = rest.dropFirst(2)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Reads the canonical text back.
  /// - Throws: ``InvalidValue`` with rule `snapshot.text`: the stored row was altered or is from another version.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    let unreadable = InvalidValue(
      kind: "rate snapshot", rule: "snapshot.text", offset: nil, problem: "the stored text cannot be read",
      accepted: "the canonical text of a snapshot")
    let fields = Substring(text).split(separator: "|", omittingEmptySubsequences: false)
    guard fields.count >= 6, let deck = RateSnapshot.unescaped(fields[0]),
      let destination = RateSnapshot.unescaped(fields[2]), let policy = BoundaryPolicy(rawValue: String(fields[4]))
    else { throw unreadable }
    var segments: [Segment] = []
    for field in fields[5...] {
      let parts = field.split(separator: ";", omittingEmptySubsequences: false)
      guard parts.count == 13, let name = RateSnapshot.unescaped(parts[1]),
        let strategy = Tariff.MaximumCostStrategy(rawValue: String(parts[8])),
        let rounding = Tariff.Rounding(rawValue: String(parts[11]))
      else { throw unreadable }
      func number(_ index: Int) throws(InvalidValue) -> Int64 {
        guard let value = Int64(parts[index]) else { throw unreadable }
        return value
      }
      var tiers: [Tariff.Tier] = []
      for tier in parts[12].split(separator: ",", omittingEmptySubsequences: false) {
        let numbers = tier.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let from = numbers[0], let rate = numbers[1], let increment = numbers[2] else {
          throw unreadable
        }
        tiers.append(Tariff.Tier(fromSecond: from, ratePerMinute: NanoUnits(rate), increment: increment))
      }
      var maximumCost: NanoUnits?
      if parts[7] != "-" { maximumCost = NanoUnits(try number(7)) }
      let tariff = try Tariff(
        tiers: tiers, initial: try number(2), fee: NanoUnits(try number(3)), minimumCharge: NanoUnits(try number(4)),
        grace: try number(5), freeSeconds: try number(6), maximumCost: maximumCost, maximumCostStrategy: strategy,
        secondsLimit: try number(9), tolerance: try number(10), rounding: rounding)
      let from = parts[0] == "-" ? Instant.distantPast : Instant(milliseconds: try number(0))
      segments.append(Segment(from: from, timeClass: name, tariff: tariff))
    }
    try self.init(
      deck: deck, prefix: String(fields[1]), destination: destination, currency: try Currency(fields[3]),
      segments: segments, boundaryPolicy: policy)
    guard self.text == text else { throw unreadable }
  }
}
