/// Numbers of the sandbox that behave in one known way, with real signalling and media, answered by the gateway's own
/// far end. The raw value is the digits after the `+` as an integer; failures carry their status.
public enum SandboxNumber: UInt64, Hashable, Sendable, CaseIterable {
  /// 404: no such number.
  case notFound = 46_000_000_404
  /// 408 after ringing.
  case timeout = 46_000_000_408
  /// 480: not reachable.
  case unavailable = 46_000_000_480
  /// 486: busy.
  case busy = 46_000_000_486
  /// 488: no codec in common.
  case notAcceptable = 46_000_000_488
  /// 503 with Retry-After.
  case congestion = 46_000_000_503
  /// 603: declined.
  case declined = 46_000_000_603
  /// Rings, is never answered.
  case noAnswer = 46_000_000_180
  /// Speaks before the answer, then is busy.
  case earlyMediaThenReject = 46_000_000_183
  /// Answers, says so, hangs up after two seconds.
  case answerThenDrop = 46_000_000_200
  /// Answers, hears the app, sends no sound.
  case oneWay = 46_000_000_201
  /// Answers and sends back what it hears.
  case echo = 46_000_000_202
  /// The same, with one of fifty packets dropped.
  case echoWithLoss = 46_000_000_203
  /// Plays an emergency number: free, refused for no credit and by no cap but that of emergency calls.
  case emergency = 46_000_000_112
  /// Costs more than any account has: refused by the ledger for want of credit.
  case insufficientCredit = 46_000_000_402
}
