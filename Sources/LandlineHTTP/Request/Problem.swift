package import CallModel
import LedgerCore

/// One problem detail (RFC 9457): the kind, and what is known of this case.
package struct Problem: Error, Sendable {
  package var code: ProblemCode
  /// What is wrong in this case.
  package var detail: String
  package var fix: String?
  package var headers: [(String, String)]
  package var callID: String?
  package var sipStatus: Int?
  /// Members of this kind only: `position`, `member`.
  package var members: [(String, JSONValue)]

  init(
    _ code: ProblemCode, _ detail: String, fix: String? = nil, headers: [(String, String)] = [],
    members: [(String, JSONValue)] = []
  ) {
    self.code = code
    self.detail = detail
    self.fix = fix ?? code.fix
    self.headers = headers
    self.members = members
  }

  init(_ failure: CallFailure) {
    let row = failure.code.details
    // What the gateway itself refuses it says in its own words; those of a trunk are evidence, and stand elsewhere.
    let why = row.domain == .gateway && failure.sipStatus == nil ? failure.phrase.map { " (\($0))" } : nil
    self.init(
      ProblemCode(row), failure.invalidValue.map { "\($0.kind): \($0.problem)" } ?? row.meaning + (why ?? ""))
    if let invalid = failure.invalidValue {
      fix = invalid.accepted
      members.append(("rule", .string(invalid.rule)))
      if let offset = invalid.offset { members.append(("position", .integer(Int64(offset)))) }
    }
    if let refusal = failure.refusal { members.append(("refusal", .string(refusal.rawValue))) }
    if let seconds = failure.retryAfterSeconds { headers.append(("Retry-After", String(seconds))) }
    callID = failure.correlationID
    sipStatus = failure.sipStatus
  }

  init(_ refusal: LedgerRefusal) { self.init(ProblemCode(refusal), refusal.explanation) }

  init(_ unavailable: LedgerUnavailable) {
    // The text is an operator's: it names paths.
    self.init(.storeUnavailable, "the ledger is away: \(unavailable.cause.rawValue)")
    if unavailable.cause == .busy || unavailable.cause == .overloaded { headers.append(("Retry-After", "1")) }
  }

  /// What every response of the gateway carries.
  static let safetyHeaders = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
  static let mediaType = "application/problem+json"
  static let commonHeaders = [("Content-Type", mediaType)] + safetyHeaders

  /// - Parameter instance: path of the request.
  package func body(instance: String?) -> [UInt8] {
    var all: [(String, JSONValue)] = [
      ("type", .string("/errors/\(code.name)")), ("title", .string(code.title)),
      ("status", .integer(Int64(code.status))),
      ("detail", .string(detail)),
    ]
    if let instance { all.append(("instance", .string(instance))) }
    all.append(("code", .string(code.name)))
    if let fix { all.append(("fix", .string(fix))) }
    all.append(("retryable", .boolean(code.isRetryable)))
    if let callID { all.append(("call_id", .string(callID))) }
    if let sipStatus { all.append(("sip_status", .integer(Int64(sipStatus)))) }
    return JSONValue.members(all + members).bytes
  }
}
