import CallModel
import LedgerCore
import RoutingCore

/// A price with its derivation: which deck and prefix, how many seconds are billed, what they cost, what the credit buys.
struct RateExplanation {
  var number: NumberDigits
  var account: LedgerAccount
  var plan: String
  var trace: RatingTrace
  var milliseconds: Int64
  var at: Instant
  /// Countries that the account may call without a list of its own; `nil` for every one.
  var defaultCountries: [Int]?

  func answer(asOf head: LedgerHead) throws -> Answer {
    var lines = path()
    var members: [(String, JSONValue)] = [
      ("number", .string("\(number)")), ("account", .string(account.name)), ("plan", .string(plan)),
      ("at", .string("\(at)")),
    ]
    var record = Listing([
      Column("number"), Column("account"), Column("plan"), Column("deck"), Column("prefix"), Column("destination"),
      Column("currency"), Column("rate", .rate), Column("fee", .rate), Column("initial_seconds", .number),
      Column("increment_seconds", .number), Column("duration_ms", .number), Column("billed_seconds", .number),
      Column("cost", .amount), Column("credit_seconds", .number), Column("granted_seconds", .number),
      Column("refusal"),
    ])
    var refusal: String?
    switch trace.outcome {
    case .failure(let reason):
      refusal = reason.name
      lines.append("refused: \(reason.description)")
      record.rows = [
        [.text("\(number)"), .text(account.name), .text(plan)] + [Cell](repeating: .absent, count: 13) + [
          .text(reason.name)
        ]
      ]
    case .success(let snapshot):
      let tariff = snapshot.segment(at: at).tariff
      let billed = snapshot.billedSeconds(milliseconds: milliseconds, answeredAt: at)
      let cost = try account.credits(snapshot.cost(milliseconds: milliseconds, answeredAt: at))
      let credit = snapshot.secondsBought(by: max(0, account.available), answeredAt: at)
      lines += rateLines(snapshot)
      lines.append(costLine(snapshot, tariff, billed: billed, cost: cost))
      let (limit, limitName) = longest(snapshot)
      let granted = min(credit, limit)
      lines.append(
        "\(try account.credits(account.available)) buys \(TableText.grouped(credit)) s"
          + (credit > limit ? " (capped to \(TableText.grouped(limit)) s by \(limitName))" : ""))
      refusal = capRefusal(snapshot)?.rawValue
      if let problem = capRefusal(snapshot) { lines.append("refused all the same: \(problem.explanation)") }
      record.rows = [
        [
          .text("\(number)"), .text(account.name), .text(plan), .text(snapshot.deck), .text(snapshot.prefix),
          .text(snapshot.destination), .text("\(snapshot.currency)"), .rate(tariff.tiers[0].ratePerMinute),
          .rate(tariff.fee), .integer(tariff.initial), .integer(tariff.tiers[0].increment), .integer(milliseconds),
          .integer(billed), .amount(cost), .integer(credit), .integer(granted), .text(optional: refusal),
        ]
      ]
    }
    members = record.rows.first.map(record.members) ?? members
    members.append(("steps", .array(path().map { .string($0) })))
    var answer = Answer(blocks: lines.map { .line($0) }, members: members, records: record, asOf: head)
    if refusal != nil { answer.status = .refused }
    return answer
  }

  /// `plan eu-retail → deck retail-eu@2026-11-01 → prefix 4670 (length 4 of 11) "Sweden mobile"`
  private func path() -> [String] {
    var steps = ["plan \(plan)"]
    var notes: [String] = []
    var special: SpecialRateRanges.Range?
    for step in trace.steps {
      switch step {
      case .denyRanges(let prefix?, .denied(let reason)?): notes.append("deny range \(prefix) (\(reason.rawValue))")
      case .denyRanges(let prefix?, .allowed?):
        notes.append("range \(prefix) is allowed, whatever the number plan says")
      case .specialRate(let range):
        notes.append(
          "\(range.prefix) is a dear range of the number plan (\(range.reason.rawValue); \(SpecialRateRanges.source)): "
            + "a price for \(range.prefix) or for a part of it counts, one for a shorter prefix does not")
        special = range
      case .deck(let label, _): steps.append("deck \(label)")
      case .prefix(let prefix, let name, .chosen):
        steps.append("prefix \(prefix) (length \(prefix.count) of \(number.count)) \"\(name)\"")
      case .prefix(let prefix, let name, .tooShortForSpecialRate):
        steps.append("prefix \(prefix) \"\(name)\", too short for a dear range")
      case .prefix(let prefix, let name, .blocked): steps.append("prefix \(prefix) \"\(name)\", blocked")
      case .prefix(let prefix, let name, .notInForce(let from, let until)):
        notes.append(
          "prefix \(prefix) \"\(name)\" is in force \(from.map { "from \($0)" } ?? "")"
            + "\(from != nil && until != nil ? " " : "")\(until.map { "until \($0)" } ?? "")")
      case .prefix(_, _, .shorter), .denyRanges, .currency, .timeClass, .tariff: break
      case .multiplier(let basisPoints): notes.append("prices × \(DecimalText.format(basisPoints, scale: 4))")
      // Such a number is matched before any plan is asked.
      case .free(let kind): return ["\(number) → free as \(kind.article) number"]
      }
    }
    if let special, case .failure(.destinationBlocked(special.reason)) = trace.outcome {
      notes.append(
        "to call it: a row for \(special.prefix) in a deck of the plan, or landline deny allow \(special.prefix)")
    }
    return [steps.joined(separator: " → ")] + notes
  }

  private func rateLines(_ snapshot: RateSnapshot) -> [String] {
    let named = snapshot.segments.count > 1
    return snapshot.segments.flatMap { segment in
      let tariff = segment.tariff
      var lines: [String] = []
      for (index, tier) in tariff.tiers.enumerated() {
        var parts = ["rate \(tier.ratePerMinute.decimal) \(snapshot.currency)/min"]
        if index == 0 {
          parts += ["fee \(Self.short(tariff.fee))", "initial \(tariff.initial) s", "increment \(tier.increment) s"]
          if tariff.grace > 0 { parts.append("grace \(tariff.grace) s") }
          if tariff.freeSeconds > 0 { parts.append("free \(tariff.freeSeconds) s") }
          if tariff.minimumCharge > 0 { parts.append("at least \(Self.short(tariff.minimumCharge))") }
          if let most = tariff.maximumCost { parts.append("at most \(Self.short(most))") }
          parts.append("rounding \(tariff.rounding.rawValue), once, scale \(MicroUnits.scale)")
        } else {
          parts += ["from second \(tier.fromSecond)", "increment \(tier.increment) s"]
        }
        let from = segment.from == .distantPast ? "" : " from \(segment.from)"
        lines.append((named ? "\(segment.timeClass)\(from): " : "") + parts.joined(separator: "  "))
      }
      return lines
    }
  }

  /// `63.412 s → billed 64 s → 64 × 0.0145 / 60 = 0.015466666… → 0.015467 EUR`
  private func costLine(_ snapshot: RateSnapshot, _ tariff: Tariff, billed: Int64, cost: Credits) -> String {
    let seconds = DecimalText.format(milliseconds, scale: 3)
    let counted = tariff.seconds(ofMilliseconds: milliseconds)
    guard counted > tariff.grace || milliseconds == 0 else {
      return "\(seconds) s is within the grace of \(tariff.grace) s → \(cost)"
    }
    var text = "\(seconds) s → billed \(billed) s → "
    let isPlain = tariff.tiers.count == 1 && (snapshot.boundaryPolicy == .atAnswer || snapshot.segments.count == 1)
    if isPlain, milliseconds > 0 {
      let fee = tariff.fee > .zero ? "\(Self.short(tariff.fee)) + " : ""
      let rate = tariff.tiers[0].ratePerMinute
      let exact = tariff.fee.sixtieths + rate.cost(ofSeconds: billed)
      text += "\(fee)\(billed) × \(Self.short(rate)) / 60 = \(Self.exact(exact))"
      let charged = tariff.exactCost(seconds: counted)
      if charged != exact { text += " → \(charged > exact ? "at least" : "at most") \(Self.exact(charged))" }
      text += " → "
    }
    return text + "\(cost)"
  }

  /// Without zeros at the end.
  static func short(_ nanos: NanoUnits) -> String {
    var text = nanos.decimal
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// As a decimal; dots where it does not end.
  static func exact(_ cost: NanoSixtieths) -> String {
    // A sixtieth needs two more decimals where it ends at all.
    let (quotient, rest) = cost.count.quotientAndRemainder(dividingBy: 60)
    let nanos = NanoUnits(quotient)
    if rest % 3 != 0 { return nanos.decimal + "…" }
    guard rest > 0 else { return short(nanos) }
    var text = DecimalText.format(quotient * 100 + rest * 100 / 60, scale: NanoUnits.scale + 2)
    while text.hasSuffix("0") { text.removeLast() }
    return text
  }

  /// The longest call that may be granted, and what limits it.
  private func longest(_ snapshot: RateSnapshot) -> (seconds: Int64, name: String) {
    var longest = (seconds: CallOperation.Authorisation.defaultMaximumSeconds, name: "max call")
    if snapshot.secondsLimit < longest.seconds { longest = (snapshot.secondsLimit, "the deck's longest call") }
    if let perCall = account.caps.perCall {
      let seconds = snapshot.secondsBought(by: perCall, answeredAt: at)
      if seconds < longest.seconds {
        longest = (seconds, "the cap of \(perCall.decimal) a call")
      }
    }
    return longest
  }

  /// A refusal that the price itself does not bring.
  private func capRefusal(_ snapshot: RateSnapshot) -> LedgerRefusal? {
    if trace.steps == [.free(.emergency)] { return account.status == .closed ? .accountClosed : nil }
    switch account.status {
    case .closing, .closed: return .accountClosed
    case .locked: return .accountLocked
    case .open: break
    }
    if let countries = account.caps.countries ?? defaultCountries, let code = try? E164Number("+\(number)").country,
      !countries.contains(code)
    {
      return .countryNotAllowed
    }
    if let highest = account.caps.highestRate, snapshot.highestRatePerMinute > highest { return .rateTooHigh }
    return nil
  }
}
