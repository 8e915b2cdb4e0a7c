import CallModel

/// What stands behind a problem's `type`: a page of plain text.
enum ProblemText {
  /// - Returns: `nil` for a code that no problem has.
  static func explain(_ name: String) -> String? {
    if let code = CallFailureCode(rawValue: name) { return text(code.details) }
    guard let code = ProblemCode.all.first(where: { $0.name == name }) else { return nil }
    var lines = ["\(code.name) - \(code.title)", "", "HTTP status: \(code.status)"]
    lines.append("Worth repeating as it is: \(code.isRetryable ? "yes" : "no")")
    if let fix = code.fix { lines += ["", "What to do: \(fix)"] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func text(_ row: CallFailureClass) -> String {
    var lines = ["\(row.code.rawValue) - \(row.name)", "", row.meaning, "", "Retry: \(row.retry.text)"]
    lines.append("HTTP status: \(ProblemCode(row).status)")
    if !row.statuses.isEmpty {
      lines.append("SIP statuses: \(row.statuses.map { String($0) }.joined(separator: ", "))")
    }
    if !row.causes.isEmpty { lines.append("Q.850 causes: \(row.causes.map { String($0) }.joined(separator: ", "))") }
    if !row.refusals.isEmpty { lines.append("Refusals: \(row.refusals.map { $0.rawValue }.joined(separator: ", "))") }
    lines += ["", "Likely causes:"] + row.likelyCauses.map { "- \($0)" }
    lines += ["", "What to do:"] + row.remedies.map { "- \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }
}
