internal import CallModel

extension EnvironmentConfiguration {
  /// The number table. Applications are known by then, and so is how long ids of users may be.
  mutating func readNumbers(_ section: ConfigurationSection) {
    for entry in section.named("numbers", atMost: InboundNumber.maximumNumbers) {
      guard let row = number(entry.name, reading: entry.section) else { continue }
      if numbers.contains(where: { $0.number == row.number }) {
        entry.section.addProblem("stands here more than once", at: nil)
      } else {
        numbers.append(row)
      }
    }
  }

  private func number(_ name: String, reading section: ConfigurationSection) -> InboundNumber? {
    defer { section.finish() }
    var number: E164Number?
    do throws(InvalidValue) {
      number = try InboundNumber.reachable(name)
    } catch {
      section.addProblem("\(error.problem); accepted: \(error.accepted)", at: nil, fix: error.accepted)
    }
    let application = namedApplication(section)
    let account = section.value("account") { try AccountName(validating: $0) } ?? application?.account
    let targets = targets(section)
    let isActive = section.flag("active") ?? true
    let status = section.number("no-answer", in: 400...699)
    if let status, !InboundNumber.noAnswerStatuses.contains(status) {
      let accepted = InboundNumber.noAnswerStatuses.sorted().map(String.init).joined(separator: ", ")
      section.addProblem("no-answer", "\(status) is none of \(accepted)", fix: "one of \(accepted)")
    }
    let channels = section.number("channels", in: 1...InboundNumber.maximumChannels)
    let answersFirst = section.flag("answer-first") ?? false
    let callers = section.section("callers").map { InboundNumber.Callers(reading: $0) } ?? InboundNumber.Callers()
    let owned = targets.lazy.map(\.destination.kind).first { $0 == .user || $0 == .conference }
    if let owned, application == nil, !section.has("application") {
      section.addProblem(
        applications.isEmpty
          ? "a \(owned.rawValue) is the target, and the environment has no application"
          : "a \(owned.rawValue) is the target, and 'application' does not say whose", at: nil,
        fix: applications.isEmpty ? nil : "application: \(applications[0].name)")
    }
    if targets.dropLast().contains(where: { $0.destination.kind == .conference }) {
      section.addProblem("targets", "a conference takes every call; accepted: a conference as the last target")
    }
    if account == nil, !section.has("account"), !section.has("application") {
      section.addProblem(
        "nobody pays: name an 'account', or an 'application' whose account it is", at: nil)
    }
    if isActive, targets.isEmpty, !InboundNumber.Target.keys.contains(where: section.has), !section.has("targets") {
      section.warn(nil, "leads to nobody: its callers hear that nobody can be reached")
    }
    guard let number, let account else { return nil }
    return InboundNumber(
      number, application: application?.key, account: account, isActive: isActive, targets: targets,
      noAnswerStatus: status ?? 480, channels: channels, answersFirst: answersFirst, callers: callers,
      recording: RecordingOptions(reading: section))
  }

  /// The one that is named, or the only one there is.
  func namedApplication(_ section: ConfigurationSection) -> ApplicationConfiguration? {
    guard let name = section.text("application") else { return applications.count == 1 ? applications[0] : nil }
    if let application = applications.first(where: { $0.name == name }) { return application }
    let hint =
      Spelling.nearest(to: name, among: applications.map(\.name)).map { " (did you mean '\($0)'?)" } ?? ""
    section.addProblem(
      "application", "there is no application '\(CallFailure.shortened(name))' in this environment\(hint)")
    return nil
  }

  /// What `targets` lists, or the one that stands in the row itself.
  private func targets(_ section: ConfigurationSection) -> [InboundNumber.Target] {
    let rules = (try? UserID.Rules(maximumLength: usersMaximumLength)) ?? .standard
    let short = InboundNumber.Target.keys.contains(where: section.has)
    if short, section.has("targets") {
      section.addProblem("targets", "stands beside a target of the number's own; accepted: one of both")
      return []
    }
    guard short else {
      return section.sections("targets", atMost: InboundNumber.maximumTargets).compactMap { entry in
        defer { entry.finish() }
        return InboundNumber.Target(reading: entry, rules)
      }
    }
    return InboundNumber.Target(reading: section, rules).map { [$0] } ?? []
  }
}

extension InboundNumber.Target {
  fileprivate static let keys = kinds.map(\.rawValue)
  /// Most entries of `on` and how each may be written.
  private static let outcomes = InboundNumber.Outcome.allCases.map(\.rawValue)

  /// A target's own keys; the section may have others.
  fileprivate init?(reading section: ConfigurationSection, _ rules: UserID.Rules) {
    let named = Self.keys.filter(section.has)
    let user = section.value("user") { Destination.user(try UserID($0, rules: rules)) }
    let phone = section.value("phone") { Destination.phone(try E164Number($0)) }
    let sip = section.value("sip") { Destination.sip(try SIPAddress($0)) }
    let conference = section.value("conference") { Destination.conference(try ConferenceID($0)) }
    let seconds = section.seconds(
      "ring", in: Int64(Self.ringSeconds.lowerBound)...Int64(Self.ringSeconds.upperBound))
    let leadsOn = Self.leadsOn(section)
    guard named.count == 1 else {
      section.addProblem("names \(named.count) targets; accepted: one of user, phone, sip and conference", at: nil)
      return nil
    }
    guard let destination = user ?? phone ?? sip ?? conference else { return nil }
    self.init(destination, ringSeconds: seconds.map { Int($0) } ?? Self.standardRingSeconds)
    if let leadsOn { self.leadsOn = leadsOn }
  }

  private static func leadsOn(_ section: ConfigurationSection) -> Set<InboundNumber.Outcome>? {
    guard let entries = section.texts("on", atMost: outcomes.count) else { return nil }
    var found: Set<InboundNumber.Outcome> = []
    for entry in entries {
      if let outcome = InboundNumber.Outcome(rawValue: entry.text) {
        found.insert(outcome)
      } else {
        let hint = Spelling.nearest(to: entry.text, among: outcomes).map { " (did you mean '\($0)'?)" } ?? ""
        section.addProblem(
          "on", "'\(CallFailure.shortened(entry.text))' is none of \(outcomes.joined(separator: ", "))\(hint)")
      }
    }
    return found
  }
}

extension InboundNumber.Callers {
  private enum Anonymous: String, CaseIterable { case allow, refuse }

  fileprivate init(reading section: ConfigurationSection) {
    defer { section.finish() }
    let blocked = section.texts("blocked", atMost: InboundNumber.maximumBlockedCallers) ?? []
    self.init(
      refusesAnonymous: section.choice("anonymous", Anonymous.self) == .refuse,
      blocked: blocked.compactMap { section.entry("blocked", $0, InboundNumber.blockedCaller) })
  }
}
