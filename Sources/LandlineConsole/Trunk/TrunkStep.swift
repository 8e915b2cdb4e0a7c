package import CallModel

/// One thing that a trunk test looked at.
package struct TrunkStep: Sendable {
  package enum Verdict: String, Sendable, CaseIterable {
    case ok
    /// Works, and somebody should look at it.
    case warn
    case fail
    /// Not looked at, and why.
    case skip
  }

  /// The raw value is stable: JSON names steps by it.
  package enum Kind: String, Sendable, CaseIterable {
    case configuration, dns, reachability, tls, options, transport, register, authentication, offer, call, answer,
      sound,
      identity, summary
  }

  package var kind: Kind
  package var verdict: Verdict
  /// What was found, on one line.
  package var found: String
  /// Where: `udp 192.0.2.1:5060`.
  package var target: String?
  /// More of it, one line each.
  package var details: [String]
  /// What to do about it.
  package var fix: String?
  /// Values for programs.
  package var facts: [(String, JSONValue)]

  package init(
    _ kind: Kind, _ verdict: Verdict, _ found: String, target: String? = nil, details: [String] = [],
    fix: String? = nil, facts: [(String, JSONValue)] = []
  ) {
    self.kind = kind
    self.verdict = verdict
    self.found = TrunkStep.printable(found)
    self.target = target
    self.details = details.map(TrunkStep.printable)
    self.fix = fix.map(TrunkStep.printable)
    self.facts = facts
  }
}

extension TrunkStep {
  /// Most characters of a line.
  static let maximumLength = 2000

  /// Names of DNS and certificates, phrases and headers come from outside: none of them moves the cursor.
  private static func printable(_ text: String) -> String {
    VisibleText.line(String(text.unicodeScalars.prefix(maximumLength)))
  }

  private static let kindWidth = 14

  /// `ok    options         200 OK in 12 ms (udp 192.0.2.1:5060)`, then a line for each detail and for the fix.
  func lines(isColored: Bool) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    let indent = String(repeating: " ", count: 6 + TrunkStep.kindWidth + 2)
    let word = padded(verdict.rawValue, 4)
    let shown = isColored ? "\u{1B}[\(color)m\(word)\u{1B}[0m" : word
    let place = target.map { " (\($0))" } ?? ""
    var text = "\(shown)  \(padded(kind.rawValue, TrunkStep.kindWidth))  \(found)\(place)\n"
    for detail in details { text += "\(indent)\(detail)\n" }
    if let fix { text += "\(indent)fix: \(fix)\n" }
    return text
  }

  private var color: String {
    switch verdict {
    case .ok: "32"
    case .warn: "33"
    case .fail: "31"
    case .skip: "2"
    }
  }

  var json: JSONValue {
    .members([
      ("step", .string(kind.rawValue)), ("verdict", .string(verdict.rawValue)), ("found", .string(found)),
      ("target", .string(optional: target)), ("details", .array(details.map { .string($0) })),
      ("fix", .string(optional: fix)), ("facts", .members(facts)),
    ])
  }

  static let columns = [
    Column("step"), Column("verdict"), Column("found"), Column("target"), Column("details"), Column("fix"),
  ]

  var row: [Cell] {
    [
      .text(kind.rawValue), .text(verdict.rawValue), .text(found), .text(optional: target),
      .text(details.joined(separator: "; ")), .text(optional: fix),
    ]
  }
}
