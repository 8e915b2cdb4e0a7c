internal import CallModel
internal import SIPCore

extension TrunkConfiguration {
  /// Most further addresses that a trunk's calls may come from.
  public static let maximumSources = 64

  private enum NumberFormat: String, CaseIterable {
    case e164
    case national
  }

  /// What is believed of calls that the trunk sends, and what it may ask for.
  static func inbound(_ section: ConfigurationSection) -> InboundTrunkPolicy {
    defer { section.finish() }
    var policy = InboundTrunkPolicy()
    policy.trustsIdentity = section.flag("trusts-identity") ?? false
    let format = section.choice("numbers", NumberFormat.self) ?? .e164
    let country = section.value("country", TrunkConfiguration.countryCode)
    switch format {
    case .e164:
      if section.has("country") {
        section.addProblem("country", "has no use where numbers have their country code", fix: "numbers: national")
      }
    case .national:
      if let country {
        policy.numberFormat = .national(countryCode: country)
      } else if !section.has("country") {
        section.addProblem("numbers", "are national, and 'country' does not say of which", fix: "country: 46")
      }
    }
    section.retired("transfers", "stands beside 'inbound' now, for calls both ways: 'transfers: true'")
    policy.takesForeignCallers = section.flag("foreign-callers") ?? false
    policy.sources = (section.texts("sources", atMost: maximumSources) ?? []).compactMap {
      section.entry("sources", $0, TrunkConfiguration.source)
    }
    return policy
  }

  private static func countryCode(_ text: String) throws(InvalidValue) -> Int {
    guard let code = Int(text), String(code) == text, CountryCallingCode.isAssigned(code) else {
      throw InvalidValue(
        kind: "country code", rule: "country.code", offset: nil,
        problem: "'\(CallFailure.shortened(text))' is no country code", accepted: "an E.164 country code such as 46")
    }
    return code
  }

  private static func source(_ text: String) throws(InvalidValue) -> SIPHost {
    let host = try? SIPHost(unbracketed: text)
    if let host, case .name = host {} else if let host { return host }
    throw InvalidValue(
      kind: "source", rule: "trunk.source", offset: nil, problem: "it is no numeric address",
      accepted: "an address that the trunk's calls come from, such as 192.0.2.10 or \"2001:db8::10\"")
  }
}
