import CallModel
import LandlineHTTP
import SIPCore

extension Console {
  /// What a code means, by the catalogues alone; or what happened in a call, by its id.
  package func explain(_ text: String, _ options: StoryOptions = StoryOptions()) async throws -> Answer {
    if let subject = CodeExplanation.Subject(text) {
      return CodeReport(explanation: CodeExplanation(subject: subject)).answer()
    }
    if let problem = ProblemCode.named(text) { return CodeReport.answer(problem) }
    // A word without a digit is a code that was mistyped, not the beginning of an id.
    guard let meant = CallIDText(text), meant == .last || text.contains(where: \.isNumber), Int(text) == nil else {
      throw Console.unexplained(text)
    }
    return try await explainCall(
      try await callID(text, control: options.control, environment: options.environment), options)
  }

  /// Codes and refusals, for completion.
  package static let explainableNames =
    CallFailureCode.allCases.map(\.rawValue) + CallRefusal.allCases.map(\.rawValue)

  private static let forms =
    "a SIP status such as 488, a cause such as q850:65, a code such as sip.media, a refusal, a call's id, the beginning of one, or last"

  private static func unexplained(_ text: String) -> ConsoleError {
    let name = CallFailure.shortened(text)
    func error(_ what: String, _ fix: String) -> ConsoleError {
      ConsoleError(.notFound, code: "unknownCode", what, at: name.isEmpty ? nil : name, fix: fix)
    }
    if let number = Int(text) {
      if CauseCatalogue.cause(number) != nil {
        return error("\(number) alone is no failure", "did you mean cause \(number)?")
      }
      return error("a SIP failure has a status from 300 to 699", forms)
    }
    if let number = CodeExplanation.Subject.causeText(in: text) {
      return error("\"\(CallFailure.shortened(number))\" is no Q.850 cause", "a cause from 0 to 127, such as q850:65")
    }
    let what = "no code has that name"
    let names = explainableNames
    let suffixes = CallFailureCode.allCases.map { (String($0.rawValue.drop { $0 != "." }.dropFirst()), $0.rawValue) }
    let phrases =
      CauseCatalogue.statuses.map { ($0.phrase, "\($0.number)") }
      + CauseCatalogue.causes.map { ($0.name, "cause \($0.number)") }
    if let nearest = Spelling.nearest(to: text, among: names) { return error(what, "did you mean \(nearest)?") }
    for candidates in [suffixes, phrases] {
      if let nearest = Spelling.nearest(to: text, among: candidates.map(\.0)),
        let meant = candidates.first(where: { $0.0 == nearest })
      {
        return error(what, "did you mean \(meant.1)\(meant.1.contains(".") ? "" : " (\(nearest))")?")
      }
    }
    return error(what, forms)
  }
}
