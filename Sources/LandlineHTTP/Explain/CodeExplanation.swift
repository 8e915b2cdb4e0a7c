package import CallModel
import LedgerCore
import SIPCore

/// One code with all that the catalogues say about it.
package struct CodeExplanation: Sendable {
  /// What is asked about.
  package enum Subject: Sendable {
    case status(Int)
    case cause(Int)
    case code(CallFailureCode)
    case refusal(CallRefusal)
  }

  package var subject: Subject

  package init(subject: Subject) { self.subject = subject }

  /// What is known beside title and meaning: a short label, and values one under the other.
  package var rows: [(label: String, values: [String])] {
    var rows: [(label: String, values: [String])] = []
    if case .code = subject {
      rows.append(("ends as", [failure.endCause.rawValue]))
    } else {
      rows.append(("class", ["\(failure.code.rawValue), \(failure.name): \(failure.meaning)"]))
    }
    rows.append(("or", otherClasses.map { "\($0.code.rawValue), \($0.name), where the rest of the answer says so" }))
    rows.append(("likely", likelyCauses))
    rows.append(("remedy", failure.remedies))
    rows.append(("retry", [failure.retry.text]))
    rows.append(("statuses", namedStatuses))
    rows.append(("causes", namedCauses))
    rows.append(("sent", sent.map { [CodeExplanation.named(status: $0)] } ?? []))
    rows.append(("reason", reasonText.map { [$0] } ?? []))
    rows.append(("becomes", mapped.map { [$0.text] } ?? []))
    rows.append(("from", mappedFrom.isEmpty ? [] : [mappedFrom.map(\.text).joined(separator: ", ")]))
    return rows.filter { !$0.values.isEmpty }
  }

  /// The same for programs.
  package var members: [(String, JSONValue)] {
    let failureMembers: [(String, JSONValue)] = [
      ("code", .string(failure.code.rawValue)), ("name", .string(failure.name)),
      ("domain", .string(failure.domain.rawValue)), ("meaning", .string(failure.meaning)),
      ("end_cause", .string(failure.endCause.rawValue)),
    ]
    return [
      ("kind", .string(kind)), ("code", .string(identifier)), ("name", .string(optional: name)),
      ("meaning", .string(meaning)), ("class", .members(failureMembers)),
      ("other_classes", .array(otherClasses.map { .string($0.code.rawValue) })),
      ("likely_causes", .array(likelyCauses.map { .string($0) })),
      ("remedies", .array(failure.remedies.map { .string($0) })),
      ("retry", .members([("advice", .string(failure.retry.rawValue)), ("text", .string(failure.retry.text))])),
      ("statuses", .array(statuses.map { .integer(Int64($0)) })),
      ("causes", .array(causes.map { .integer(Int64($0)) })),
      ("sent_status", .integer(optional: sent.map { Int64($0) })),
      ("reason", .string(optional: reasonText)), ("becomes", mapped?.json ?? .null),
      ("from", .array(mappedFrom.map(\.json))),
    ]
  }
}

// MARK: - Reading

extension CodeExplanation.Subject {
  /// `488`, `sip:488`, `q850:65`, `cause 65`, `sip.media`, `insufficientCredit`, in any case of letters.
  package init?(_ text: String) {
    let text = text.lowercased()
    guard text.utf8.count <= 64 else { return nil }
    let statusText = ["sip:", "sip ", "status "].first(where: text.hasPrefix).map { String(text.dropFirst($0.count)) }
    if let status = CodeExplanation.Subject.number(statusText ?? text, in: 300...699) {
      self = .status(status)
    } else if let cause = CodeExplanation.Subject.causeText(in: text).flatMap({
      CodeExplanation.Subject.number($0, in: 0...127)
    }) {
      self = .cause(cause)
    } else if let code = CallFailureCode.allCases.first(where: { $0.rawValue.lowercased() == text }) {
      self = .code(code)
    } else if let refusal = CallRefusal.allCases.first(where: { $0.rawValue.lowercased() == text }) {
      self = .refusal(refusal)
    } else {
      return nil
    }
  }

  /// What follows `q850:`, `cause` and the like; `nil` for a text that begins otherwise.
  package static func causeText(in text: String) -> String? {
    let lowercased = text.lowercased()
    return ["q850", "q.850", "cause"].lazy.compactMap { name -> String? in
      guard lowercased.hasPrefix(name) else { return nil }
      let rest = lowercased.dropFirst(name.count)
      guard let separator = rest.first, ": =".contains(separator) else { return nil }
      return String(rest.dropFirst())
    }.first
  }

  private static func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
  }
}

// MARK: - What the catalogues say

extension CodeExplanation {
  package var kind: String {
    switch subject {
    case .status: "status"
    case .cause: "cause"
    case .code: "code"
    case .refusal: "refusal"
    }
  }

  /// How the command takes it again.
  package var identifier: String {
    switch subject {
    case .status(let status): "\(status)"
    case .cause(let cause): "q850:\(cause)"
    case .code(let code): code.rawValue
    case .refusal(let refusal): refusal.rawValue
    }
  }

  /// `nil` for a number that nobody has registered.
  package var name: String? {
    switch subject {
    case .status(let status): CauseCatalogue.status(status)?.phrase
    case .cause(let cause): CauseCatalogue.cause(cause)?.name
    case .code, .refusal: failure.name
    }
  }

  package var title: String {
    switch subject {
    case .status(let status):
      "SIP \(CodeExplanation.named(status: status)) (\(CauseCatalogue.className(ofStatus: status) ?? "no failure"))"
    case .cause(let cause):
      "Q.850 cause \(CodeExplanation.named(cause: cause)) (\(CauseCatalogue.className(ofCause: cause) ?? "no class"))"
    case .code(let code): "\(code.rawValue) \(failure.name)"
    case .refusal(let refusal): "\(refusal.rawValue) (refusal before any trunk is asked)"
    }
  }

  package var meaning: String {
    switch subject {
    case .status(let status):
      CauseCatalogue.status(status)?.meaning
        ?? "The status is not registered; it counts as any \(status / 100)xx that has no class of its own."
    case .cause(let cause):
      CauseCatalogue.cause(cause)?.meaning ?? "Q.850 leaves the cause free; it counts as its class."
    case .code: failure.meaning
    case .refusal(let refusal):
      LedgerRefusal.allCases.first { $0.callRefusal == refusal }.map { refusal in
        refusal.explanation.prefix(1).uppercased() + refusal.explanation.dropFirst() + "."
      } ?? failure.meaning
    }
  }

  /// The class of failures it falls in. A cause that says too little has that of the status it becomes.
  package var failure: CallFailureClass {
    switch subject {
    case .status(let status): CallFailureCatalogue.code(forStatus: status).details
    case .cause(let cause):
      (CallFailureCatalogue.code(forCause: cause)
        ?? CallFailureCatalogue.code(forStatus: CallFailureCauseMapping.status(forCause: cause) ?? 500)).details
    case .code(let code): code.details
    case .refusal(let refusal): refusal.code.details
    }
  }

  /// Other classes that the number may mean in its context.
  private var otherClasses: [CallFailureClass] {
    CallFailureCatalogue.rows.filter { row in
      guard row.code != failure.code else { return false }
      return switch subject {
      case .status(let status): row.statuses.contains(status)
      case .cause(let cause): row.causes.contains(cause)
      case .code, .refusal: false
      }
    }
  }

  package var likelyCauses: [String] {
    if case .cause(let number) = subject, let cause = CauseCatalogue.cause(number) { return cause.likelyReasons }
    return failure.likelyCauses
  }

  /// SIP statuses that the class comes from.
  private var statuses: [Int] { if case .code = subject { failure.statuses } else { [] } }

  /// Q.850 causes that the class comes from.
  private var causes: [Int] { if case .code = subject { failure.causes } else { [] } }

  private var namedStatuses: [String] { statuses.map(CodeExplanation.named(status:)) }
  private var namedCauses: [String] { causes.map(CodeExplanation.named(cause:)) }

  /// The status that the gateway itself answers with.
  private var sent: Int? {
    switch subject {
    case .status, .cause: nil
    case .code, .refusal: failure.sipStatus
    }
  }

  /// The Reason header that goes with a refusal.
  private var reasonText: String? {
    guard case .refusal(let refusal) = subject else { return nil }
    return refusal.reason.flatMap { ReasonHeader([$0]).fieldValue }
  }

  private static func named(status: Int) -> String {
    "\(status) \(CauseCatalogue.status(status)?.phrase ?? "unregistered")"
  }
  private static func named(cause: Int) -> String { "\(cause) \(CauseCatalogue.cause(cause)?.name ?? "unassigned")" }
}

// MARK: - Mapping

extension CodeExplanation {
  /// What a number becomes on the other side.
  private struct Mapped {
    /// `cause 88 Incompatible destination (own choice: …)`.
    var text: String
    var number: String
    var json: JSONValue
  }

  /// How the command takes what it becomes.
  package var mappedNumber: String? { mapped?.number }

  private var mapped: Mapped? {
    switch subject {
    case .status(let status):
      CallFailureCauseMapping.cause(forStatus: status).map { cause in
        let row = CallFailureCauseMapping.row(forStatus: status)
        return mapped(cause: cause, row?.basis, row?.note)
      }
    case .cause(let cause):
      CallFailureCauseMapping.status(forCause: cause).map { status in
        let row = CallFailureCauseMapping.row(forCause: cause)
        let fromUser = row?.statusFromUser
        let basis = CodeExplanation.basis(row?.basis, row?.note)
        let text = CodeExplanation.named(status: status)
        let user = fromUser.map { "; \(CodeExplanation.named(status: $0)) where the user's own phone says so" } ?? ""
        return Mapped(
          text: "SIP \(text)\(user) (\(basis))", number: "\(status)",
          json: .members([
            ("status", .integer(Int64(status))), ("status_from_user", .integer(optional: fromUser.map { Int64($0) })),
            ("name", .string(CauseCatalogue.status(status)?.phrase ?? "")), ("basis", .string(basis)),
          ]))
      }
    case .code(let code): CallFailure(code).causeOrMapped.map { mapped(sentAs: $0) }
    case .refusal(let refusal): CallFailure(refusal).causeOrMapped.map { mapped(sentAs: $0) }
    }
  }

  /// The cause of a failure of the gateway's own: by the row of the status it is sent with.
  private func mapped(sentAs cause: Int) -> Mapped {
    let row = sent.flatMap(CallFailureCauseMapping.row(forStatus:))
    return mapped(cause: cause, row?.basis, row?.note)
  }

  private func mapped(cause: Int, _ basis: CallFailureCauseMapping.Basis?, _ note: String?) -> Mapped {
    let basis = CodeExplanation.basis(basis, note)
    return Mapped(
      text: "Q.850 cause \(CodeExplanation.named(cause: cause)) (\(basis))", number: "q850:\(cause)",
      json: .members([
        ("cause", .integer(Int64(cause))), ("name", .string(CauseCatalogue.cause(cause)?.name ?? "")),
        ("basis", .string(basis)),
      ]))
  }

  /// What becomes this number when it comes from the other side.
  private var mappedFrom: [(text: String, json: JSONValue)] {
    switch subject {
    case .status(let status):
      CallFailureCauseMapping.causes.filter { $0.status == status || $0.statusFromUser == status }.map {
        ("cause \($0.cause)", .integer(Int64($0.cause)))
      }
    case .cause(let cause):
      CallFailureCauseMapping.statuses.filter { $0.cause == cause }.map {
        ("SIP \($0.status)", .integer(Int64($0.status)))
      }
    case .code, .refusal: []
    }
  }

  private static func basis(_ basis: CallFailureCauseMapping.Basis?, _ note: String?) -> String {
    switch basis {
    case .rfc3398: "RFC 3398"
    case .ownChoice: note.map { "own choice: \($0)" } ?? "own choice"
    case nil: "by its class"
    }
  }
}
