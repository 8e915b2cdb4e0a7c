import CallModel
import LedgerCore

/// The cap options of a command line; `nil` leaves a cap as it is, `none` lifts it.
package struct CapOptions: Sendable {
  package var concurrent: String?
  package var perSecond: String?
  package var perCall: String?
  package var perDay: String?
  package var highestRate: String?
  package var countries: String?

  /// What allows every country; `none` takes the account's own list away.
  static let anyCountry = "any"

  /// Calls at a time or in a second that a cap may allow.
  static let maximumCount: Int64 = 1_000_000

  package init(
    concurrent: String? = nil, perSecond: String? = nil, perCall: String? = nil, perDay: String? = nil,
    highestRate: String? = nil, countries: String? = nil
  ) {
    self.concurrent = concurrent
    self.perSecond = perSecond
    self.perCall = perCall
    self.perDay = perDay
    self.highestRate = highestRate
    self.countries = countries
  }

  var isEmpty: Bool {
    concurrent == nil && perSecond == nil && perCall == nil && perDay == nil && highestRate == nil && countries == nil
  }

  /// `caps` with the options' changes.
  func applied(to caps: AccountCaps) throws -> AccountCaps {
    func change<Value>(_ text: String?, _ value: inout Value?, _ parse: (String) throws -> Value) throws {
      if let text { value = text == "none" ? nil : try parse(text) }
    }
    var caps = caps
    try change(concurrent, &caps.concurrentCalls) { try count($0, "--concurrent") }
    try change(perSecond, &caps.callsPerSecond) { try count($0, "--per-second") }
    try change(perCall, &caps.perCall) { try Arguments.limit($0, "--per-call") }
    try change(perDay, &caps.perDay) { try Arguments.limit($0, "--per-day") }
    try change(highestRate, &caps.highestRate) { text in
      let rate = try Arguments.value("--highest-rate") { () throws(InvalidValue) in
        try NanoUnits(parsing: text, kind: "rate")
      }
      guard (0...Tariff.maximumPrice).contains(rate) else {
        throw ConsoleError.usage(
          "rate.range", "rate: out of range", at: "--highest-rate",
          fix: "0 to \(Tariff.maximumPrice.decimal), or none")
      }
      return rate
    }
    try change(countries, &caps.countries) { text in
      if text == CapOptions.anyCountry { return CountryCallingCode.countries }
      let codes = try text.split(separator: ",", omittingEmptySubsequences: false).map { code in
        guard let value = Int(code), CountryCallingCode.isCountry(value), String(value) == code else {
          throw ConsoleError.usage(
            "countries.code", "country code: \(code.isEmpty ? "nothing is there" : "\"\(code)\" is none")",
            at: "--countries", fix: "country codes such as 46,47 (1876 for Jamaica), or any, or none")
        }
        return value
      }
      guard codes.count <= AccountCaps.maximumCountries else {
        throw ConsoleError.usage(
          "countries.count", "more than \(AccountCaps.maximumCountries) country codes", at: "--countries")
      }
      return AccountCaps(countries: codes).countries ?? []
    }
    return caps
  }

  private func count(_ text: String, _ argument: String) throws -> Int64 {
    guard let value = Int64(text), (0...CapOptions.maximumCount).contains(value) else {
      throw ConsoleError.usage(
        "cap.count", "cap: not a whole number in range", at: argument, fix: "0 to \(CapOptions.maximumCount), or none")
    }
    return value
  }
}
