internal import CallEngine
internal import CallModel

extension LogConfiguration {
  init(reading section: ConfigurationSection) {
    defer { section.finish() }
    self.init()
    level = section.choice("level", Level.self) ?? level
    format = section.choice("format", Format.self) ?? format
    masksNumbers = section.flag("mask-numbers") ?? masksNumbers
  }
}

extension EngineConfiguration.Limits {
  init(reading section: ConfigurationSection) {
    defer { section.finish() }
    self.init()
    calls = section.number("maximum", in: 1...1_000_000) ?? calls
    callsPerSession = section.number("per-session", in: 1...10_000) ?? callsPerSession
    firstGrantSeconds = section.seconds("first-grant", in: 1...86_400) ?? firstGrantSeconds
    grantSeconds = section.seconds("grant", in: 1...86_400) ?? grantSeconds
    guardMilliseconds = section.milliseconds("grant-guard", in: 100...60_000) ?? guardMilliseconds
    ledgerMilliseconds = section.milliseconds("ledger-timeout", in: 100...60_000) ?? ledgerMilliseconds
    maximumCallSeconds = section.seconds("maximum-length", in: 10...604_800) ?? maximumCallSeconds
    earlyMediaMilliseconds = section.milliseconds("early-media", in: 1_000...600_000) ?? earlyMediaMilliseconds
    deadMediaMilliseconds = section.milliseconds("dead-media", in: 1_000...3_600_000) ?? deadMediaMilliseconds
    mediaSetUpMilliseconds = section.milliseconds("media-set-up", in: 1_000...120_000) ?? mediaSetUpMilliseconds
    preparationMilliseconds = section.milliseconds("preparation", in: 100...60_000) ?? preparationMilliseconds
    rooms = section.number("conferences", in: 1...EngineConfiguration.Limits.maximumRooms) ?? rooms
    participantsPerRoom =
      section.number("conference-participants", in: 2...EngineConfiguration.Limits.maximumParticipants)
      ?? participantsPerRoom
    aloneMilliseconds = section.milliseconds("conference-alone", in: 10_000...86_400_000) ?? aloneMilliseconds
    // The next grant must be there before the last one ends.
    let shortest = min(firstGrantSeconds, grantSeconds) * 1000
    if guardMilliseconds >= shortest {
      section.addProblem(
        "grant-guard", "\(guardMilliseconds)ms is not shorter than the shortest grant, \(shortest / 1000)s")
    } else if ledgerMilliseconds > guardMilliseconds {
      section.addProblem(
        "ledger-timeout",
        "\(ledgerMilliseconds)ms is longer than 'grant-guard', \(guardMilliseconds)ms: the call would end before the answer"
      )
    }
  }
}

extension RetentionConfiguration {
  /// A day to ten years.
  private static let range: ClosedRange<Int64> = 86_400_000...(3650 * 86_400_000)

  init(reading section: ConfigurationSection) {
    defer { section.finish() }
    self.init()
    switch section.text("records") {
    case nil: break
    case "forever": recordMilliseconds = nil
    case .some(let text):
      recordMilliseconds = section.milliseconds("records", text, in: RetentionConfiguration.range) ?? recordMilliseconds
    }
    statisticsMilliseconds = section.milliseconds("statistics", in: RetentionConfiguration.range)
    if let statisticsMilliseconds, let recordMilliseconds, statisticsMilliseconds > recordMilliseconds {
      section.addProblem("statistics", "is longer than 'records', which they are part of")
    }
    switch section.text("traces") {
    case nil: break
    case "none": traceMilliseconds = nil
    case .some(let text):
      traceMilliseconds = section.milliseconds("traces", text, in: RetentionConfiguration.range) ?? traceMilliseconds
    }
    switch section.text("recordings") {
    case nil: break
    case "forever": recordingMilliseconds = nil
    case .some(let text):
      recordingMilliseconds =
        section.milliseconds("recordings", text, in: RetentionConfiguration.range) ?? recordingMilliseconds
    }
    keepsClientStatistics = (section.choice("client-statistics", Keeping.self) ?? .keep) == .keep
  }

  private enum Keeping: String, CaseIterable { case keep, drop }
}
