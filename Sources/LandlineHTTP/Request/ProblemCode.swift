import CallModel
import LedgerCore

/// A kind of problem as HTTP clients meet it: stable name, status, words.
package struct ProblemCode: Hashable, Sendable {
  /// Stable dotted name; `/errors/NAME` explains it.
  package let name: String
  package let status: Int
  package let title: String
  package let fix: String?
  package let isRetryable: Bool

  init(_ name: String, _ status: Int, _ title: String, fix: String? = nil, isRetryable: Bool = false) {
    self.name = name
    self.status = status
    self.title = title
    self.fix = fix
    self.isRetryable = isRetryable
  }

  static let requestMalformed = ProblemCode("http.malformed", 400, "The request is not well-formed HTTP")
  static let targetLong = ProblemCode("http.targetLong", 414, "The path and query are too long")
  static let headersLarge = ProblemCode("http.headersLarge", 431, "The header fields are too large")
  static let notFound = ProblemCode(
    "http.notFound", 404, "There is nothing at this path", fix: "/openapi.json lists all paths")
  static let methodNotAllowed = ProblemCode(
    "http.method", 405, "The path does not know this method", fix: "a method from the Allow field")
  static let bodyLarge = ProblemCode("http.bodyLarge", 413, "The body is too large")
  static let mediaType = ProblemCode(
    "http.mediaType", 415, "The body is of a type that is not read here", fix: "Content-Type: application/json")
  static let unauthorized = ProblemCode(
    "auth.required", 401, "The request carries no proof that is good here",
    fix: "Authorization: Bearer KEY of an operator, or Application KEY:SIGNATURE of an application")
  static let forbidden = ProblemCode("auth.role", 403, "Whoever asks may not do this", fix: "a key with another role")
  static let crossSite = ProblemCode(
    "auth.crossSite", 403, "Another site's page sent the request",
    fix: "a request of the gateway's own pages, or one with an Authorization field")
  static let attemptsExhausted = ProblemCode(
    "auth.attempts", 429, "There were too many attempts to sign in", fix: "wait as long as Retry-After says",
    isRetryable: true)
  static let phoneUnavailable = ProblemCode(
    "phone.application", 409, "No application can carry the phone",
    fix: "an application with this account in the environment's configuration")

  static let connectQuery = ProblemCode("connect.query", 400, "A WebSocket address has no query string")
  static let connectKey = ProblemCode("connect.key", 400, "The WebSocket key is not valid")
  static let connectProtocol = ProblemCode("connect.protocol", 400, "No sub-protocol is shared")
  static let connectBody = ProblemCode("connect.body", 400, "A request for a WebSocket has no body")
  static let connectLate = ProblemCode("connect.late", 400, "A WebSocket is asked for first")
  static let upgradeRequired = ProblemCode("connect.upgrade", 426, "This path speaks WebSocket only")
  static let originRefused = ProblemCode("connect.origin", 403, "Pages of this origin may not connect")
  static let connectionsExhausted = ProblemCode(
    "connect.capacity", 503, "The gateway takes no more connections", fix: "try again later", isRetryable: true)

  static let requestsExhausted = ProblemCode(
    "http.rate", 429, "The host asks more often than it may", fix: "wait as long as Retry-After says", isRetryable: true
  )

  static let jsonMalformed = ProblemCode("body.json", 400, "The body is not JSON")
  static let bodyShape = ProblemCode("body.shape", 400, "The body is not an object")
  static let memberUnknown = ProblemCode("body.unknownMember", 400, "A member of the body is not known")
  static let memberMissing = ProblemCode("body.missingMember", 400, "A member of the body is missing")
  static let memberInvalid = ProblemCode("body.member", 400, "A member of the body has no valid value")
  static let parameterUnknown = ProblemCode("query.unknown", 400, "A parameter of the query is not known")
  static let parameterInvalid = ProblemCode("query.parameter", 400, "A parameter has no valid value")
  static let cursorInvalid = ProblemCode(
    "query.cursor", 400, "The cursor is not one of this list", fix: "the next member of a page, unchanged")

  static let keyMissing = ProblemCode(
    "idempotency.missing", 400, "The request needs an idempotency key",
    fix: "Idempotency-Key: a random text of your own, the same in every repeat")
  static let keyInvalid = ProblemCode(
    "idempotency.key", 400, "The idempotency key is not valid", fix: "1 to 255 printable ASCII characters")
  static let keyReused = ProblemCode(
    "idempotency.reused", 422, "The idempotency key belongs to a request with other content",
    fix: "a new key for a new request")
  static let keyRunning = ProblemCode(
    "idempotency.running", 409, "A request with this idempotency key is being carried out",
    fix: "ask again in a second; for a call, GET /v1/calls tells its outcome", isRetryable: true)

  static let accountUnknown = ProblemCode(LedgerRefusal.unknownAccount)
  static let applicationUnknown = ProblemCode(
    "application.unknown", 404, "There is no such application", fix: "the key of an application of one's own")
  static let trunkUnknown = ProblemCode("trunk.unknown", 404, "There is no such trunk", fix: "GET /v1/trunks")
  static let numberUnknown = ProblemCode("number.unknown", 404, "There is no such number", fix: "GET /v1/numbers")
  static let numberConfigured = ProblemCode(
    "number.configured", 409, "The number stands in the configuration", fix: "change it there, and reload")
  static let numberTaken = ProblemCode(
    "number.taken", 409, "The number belongs to another environment", fix: "remove it there first")
  static let numbersFull = ProblemCode(
    "number.full", 409, "The environment has no room for more numbers", fix: "remove one that is not used")
  static let deskPhoneUnknown = ProblemCode(
    "desk-phone.unknown", 404, "There is no such desk phone", fix: "GET /v1/desk-phones")
  static let deskPhoneConfigured = ProblemCode(
    "desk-phone.configured", 409, "The desk phone stands in the configuration", fix: "change it there, and reload")
  static let deskPhoneTaken = ProblemCode(
    "desk-phone.taken", 409, "The desk phone belongs to another environment", fix: "another name, or remove it there")
  static let deskPhonesFull = ProblemCode(
    "desk-phone.full", 409, "The environment has no room for more desk phones", fix: "remove one that is not used")
  static let conferenceUnknown = ProblemCode(
    "conference.unknown", 404, "Nobody is in that conference", fix: "GET /v1/conferences")
  static let participantUnknown = ProblemCode(
    "conference.participant", 404, "There is no such participant", fix: "GET /v1/conferences/{id}")
  static let recordingUnknown = ProblemCode(
    "recording.unknown", 404, "There is no such recording", fix: "GET /v1/recordings")
  static let recordingRunning = ProblemCode(
    "recording.running", 409, "The recording is not over", fix: "end it first, or wait for its call to end")
  static let recordingUnreadable = ProblemCode(
    "recording.unreadable", 500, "The sound of the recording cannot be read", fix: "tell the operator: the log says why"
  )
  static let soundUnknown = ProblemCode(
    "sound.unknown", 404, "There is no such sound, or no engine that speaks", fix: "environments.NAME.sounds")
  static let soundFailed = ProblemCode(
    "sound.failed", 503, "The sound cannot be read or spoken now", fix: "again in a moment; the log says why",
    isRetryable: true)
  static let inboundCallsExhausted = ProblemCode(
    "number.calling", 429, "The far end cannot call now", fix: "again when one of its calls has ended",
    isRetryable: true)
  static let trunkTestRunning = ProblemCode(
    "trunk.testing", 429, "The trunk is being tested", fix: "wait for the test to end", isRetryable: true)
  static let exportRunning = ProblemCode(
    "export.busy", 429, "Too many histories are being written", fix: "again in a few seconds", isRetryable: true)
  static let callUnknown = ProblemCode("call.unknown", 404, "There is no such call")
  static let storeUnavailable = ProblemCode(
    "store.unavailable", 503, "The gateway's own store gives no answer", fix: "repeat with the same Idempotency-Key",
    isRetryable: true)
  static let environmentUnknown = ProblemCode(
    "environment.unknown", 503, "The environment is not served by this gateway")
  static let internalFault = ProblemCode("http.internal", 500, "The gateway failed", fix: "tell the operator the time")

  /// Every kind that is no call's failure.
  package static let all: [ProblemCode] =
    [
      requestMalformed, targetLong, headersLarge, notFound, methodNotAllowed, bodyLarge, mediaType, unauthorized,
      forbidden, crossSite, attemptsExhausted, phoneUnavailable, applicationUnknown, trunkUnknown, numberUnknown,
      numberConfigured, numberTaken, numbersFull, deskPhoneUnknown, deskPhoneConfigured, deskPhoneTaken, deskPhonesFull,
      conferenceUnknown, participantUnknown, recordingUnknown, recordingRunning, recordingUnreadable,
      soundUnknown, soundFailed,
      inboundCallsExhausted,
      trunkTestRunning,
      exportRunning,
      connectQuery, connectKey, connectProtocol, connectBody, connectLate, upgradeRequired, originRefused,
      connectionsExhausted, requestsExhausted, jsonMalformed, bodyShape, memberUnknown, memberMissing, memberInvalid,
      parameterUnknown,
      parameterInvalid, cursorInvalid, keyMissing, keyInvalid, keyReused, keyRunning, callUnknown, storeUnavailable,
      environmentUnknown, internalFault,
    ] + LedgerRefusal.allCases.map { ProblemCode($0) }

  /// A refusal of the ledger.
  init(_ refusal: LedgerRefusal) {
    let (status, fix): (Int, String?) =
      switch refusal {
      case .unknownAccount: (404, "GET /v1/accounts")
      case .unknownTransfer: (404, "GET /v1/accounts/NAME/history")
      case .unknownCall: (404, "GET /v1/calls")
      case .accountExists: (409, "GET /v1/accounts/NAME")
      case .conflict: (422, "a new Idempotency-Key for a new request")
      case .accountLocked: (409, "POST /v1/accounts/NAME/unlock")
      case .accountClosed, .alreadyResolved, .staleEpoch, .notAnswered: (409, nil)
      case .belowFloor, .insufficientCredit: (402, "POST /v1/accounts/NAME/topups")
      case .unknownZone: (400, "an IANA zone such as Europe/Stockholm")
      case .amountOutOfRange, .currencyMismatch: (422, nil)
      case .amountTooLarge:
        (422, "a smaller amount; 'largest-amount' of the environment says how much is booked at once")
      case .counterAccountFull: (409, "another payment method, or correct the operator's account with landline adjust")
      case .rateCap, .concurrencyCap: (429, nil)
      case .destinationBlocked, .noRate, .noProfitableRoute, .countryNotAllowed, .rateTooHigh, .durationCap, .callCap,
        .dailyCap:
        (403, nil)
      }
    self.init("ledger.\(refusal.rawValue)", status, ProblemCode.sentence(refusal.explanation), fix: fix)
  }

  /// A class of the call failure catalogue.
  init(_ row: CallFailureClass) {
    let status =
      switch row.code {
      case .funds: 402
      case .rate, .policy, .currency, .account: 403
      case .limit: 429
      case .noRoute, .billing, .congestion: 503
      case .number, .address, .header: 400
      case .internal: 500
      case .capabilityRemote, .capabilityLocal, .transfer, .recording, .saying, .roomFull, .roomLocked: 409
      default: row.domain == .network ? 504 : 502
      }
    let isRetryable =
      switch row.retry {
      case .now, .later, .nextTrunk, .byGateway: true
      default: false
      }
    self.init(
      row.code.rawValue, status, row.meaning.hasSuffix(".") ? String(row.meaning.dropLast()) : row.meaning,
      fix: row.remedies.first, isRetryable: isRetryable)
  }

  private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
