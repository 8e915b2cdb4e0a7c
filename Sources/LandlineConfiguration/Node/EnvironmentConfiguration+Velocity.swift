internal import CallEngine
internal import CallModel

extension EnvironmentConfiguration {
  /// What `countries` and `sip-hosts` say to allow every one.
  static let any = "any"

  /// Countries that accounts may call, and what they may do within an hour.
  mutating func readReach(_ section: ConfigurationSection) {
    if let entries = section.texts("countries", atMost: EnvironmentConfiguration.maximumCountries) {
      if entries.contains(where: { $0.text == EnvironmentConfiguration.any }) {
        countries = .any
      } else {
        countries = .listed(
          Set(entries.compactMap { section.entry("countries", $0, EnvironmentConfiguration.country) }).sorted())
      }
    }
    if section.has("velocity") {
      velocity = section.sections("velocity", atMost: EnvironmentConfiguration.maximumVelocityRules).compactMap {
        VelocityRule($0)
      }
    }
  }

  private static func country(_ text: String) throws(InvalidValue) -> Int {
    guard let code = Int(text), String(code) == text, CountryCallingCode.isCountry(code) else {
      throw InvalidValue(
        kind: "country code", rule: "country.code", offset: nil,
        problem: "'\(CallFailure.shortened(text))' is no country code",
        accepted: "E.164 country codes such as 46, or any")
    }
    return code
  }
}

extension VelocityRule {
  /// One entry of `velocity`.
  fileprivate init?(_ section: ConfigurationSection) {
    defer { section.finish() }
    let party = section.choice("of", Party.self)
    let destinations = section.choice("to", Destinations.self)
    let consequence = section.choice("then", Consequence.self)
    for key in ["of", "to", "then"] { _ = section.requiredText(key) }
    let calls = section.number("calls", in: EnvironmentConfiguration.velocityCallsRange)
    let spend = section.value("spend", EnvironmentConfiguration.positiveAmount)
    if !section.has("calls"), !section.has("spend") {
      section.addProblem("limits nothing: 'calls', 'spend' or both are needed", at: nil)
    }
    guard let party, let destinations, let consequence, calls != nil || spend != nil else { return nil }
    self.init(party, to: destinations, calls: calls, spendMicro: spend, then: consequence)
  }
}
