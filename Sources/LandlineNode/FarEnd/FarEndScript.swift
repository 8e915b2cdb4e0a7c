package import CallModel
import MediaCore
import SIPCore

/// What the far end does with one call, step by step.
package struct FarEndScript: Sendable {
  enum Step: Sendable {
    /// 180.
    case ring
    /// 183 with our session description: sound goes out from then on.
    case earlyMedia
    case wait(milliseconds: Int64)
    /// 200 with our session description; the script goes on when it is acknowledged.
    case answer
    /// Says a prompt. Goes on at its end, or at once.
    case say(Prompt, waits: Bool)
    /// Sends back what comes in, less one packet of `dropping`; what is said meanwhile loses packets as well.
    case echo(dropping: Int)
    /// A failure response, which ends the call. The call's own `x-` headers go with it.
    case reject(Rejection)
    case hangUp
  }

  /// Behind the last step a call goes on until the caller or a limit ends it.
  let steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }

  /// One packet of so many is lost where loss is wanted; the prompt says the number.
  package static let lossInterval = 50

  /// The script of the number in a user part: `+` and digits, or digits alone.
  init(user: String?, timing: FarEnd.Timing) {
    self = FarEndScript.number(user).map { FarEndScript($0, timing) } ?? FarEndScript.ordinary(timing)
  }

  /// Any number without a meaning of its own.
  static func ordinary(_ timing: FarEnd.Timing) -> FarEndScript {
    FarEndScript([
      .ring, .wait(milliseconds: timing.answerMilliseconds), .answer, .say(.connected, waits: true), .echo(dropping: 0),
    ])
  }

  init(_ number: SandboxNumber, _ timing: FarEnd.Timing) {
    let busy = Rejection(486, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 17, text: "User busy")])
    switch number {
    case .notFound: self.init([.reject(Rejection(404))])
    case .timeout:
      self.init([.ring, .wait(milliseconds: timing.timeoutMilliseconds), .reject(Rejection(408))])
    case .unavailable: self.init([.reject(Rejection(480))])
    case .busy: self.init([.reject(busy)])
    case .notAcceptable:
      var refusal = Rejection(488, warning: "Media type not available")
      refusal.warningCode = 304
      self.init([.reject(refusal)])
    case .congestion: self.init([.reject(Rejection(503, retryAfterSeconds: FarEnd.retryAfterSeconds))])
    case .declined: self.init([.reject(Rejection(603))])
    case .noAnswer: self.init([.ring])
    case .earlyMediaThenReject: self.init([.earlyMedia, .say(.early, waits: true), .reject(busy)])
    case .answerThenDrop:
      self.init([.answer, .say(.cut, waits: false), .wait(milliseconds: timing.dropMilliseconds), .hangUp])
    case .oneWay: self.init([.answer, .say(.oneWay, waits: true)])
    case .emergency: self = FarEndScript.ordinary(timing)
    case .echo: self.init([.answer, .say(.echo, waits: true), .echo(dropping: 0)])
    case .echoWithLoss:
      self.init([.answer, .echo(dropping: FarEndScript.lossInterval), .say(.loss, waits: true)])
    // The ledger refuses this one before anything is dialled; here it has no meaning.
    case .insufficientCredit: self = FarEndScript.ordinary(timing)
    }
  }

  /// `nil` for what is no number of the sandbox.
  package static func number(_ user: String?) -> SandboxNumber? {
    guard let user else { return nil }
    // Parameters of a telephone number (RFC 3966) stand behind a semicolon.
    let subscriber = user.prefix { $0 != ";" }
    let digits = subscriber.first == "+" ? subscriber.dropFirst() : subscriber
    // No country code begins with 0, so nothing is a longer way to write a shorter number.
    guard digits.first != "0", (1...E164Number.maximumDigits).contains(digits.utf8.count),
      digits.utf8.allSatisfy(isDigit)
    else { return nil }
    return UInt64(digits).flatMap { SandboxNumber(rawValue: $0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
