import CallModel

/// A test number at work: the gateway itself is the other side.
struct PromptLeg {
  let number: TestNumber
  /// Announcements still to come after the one that is played.
  var repetitions = 0
  /// For a number that plays for a time.
  var playUntil: MonotonicInstant?

  init(_ number: TestNumber) { self.number = number }

  /// Before the outcome; the plain test number answers at once, so that a first call is heard within a second.
  var progressMilliseconds: Int64 {
    number == .promptOnce ? PromptLeg.shortProgressMilliseconds : number.progressBeforeOutcome
  }

  /// Enough for the app to take in its answer.
  static let shortProgressMilliseconds: Int64 = 50
  /// Longest an announcement takes, with what goes before it.
  static let announcementSeconds: Int64 = 15

  /// Whether a ringing tone is heard before the outcome.
  var rings: Bool {
    switch number.outcome {
    case .prompt, .play, .promptUntil: number != .promptOnce
    case .failure: number == .noAnswer
    }
  }

  /// Longest call in seconds, from the answer.
  static func maximumSeconds(of number: TestNumber) -> Int64 {
    switch number.outcome {
    case .prompt(let times): announcementSeconds * Int64(times)
    case .play(let milliseconds): milliseconds / 1000 + announcementSeconds
    case .promptUntil(_, let times): announcementSeconds * Int64(times)
    case .failure: announcementSeconds
    }
  }

  /// What is said first, once the caller can hear it.
  mutating func begin(at now: MonotonicInstant) -> [Announcement] {
    switch number.outcome {
    case .prompt(let times): return Array(repeating: .connected, count: times)
    case .play(let milliseconds):
      playUntil = now.advanced(byMilliseconds: milliseconds)
      return [.connected]
    case .promptUntil(_, let times):
      repetitions = times - 1
      return [.pressZero]
    case .failure: return []
    }
  }

  /// What follows an announcement that is over; `nil` when the call is.
  mutating func next(at now: MonotonicInstant) -> [Announcement]? {
    switch number.outcome {
    case .prompt, .failure: return nil
    case .play: return playUntil.map { $0 > now } ?? false ? [.connected] : nil
    case .promptUntil:
      guard repetitions > 0 else { return nil }
      repetitions -= 1
      return [.pressZero]
    }
  }

  func endsCall(_ digit: Character) -> Bool {
    if case .promptUntil(digit, _) = number.outcome { return true }
    return false
  }
}
