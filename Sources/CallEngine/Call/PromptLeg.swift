import CallModel

/// A number or user of the gateway's own at work: the gateway itself is the other side.
struct PromptLeg {
  let outcome: TestNumber.Outcome
  /// Before the outcome.
  let progressMilliseconds: Int64
  /// Whether a ringing tone is heard before the outcome.
  let rings: Bool
  /// Announcements still to come after the one that is played.
  var repetitions = 0
  /// For what lasts for a time.
  var playUntil: MonotonicInstant?

  init(_ voice: CallTerms.GatewayVoice) {
    switch voice {
    case .number(let number): self.init(number)
    case .user(let user): self.init(user)
    }
  }

  /// The plain test number answers at once, so that a first call is heard within a second.
  private init(_ number: TestNumber) {
    outcome = number.outcome
    progressMilliseconds = number == .promptOnce ? PromptLeg.shortProgressMilliseconds : number.progressBeforeOutcome
    rings =
      switch number.outcome {
      case .prompt, .play, .promptUntil, .echo: number != .promptOnce
      case .failure: number == .noAnswer
      }
  }

  private init(_ user: TestUser) {
    outcome = user.outcome
    progressMilliseconds = user.ringMilliseconds
    rings = user.ringMilliseconds > 0
  }

  /// Enough for the app to take in its answer.
  static let shortProgressMilliseconds: Int64 = 50
  /// Longest an announcement takes, with what goes before it.
  static let announcementSeconds: Int64 = 15

  /// Longest call in seconds, from the answer.
  static func maximumSeconds(of outcome: TestNumber.Outcome) -> Int64 {
    switch outcome {
    case .prompt(let times): announcementSeconds * Int64(times)
    case .play(let milliseconds), .echo(let milliseconds): milliseconds / 1000 + announcementSeconds
    case .promptUntil(_, let times): announcementSeconds * Int64(times)
    case .failure: announcementSeconds
    }
  }

  /// What the caller hears once it can hear.
  enum Beginning {
    case words([Announcement])
    case echo
  }

  /// Sound can flow.
  mutating func begin(at now: MonotonicInstant) -> Beginning {
    switch outcome {
    case .prompt(let times): return .words(Array(repeating: .connected, count: times))
    case .play(let milliseconds):
      playUntil = now.advanced(byMilliseconds: milliseconds)
      return .words([.connected])
    case .promptUntil(_, let times):
      repetitions = times - 1
      return .words([.pressZero])
    case .echo(let milliseconds):
      playUntil = now.advanced(byMilliseconds: milliseconds)
      return .echo
    case .failure: return .words([])
    }
  }

  /// What follows an announcement that is over; `nil` when the call is.
  mutating func next(at now: MonotonicInstant) -> [Announcement]? {
    switch outcome {
    case .prompt, .echo, .failure: return nil
    case .play: return playUntil.map { $0 > now } ?? false ? [.connected] : nil
    case .promptUntil:
      guard repetitions > 0 else { return nil }
      repetitions -= 1
      return [.pressZero]
    }
  }

  func endsCall(_ digit: Character) -> Bool {
    if case .promptUntil(digit, _) = outcome { return true }
    return false
  }
}
