public import CallModel

/// The price of a number under a plan at an instant: a function of its arguments alone.
public enum Rating {
  /// Longest time after the quote for which changes of time class are looked up, in seconds: the longest call and an
  /// hour of ringing. Later parts of a call keep the last class.
  public static let maximumHorizon: Int64 = 90_000
  /// Longest call to a test number where the caller names no other, in seconds.
  public static let testNumberSeconds: Int64 = 15

  /// Freezes the price of a call.
  ///
  /// The operator's ranges are looked at first, then ``SpecialRateRanges/shipped``, then the plan's decks in their order;
  /// windows of effectiveness are judged at `instant` for the whole call.
  /// - Parameters:
  ///   - account: currency of the payer.
  ///   - horizon: seconds after `instant` within which the call may still be answered or go on; cut to
  ///     ``maximumHorizon``.
  /// - Throws: ``RatingRefusal``.
  public static func quote(
    _ number: NumberDigits, plan: RatePlan, account: Currency, denyRanges: DenyRanges = .none, at instant: Instant,
    horizon: Int64 = Rating.maximumHorizon
  ) throws(RatingRefusal) -> RateSnapshot {
    var steps: [RatingTrace.Step]?
    return try quote(
      number, plan: plan, account: account, denyRanges: denyRanges, at: instant, horizon: horizon, steps: &steps)
  }

  /// The same with every step written down.
  public static func explain(
    _ number: NumberDigits, plan: RatePlan, account: Currency, denyRanges: DenyRanges = .none, at instant: Instant,
    horizon: Int64 = Rating.maximumHorizon
  ) -> RatingTrace {
    var steps: [RatingTrace.Step]? = []
    let outcome: Result<RateSnapshot, RatingRefusal>
    do throws(RatingRefusal) {
      outcome = .success(
        try quote(
          number, plan: plan, account: account, denyRanges: denyRanges, at: instant, horizon: horizon, steps: &steps))
    } catch {
      outcome = .failure(error)
    }
    return RatingTrace(steps: steps ?? [], outcome: outcome)
  }

  /// The price of a number that is free whatever the decks say: no plan and no deny range is asked.
  /// - Parameters:
  ///   - limit: longest call in seconds; `nil` for no own limit to an emergency call and ``testNumberSeconds`` to a
  ///     test number.
  /// - Throws: ``RatingRefusal/unpriceable(_:)`` when the limit is out of range.
  public static func free(
    _ number: NumberDigits, as kind: FreeNumber, account: Currency, limit: Int64? = nil
  ) throws(RatingRefusal) -> RateSnapshot {
    do {
      let seconds = limit ?? (kind == .test ? testNumberSeconds : Tariff.maximumSeconds)
      let tariff = try Tariff(
        tiers: [Tariff.Tier(fromSecond: 0, ratePerMinute: 0, increment: 1)], initial: 0, secondsLimit: seconds)
      return try RateSnapshot(
        deck: kind.rawValue, prefix: number.description, destination: kind.rawValue, currency: account, tariff: tariff)
    } catch {
      throw .unpriceable(error)
    }
  }

  /// The same with its one step written down.
  public static func explainFree(
    _ number: NumberDigits, as kind: FreeNumber, account: Currency, limit: Int64? = nil
  ) -> RatingTrace {
    let outcome: Result<RateSnapshot, RatingRefusal>
    do throws(RatingRefusal) {
      outcome = .success(try free(number, as: kind, account: account, limit: limit))
    } catch {
      outcome = .failure(error)
    }
    return RatingTrace(steps: [.free(kind)], outcome: outcome)
  }

  private static func quote(
    _ number: NumberDigits, plan: RatePlan, account: Currency, denyRanges: DenyRanges, at instant: Instant,
    horizon: Int64, steps: inout [RatingTrace.Step]?
  ) throws(RatingRefusal) -> RateSnapshot {
    let named = denyRanges.match(number)
    steps?.append(.denyRanges(prefix: named?.prefix, ruling: named?.ruling))
    if case .denied(let reason)? = named?.ruling { throw .destinationBlocked(reason) }
    let special = named == nil ? SpecialRateRanges.shipped.match(number) : nil
    if let special { steps?.append(.specialRate(special)) }
    steps?.append(.currency(plan: plan.currency, account: account))
    guard plan.currency == account else { throw .currencyMismatch(plan: plan.currency, account: account) }
    var tooShort: SpecialRateRanges.Range?
    for entry in plan.entries {
      let index = entry.index
      steps?.append(.deck(label: index.deck.label, rows: index.deck.rows.count))
      let match = index.match(number, at: instant)
      let isBlocked = match.map { index.isBlocked($0) } ?? false
      // Whoever prices a country has not priced what is dear in it.
      let refused = match.flatMap { match in special.flatMap { match.prefix.count < $0.prefix.count ? $0 : nil } }
      if steps != nil {
        let outcome: RatingTrace.PrefixOutcome =
          isBlocked ? .blocked : refused != nil ? .tooShortForSpecialRate : .chosen
        steps?.append(contentsOf: candidates(number, index: index, chosen: match, outcome, at: instant))
      }
      guard let match else { continue }
      if isBlocked { throw .destinationBlocked(.deck) }
      // A later deck may have a price for the range.
      if let refused {
        tooShort = refused
        continue
      }
      return try snapshot(match, entry: entry, at: instant, horizon: horizon, steps: &steps)
    }
    if let tooShort { throw .destinationBlocked(tooShort.reason) }
    throw .noRate
  }

  private static func candidates(
    _ number: NumberDigits, index: RateIndex, chosen: RateMatch?, _ chosenOutcome: RatingTrace.PrefixOutcome,
    at instant: Instant
  ) -> [RatingTrace.Step] {
    index.candidates(number, at: instant).map { candidate in
      let outcome: RatingTrace.PrefixOutcome
      if candidate.match == chosen {
        outcome = chosenOutcome
      } else if candidate.isInForce {
        outcome = .shorter
      } else {
        let window = index.window(of: candidate.match)
        outcome = .notInForce(
          from: window.from == .min ? nil : Instant(milliseconds: window.from),
          until: window.until == .max ? nil : Instant(milliseconds: window.until))
      }
      return .prefix(candidate.match.prefix, name: index.name(of: candidate.match), outcome)
    }
  }

  private static func snapshot(
    _ match: RateMatch, entry: RatePlan.Entry, at instant: Instant, horizon: Int64,
    steps: inout [RatingTrace.Step]?
  ) throws(RatingRefusal) -> RateSnapshot {
    let index = entry.index
    let classes = index.deck.timeClasses
    let seconds = min(max(horizon, 0), maximumHorizon)
    let end = instant.advanced(byMilliseconds: seconds * 1000)
    if entry.multiplier != RatePlan.unchanged { steps?.append(.multiplier(entry.multiplier)) }
    do throws(InvalidValue) {
      var segments: [RateSnapshot.Segment] = []
      var lastPriced: Int?
      // One price for every class needs no look at the zone, unless somebody reads the steps.
      let boundaries =
        steps == nil && !index.hasNamedClass(match)
        ? [TimeClasses.Boundary(from: instant, timeClass: 0)] : classes.boundaries(from: instant, until: end)
      for boundary in boundaries {
        guard let priced = index.pricedClass(match, for: boundary.timeClass),
          let tariff = index.tariff(of: match, timeClass: priced)
        else { throw unpriced(classes.names[boundary.timeClass]) }
        let name = classes.names[priced]
        steps?.append(.timeClass(from: boundary.from, name: classes.names[boundary.timeClass], pricedAs: name))
        if priced == lastPriced { continue }
        lastPriced = priced
        let scaled = try tariff.scaled(byBasisPoints: entry.multiplier)
        steps?.append(.tariff(timeClass: name, scaled))
        segments.append(
          RateSnapshot.Segment(
            from: segments.isEmpty ? .distantPast : boundary.from, timeClass: name, tariff: scaled))
      }
      return try RateSnapshot(
        deck: index.deck.label, prefix: match.prefix.description, destination: index.name(of: match),
        currency: index.deck.currency, segments: segments, boundaryPolicy: index.boundaryPolicy(of: match))
    } catch {
      throw .unpriceable(error)
    }
  }

  private static func unpriced(_ name: String) -> InvalidValue {
    InvalidValue(
      kind: "rate", rule: "deck.class-gap", offset: nil, problem: "no price for the time class \(name)",
      accepted: "a row for each time class, or one of the class \(TimeClasses.standardName)")
  }
}
