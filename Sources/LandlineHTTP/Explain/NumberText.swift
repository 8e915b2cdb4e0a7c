import CallModel
import Foundation
import NumberPlan

/// Numbers in words, for the hint under a dial field.
enum NumberText {
  /// `Sweden, mobile`; `nil` where the plan knows nothing.
  static func describe(_ advice: NumberPlan.Advice) -> String? {
    if advice.testNumber != nil { return "Test number" }
    let place: String? =
      switch advice.region {
      case nil: nil
      case "001": "International"
      case let region?: Locale(identifier: "en_US").localizedString(forRegionCode: region) ?? region
      }
    let rest = advice.isValid ? type(advice.type) : doubt(advice.possibility)
    let words = [place, rest].compactMap { $0 }
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }

  private static func type(_ type: NumberPlan.NumberType) -> String? {
    switch type {
    case .unknown: nil
    case .fixedLine: "fixed line"
    case .mobile: "mobile"
    case .fixedLineOrMobile: "fixed line or mobile"
    case .tollFree: "toll-free"
    case .premiumRate: "premium rate"
    case .sharedCost: "shared cost"
    case .voip: "internet telephony"
    case .personalNumber: "personal number"
    case .pager: "pager"
    case .universalAccess: "company number"
    case .voicemail: "voicemail"
    }
  }

  private static func doubt(_ possibility: NumberPlan.Possibility) -> String? {
    switch possibility {
    case .possible: "not in use"
    case .possibleLocally: "only part of a number"
    case .tooShort: "too short"
    case .tooLong: "too long"
    case .lengthNotUsed: "not of a length in use"
    case .countryCodeUnknown, .notExamined: nil
    }
  }

  static func describe(_ number: TestNumber) -> String {
    switch number.outcome {
    case .prompt(times: 1): "says that the call is connected"
    case .prompt(let times): "says \(times) times that the call is connected"
    case .play(let milliseconds): "plays for \(milliseconds / 1000) seconds"
    case .promptUntil(let digit, _): "repeats itself until \(digit) is pressed"
    case .echo: "sends back what it hears"
    case .failure(let code, _): "never answers: \(code.details.name)"
    }
  }

  static func describe(_ number: SandboxNumber) -> String {
    switch number {
    case .notFound: "not found: there is no such number"
    case .timeout: "rings and times out"
    case .unavailable: "not reachable"
    case .busy: "always busy"
    case .notAcceptable: "has no codec in common"
    case .congestion: "congested: asks to come again later"
    case .declined: "always declines"
    case .noAnswer: "rings and is never answered"
    case .earlyMediaThenReject: "speaks before the answer, then is busy"
    case .answerThenDrop: "answers and hangs up after two seconds"
    case .oneWay: "answers and sends no sound"
    case .echo: "sends back what it hears"
    case .echoWithLoss: "sends back what it hears, with one packet of fifty lost"
    case .emergency: "plays an emergency number: free, and refused for no credit"
    case .insufficientCredit: "costs more than any account has"
    }
  }
}
