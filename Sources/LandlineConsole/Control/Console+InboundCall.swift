import AppProtocol
import CallModel
import Foundation

extension Console {
  /// Has the far end of a running gateway call a number of the gateway's, and tells what happens to the call.
  package func callInbound(_ options: InboundCallOptions) async throws -> Answer {
    let number = try Arguments.number(options.number, "--inbound")
    if let status = options.expectSIP, !(300...699).contains(status) {
      throw ConsoleError.usage(
        "expect.status", "status: \(status) is no SIP failure", at: "--expect-sip", fix: "300 to 699, such as 486")
    }
    var body: [(String, JSONValue)] = []
    if let caller = options.caller {
      body.append(
        ("caller", .string(caller == "anonymous" ? caller : "\(try Arguments.number(caller, "--from"))")))
    }
    if let duration = options.duration {
      body.append(("duration_ms", .integer(try Console.milliseconds(duration))))
    }
    let recording = try options.record.map { try FileRecording(path: $0) }
    if recording != nil { body.append(("record", .boolean(true))) }
    let control = controlPath(options.control)
    let target = "/v1/numbers/\(number)/test-calls" + query(["environment": options.environment])
    var run = InboundCallRun(recording: recording)
    try show(run.begin("\(number)", caller: options.caller))

    let interrupt = CallInterrupt()
    interrupt.watch()
    defer { interrupt.unwatch() }
    if let recording { interrupt.atLast { recording.close() } }
    let content = JSONValue.members(body)
    let (lines, continuation) = AsyncThrowingStream.makeStream(of: JSONObject.self)
    let asking = Task {
      do {
        try await ControlClient(path: control).lines(target, sending: content) { status, line in
          guard status == 200 else { throw inboundFailure(.init(status: status, body: line), options.control) }
          if let object = JSONObject(answer: line) { continuation.yield(object) }
          return true
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    // The far end hangs up when nobody listens any more.
    interrupt.does({ asking.cancel() }, cutOff: { continuation.finish() })
    do {
      for try await line in lines { try show(run.rung(line)) }
    } catch {
      recording?.close()
      guard interrupt.wasAsked else { throw error }
    }
    recording?.close()
    guard run.isEnded || interrupt.wasAsked else {
      throw ConsoleError(
        .notReachable, code: "control.lost", "the connection was lost before the call's end", at: control)
    }
    return answer(run, number, options, wasInterrupted: interrupt.wasAsked)
  }

  private func show(_ rung: CallLadder.Rung?) throws {
    guard let rung else { return }
    switch settings.format {
    case .table: try TextStream.standardOutput.write(rung.line(isColored: isColored))
    case .ndjson: try TextStream.standardOutput.write(rung.json.line + "\n")
    case .json, .csv: break
    }
  }

  private func inboundFailure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    let error = failure(response, control)
    guard error.code == "http.notFound" else { return error }
    return ConsoleError(
      .refused, code: "farEnd.none", "the gateway has no built-in far end that could call", at: controlPath(control),
      fix: "landline dev, or 'sandbox-numbers: true' in an environment of its configuration and a restart")
  }

  private func answer(
    _ run: InboundCallRun, _ number: E164Number, _ options: InboundCallOptions, wasInterrupted: Bool
  ) -> Answer {
    let isExpected =
      options.expectSIP.map { $0 == run.sipStatus } ?? (run.failure == nil && run.answeredAt != nil)
    var lines: [String] = []
    if run.answeredAt != nil, let quality = run.quality { lines.append("sound    \(quality)") }
    if let failure = run.failure {
      lines.append("failed   \(failure["code"]?.text ?? ""): \(failure["message"]?.text ?? "")")
      if let status = run.sipStatus {
        lines.append("seen     SIP \(status)" + (failure["phrase"]?.text.map { " \($0)" } ?? ""))
        if run.call == nil { lines.append("next     landline explain \(status)") }
      }
    }
    if let status = options.expectSIP {
      let found = run.sipStatus.map(String.init) ?? "none"
      lines.append("expected SIP \(status), found \(found): \(isExpected ? "as expected" : "not as expected")")
    }
    if let recording = run.recording {
      lines.append("record   \(recording.path)" + (recording.failure.map { " is not whole: \($0)" } ?? ""))
    }
    let page = run.call.flatMap { id in Console.pages(of: try? finder().url()?.value).map { "\($0)/calls/\(id)" } }
    if let call = run.call {
      lines.append("call     \(call)")
      if let page { lines.append("page     \(page)") }
      lines.append("story    landline explain \(call)")
    }
    let status: ExitStatus =
      if wasInterrupted { .interrupted } else if isExpected { .ok } else if options.expectSIP != nil { .refused } else {
        run.cause == CallEndCause.timeout.rawValue ? .timedOut : .callFailed
      }
    var answer = Answer(
      blocks: lines.map { .line($0) },
      members: [
        ("call", .string(optional: run.call)), ("page", .string(optional: page)), ("number", .string("\(number)")),
        ("events", .array(run.ladder.rungs.map(\.json))), ("end_cause", .string(optional: run.cause)),
        ("duration_ms", .integer(run.durationMilliseconds)),
        ("failure", run.failure.map { .object($0) } ?? .null),
        ("expected_sip", .integer(optional: options.expectSIP.map { Int64($0) })),
        ("as_expected", .boolean(isExpected)), ("exit", .integer(Int64(status.rawValue))),
      ],
      records: Listing(
        [Column("call"), Column("number"), Column("end_cause"), Column("code"), Column("sip_status", .number)],
        rows: [
          [
            .text(optional: run.call), .text("\(number)"), .text(optional: run.cause),
            .text(optional: run.failure?["code"]?.text), .integer(optional: run.sipStatus.map { Int64($0) }),
          ]
        ]))
    answer.status = status
    return answer
  }
}

/// What the lines of the gateway tell of one call.
struct InboundCallRun {
  var ladder = CallLadder()
  let recording: FileRecording?
  private(set) var call: String?
  private(set) var answeredAt: Int64?
  private(set) var cause: String?
  private(set) var failure: JSONObject?
  private(set) var quality: String?
  private(set) var durationMilliseconds: Int64 = 0
  private var qualities = 0

  init(recording: FileRecording?) { self.recording = recording }

  var isEnded: Bool { cause != nil }
  var sipStatus: Int? { failure?["sip_status"]?.text.flatMap { Int($0) } }

  mutating func begin(_ number: String, caller: String?) -> CallLadder.Rung {
    ladder.note(
      CallLadder.Rung(
        milliseconds: 0, name: "calling", text: "\(number) from the far end" + (caller.map { ", as \($0)" } ?? ""),
        facts: [("target", .string(number))]))
  }

  /// - Returns: what is worth a line.
  mutating func rung(_ line: JSONObject) -> CallLadder.Rung? {
    let milliseconds = line["at_ms"]?.text.flatMap { Int64($0) } ?? 0
    if let call = line["call"]?.text { self.call = call }
    guard let (name, text, facts) = told(line, milliseconds) else { return nil }
    return ladder.note(CallLadder.Rung(milliseconds: milliseconds, name: name, text: text, facts: facts))
  }

  private mutating func told(
    _ line: JSONObject, _ milliseconds: Int64
  ) -> (String, String, [(String, JSONValue)])? {
    switch line["event"]?.text {
    case "progress":
      let status = line["sip_status"]?.text ?? ""
      let sound = line["sound"] == .boolean(true) ? ", with sound before the answer" : ""
      return (
        status == "180" ? "ringing" : "progressing", "\(status) \(line["phrase"]?.text ?? "")\(sound)",
        [("sip_status", line["sip_status"] ?? .null)]
      )
    case "answered":
      answeredAt = milliseconds
      return ("answered", "", [])
    case "sound": return ("established", "sound flows", [])
    case "quality":
      guard let quality = line["quality"]?.objectValue.flatMap(CallQuality.init) else { return nil }
      self.quality = CallLadder.text(quality)
      qualities += 1
      guard answeredAt != nil, qualities % CallLadder.qualityEvery == 1 else { return nil }
      return ("quality", self.quality ?? "", [("quality", CallLadder.json(quality))])
    case "recorded":
      if let bytes = line["bytes"]?.text.flatMap({ Base64.decode($0.utf8) }) { recording?.append(bytes) }
    case "recording-ended":
      for patch in line["patches"]?.elements.compactMap(\.objectValue) ?? [] {
        guard let offset = patch["offset"]?.text.flatMap({ Int($0) }),
          let bytes = patch["bytes"]?.text.flatMap({ Base64.decode($0.utf8) })
        else { continue }
        recording?.overwrite(bytes, at: offset)
      }
    case "ended":
      cause = line["cause"]?.text
      failure = line["failure"]?.objectValue
      durationMilliseconds = answeredAt.map { milliseconds - $0 } ?? 0
      let words = cause.flatMap(CallEndCause.init).map(CallLadder.words) ?? cause ?? ""
      let duration =
        answeredAt == nil ? "" : " after \(CallLadder.rounded(Double(durationMilliseconds) / 1000, 1)) s"
      return ("ended", words + duration, [("cause", .string(cause ?? ""))])
    default: break
    }
    return nil
  }
}

extension CallQuality {
  /// As REST tells it.
  fileprivate init?(_ tree: JSONObject) {
    func direction(_ name: String) -> Direction? {
      guard let tree = tree[name]?.objectValue else { return nil }
      func number(_ name: String) -> Double? { tree[name]?.text.flatMap { Double($0) } }
      return Direction(
        meanOpinionScore: number("mos"), jitter: number("jitter_ms"), loss: number("loss"),
        packets: tree["packets"]?.text.flatMap { UInt64($0) } ?? 0)
    }
    guard let sent = direction("sent"), let received = direction("received") else { return nil }
    self.init(sent: sent, received: received, roundTrip: tree["round_trip_ms"]?.text.flatMap { Double($0) })
  }
}
