import CallEngine
import CallModel
package import LandlineNode
import NodeCore

extension RESTService {
  /// Has the built-in far end call a number of the gateway's; `nil` where it cannot now.
  package typealias InboundCallStart = @Sendable (InboundCallOrder) async -> AsyncStream<InboundCallStep>?

  private static let longestMilliseconds: Int64 = 600_000
  /// How often the record of a call that was refused is looked for, and milliseconds between: records are kept a moment after
  /// the end.
  private static let recordReads = 20
  private static let recordMilliseconds = 50
  /// What stands in `caller` for a number that is withheld.
  private static let anonymous = "anonymous"

  var inboundCallRoute: RESTRoute {
    RESTRoute(
      method: "POST", path: "/v1/numbers/{number}/test-calls", id: "callNumber",
      summary: "Have the built-in far end call the number, as a carrier would: what happens, one object a line",
      access: .operators,
      body: [
        .init(
          name: "caller", kind: .text,
          description: "The number that calls, or anonymous; +46701111111 by default."),
        .init(
          name: "duration_ms", kind: .integer,
          description: "How long it talks from the answer on; until the other side hangs up by default."),
        .init(name: "record", kind: .flag, description: "Whether what it hears is sent too, as pieces of a WAV file."),
      ], success: .text(200, RESTService.linesType), problems: [.parameterInvalid, .inboundCallsExhausted],
      handle: callNumber)
  }

  private var callNumber: RESTRoute.Handler {
    { call in
      let (principal, stores) = try call.environment()
      let number: E164Number
      do throws(InvalidValue) { number = try E164Number(call.path["number"] ?? "") } catch {
        throw RESTCall.invalidParameter("number", error.problem, fix: error.accepted)
      }
      let caller = try call.text("caller") ?? "+46701111111"
      let shown =
        caller == RESTService.anonymous
        ? nil : try RESTBody.value("caller") { () throws(InvalidValue) in try E164Number(caller) }
      let duration = try call.integer("duration_ms")
      if let duration, !(1...RESTService.longestMilliseconds).contains(duration) {
        throw RESTBody.invalid("duration_ms", "out of range", fix: "1 to \(RESTService.longestMilliseconds)")
      }
      let begin = call.now
      let order = InboundCallOrder(
        number: number, caller: shown, talkMilliseconds: duration, records: try call.flag("record") ?? false)
      guard let steps = await placeInboundCall?(order) else {
        throw Problem(.inboundCallsExhausted, "too many of its calls are up, or the gateway takes no SIP over UDP")
      }
      let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self)
      let operations = operations
      let feed = Task {
        var id: CallID?
        for await step in steps {
          if id == nil, step.isOfCall {
            // The newest: the far end has no other name for it.
            id = await operations.liveCalls(environment: principal.environment)
              .last { $0.inboundNumber == number && $0.startedAt >= begin }?.id
          }
          if id == nil, case .ended = step.event {
            id = await RESTService.recorded(number, since: begin, in: stores.records)
          }
          continuation.yield(RESTService.line(RESTService.members(step, id)))
        }
        continuation.finish()
      }
      // Whoever read it has gone: the far end hangs up.
      continuation.onTermination = { _ in feed.cancel() }
      var answer = RESTAnswer(status: 200, mediaType: RESTService.linesType, body: [])
      answer.lines = lines
      return answer
    }
  }

  /// The call that a number refused, by its record; `nil` where none is kept: of strangers, and in an overload.
  private static func recorded(
    _ number: E164Number, since begin: Instant, in records: any CallRecordStore
  ) async -> CallID? {
    var query = CallRecordQuery(limit: 1)
    query.destination = number.description
    query.from = begin
    for _ in 0..<recordReads {
      let newest = try? await records.records(query).records.first
      if let call = newest?.call, call.from != nil, call.startedAt >= begin { return call.id }
      do { try await Task.sleep(for: .milliseconds(recordMilliseconds)) } catch { return nil }
    }
    return nil
  }

  private static func members(_ step: InboundCallStep, _ call: CallID?) -> [(String, JSONValue)] {
    func event(_ name: String, _ members: [(String, JSONValue)] = []) -> [(String, JSONValue)] {
      [("event", .string(name)), ("at_ms", .integer(step.milliseconds)), ("call", .string(optional: call?.text))]
        + members
    }
    switch step.event {
    case .progress(let status, let phrase, let hasSound):
      return event(
        "progress",
        [("sip_status", .integer(Int64(status))), ("phrase", .string(phrase)), ("sound", .boolean(hasSound))])
    case .answered: return event("answered")
    case .sound: return event("sound")
    case .quality(let quality): return event("quality", [("quality", RESTTrees.quality(quality))])
    case .recorded(let bytes): return event("recorded", [("bytes", .string(Base64.encode(bytes)))])
    case .recordingEnded(let patches):
      return event(
        "recording-ended",
        [
          (
            "patches",
            .array(
              patches.map {
                .members([("offset", .integer(Int64($0.offset))), ("bytes", .string(Base64.encode($0.bytes)))])
              })
          )
        ])
    case .ended(let cause, let failure):
      return event(
        "ended", [("cause", .string(cause.rawValue)), ("failure", failure.map(RESTTrees.failure) ?? .null)])
    }
  }
}

extension InboundCallStep {
  /// Whether the gateway has a call by then.
  fileprivate var isOfCall: Bool {
    switch event {
    case .progress, .answered, .ended: true
    case .sound, .quality, .recorded, .recordingEnded: false
    }
  }
}
