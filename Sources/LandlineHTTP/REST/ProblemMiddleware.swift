import CallModel
import Hummingbird
import LandlineNode
import Logging
import NIOCore
import NIOHTTP1

/// Makes a problem out of everything that is no answer, and counts requests.
struct ProblemMiddleware: RouterMiddleware {
  typealias Context = RESTContext

  let service: RESTService
  let routes: [RESTRoute]

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let clock = ContinuousClock()
    let start = clock.now
    let path = (request.head.path ?? "/").prefix { $0 != "?" }
    var response: Response
    do {
      response = try await next(request, context)
    } catch let problem as Problem {
      response = self.response(problem, path, request)
    } catch let error as HTTPError where error.status == .notFound {
      response = self.response(missing(path), path, request)
    } catch let error as HTTPError {
      let code = error.status.code >= 500 ? ProblemCode.internalFault : .requestMalformed
      response = ProblemMiddleware.response(Problem(code, "the request cannot be answered"), path)
    } catch  where service.isPeersFault(error) {
      // The codec's own errors end the connection.
      throw error
    } catch {
      service.logger.error("a request failed", metadata: ["error": "\(ErrorText.text(error))"])
      response = ProblemMiddleware.response(Problem(.internalFault, "the request failed inside the gateway"), path)
    }
    if request.method == .head {
      response.body = ResponseBody(contentLength: response.body.contentLength ?? 0) { try await $0.finish(nil) }
    }
    count(request, path, response, nanoseconds: (clock.now - start).nanoseconds)
    return response
  }

  /// A path that no route has, or a method that its routes have not.
  private func missing(_ path: Substring) -> Problem {
    var methods = routes.filter { $0.matches(path) }.map { $0.method }
    guard !methods.isEmpty else { return Problem(.notFound, "no route has this path") }
    if methods.contains("GET") { methods.append("HEAD") }
    return Problem(
      .methodNotAllowed, "this path knows \(methods.joined(separator: ", "))",
      headers: [("Allow", methods.joined(separator: ", "))])
  }

  private func count(_ request: Request, _ path: Substring, _ response: Response, nanoseconds: Int64) {
    let known: Set<String> = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]
    let method = known.contains(request.method.rawValue) ? request.method.rawValue : "other"
    let route = routes.first { $0.matches(path) }?.path ?? "none"
    service.metrics.add(
      .httpRequests, 1, [("route", route), ("method", method), ("status", String(response.status.code))])
    service.metrics.observe(.httpRequest, nanoseconds: nanoseconds, [("route", route)])
  }

  /// What is not there is a page for people who look for one, and a problem for programs.
  private func response(_ problem: Problem, _ path: Substring, _ request: Request) -> Response {
    guard problem.code.status == 404, service.pages != .none, request.method == .get || request.method == .head,
      PlainPage.isWanted(request.headers[.accept])
    else { return ProblemMiddleware.response(problem, path) }
    return RESTService.response(RESTService.htmlAnswer(.missing(path, problem), status: problem.code.status))
  }

  static func response(_ problem: Problem, _ path: Substring) -> Response {
    RESTService.response(
      RESTAnswer(
        status: problem.code.status, headers: problem.headers, mediaType: Problem.mediaType,
        body: problem.body(instance: String(path))))
  }
}

extension RESTService {
  /// An error of the connection itself: nobody is there to be answered.
  func isPeersFault(_ error: any Error) -> Bool {
    error is ChannelError || error is IOError || error is CancellationError || error is HTTPParserError
  }
}

extension Duration {
  /// Saturates.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
  }
}
