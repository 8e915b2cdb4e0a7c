import CallModel
import Foundation
import LandlineClient

extension Console {
  /// Listens for calls of a user, answers or declines each, and tells what happens to them.
  package func answer(_ options: AnswerOptions) async throws -> Answer {
    let run = try AnswerRun(options, self)
    return try await run.run()
  }
}

/// `landline answer`, from its first connection to its last call. One loop sees everything, so that lines do not mix.
private final class AnswerRun {
  private enum News: Sendable {
    case incoming(Call)
    case missed(MissedCall)
    case call(Call, CallEvent)
    case client(ClientEvent)
  }

  /// One call that came in.
  private struct Visitor {
    let call: Call
    var ladder = CallLadder()
    let base: Int64
    var recording: RecordingSink?
    let timer = CallTimer()
    var isOver = false
  }

  private let console: Console
  private let options: AnswerOptions
  private let headers: [String: String]
  private let ringMilliseconds: Int64?
  private let milliseconds: Int64?
  private let client: Client
  private let interrupt = CallInterrupt()
  private let begin = ContinuousClock.now
  private var visitors: [Visitor] = []
  private var missed: [MissedCall] = []

  init(_ options: AnswerOptions, _ console: Console) throws {
    self.console = console
    self.options = options
    headers = try Console.headers(options.headers)
    ringMilliseconds = try options.ring.map { try Console.milliseconds($0, at: "--ring") }
    milliseconds = try options.duration.map { try Console.milliseconds($0) }
    client = try console.appClient(options.app, command: "landline-answer") { $0.isListening = true }
    if let path = options.play {
      client.audio.startSendingSoundFile(try Console.sound(path), loops: options.playsForever)
    }
  }

  func run() async throws -> Answer {
    let (news, continuation) = AsyncStream.makeStream(of: News.self)
    // Taken before the start, so that a call which comes at once is heard of.
    let (calls, events) = (client.calls.events, client.events)
    let forwarding = [
      Task {
        for await event in calls {
          switch event {
          case .incoming(let call): continuation.yield(.incoming(call))
          case .missed(let call): continuation.yield(.missed(call))
          }
        }
      },
      Task { for await event in events { continuation.yield(.client(event)) } },
    ]
    defer { for task in forwarding { task.cancel() } }
    interrupt.watch()
    defer { interrupt.unwatch() }
    try await start()
    let client = client
    interrupt.does({ Task { await client.stopGracefully() } }, cutOff: { Task { await client.stop() } })
    do {
      for await item in news {
        try hear(item, continuation)
        if isFinished { break }
      }
    } catch {
      await end()
      throw error
    }
    await end()
    return outcome()
  }

  private func start() async throws {
    let client = client
    try show(
      rung("connecting", "\(client.gateway) as \(client.userID)", [("url", .string("\(client.gateway)"))]))
    let starting = Task { try await client.started() }
    interrupt.does({ starting.cancel() }, cutOff: { Task { await client.stop() } })
    do {
      try await starting.value
    } catch {
      await client.stop()
      if interrupt.wasAsked {
        throw ConsoleError(.interrupted, code: "interrupted", "interrupted before a call", at: "\(client.gateway)")
      }
      guard let failure = error as? CallFailure else { throw error }
      throw Console.notStarted(failure, at: "\(client.gateway)")
    }
    guard client.features.contains(.incoming) else {
      await client.stop()
      throw ConsoleError(
        .refused, code: "incoming.missing", "this gateway rings no apps", at: "\(client.gateway)",
        fix: "a gateway of this version")
    }
    try show(
      rung(
        "registered", "\(client.userID) on \(client.device), listening",
        [("user", .string("\(client.userID)")), ("device", .string(client.device))]))
  }

  private func end() async {
    for visitor in visitors { visitor.timer.cancel() }
    await client.stopGracefully()
    for visitor in visitors { visitor.recording?.finish() }
  }

  /// What is left to be told of calls comes after the client's own end.
  private var isFinished: Bool {
    guard visitors.allSatisfy(\.isOver) else { return false }
    return interrupt.wasAsked ? !client.isStarted : options.calls.map { visitors.count >= $0 } ?? false
  }

  // MARK: News

  private func hear(_ news: News, _ continuation: AsyncStream<News>.Continuation) throws {
    switch news {
    case .incoming(let call): try came(call, continuation)
    case .missed(let call):
      // Of a call that was told, the end is told.
      guard !visitors.contains(where: { $0.call.id == call.id }) else { return }
      missed.append(call)
      try show(
        rung(
          "missed", "\(call.remote.map { "user \($0), " } ?? "")\(CallLadder.words(call.cause)) while away",
          [("call", .string(call.id.text))]))
    case .call(let call, let event):
      guard let index = visitors.firstIndex(where: { $0.call === call }) else { return }
      try happened(event, index)
    case .client(.failed(let failure)): throw Console.notStarted(failure, at: "\(client.gateway)")
    case .client(.connectionLost): try show(rung("disconnected", "trying again", []))
    case .client(.connectionResumed): try show(rung("reconnected", "", []))
    case .client: break
    }
  }

  private func came(_ call: Call, _ continuation: AsyncStream<News>.Continuation) throws {
    if let limit = options.calls, visitors.count >= limit {
      try? call.decline(reason: .busy, scope: .device)
      return
    }
    var visitor = Visitor(call: call, base: elapsed)
    let name = call.remoteName.isEmpty ? "" : " (\(call.remoteName))"
    let fields = call.headers.map { "  \($0.name): \($0.value)" }.joined()
    try show(
      visitor.ladder.note(
        rung(
          "incoming", "\(call.kind.rawValue) \(call.remote)\(name)\(call.isWaiting ? ", waiting" : "")\(fields)",
          AnswerRun.facts(of: call))))
    visitors.append(visitor)
    let events = call.events
    Task { for await event in events { continuation.yield(.call(call, event)) } }
    let (deed, headers) = (options.deed, headers)
    let act: @Sendable () -> Void = {
      // A call that ended meanwhile tells its end by itself; headers were checked for the first.
      switch deed {
      case .answer: try? call.answer(headers: headers)
      case .decline: try? call.decline()
      case .busy: try? call.decline(reason: .busy)
      }
    }
    if let ringMilliseconds { visitor.timer.start(milliseconds: ringMilliseconds, act) } else { act() }
  }

  private func happened(_ event: CallEvent, _ index: Int) throws {
    let call = visitors[index].call
    if var rung = visitors[index].ladder.rung(event, base: visitors[index].base) {
      rung.facts.append(("call", .string(optional: call.id?.text)))
      try show(rung)
    }
    switch event.kind {
    case .answered:
      // Before the answer there is nothing to be heard.
      if let path = options.record {
        let number = visitors.count { $0.recording != nil } + 1
        visitors[index].recording = try Console.recording(AnswerRun.path(path, number))
        call.audio.sink = visitors[index].recording
      }
      if let milliseconds { visitors[index].timer.start(milliseconds: milliseconds) { call.hangUp() } }
    case .ended:
      visitors[index].isOver = true
      visitors[index].timer.cancel()
      visitors[index].recording?.finish()
    default: break
    }
  }

  // MARK: What is said

  private var elapsed: Int64 {
    let duration = ContinuousClock.now - begin
    return duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
  }

  private func rung(_ name: String, _ text: String, _ facts: [(String, JSONValue)]) -> CallLadder.Rung {
    CallLadder.Rung(milliseconds: elapsed, name: name, text: text, facts: facts)
  }

  private func show(_ rung: CallLadder.Rung) throws {
    switch console.settings.format {
    case .table: try TextStream.standardOutput.write(rung.line(isColored: console.isColored))
    case .ndjson: try TextStream.standardOutput.write(rung.json.line + "\n")
    case .json, .csv: break
    }
  }

  private static func facts(of call: Call) -> [(String, JSONValue)] {
    [
      ("call", .string(optional: call.id?.text)),
      (
        "from",
        .members([
          ("kind", .string(call.kind.rawValue)), ("value", .string(call.remote)), ("name", .string(call.remoteName)),
        ])
      ), ("headers", .members(call.headers.map { ($0.name, .string($0.value)) })),
      ("waiting", .boolean(call.isWaiting)),
    ]
  }

  /// `heard.wav`, then `heard-2.wav`.
  private static func path(_ path: String, _ number: Int) -> String {
    guard number > 1 else { return path }
    let name = URL(fileURLWithPath: path)
    guard !name.pathExtension.isEmpty else { return "\(path)-\(number)" }
    return "\(path.dropLast(name.pathExtension.count + 1))-\(number).\(name.pathExtension)"
  }

  /// Whether it went as asked.
  private func isExpected(_ details: CallDetails) -> Bool {
    switch options.deed {
    case .answer: details.answeredAt != nil && details.failure == nil
    case .decline, .busy: details.endCause == .denied && details.endedByDevice == client.device
    }
  }

  private func outcome() -> Answer {
    var lines: [String] = []
    for visitor in visitors {
      guard let recording = visitor.recording else { continue }
      lines.append(
        "record   \(recording.path)" + (recording.failure.map { " is not whole: \($0)" } ?? ""))
    }
    var status = visitors.allSatisfy { isExpected($0.call.details) } ? ExitStatus.ok : .callFailed
    if interrupt.wasAsked { status = .interrupted }
    let calls = visitors.map { visitor -> JSONValue in
      let details = visitor.call.details
      return .members(
        AnswerRun.facts(of: visitor.call) + [
          ("answered", .boolean(details.answeredAt != nil)), ("end_cause", .string(details.endCause.rawValue)),
          ("missed", .boolean(details.isMissed)), ("by", .string(optional: details.endedByDevice)),
          ("duration_ms", .integer(details.durationMilliseconds)),
          ("failure", details.failure.map(CallOutcome.json) ?? .null),
          ("events", .array(visitor.ladder.rungs.map(\.json))),
        ])
    }
    var answer = Answer(
      blocks: lines.map { .line($0) },
      members: [
        ("user", .string("\(client.userID)")), ("device", .string(client.device)), ("calls", .array(calls)),
        ("missed", .array(missed.map { .string($0.id.text) })), ("exit", .integer(Int64(status.rawValue))),
      ],
      records: Listing(
        [Column("call"), Column("from"), Column("answered"), Column("end_cause"), Column("by")],
        rows: visitors.map { visitor in
          let details = visitor.call.details
          return [
            .text(optional: visitor.call.id?.text), .text(visitor.call.remote),
            .text(details.answeredAt == nil ? "no" : "yes"), .text(details.endCause.rawValue),
            .text(optional: details.endedByDevice),
          ]
        }))
    answer.status = status
    return answer
  }
}
