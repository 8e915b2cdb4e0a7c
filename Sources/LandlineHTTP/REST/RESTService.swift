package import CallModel
import Foundation
import HTTPTypes
package import Hummingbird
import LandlineDigest
package import LandlineNode
import LedgerCore
package import Logging
import NIOCore
import NIOHTTPTypes
package import NodeCore
import Synchronization

/// The gateway's HTTP interface: the route table with everything that all routes share.
package struct RESTService: Sendable {
  let operations: any GatewayOperations
  let authenticator: any RESTAuthenticator
  let metrics: MetricsRegistry
  let logger: Logger
  let bodyBytes: Int
  /// Whether a request may name its environment in the query; the authenticator reads it there.
  private let takesEnvironment: Bool
  /// `nil` where requests are not counted.
  private let requests: RequestLimit?
  private let servesMetrics: Bool
  let pages: PageFiles
  private let running: RunningKeys
  private let clock: @Sendable () -> Instant
  /// Whether somebody on this machine is let in without a key: for development.
  let signsInLocally: Bool
  let sessions: PageSessions
  let signIns = SignInGate()
  let phones: PagePhones
  let testTrunk: TrunkTestStart?
  let placeInboundCall: InboundCallStart?
  let trunkTests = TrunkTestRuns()
  let exports = AccountExports()
  /// Documents as they are served.
  let made = MadeFiles()
  let hasStarted = StartedFlag()

  package init(
    operations: any GatewayOperations, authenticator: any RESTAuthenticator, metrics: MetricsRegistry, logger: Logger,
    bodyBytes: Int, takesEnvironment: Bool = false, servesMetrics: Bool = true, pages: PageFiles = .none,
    signsInLocally: Bool = false, requests: RequestLimit? = nil,
    applications: @escaping @Sendable (_ environment: String) -> [AppCredentials] = { _ in [] },
    testTrunk: TrunkTestStart? = nil, placeInboundCall: InboundCallStart? = nil,
    clock: @escaping @Sendable () -> Instant = RESTService.now,
    draw: @escaping @Sendable () -> UInt64 = { SecureRandomNumberGenerator().next() }
  ) {
    self.operations = operations
    self.authenticator = authenticator
    self.metrics = metrics
    self.logger = logger
    self.bodyBytes = bodyBytes
    self.takesEnvironment = takesEnvironment
    self.requests = requests
    self.servesMetrics = servesMetrics
    self.pages = pages
    self.clock = clock
    self.signsInLocally = signsInLocally && pages != .none
    sessions = PageSessions(draw: draw)
    phones = PagePhones(applications: applications, draw: draw)
    self.testTrunk = testTrunk
    self.placeInboundCall = placeInboundCall
    running = RunningKeys()
  }

  package static let now: @Sendable () -> Instant = {
    Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded()))
  }

  /// All routes, in the order of the description.
  var routes: [RESTRoute] {
    let all =
      accountRoutes + balanceRoutes + moneyRoutes + exportRoutes + hintRoutes + userRoutes + callRoutes + storyRoutes
      + trunkRoutes + numberRoutes + deskPhoneRoutes + recordingRoutes + sayingRoutes
      + conferenceRoutes + nodeRoutes
      + personRoutes + plainRoutes + describingRoutes + pageRoutes + documentRoutes
    return servesMetrics ? all : all.filter { $0.path != "/metrics" }
  }

  package func router() -> Router<RESTContext> {
    let router = Router(context: RESTContext.self, options: .autoGenerateHeadEndpoints)
    let routes = routes
    router.add(middleware: ProblemMiddleware(service: self, routes: routes))
    for route in routes {
      // An unknown method of the table would be a slip of ours: it shows in the test that visits every route.
      guard let method = HTTPRequest.Method(route.method) else { continue }
      router.on(RouterPath(route.path), method: method) { request, context in
        try await self.respond(route, request, context)
      }
    }
    return router
  }

  // MARK: - One request

  private func respond(_ route: RESTRoute, _ request: Request, _ context: RESTContext) async throws -> Response {
    let body: [UInt8]
    do {
      body = Array(buffer: try await request.body.collect(upTo: bodyBytes))
    } catch is NIOTooManyBytesError {
      throw Problem(.bodyLarge, "the body has more than \(bodyBytes) bytes", headers: [("Connection", "close")])
    }
    let target = request.head.path ?? "/"
    let end = target.firstIndex(of: "?")
    let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
    let client = context.peer.map { peer in
      requests?.proxies.client(
        of: DoorChannel.host(peer), forwarded: headers.filter { $0.0 == "x-forwarded-for" }.map { $0.1 })
        ?? DoorChannel.host(peer)
    }
    let asked = RESTRequest(
      method: request.method.rawValue, path: String(end.map { target[..<$0] } ?? target[...]),
      query: end.map { String(target[target.index(after: $0)...]) }, headers: headers, body: body,
      peer: client == context.peer.map(DoorChannel.host) ? context.peer : client?.unbracketed,
      // The first one is taken out of the fields: one that is left is a second.
      host: headers.contains { $0.0 == "host" } ? nil : request.head.authority,
      isSecure: request.head.scheme == "https")
    do {
      return RESTService.response(try await answer(route, asked))
    } catch let problem as Problem {
      // Whoever brings no proof at all guesses nothing.
      if problem.code == .unauthorized, let client, headers.contains(where: { $0.0 == "authorization" }) {
        requests?.countRefusedProof(client)
      }
      throw problem
    }
  }

  private func answer(_ route: RESTRoute, _ asked: RESTRequest) async throws -> RESTAnswer {
    var call = RESTCall(
      request: asked, path: [:], query: [:], body: RESTBody(), principal: nil, stores: nil,
      key: RequestKey(unchecked: "none"),
      now: clock())
    if case .anyone = route.access {
    } else {
      guard let proof = try await proof(asked, at: call.now) else { throw unauthorized(asked) }
      if case .operators = route.access, proof.principal.role != .operator {
        throw Problem(.forbidden, "this is for operators")
      }
      call.principal = proof.principal
      call.session = proof.session
      call.sessionEndsAt = proof.endsAt
      call.stores = operations.environment(proof.principal.environment)
    }
    call.path = try parameters(route, asked.path)
    call.query = try query(route, asked.query)
    if let members = route.body {
      call.body = try RESTBody(asked.body, type: asked.header("content-type"), members)
    }
    return try await perform(route, call)
  }

  private func parameters(_ route: RESTRoute, _ path: String) throws -> [String: String] {
    var found: [String: String] = [:]
    let pattern = route.path.split(separator: "/", omittingEmptySubsequences: false)
    for (part, text) in zip(pattern, path.split(separator: "/", omittingEmptySubsequences: false))
    where part.hasPrefix("{") {
      guard let value = PercentText.decode(text) else {
        throw Problem(.requestMalformed, "the path has an escape that cannot be read")
      }
      found[String(part.dropFirst().dropLast())] = value
    }
    return found
  }

  private func query(_ route: RESTRoute, _ text: String?) throws -> [String: String] {
    guard let text, !text.isEmpty else { return [:] }
    // A page reads its own address; links may bring more.
    if case .file = route.success { return [:] }
    guard let parameters = PercentText.query(text) else {
      throw Problem(.parameterInvalid, "a parameter cannot be read or stands there twice")
    }
    let known = route.query.map { $0.name } + (takesEnvironment ? ["environment"] : [])
    for (name, _) in parameters where !known.contains(name) {
      let nearest = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
      throw Problem(
        .parameterUnknown, "\(name) is not known here",
        fix: nearest ?? (known.isEmpty ? "no query string" : known.joined(separator: ", ")),
        members: [("parameter", .string(name))])
    }
    return Dictionary(parameters.map { ($0.name, $0.value) }) { first, _ in first }
  }

  // MARK: - Idempotency

  static let maximumKeyBytes = 255

  private func perform(_ route: RESTRoute, _ call: RESTCall) async throws -> RESTAnswer {
    if case .harmless = route.repeating { return try await carryOut(route, call) }
    let (principal, stores) = try call.environment()
    guard let text = try RESTService.idempotencyKey(call.request) else {
      if case .keyRequired = route.repeating { throw Problem(.keyMissing, "the Idempotency-Key field is missing") }
      var call = call
      call.key = RESTService.ledgerKey("\(UInt64.random(in: 0 ... .max))\(UInt64.random(in: 0 ... .max))")
      return try await carryOut(route, call)
    }
    let scope = "\(principal.environment)/\(principal.actor)"
    var call = call
    call.key = RESTService.ledgerKey("\(scope)\n\(text)")
    let digest = Array("\(call.request.method)\n\(call.request.path)\n".utf8) + call.request.body
    // One at a time in this process; the store tells of those before its last start.
    guard let place = running.enter("\(scope)\n\(text)") else { throw RESTService.isRunning }
    defer { running.leave(place) }
    let state: IdempotencyState
    do {
      state = try await stores.idempotency.begin(
        text, scope: scope, digest: RESTService.digest(digest), now: call.now)
    } catch {
      throw Problem(.storeUnavailable, "the store of idempotency keys is away")
    }
    switch state {
    case .conflict: throw Problem(.keyReused, "the key was used before with another path or body")
    case .finished(let status, let body):
      return RESTAnswer(
        status: status, headers: [("Idempotent-Replayed", "true")],
        mediaType: body.isEmpty ? nil : status < 400 ? "application/json" : Problem.mediaType, body: body)
    case .running:
      // It was begun before this process: the ledger knows its outcome, a call must be looked up.
      if case .none = route.backing { throw RESTService.isRunning }
    case .fresh: break
    }
    return try await settle(route, call, text, scope, stores.idempotency)
  }

  private static var isRunning: Problem {
    Problem(.keyRunning, "the same request is being carried out", headers: [("Retry-After", "1")])
  }

  private func settle(
    _ route: RESTRoute, _ call: RESTCall, _ key: String, _ scope: String, _ store: any IdempotencyStore
  ) async throws -> RESTAnswer {
    let answer: RESTAnswer
    do {
      answer = try await carryOut(route, call)
    } catch let problem as Problem where problem.code.isRetryable || problem.code.status >= 500 {
      // Nothing was decided: a repeat tries again, and the ledger still counts it once.
      if problem.code != .internalFault { try? await store.abandon(key, scope: scope) }
      throw problem
    } catch let problem as Problem {
      let body = problem.body(instance: call.request.path)
      try await keep(key, scope, problem.code.status, body, store)
      throw problem
    }
    try await keep(key, scope, answer.status, answer.body, store)
    return answer
  }

  private func keep(_ key: String, _ scope: String, _ status: Int, _ body: [UInt8], _ store: any IdempotencyStore)
    async throws
  {
    do {
      try await store.finish(key, scope: scope, status: status, body: body)
    } catch {
      // The effect stands; only its repeat is not remembered here.
      logger.error("an idempotent answer could not be kept", metadata: ["scope": "\(scope)"])
    }
  }

  /// The key as sent: plain, or as a quoted string of RFC 8941.
  private static func idempotencyKey(_ request: RESTRequest) throws -> String? {
    let found = request.headers.filter { $0.name == "idempotency-key" }
    guard let first = found.first else { return nil }
    var text = first.value[...]
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
    guard found.count == 1, (1...maximumKeyBytes).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw Problem(.keyInvalid, "the Idempotency-Key field cannot be read") }
    return String(text)
  }

  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { MessageDigest.sha256().digest(of: $0) }
  }

  /// The ledger's key of a request: two different ones never share it.
  private static func ledgerKey(_ text: String) -> RequestKey {
    let digits = digest(Array(text.utf8)).prefix(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return RequestKey(unchecked: "http-" + digits)
  }

  private func carryOut(_ route: RESTRoute, _ call: RESTCall) async throws -> RESTAnswer {
    do {
      return try await route.handle(call)
    } catch let problem as Problem {
      throw problem
    } catch let unavailable as LedgerUnavailable {
      throw Problem(unavailable)
    } catch let failure as CallFailure {
      throw Problem(failure)
    } catch {
      logger.error("a request failed", metadata: ["route": "\(route.id)", "error": "\(ErrorText.text(error))"])
      throw Problem(.internalFault, "the request failed inside the gateway")
    }
  }

  static func response(_ answer: RESTAnswer) -> Response {
    var response = Response(status: HTTPResponse.Status(code: answer.status))
    for (name, value) in Problem.safetyHeaders + answer.headers {
      // Names are our own constants.
      if let name = HTTPField.Name(name) { response.headers[name] = value }
    }
    if let type = answer.mediaType { response.headers[.contentType] = type }
    if let lines = answer.lines {
      response.body = ResponseBody(contentLength: answer.lineBytes) { writer in
        var rest = answer.lineBytes
        for await line in lines {
          try await writer.write(ByteBuffer(bytes: line))
          rest = rest.map { $0 - line.count }
        }
        // Whoever was promised more is not to take this for the end.
        guard rest ?? 0 == 0 else { throw CancellationError() }
        try await writer.finish(nil)
      }
    } else if !answer.body.isEmpty {
      response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
    }
    return response
  }
}

/// Whether the gateway was ready once.
final class StartedFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

/// Requests with a key that this process is carrying out.
private final class RunningKeys: Sendable {
  private let keys = Mutex<Set<String>>([])

  /// - Returns: `nil` when the key is in use.
  func enter(_ key: String) -> String? { keys.withLock { $0.insert(key).inserted } ? key : nil }
  func leave(_ key: String) { _ = keys.withLock { $0.remove(key) } }
}
