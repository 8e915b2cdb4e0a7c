import CallModel
import LandlineNode
import NodeCore

extension RESTService {
  var userRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/users/{user}", id: "getUserPresence",
        summary: "Whether a user is unknown, unreachable or reachable for calls now",
        query: [
          .init(
            name: "application",
            description: "Key of the user's application; one's own by default, for others the first that they may see.",
            schema: .members([("type", .string("string"))]))
        ], success: .json(200, "UserPresence"), problems: [.applicationUnknown], handle: showPresence)
    ]
  }

  private var showPresence: RESTRoute.Handler {
    { call in
      let (principal, _) = try call.environment()
      guard let application = phones.application(principal, named: call.query["application"]) else {
        throw Problem(
          .applicationUnknown, call.query["application"].map { "\($0) is none here" } ?? "nobody's calls are one's own")
      }
      let user: UserID
      do throws(InvalidValue) {
        user = try UserID(call.path["user"] ?? "", rules: application.userRules)
      } catch {
        throw RESTCall.invalidParameter("user", error.problem, fix: error.accepted)
      }
      let presence = await operations.presence(of: user, application: application.key)
      return .json(
        200,
        .members([
          ("application", .string(application.key)), ("user", .string(user.text)),
          ("presence", .string(presence.rawValue)),
        ]))
    }
  }
}
