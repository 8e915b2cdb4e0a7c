import CallModel
import Testing

/// What is wrong is said by name, and the same way everywhere (RFC 9457).
@Suite struct ProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var method: String
    var uri: String
    var body: String?
    var key: String?
    var who: String? = "operator"
    var type: String? = "application/json"
    var status: Int
    var problem: String
    var testDescription: String { "\(method) \(uri) \(body ?? "")" }

    init(
      _ method: String, _ uri: String, _ body: String? = nil, key: String? = nil, as who: String? = "operator",
      type: String? = "application/json", is status: Int, _ problem: String
    ) {
      (self.method, self.uri, self.body, self.key, self.who) = (method, uri, body, key, who)
      (self.type, self.status, self.problem) = (type, status, problem)
    }
  }

  static let cases: [Case] = [
    Case(
      "GET", "/nowhere", is: 404,
      #"{"type":"/errors/http.notFound","title":"There is nothing at this path","status":404,"detail":"no route has this path","instance":"/nowhere","code":"http.notFound","fix":"/openapi.json lists all paths","retryable":false}"#
    ),
    Case(
      "PUT", "/v1/accounts", "{}", is: 405,
      #"{"type":"/errors/http.method","title":"The path does not know this method","status":405,"detail":"this path knows GET, POST, HEAD","instance":"/v1/accounts","code":"http.method","fix":"a method from the Allow field","retryable":false}"#
    ),
    Case(
      "GET", "/v1/accounts", as: nil, is: 401,
      #"{"type":"/errors/auth.required","title":"The request carries no proof that is good here","status":401,"detail":"no proof, or none that is good here","instance":"/v1/accounts","code":"auth.required","fix":"Authorization: Bearer KEY of an operator, or Application KEY:SIGNATURE of an application","retryable":false}"#
    ),
    Case(
      "GET", "/v1/accounts", as: "wrong", is: 401,
      #"{"type":"/errors/auth.required","title":"The request carries no proof that is good here","status":401,"detail":"no proof, or none that is good here","instance":"/v1/accounts","code":"auth.required","fix":"Authorization: Bearer KEY of an operator, or Application KEY:SIGNATURE of an application","retryable":false}"#
    ),
    Case(
      "GET", "/v1/status", as: "app", is: 403,
      #"{"type":"/errors/auth.role","title":"Whoever asks may not do this","status":403,"detail":"this is for operators","instance":"/v1/status","code":"auth.role","fix":"a key with another role","retryable":false}"#
    ),
    Case(
      "GET", "/v1/accounts", as: "stray", is: 503,
      #"{"type":"/errors/environment.unknown","title":"The environment is not served by this gateway","status":503,"detail":"the key's environment is not served here","instance":"/v1/accounts","code":"environment.unknown","retryable":false}"#
    ),
    Case(
      "GET", "/v1/accounts?limmit=3", is: 400,
      #"{"type":"/errors/query.unknown","title":"A parameter of the query is not known","status":400,"detail":"limmit is not known here","instance":"/v1/accounts","code":"query.unknown","fix":"did you mean limit?","retryable":false,"parameter":"limmit"}"#
    ),
    Case(
      "GET", "/v1/accounts?limit=0", is: 400,
      #"{"type":"/errors/query.parameter","title":"A parameter has no valid value","status":400,"detail":"limit: not a number of rows","instance":"/v1/accounts","code":"query.parameter","fix":"1 to 1000","retryable":false,"parameter":"limit"}"#
    ),
    Case(
      "GET", "/v1/accounts?cursor=zzz", is: 400,
      #"{"type":"/errors/query.cursor","title":"The cursor is not one of this list","status":400,"detail":"the cursor cannot be read","instance":"/v1/accounts","code":"query.cursor","fix":"the next member of a page, unchanged","retryable":false}"#
    ),
    Case(
      "GET", "/v1/calls?from=yesterday", is: 400,
      #"{"type":"/errors/query.parameter","title":"A parameter has no valid value","status":400,"detail":"from: not a time","instance":"/v1/calls","code":"query.parameter","fix":"RFC 3339 such as 2026-11-21T05:30:00Z","retryable":false,"parameter":"from"}"#
    ),
    Case(
      "GET", "/v1/calls?cause=bored", is: 400,
      #"{"type":"/errors/query.parameter","title":"A parameter has no valid value","status":400,"detail":"cause: not a cause","instance":"/v1/calls","code":"query.parameter","fix":"none, timeout, denied, noAnswer, error, hungUp, canceled, otherDeviceAnswered, transferred","retryable":false,"parameter":"cause"}"#
    ),
    Case(
      "GET", "/v1/accounts/nobody", is: 404,
      #"{"type":"/errors/ledger.unknownAccount","title":"No account has that name","status":404,"detail":"no account has that name","instance":"/v1/accounts/nobody","code":"ledger.unknownAccount","fix":"GET /v1/accounts","retryable":false}"#
    ),
    Case(
      "GET", "/v1/accounts/acme", as: "app", is: 404,
      #"{"type":"/errors/ledger.unknownAccount","title":"No account has that name","status":404,"detail":"no account has that name","instance":"/v1/accounts/acme","code":"ledger.unknownAccount","fix":"GET /v1/accounts","retryable":false}"#
    ),
    Case(
      "GET", "/v1/calls/none", is: 404,
      #"{"type":"/errors/call.unknown","title":"There is no such call","status":404,"detail":"no call has that id","instance":"/v1/calls/none","code":"call.unknown","retryable":false}"#
    ),
    Case(
      "DELETE", "/v1/live-calls/none", is: 404,
      #"{"type":"/errors/call.unknown","title":"There is no such call","status":404,"detail":"no live call has that id","instance":"/v1/live-calls/none","code":"call.unknown","retryable":false}"#
    ),
    Case(
      "POST", "/v1/accounts", "name=x", type: "application/x-www-form-urlencoded", is: 415,
      #"{"type":"/errors/http.mediaType","title":"The body is of a type that is not read here","status":415,"detail":"application/x-www-form-urlencoded is not read here","instance":"/v1/accounts","code":"http.mediaType","fix":"Content-Type: application/json","retryable":false}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":"x","#, is: 400,
      #"{"type":"/errors/body.json","title":"The body is not JSON","status":400,"detail":"byte 12: the text ends too early","instance":"/v1/accounts","code":"body.json","retryable":false,"position":12}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":"x","name":"y"}"#, is: 400,
      #"{"type":"/errors/body.json","title":"The body is not JSON","status":400,"detail":"byte 12: the member name stands here a second time","instance":"/v1/accounts","code":"body.json","retryable":false,"position":12}"#
    ),
    Case(
      "POST", "/v1/accounts", "[]", is: 400,
      #"{"type":"/errors/body.shape","title":"The body is not an object","status":400,"detail":"the body is a list","instance":"/v1/accounts","code":"body.shape","fix":"an object: {…}","retryable":false}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":"x","curency":"EUR"}"#, is: 400,
      #"{"type":"/errors/body.unknownMember","title":"A member of the body is not known","status":400,"detail":"curency is not known here","instance":"/v1/accounts","code":"body.unknownMember","fix":"did you mean currency?","retryable":false,"member":"curency"}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":"x"}"#, is: 400,
      #"{"type":"/errors/body.missingMember","title":"A member of the body is missing","status":400,"detail":"currency is missing","instance":"/v1/accounts","code":"body.missingMember","fix":"ISO 4217, such as EUR","retryable":false,"member":"currency"}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":"a b","currency":"EUR"}"#, is: 400,
      #"{"type":"/errors/body.member","title":"A member of the body has no valid value","status":400,"detail":"name: account name: a space cannot stand here","instance":"/v1/accounts","code":"body.member","fix":"1 to 64 letters, digits and . _ - @ +, starting with a letter or a digit","retryable":false,"member":"name","rule":"name.character","position":1}"#
    ),
    Case(
      "POST", "/v1/accounts", #"{"name":1,"currency":"EUR"}"#, is: 400,
      #"{"type":"/errors/body.member","title":"A member of the body has no valid value","status":400,"detail":"name: a text is wanted here","instance":"/v1/accounts","code":"body.member","fix":"\"name\": \"…\"","retryable":false,"member":"name"}"#
    ),
    Case(
      "POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, is: 400,
      #"{"type":"/errors/idempotency.missing","title":"The request needs an idempotency key","status":400,"detail":"the Idempotency-Key field is missing","instance":"/v1/accounts/acme/topups","code":"idempotency.missing","fix":"Idempotency-Key: a random text of your own, the same in every repeat","retryable":false}"#
    ),
    Case(
      "POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, key: "a b", is: 400,
      #"{"type":"/errors/idempotency.key","title":"The idempotency key is not valid","status":400,"detail":"the Idempotency-Key field cannot be read","instance":"/v1/accounts/acme/topups","code":"idempotency.key","fix":"1 to 255 printable ASCII characters","retryable":false}"#
    ),
    Case(
      "POST", "/v1/accounts/acme/topups", #"{"amount":"1","method":"card"}"#, key: "k", as: "app", is: 403,
      #"{"type":"/errors/auth.role","title":"Whoever asks may not do this","status":403,"detail":"this is for operators","instance":"/v1/accounts/acme/topups","code":"auth.role","fix":"a key with another role","retryable":false}"#
    ),
    Case(
      "POST", "/v1/calls",
      #"{"account":"acme","first":{"kind":"fax","target":"+461"},"second":{"kind":"phone","target":"+462"}}"#, key: "k",
      is: 400,
      #"{"type":"/errors/body.member","title":"A member of the body has no valid value","status":400,"detail":"first.kind: not a kind of destination","instance":"/v1/calls","code":"body.member","fix":"phone, sip, user, conference","retryable":false,"member":"first.kind"}"#
    ),
    Case(
      "POST", "/v1/calls",
      #"{"account":"acme","first":{"kind":"phone","targte":"+461"},"second":{"kind":"phone","target":"+462"}}"#,
      key: "k",
      is: 400,
      #"{"type":"/errors/body.unknownMember","title":"A member of the body is not known","status":400,"detail":"first.targte is not known here","instance":"/v1/calls","code":"body.unknownMember","fix":"did you mean first.target?","retryable":false,"member":"first.targte"}"#
    ),
    Case(
      "GET", "/v1/connect", as: nil, is: 426,
      #"{"type":"/errors/connect.upgrade","title":"This path speaks WebSocket only","status":426,"detail":"this path speaks WebSocket only","instance":"/v1/connect","code":"connect.upgrade","retryable":false}"#
    ),
    Case(
      "GET", "/errors/made.up", as: nil, is: 404,
      #"{"type":"/errors/http.notFound","title":"There is nothing at this path","status":404,"detail":"no problem has that code","instance":"/errors/made.up","code":"http.notFound","fix":"/openapi.json lists all paths","retryable":false}"#
    ),
  ]

  @Test(arguments: cases) func isSaidInFull(_ one: Case) async throws {
    let kit = try await RESTKit()
    let answer = try await kit.send(one.method, one.uri, one.body, key: one.key, as: one.who, type: one.type)
    #expect(answer.status == one.status)
    #expect(answer.text == one.problem)
    #expect(answer.headers["content-type"] == "application/problem+json")
    #expect(answer.headers["cache-control"] == "no-store")
    #expect(answer.headers["x-content-type-options"] == "nosniff")
    if one.status == 405 { #expect(answer.headers["allow"] == "GET, POST, HEAD") }
    if one.status == 401 { #expect(answer.headers["www-authenticate"] == "Bearer, Application") }
    // Its type can be read about.
    let type = try #require(answer.tree["type"]?.stringValue)
    let page = try await kit.send("GET", type, as: nil)
    #expect(page.status == 200)
    #expect(page.text.contains("HTTP status \(one.status)"))
    await kit.close()
  }

  @Test func everyFailureOfACallHasItsPage() async throws {
    let kit = try await RESTKit()
    for code in CallFailureCode.allCases {
      let page = try await kit.send("GET", "/errors/\(code.rawValue)", as: nil)
      #expect(page.status == 200)
      #expect(page.text.contains(code.details.meaning))
    }
    await kit.close()
  }

  @Test func aLargeBodyIsRefused() async throws {
    let kit = try await RESTKit()
    let answer = try await kit.send("POST", "/v1/accounts", String(repeating: " ", count: 64 * 1024 + 1))
    #expect(answer.status == 413)
    await kit.close()
  }
}
