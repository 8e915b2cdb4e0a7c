import CallModel
import LandlineNode
import NodeCore

extension RESTService {
  var nodeRoutes: [RESTRoute] {
    let operations = operations
    return [
      RESTRoute(
        method: "GET", path: "/v1/status", id: "getStatus", summary: "How the gateway does", access: .operators,
        success: .json(200, "Status")
      ) { _ in
        let status = await operations.status()
        return .json(
          200,
          .members([
            ("version", .string(status.version)), ("node", .string(status.node)),
            ("started_at", .string("\(status.startedAt)")), ("ready", .boolean(status.isReady)),
            ("draining", .boolean(status.isDraining)), ("live_calls", .integer(Int64(status.liveCalls))),
            ("sessions", .integer(Int64(status.sessions))),
            ("problems", .array(status.problems.map { .string($0) })),
          ]))
      }
    ]
  }

  /// Routes for everybody: no secret stands behind them.
  var plainRoutes: [RESTRoute] {
    let (operations, metrics, hasStarted) = (operations, metrics, hasStarted)
    return [
      RESTRoute(
        method: "GET", path: ConnectRequest.path, id: "connect",
        summary: "The apps' WebSocket, sub-protocol landline.v1",
        access: .anyone, success: .webSocket,
        problems: [
          .connectQuery, .connectKey, .connectProtocol, .connectBody, .connectLate, .upgradeRequired, .originRefused,
          .connectionsExhausted,
        ]
      ) { _ in
        throw Problem(.upgradeRequired, "this path speaks WebSocket only", headers: [("Upgrade", "websocket")])
      },
      RESTRoute(
        method: "GET", path: "/livez", id: "isAlive", summary: "The process answers", access: .anyone,
        success: .json(200, "Health")
      ) { _ in RESTService.health(200, "alive", []) },
      RESTRoute(
        method: "GET", path: "/readyz", id: "isReady", summary: "The gateway takes new calls: 200, else 503",
        access: .anyone, success: .json(200, "Health")
      ) { _ in
        let status = await operations.status()
        if status.isReady { hasStarted.set() }
        if status.isDraining { return RESTService.health(503, "draining", status.problems) }
        return status.isReady
          ? RESTService.health(200, "ready", []) : RESTService.health(503, "not ready", status.problems)
      },
      RESTRoute(
        method: "GET", path: "/startupz", id: "hasStarted", summary: "The gateway was ready once: 200, else 503",
        access: .anyone, success: .json(200, "Health")
      ) { _ in
        let status = await operations.status()
        if status.isReady || status.isDraining { hasStarted.set() }
        return hasStarted.isSet
          ? RESTService.health(200, "started", []) : RESTService.health(503, "starting", status.problems)
      },
      RESTRoute(
        method: "GET", path: "/metrics", id: "getMetrics", summary: "Figures in Prometheus' text format",
        access: .anyone, success: .text(200, "text/plain")
      ) { _ in
        let status = await operations.status()
        metrics.set(.ready, status.isReady ? 1 : 0)
        metrics.set(.draining, status.isDraining ? 1 : 0)
        metrics.set(.sessions, Double(status.sessions))
        return .text(200, metrics.text(), mediaType: MetricsRegistry.contentType)
      },
      RESTRoute(
        method: "GET", path: "/openapi.json", id: "getDescription", summary: "This description", access: .anyone,
        success: .text(200, "application/json")
      ) { _ in
        .json(200, OpenAPIDocument.tree(routes))
      },
      RESTRoute(
        method: "GET", path: "/errors/{code}", id: "explainProblem", summary: "What a problem type means",
        access: .anyone, success: .text(200, "text/plain"), otherTypes: ["text/html"], problems: [.notFound]
      ) { call in
        let code = call.path["code"] ?? ""
        guard let explanation = Explanation(code) else { throw Problem(.notFound, "no problem has that code") }
        guard PlainPage.isWanted(call.request.header("accept")) else { return .text(200, explanation.text) }
        return RESTService.htmlAnswer(explanation.page(code: code))
      },
    ]
  }

  private static func health(_ status: Int, _ word: String, _ problems: [String]) -> RESTAnswer {
    .json(status, .members([("status", .string(word)), ("problems", .array(problems.map { .string($0) }))]))
  }
}
