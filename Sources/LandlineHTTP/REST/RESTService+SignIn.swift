import CallModel
import LandlineNode
import LedgerCore
import Logging
import NodeCore

extension RESTService {
  /// A good proof: who asks, and the session where a cookie stands for it.
  struct Proof: Sendable {
    var principal: RESTPrincipal
    var session: PageSessions.ID?
    var endsAt: Instant?
  }

  /// An `Authorization` field counts alone; without one, a page's cookie does.
  /// - Throws: a problem for a cookie that another site's page made its browser send.
  func proof(_ request: RESTRequest, at now: Instant) async throws -> Proof? {
    if let principal = await authenticator.authenticate(request) { return Proof(principal: principal) }
    guard !request.headers.contains(where: { $0.name == "authorization" }) else { return nil }
    for id in PageSessions.candidates(request) {
      guard let (ground, endsAt) = sessions.use(id, at: now), let principal = await principal(ground) else { continue }
      guard request.method == "GET" || request.method == "HEAD" || PageOrigin.isOwn(request) else {
        throw Problem(.crossSite, "neither Sec-Fetch-Site nor Origin tells a page of this host")
      }
      return Proof(principal: principal, session: id, endsAt: endsAt)
    }
    return nil
  }

  private func principal(_ ground: PageSessions.Ground) async -> RESTPrincipal? {
    switch ground {
    case .key(let digest): await authenticator.principal(ofKey: digest)
    case .development(let environment): RESTService.developer(environment)
    }
  }

  private static func developer(_ environment: String) -> RESTPrincipal {
    RESTPrincipal(environment: environment, actor: "local", role: .operator)
  }

  func unauthorized(_ request: RESTRequest) -> Problem {
    Problem(
      .unauthorized, "no proof, or none that is good here", headers: [("WWW-Authenticate", "Bearer, Application")],
      members: signsInLocally && PageOrigin.isLocal(request) ? [("development", .boolean(true))] : [])
  }

  /// Nothing can be signed in to where there are no pages.
  private var signInRoutes: [RESTRoute] {
    guard pages != .none else { return [] }
    return [
      RESTRoute(
        method: "POST", path: "/v1/sign-in", id: "signIn", summary: "Get a cookie for a bearer key, for pages",
        access: .anyone, body: [], success: .json(200, "Person"), problems: [.unauthorized, .attemptsExhausted],
        handle: signIn),
      RESTRoute(
        method: "GET", path: "/v1/sign-in", id: "getVisitor",
        summary: "Who is signed in, if anybody, and whether a sign-in without a key would work", access: .anyone,
        success: .json(200, "Visitor"), handle: showVisitor),
      RESTRoute(
        method: "DELETE", path: "/v1/sign-in", id: "signOut", summary: "End the cookie's session", access: .anyone,
        success: .nothing(204), handle: signOut),
    ]
  }

  var personRoutes: [RESTRoute] {
    signInRoutes + [
      RESTRoute(
        method: "GET", path: "/v1/me", id: "getPerson", summary: "Who asks", success: .json(200, "Person"),
        handle: showPerson),
      RESTRoute(
        method: "POST", path: "/v1/phone-registrations", id: "registerPhone",
        summary: "A short-lived token to register a page's phone with",
        body: [
          .init(
            name: "account", kind: .text,
            description: "who pays; one's own by default, for an operator that of the first application"),
          .init(
            name: "user", kind: .text,
            description: "who the phone is; for pages of `landline dev` alone, one's own name by default"),
        ], success: .json(201, "PhoneRegistration"), problems: [.accountUnknown, .phoneUnavailable, .forbidden],
        handle: registerPhone),
    ]
  }

  private var signIn: RESTRoute.Handler {
    { call in
      let request = call.request
      let peer = request.peer
      if let seconds = signIns.countTry(by: peer, at: call.now) {
        throw Problem(
          .attemptsExhausted, "too many attempts from this address", headers: [("Retry-After", String(seconds))])
      }
      var ground: PageSessions.Ground?
      if request.headers.contains(where: { $0.name == "authorization" }) {
        ground = OperatorKeys.digest(in: request).map { .key($0) }
      } else if signsInLocally, PageOrigin.isLocal(request) {
        ground = operations.environmentNames.first.map { .development($0) }
      }
      guard let ground, let principal = await principal(ground) else {
        logger.notice("a sign-in was refused", metadata: ["peer": "\(peer ?? "-")"])
        throw unauthorized(request)
      }
      signIns.giveBack(peer)
      let answer = try await person(principal)
      for former in PageSessions.candidates(request) { sessions.end(former) }
      let cookie = sessions.begin(ground, at: call.now)
      logger.info("somebody signed in", metadata: ["actor": "\(principal.actor)", "peer": "\(peer ?? "-")"])
      return .json(200, answer, headers: [PageSessions.cookie(cookie, isSecure: request.isSecure)])
    }
  }

  private var signOut: RESTRoute.Handler {
    { call in
      let candidates = PageSessions.candidates(call.request)
      guard candidates.isEmpty || PageOrigin.isOwn(call.request) else {
        throw Problem(.crossSite, "neither Sec-Fetch-Site nor Origin tells a page of this host")
      }
      for session in candidates { sessions.end(session) }
      var answer = RESTAnswer.nothing
      answer.headers = [PageSessions.cookie("", isSecure: call.request.isSecure)]
      return answer
    }
  }

  private var showVisitor: RESTRoute.Handler {
    { call in
      let principal = try await proof(call.request, at: call.now)?.principal
      let isLocal = signsInLocally && PageOrigin.isLocal(call.request)
      var me = JSONValue.null
      if let principal { me = try await person(principal) }
      return .json(200, .members([("me", me), ("development", .boolean(isLocal))]))
    }
  }

  private var showPerson: RESTRoute.Handler {
    { call in .json(200, try await person(try call.environment().principal)) }
  }

  private func person(_ principal: RESTPrincipal) async throws -> JSONValue {
    guard let stores = operations.environment(principal.environment) else {
      throw Problem(.environmentUnknown, "the key's environment is not served here")
    }
    var currency: Currency?
    if let name = principal.account {
      currency = try await stores.ledger.read { try $0.customer(named: name.text)?.currency }
    }
    let application = phones.application(principal, account: nil)
    let role =
      switch principal.role {
      case .operator: "operator"
      case .owner: "owner"
      case .application: "application"
      }
    return .members([
      ("role", .string(role)), ("environment", .string(principal.environment)),
      ("account", .string(optional: principal.account?.text)), ("actor", .string(principal.actor)),
      ("development", .boolean(signsInLocally)),
      ("phone", .boolean(application != nil)), ("payer", .string(optional: application?.account.text)),
      ("currency", .string(optional: currency.map { "\($0)" })),
    ])
  }

  /// Whoever tries things out on one machine is several people, each in a tab. Elsewhere a page is whoever signed in there.
  private func chosenUser(_ call: RESTCall, _ application: AppCredentials) throws -> UserID? {
    guard let text = try call.text("user") else { return nil }
    guard signsInLocally, call.session != nil, PageOrigin.isLocal(call.request), call.principal?.role == .operator
    else {
      throw Problem(.forbidden, "a phone's user is chosen on pages of a development gateway alone")
    }
    return try RESTCall.value("user") { () throws(InvalidValue) in try UserID(text, rules: application.userRules) }
  }

  private var registerPhone: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      let account = try call.name("account", as: AccountName.self)
      if let account, !call.mayUse(account) { throw Problem(.unknownAccount) }
      guard let application = phones.application(principal, account: account) else {
        throw Problem(
          .phoneUnavailable,
          (account ?? principal.account).map { "no application pays with \($0)" } ?? "there is no application")
      }
      let user = try chosenUser(call, application)
      let label =
        call.session?.label ?? RESTCursor.hexadecimal(RESTService.digest(Array(principal.actor.utf8)).prefix(8))
      guard let registration = phones.register(application, principal, chosen: user, label: label, at: call.now) else {
        throw Problem(.phoneUnavailable, "the application's secret cannot sign")
      }
      return .json(201, registration)
    }
  }
}
