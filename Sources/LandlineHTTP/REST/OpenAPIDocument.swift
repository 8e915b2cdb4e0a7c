import CallModel

/// The description of the HTTP interface (OpenAPI 3.1), made from the route table that also makes the router.
enum OpenAPIDocument {
  static func tree(_ routes: [RESTRoute]) -> JSONValue {
    var paths: [(String, [(String, JSONValue)])] = []
    for route in routes {
      let entry = (route.method.lowercased(), operation(route))
      if let index = paths.firstIndex(where: { $0.0 == route.path }) {
        paths[index].1.append(entry)
      } else {
        paths.append((route.path, [entry]))
      }
    }
    return .members([
      ("openapi", .string("3.1.0")),
      (
        "info",
        .members([
          ("title", .string("Landline")), ("version", .string("1")),
          (
            "description",
            .string(
              "Accounts, calls and state of a Landline gateway. Errors are RFC 9457 problems; amounts are decimal texts "
                + "beside whole micro-units.")
          ),
        ])
      ),
      ("servers", .array([.members([("url", .string("/"))])])),
      ("paths", .members(paths.map { ($0.0, .members($0.1)) })),
      (
        "components",
        .members([
          ("schemas", .members(OpenAPISchemas.all)),
          (
            "securitySchemes",
            .members([
              (
                "operatorKey",
                .members([
                  ("type", .string("http")), ("scheme", .string("bearer")),
                  ("description", .string("A key of an operator of one environment.")),
                ])
              ),
              (
                "ownerKey",
                .members([
                  ("type", .string("http")), ("scheme", .string("bearer")),
                  ("description", .string("A key of the owner of one account, which is all that it sees.")),
                ])
              ),
              (
                "session",
                .members([
                  ("type", .string("apiKey")), ("in", .string("cookie")), ("name", .string(PageSessions.cookieName)),
                  (
                    "description",
                    .string(
                      "What POST /v1/sign-in gave a page: stands for the key. Anything but GET and HEAD must come from the "
                        + "gateway's own origin.")
                  ),
                ])
              ),
              (
                "applicationSignature",
                .members([
                  ("type", .string("apiKey")), ("in", .string("header")), ("name", .string("Authorization")),
                  (
                    "description",
                    .string(
                      "Application KEY:SIGNATURE, HMAC-SHA256 over method, body digest, type, x-timestamp and path.")
                  ),
                ])
              ),
            ])
          ),
        ])
      ),
    ])
  }

  private static func operation(_ route: RESTRoute) -> JSONValue {
    var members: [(String, JSONValue)] = [("operationId", .string(route.id)), ("summary", .string(route.summary))]
    let scheme = { (name: String) in JSONValue.members([(name, .array([]))]) }
    switch route.access {
    case .anyone: members.append(("security", .array([])))
    case .principal:
      let schemes = ["operatorKey", "ownerKey", "applicationSignature", "session"]
      members.append(("security", .array(schemes.map(scheme))))
    case .operators: members.append(("security", .array([scheme("operatorKey"), scheme("session")])))
    }
    let parameters = self.parameters(route)
    if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
    if let body = route.body, !body.isEmpty {
      members.append(
        (
          "requestBody",
          .members([
            ("required", .boolean(body.contains { $0.isRequired })),
            ("content", content("application/json", OpenAPISchemas.body(body))),
          ])
        ))
    }
    members.append(("responses", .members(responses(route))))
    return .members(members)
  }

  private static func parameters(_ route: RESTRoute) -> [JSONValue] {
    func parameter(_ name: String, _ place: String, _ isRequired: Bool, _ text: String, _ schema: JSONValue)
      -> JSONValue
    {
      .members([
        ("name", .string(name)), ("in", .string(place)), ("required", .boolean(isRequired)),
        ("description", .string(text)),
        ("schema", schema),
      ])
    }
    let text = JSONValue.members([("type", .string("string"))])
    var all = route.pathParameters.map { parameter($0, "path", true, "Names what the request is about.", text) }
    all += route.query.map { parameter($0.name, "query", false, $0.description, $0.schema) }
    switch route.repeating {
    case .harmless: break
    case .keyOptional, .keyRequired:
      var isRequired = false
      if case .keyRequired = route.repeating { isRequired = true }
      all.append(
        parameter(
          "Idempotency-Key", "header", isRequired,
          "The same key with the same request gives the first answer for 24 hours.",
          .members([
            ("type", .string("string")), ("minLength", .integer(1)),
            ("maxLength", .integer(Int64(RESTService.maximumKeyBytes))),
          ])))
    }
    return all
  }

  private static func content(_ type: String, _ schema: JSONValue) -> JSONValue {
    .members([(type, .members([("schema", schema)]))])
  }

  /// The problems that a route can answer with, those that all share included.
  static func problems(_ route: RESTRoute) -> [ProblemCode] {
    var codes = route.problems + [.requestMalformed, .parameterUnknown, .requestsExhausted, .internalFault]
    switch route.access {
    case .anyone: break
    case .principal: codes += [.unauthorized, .environmentUnknown, .storeUnavailable]
    case .operators: codes += [.unauthorized, .forbidden, .environmentUnknown, .storeUnavailable]
    }
    if route.method != "GET" { codes.append(.crossSite) }
    if !route.query.isEmpty { codes.append(.parameterInvalid) }
    if route.body != nil {
      codes += [
        .bodyLarge, .mediaType, .jsonMalformed, .bodyShape, .memberUnknown, .memberMissing, .memberInvalid,
      ]
    }
    switch route.repeating {
    case .harmless: break
    case .keyOptional: codes += [.keyInvalid, .keyReused, .keyRunning]
    case .keyRequired: codes += [.keyMissing, .keyInvalid, .keyReused, .keyRunning]
    }
    return codes
  }

  private static func responses(_ route: RESTRoute) -> [(String, JSONValue)] {
    var responses: [(String, JSONValue)] = []
    // What a file or a text is, by its media type.
    func typed(_ type: String) -> (String, JSONValue) {
      let schema = JSONValue.members([("type", .string(type == "application/json" ? "object" : "string"))])
      return (type, .members([("schema", schema)]))
    }
    func described(_ text: String, _ content: JSONValue?) -> JSONValue {
      .members([("description", .string(text))] + (content.map { [("content", $0)] } ?? []))
    }
    switch route.success {
    case .json(let status, let schema):
      responses.append(
        (
          String(status),
          described(
            "Done.",
            .members(
              [("application/json", .members([("schema", OpenAPISchemas.reference(schema))]))]
                + route.otherTypes.map { ($0, .members([("schema", .members([("type", .string("string"))]))])) }))
        ))
    case .text(let status, let type):
      responses.append((String(status), described("Done.", .members(([type] + route.otherTypes).map(typed)))))
    case .file(let types):
      responses.append(("200", described("Done.", .members(types.map(typed)))))
      responses.append(("304", described("As in If-None-Match.", nil)))
    case .sound(let types):
      for (status, text) in [("200", "All of it."), ("206", "The range that was asked for, or its beginning.")] {
        responses.append((status, described(text, .members(types.map(typed)))))
      }
      responses.append(("416", described("The range begins behind the end.", nil)))
    case .nothing(let status): responses.append((String(status), described("Done.", nil)))
    case .webSocket: responses.append(("101", described("A WebSocket with sub-protocol landline.v1.", nil)))
    }
    if case .json(_, "Health") = route.success, route.id != "isAlive" {
      responses.append(
        ("503", described("Not so.", content("application/json", OpenAPISchemas.reference("Health")))))
    }
    var byStatus: [Int: [String]] = [:]
    for code in problems(route) where !byStatus[code.status, default: []].contains(code.name) {
      byStatus[code.status, default: []].append(code.name)
    }
    for (status, names) in byStatus.sorted(by: { $0.key < $1.key })
    where !responses.contains(where: { $0.0 == String(status) }) {
      var types = [(Problem.mediaType, JSONValue.members([("schema", OpenAPISchemas.reference("Problem"))]))]
      // A browser that looks for a page gets one.
      if status == 404, route.method == "GET" {
        types.append(("text/html", .members([("schema", .members([("type", .string("string"))]))])))
      }
      responses.append((String(status), described(names.joined(separator: ", "), .members(types))))
    }
    responses.append(
      ("default", described("Any other problem.", content(Problem.mediaType, OpenAPISchemas.reference("Problem")))))
    return responses
  }
}
