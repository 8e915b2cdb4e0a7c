/// Users of the sandbox that behave in one known way, played by the gateway itself; the raw value is the user id.
public enum TestUser: String, Hashable, Sendable, CaseIterable {
  /// Is in another call.
  case busy = "test-busy"
  /// Rings, then declines.
  case decline = "test-decline"
  /// Rings and never answers.
  case noAnswer = "test-noanswer"
  /// Rings, answers and says twice that the call is connected.
  case answer = "test-answer"
  /// Rings, answers and sends back what it hears, for at most five minutes.
  case echo = "test-echo"

  /// How long it rings before its outcome, in milliseconds.
  public var ringMilliseconds: Int64 {
    switch self {
    case .busy: 0
    case .decline, .answer, .echo: 1_000
    case .noAnswer: TestNumber.ringMilliseconds
    }
  }

  /// What happens after the ring.
  public var outcome: TestNumber.Outcome {
    switch self {
    case .busy: .failure(.userBusy, status: 486)
    case .decline: .failure(.userDeclined, status: 603)
    case .noAnswer: .failure(.userNoAnswer, status: 480)
    case .answer: .prompt(times: 2)
    case .echo: .echo(milliseconds: 300_000)
    }
  }
}
