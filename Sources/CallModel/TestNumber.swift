/// The built-in test numbers: answered by the gateway itself, free of charge, without a trunk. The raw value is the
/// digits after the `+` as an integer.
///
/// The family is written short in the guides it comes from; it is read here as follows. `460000000002 to …9` replaces
/// the last digit: eight numbers of twelve digits. `4600000000010, …020, …051` replaces the last three digits: numbers
/// of thirteen digits, +46 00000000 and the three.
public enum TestNumber: UInt64, Hashable, Sendable, CaseIterable {
  /// A prompt says once that the call is connected.
  case promptOnce = 46_000_000_000
  case promptTwice = 460_000_000_002
  case promptThreeTimes = 460_000_000_003
  case promptFourTimes = 460_000_000_004
  case promptFiveTimes = 460_000_000_005
  case promptSixTimes = 460_000_000_006
  case promptSevenTimes = 460_000_000_007
  case promptEightTimes = 460_000_000_008
  case promptNineTimes = 460_000_000_009
  /// Plays for two minutes.
  case playTwoMinutes = 4_600_000_000_010
  /// Repeats the prompt until the caller presses 0, at most ten times.
  case promptUntilDigit = 4_600_000_000_020
  case deniedAtOnce = 4_600_000_000_030
  case deniedAfterProgress = 4_600_000_000_031
  /// Rings and is never answered.
  case noAnswer = 4_600_000_000_040
  case congestionAtOnce = 4_600_000_000_050
  case congestionAfterProgress = 4_600_000_000_051

  /// How a test call goes on after its progress phase.
  public enum Outcome: Hashable, Sendable {
    /// Answered; the prompt is said `times` times, then the call ends by itself.
    case prompt(times: Int)
    /// Answered; sound for this long, then the call ends by itself.
    case play(milliseconds: Int64)
    /// Answered; the prompt repeats until the DTMF `digit` arrives, at most `times` times.
    case promptUntil(digit: Character, times: Int)
    /// Answered; what the caller says comes back for at most this long.
    case echo(milliseconds: Int64)
    /// Never answered; ends with this failure and SIP status.
    case failure(CallFailureCode, status: Int)
  }

  /// Length of a progress phase that has no length of its own, in milliseconds.
  public static let progressMilliseconds: Int64 = 7500
  /// How long ``noAnswer`` rings, in milliseconds.
  public static let ringMilliseconds: Int64 = 45_000

  /// What happens once ``progressBeforeOutcome`` has passed.
  public var outcome: Outcome {
    switch self {
    case .promptOnce: .prompt(times: 1)
    case .promptTwice: .prompt(times: 2)
    case .promptThreeTimes: .prompt(times: 3)
    case .promptFourTimes: .prompt(times: 4)
    case .promptFiveTimes: .prompt(times: 5)
    case .promptSixTimes: .prompt(times: 6)
    case .promptSevenTimes: .prompt(times: 7)
    case .promptEightTimes: .prompt(times: 8)
    case .promptNineTimes: .prompt(times: 9)
    case .playTwoMinutes: .play(milliseconds: 120_000)
    case .promptUntilDigit: .promptUntil(digit: "0", times: 10)
    case .deniedAtOnce, .deniedAfterProgress: .failure(.declined, status: 603)
    case .noAnswer: .failure(.noAnswer, status: 408)
    case .congestionAtOnce, .congestionAfterProgress: .failure(.congestion, status: 503)
    }
  }

  /// Milliseconds of progress before the outcome; 0 for the numbers that fail at once.
  public var progressBeforeOutcome: Int64 {
    switch self {
    case .deniedAtOnce, .congestionAtOnce: 0
    case .noAnswer: TestNumber.ringMilliseconds
    default: TestNumber.progressMilliseconds
    }
  }
}
