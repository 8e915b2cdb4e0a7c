import CallEngine
import CallModel
import CallStory
import NodeCore

extension RESTService {
  private static let masked = RESTRoute.Parameter(
    name: "masked", description: "true hides all of each phone number but its ends.",
    schema: .members([("type", .string("boolean"))]))

  /// What happened in a call: for its page, for people, and for readers of captures.
  var storyRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/calls/{id}/story", id: "getStory",
        summary: "What happened in a call, live or over: messages, sound, money, and what to conclude",
        query: [RESTService.masked], success: .json(200, "Story"), problems: [.callUnknown, .storeUnavailable]
      ) { call in
        RESTAnswer(status: 200, mediaType: "application/json", body: try await self.story(call).json())
      },
      RESTRoute(
        method: "GET", path: "/v1/calls/{id}/story.txt", id: "getStoryText", summary: "The same for people to read",
        query: [RESTService.masked], success: .text(200, "text/plain"), problems: [.callUnknown, .storeUnavailable]
      ) { call in
        .text(200, try await self.story(call).text(width: 100, isMasked: false))
      },
      RESTRoute(
        method: "GET", path: "/v1/calls/{id}/capture", id: "getCapture",
        summary: "The SIP messages of a call as a pcapng file", success: .text(200, "application/x-pcapng"),
        problems: [.callUnknown, .storeUnavailable]
      ) { call in
        let sources = try await self.sources(call)
        guard let trace = sources.trace else {
          throw Problem(.callUnknown, "no messages of this call were kept")
        }
        let name = (call.path["id"] ?? "call") + ".pcapng"
        return RESTAnswer(
          status: 200, headers: [("Content-Disposition", "attachment; filename=\"\(name)\"")],
          mediaType: "application/x-pcapng", body: trace.capture())
      },
    ]
  }

  private func story(_ call: RESTCall) async throws -> CallStory {
    let story = CallStory.tell(try await sources(call))
    switch call.query["masked"] {
    case nil, "false": return story
    case "true": return story.masked
    default: throw RESTCall.invalidParameter("masked", "neither true nor false", fix: "masked=true")
    }
  }

  private func sources(_ call: RESTCall) async throws -> CallStorySources {
    let (principal, stores) = try call.environment()
    let id = try RESTService.callID(call)
    let live = await operations.liveCall(id)
    if let live, !RESTService.maySee(live, call, principal) {
      throw Problem(.callUnknown, "no call has that id")
    }
    let trace = await operations.trace(of: id)
    let sources: CallStorySources?
    do {
      sources = try await StoryReader(stores).sources(of: id, live: live, trace: trace)
    } catch {
      throw Problem(.storeUnavailable, "the store of call records is away")
    }
    guard let sources, let seen = sources.live ?? sources.record?.call, RESTService.maySee(seen, call, principal) else {
      throw Problem(.callUnknown, "no call has that id")
    }
    return sources
  }
}
