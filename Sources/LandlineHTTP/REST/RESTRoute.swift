import CallModel
import NodeCore

/// One row of the route table: what makes the router, and the description of the interface, from one source.
struct RESTRoute: Sendable {
  enum Access: Sendable {
    case anyone
    case principal
    case operators
  }

  enum Repeating: Sendable {
    /// Repeats do no harm.
    case harmless
    case keyOptional
    /// Moves money or starts a call.
    case keyRequired
  }

  /// Who makes repeats safe besides the stored answer.
  enum Backing: Sendable {
    /// The ledger: carrying the request out again gives the first outcome.
    case ledger
    /// Nobody: what was begun must not be begun again.
    case none
  }

  struct Parameter: Sendable {
    var name: String
    var description: String
    var schema: JSONValue
  }

  typealias Member = RESTBody.Member

  enum Success: Sendable {
    /// The name of a schema.
    case json(Int, String)
    case text(Int, String)
    /// 200 with one of these types, or 304 where the asker has it already.
    case file([String])
    /// 200 with all of it, 206 with a part, or 416: a sound of one of these types.
    case sound([String])
    case nothing(Int)
    /// 101.
    case webSocket
  }

  typealias Handler = @Sendable (RESTCall) async throws -> RESTAnswer

  var method: String
  /// `/v1/accounts/{name}`
  var path: String
  var id: String
  var summary: String
  var access = Access.principal
  var repeating = Repeating.harmless
  var backing = Backing.none
  var query: [Parameter] = []
  var body: [Member]?
  var success: Success
  /// Other types of the same answer.
  var otherTypes: [String] = []
  var problems: [ProblemCode] = []
  var handle: Handler

  /// Names inside braces.
  var pathParameters: [String] {
    path.split(separator: "/").compactMap { part in
      part.hasPrefix("{") && part.hasSuffix("}") ? String(part.dropFirst().dropLast()) : nil
    }
  }

  /// Whether a path as sent is one of this route.
  func matches(_ path: Substring) -> Bool {
    let pattern = self.path.split(separator: "/", omittingEmptySubsequences: false)
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard pattern.count == parts.count else { return false }
    return zip(pattern, parts).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
  }
}

/// What a handler is given: everything checked that can be checked by the table.
struct RESTCall: Sendable {
  var request: RESTRequest
  /// Decoded, by name.
  var path: [String: String]
  var query: [String: String]
  var body: RESTBody
  /// Set on every route but those for anyone.
  var principal: RESTPrincipal?
  /// The page's session, where a cookie was the proof.
  var session: PageSessions.ID?
  /// When that session ends, whatever is done.
  var sessionEndsAt: Instant?
  var stores: EnvironmentStores?
  /// For the ledger, made from the idempotency key.
  var key: RequestKey
  var now: Instant
}

/// An answer that is no problem.
struct RESTAnswer: Sendable {
  var status: Int
  var headers: [(String, String)] = []
  var mediaType: String?
  var body: [UInt8]
  /// A body in pieces, in place of ``body``.
  var lines: AsyncStream<[UInt8]>?
  /// All of ``lines``; `nil` where their end is not known.
  var lineBytes: Int?

  static func json(_ status: Int = 200, _ value: JSONValue, headers: [(String, String)] = []) -> RESTAnswer {
    RESTAnswer(status: status, headers: headers, mediaType: "application/json", body: value.bytes)
  }

  static func text(_ status: Int = 200, _ text: String, mediaType: String = "text/plain; charset=utf-8") -> RESTAnswer {
    RESTAnswer(status: status, mediaType: mediaType, body: Array(text.utf8))
  }

  static let nothing = RESTAnswer(status: 204, mediaType: nil, body: [])
}
