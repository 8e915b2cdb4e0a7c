import CallModel
import LedgerCore
import NodeCore
import NumberPlan

/// What is known of a number before it is called.
struct NumberHint: Sendable {
  var target: String
  var number: TypedNumber
  /// Who would pay; `nil` where nobody is known.
  var account: LedgerAccount?
  var quote: NumberQuote?
  /// Country calling codes that an account without a list of its own may call; `nil` for every one.
  var defaultCountries: [Int]?

  func tree(at now: Instant) -> JSONValue {
    var canonical: String?
    var (isValid, description, region): (Bool, String?, String?) = (false, nil, nil)
    var problem = JSONValue.null
    switch number {
    case .number(let number):
      let advice = NumberPlan.advice(for: number)
      canonical = "\(number)"
      isValid = test != nil || advice.isValid
      description = test == nil ? NumberText.describe(advice) : "Test number"
      region = test == nil ? advice.region : nil
    case .emergency(let number):
      canonical = number.code
      isValid = true
      description = "Emergency services"
    case .problem(let message, let accepted, let position):
      problem = .members([
        ("message", .string(message)), ("accepted", .string(accepted)),
        ("position", .integer(optional: position.map { Int64($0) })),
      ])
    }
    return .members(
      [
        ("target", .string(target)), ("canonical", .string(optional: canonical)), ("is_valid", .boolean(isValid)),
        ("description", .string(optional: description)), ("region", .string(optional: region)),
        ("is_test", .boolean(test != nil)), ("test", .string(optional: test)), ("price", price(now)),
      ] + RESTTrees.money("available", account?.available) + [
        ("seconds_available", .integer(optional: seconds(now))),
        ("refusal", refusal(now).map(NumberHint.tree) ?? .null), ("problem", problem),
      ])
  }

  private var test: String? {
    switch quote {
    case .test(let number): return NumberText.describe(number)
    case .sandbox(let number): return NumberText.describe(number)
    case .rated, .refused, nil:
      // Nobody pays for these, so nobody need be known.
      if case .number(let number) = number { return number.testNumber.map { NumberText.describe($0) } }
      return nil
    }
  }

  private func price(_ now: Instant) -> JSONValue {
    guard let account else { return .null }
    switch (number, quote) {
    case (.emergency, _), (_, .test), (_, .sandbox):
      return NumberHint.price(test == nil ? "Emergency services" : "Test number", 0, 0, 0, 1, account.currency)
    case (_, .rated(let snapshot)):
      let tariff = snapshot.segment(at: now).tariff
      guard let tier = tariff.tiers.first else { return .null }
      return NumberHint.price(
        snapshot.destination, tier.ratePerMinute, tariff.fee, tariff.initial, tier.increment, snapshot.currency)
    case (_, .refused), (_, nil): return .null
    }
  }

  private static func price(
    _ destination: String, _ rate: NanoUnits, _ fee: NanoUnits, _ initial: Int64, _ increment: Int64,
    _ currency: Currency
  ) -> JSONValue {
    .members(
      [
        ("destination", .string(destination)),
        ("per_minute", .string(rate.decimal)),
        ("per_minute_nano", .integer(rate.count)),
      ] + RESTTrees.money("fee", fee.roundedUp) + [
        ("initial_seconds", .integer(initial)), ("increment_seconds", .integer(increment)),
        ("currency", .string("\(currency)")),
      ])
  }

  /// How long the credit lasts; `nil` for what costs nothing.
  private func seconds(_ now: Instant) -> Int64? {
    guard case .rated(let snapshot)? = quote, let account, NumberHint.costs(snapshot, now) else { return nil }
    return snapshot.secondsBought(by: max(.zero, account.available), answeredAt: now)
  }

  private static func costs(_ snapshot: RateSnapshot, _ now: Instant) -> Bool {
    let tariff = snapshot.segment(at: now).tariff
    return snapshot.highestRatePerMinute > .zero || tariff.fee > .zero || tariff.minimumCharge > .zero
  }

  /// Why a call would be refused, in the ledger's own order.
  private func refusal(_ now: Instant) -> LedgerRefusal? {
    guard let account, case .number(let number) = number else { return nil }
    switch account.status {
    case .closing, .closed: return .accountClosed
    case .locked: return .accountLocked
    case .open: break
    }
    if case .refused(let refusal)? = quote { return refusal }
    guard case .rated(let snapshot)? = quote else { return nil }
    if let countries = account.caps.countries ?? defaultCountries, !countries.contains(number.country) {
      return .countryNotAllowed
    }
    if let highest = account.caps.highestRate, snapshot.highestRatePerMinute > highest { return .rateTooHigh }
    return seconds(now) == 0 ? .insufficientCredit : nil
  }

  private static func tree(_ refusal: LedgerRefusal) -> JSONValue {
    let code = ProblemCode(refusal)
    return .members([("code", .string(code.name)), ("message", .string(code.title))])
  }
}
