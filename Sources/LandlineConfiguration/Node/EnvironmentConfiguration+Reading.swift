internal import AppProtocol
internal import CallEngine
internal import CallModel
internal import Foundation

extension EnvironmentConfiguration {
  /// - Parameters:
  ///   - folder: Where relative names of secret files start.
  ///   - state: Where relative names of ledgers start.
  ///   - known: Names of the file's trunks.
  init?(_ name: String, reading section: ConfigurationSection, folder: URL, state: URL, trunks known: [String]) {
    defer { section.finish() }
    let ledger = section.text("ledger") ?? "\(name).ledger"
    self.init(name: name, ledger: URL(fileURLWithPath: ledger, relativeTo: state).path)
    if let cache = section.number("ledger-cache", in: EnvironmentConfiguration.ledgerCacheRange) {
      ledgerCacheMebibytes = cache
    }
    if let amount = section.value("largest-amount", EnvironmentConfiguration.positiveAmount) {
      largestAmountMicros = amount
    }
    recordings = section.text("recordings").map { URL(fileURLWithPath: $0, relativeTo: state).path }
    recordingKeyFile = section.text("recording-key-file").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    if let space = section.number("recording-space", in: EnvironmentConfiguration.recordingSpaceRange) {
      recordingMebibytes = space
    }
    sounds = section.text("sounds").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    speaks = section.flag("speech") ?? true
    trunks = EnvironmentConfiguration.trunks(section, known: known)
    hasSandboxNumbers = section.flag("sandbox-numbers") ?? false
    readSIP(section)
    readReach(section)
    if let emergency = section.section("emergency") { readEmergency(emergency, known: known) }
    if let length = section.number("user-length", in: 1...UserID.Rules.largestMaximumLength) {
      usersMaximumLength = length
    }
    if let schemes = EnvironmentConfiguration.registration(section) { registration = schemes }
    for entry in section.named("applications", atMost: EnvironmentConfiguration.maximumApplications) {
      if let application = ApplicationConfiguration(entry.name, reading: entry.section, folder: folder) {
        applications.append(application)
      }
    }
    for entry in section.named("operators", atMost: EnvironmentConfiguration.maximumOperators) {
      if let person = OperatorConfiguration(entry.name, reading: entry.section, folder: folder) {
        operators.append(person)
      }
    }
    for entry in section.named("owners", atMost: EnvironmentConfiguration.maximumOwners) {
      if let person = OwnerConfiguration(entry.name, reading: entry.section, folder: folder) { owners.append(person) }
    }
    readNumbers(section)
    readDeskPhones(section, folder: folder)
    guard EnvironmentConfiguration.isName(name) else {
      section.addProblem("the name is not 1 to 32 lower-case letters, digits and '-', starting with a letter", at: nil)
      return nil
    }
    if trunks.isEmpty, !section.has("trunks"), !hasSandboxNumbers {
      section.addProblem(
        "no call could go anywhere: name 'trunks', or set 'sandbox-numbers: true' to answer the test numbers", at: nil)
    }
  }

  /// An amount in any currency.
  static func positiveAmount(_ text: String) throws(InvalidValue) -> MicroUnits {
    let amount = try Credits(parsing: text, .eur).micros
    guard amount > .zero else {
      throw InvalidValue(
        kind: "amount", rule: "amount.positive", offset: nil, problem: "it is not above zero",
        accepted: "an amount above zero, such as 100000")
    }
    return amount
  }

  private mutating func readSIP(_ section: ConfigurationSection) {
    let entries = section.texts("sip-hosts", atMost: EnvironmentConfiguration.maximumSIPHosts) ?? []
    sipHosts.reachesAny = entries.contains { $0.text == EnvironmentConfiguration.any }
    for entry in entries where entry.text != EnvironmentConfiguration.any {
      if let host = section.entry("sip-hosts", entry, EnvironmentConfiguration.sipHost) { sipHosts.listed.append(host) }
    }
    if let rate = section.value("sip-rate", { try NanoUnits(parsing: $0) }) {
      if (0...Tariff.maximumPrice).contains(rate) {
        sipRatePerMinute = rate
      } else {
        section.addProblem(
          "sip-rate",
          "is out of range; accepted: 0 to \(Tariff.maximumPrice.decimal) a minute"
        )
      }
    }
  }

  private mutating func readEmergency(_ section: ConfigurationSection, known: [String]) {
    defer { section.finish() }
    if let entries = section.texts("numbers", atMost: EnvironmentConfiguration.maximumEmergencyNumbers) {
      emergencyNumbers = Set(
        entries.compactMap { entry in
          section.entry("numbers", entry) { text throws(InvalidValue) in try EmergencyNumber(text, among: [text]).code }
        })
    }
    if let calls = section.number("calls", in: EnvironmentConfiguration.emergencyCallsRange) { emergencyCalls = calls }
    emergencyTrunks = EnvironmentConfiguration.trunks(section, known: known)
  }

  private static func trunks(_ section: ConfigurationSection, known: [String]) -> [String] {
    var trunks: [String] = []
    for entry in section.texts("trunks", atMost: EnvironmentConfiguration.maximumTrunks) ?? [] {
      let shown = CallFailure.shortened(entry.text)
      if trunks.contains(entry.text) {
        section.addProblem("trunks", "'\(shown)' stands here more than once")
      } else if known.contains(entry.text) {
        trunks.append(entry.text)
      } else {
        let hint = Spelling.nearest(to: entry.text, among: known).map { " (did you mean '\($0)'?)" } ?? ""
        section.addProblem("trunks", "there is no trunk '\(shown)'\(hint)")
      }
    }
    return trunks
  }

  /// What `registration` lists; `nil` where it is not there or no good.
  private static func registration(_ section: ConfigurationSection) -> Set<RegistrationScheme>? {
    let words = RegistrationScheme.allCases.map(\.rawValue)
    guard let entries = section.texts("registration", atMost: words.count) else { return nil }
    var schemes: Set<RegistrationScheme> = []
    for entry in entries {
      if let scheme = RegistrationScheme(rawValue: entry.text) {
        schemes.insert(scheme)
      } else {
        let hint = Spelling.nearest(to: entry.text, among: words).map { " (did you mean '\($0)'?)" } ?? ""
        section.addProblem(
          "registration",
          "'\(CallFailure.shortened(entry.text))' is none of \(words.joined(separator: ", "))\(hint)")
        return nil
      }
    }
    guard !schemes.isEmpty else {
      section.addProblem(
        "registration", "is empty: no app could register; accepted: [\(words.joined(separator: ", "))]")
      return nil
    }
    if !schemes.contains(.token) {
      section.warn("registration", "has no 'token': the phone on the gateway's own pages cannot register")
    }
    return schemes
  }

  private static func isName(_ text: String) -> Bool {
    guard (1...32).contains(text.utf8.count), let first = text.utf8.first else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return letters.contains(first)
      && text.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-") }
  }

  private static func sipHost(_ text: String) throws(InvalidValue) -> String {
    let endpoint = try AdvertisedEndpoint(text)
    guard endpoint.port == nil else {
      throw InvalidValue(
        kind: "host", rule: "environment.host", offset: nil, problem: "a port stands where only a host belongs",
        accepted: "a name or an address, such as sip.example.com")
    }
    return endpoint.host.description
  }
}

extension ApplicationConfiguration {
  init?(_ name: String, reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    _ = section.requiredText("key")
    let key = section.value("key", ApplicationConfiguration.key)
    let secret = ApplicationConfiguration.secret(section, folder: folder)
    _ = section.requiredText("account")
    let account = section.value("account") { try AccountName(validating: $0) }
    var numbers: [E164Number] = []
    for entry in section.texts("caller-numbers", atMost: EnvironmentConfiguration.maximumCallerNumbers) ?? [] {
      let number = section.entry("caller-numbers", entry) { text throws(InvalidValue) in try E164Number(text) }
      if let number { numbers.append(number) }
    }
    let busyRule = section.choice("busy", BusyRule.self) ?? .device
    section.retired(
      "self-signed",
      "is no setting any more: signatures are taken unless 'registration: [token]' stands in the environment")
    guard let key, let secret, let account else { return nil }
    self.init(
      name: name, key: key, secret: secret, account: account, callerNumbers: numbers, busyRule: busyRule)
    secretFile = section.text("secret-file").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    recording = RecordingOptions(reading: section, "apps-record")
  }

  private static func key(_ text: String) throws(InvalidValue) -> String {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    let isGUID =
      groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && groups.joined().utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
    guard isGUID else {
      throw InvalidValue(
        kind: "application key", rule: "application.key", offset: nil, problem: "it is no GUID in lower-case",
        accepted: "a GUID such as 5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90")
    }
    return text
  }

  /// The secret, inline or from a file; what is wrong never repeats it.
  private static func secret(_ section: ConfigurationSection, folder: URL) -> Redacted<String>? {
    let (inline, file) = (section.text("secret"), section.text("secret-file"))
    guard (inline == nil) != (file == nil) else {
      section.addProblem("one of 'secret' and 'secret-file' is needed", at: nil)
      return nil
    }
    let name = inline == nil ? "secret-file" : "secret"
    if inline != nil {
      section.warn("secret", "stands in the file itself; a 'secret-file' can be kept from others and rotated alone")
    }
    guard let text = inline ?? file.flatMap({ section.secret("secret-file", $0, folder: folder) }) else { return nil }
    guard Base64.decode(text.utf8)?.count == secretBytes else {
      section.addProblem(
        name, "is not the Base64 of \(secretBytes) bytes; accepted: 24 characters, as openssl rand -base64 16 prints")
      return nil
    }
    return Redacted(text)
  }
}

extension OperatorConfiguration {
  init?(_ name: String, reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    guard let key = OperatorConfiguration.key(section, folder: folder) else { return nil }
    self.init(name: name, key: key)
  }

  fileprivate static func key(_ section: ConfigurationSection, folder: URL) -> Redacted<String>? {
    section.printableSecret("key-file", "key", of: keyLength, folder: folder)
  }
}

extension OwnerConfiguration {
  init?(_ name: String, reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    let key = OperatorConfiguration.key(section, folder: folder)
    _ = section.requiredText("account")
    let account = section.value("account") { try AccountName(validating: $0) }
    guard let key, let account else { return nil }
    self.init(name: name, key: key, account: account)
  }
}

extension ConfigurationSection {
  /// The first line of the file that `key` names, where it has `length` printable characters; what is wrong never repeats it.
  /// - Parameter word: what it is to people.
  func printableSecret(
    _ key: String, _ word: String, of length: ClosedRange<Int>, folder: URL
  ) -> Redacted<String>? {
    guard let file = requiredText(key), let text = secret(key, file, folder: folder) else { return nil }
    guard length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      addProblem(
        key,
        "its first line is no \(word); accepted: \(length.lowerBound) to \(length.upperBound) printable characters "
          + "without spaces, as openssl rand -hex 32 prints")
      return nil
    }
    return Redacted(text)
  }

  /// The first line of a file that others may not read.
  func secret(_ key: String, _ file: String, folder: URL) -> String? {
    let path = URL(fileURLWithPath: file, relativeTo: folder).path
    do throws(ConfigurationProblems) {
      let secret = try ConfigurationFile.secret(path)
      if let problem = ConfigurationFile.modeProblem(path) { addProblem(key, problem) }
      return secret
    } catch {
      addProblem(key, error.description)
      return nil
    }
  }
}
