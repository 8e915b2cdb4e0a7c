import CallModel
import Foundation
import LandlineClient

extension Console {
  /// Places a call and tells what happens to it, from the first connection to the price.
  package func call(_ options: CallOptions) async throws -> Answer {
    let target = try CallTarget(options.target)
    let headers = try Console.headers(options.headers)
    let duration = try options.duration.map { try Console.milliseconds($0) }
    if let status = options.expectSIP, !(300...699).contains(status) {
      throw ConsoleError.usage(
        "expect.status", "status: \(status) is no SIP failure", at: "--expect-sip", fix: "300 to 699, such as 486")
    }
    let keys = try options.keys.map { keys in
      try Arguments.value("--keys") { () throws(InvalidValue) in try Call.checked(keys: keys) }
    }
    let client = try appClient(options.app, command: "landline-call")
    if let path = options.play {
      client.audio.startSendingSoundFile(try Console.sound(path), loops: options.playsForever)
    }
    let recording = try options.record.map { path in try Console.recording(path) }
    let interrupt = CallInterrupt()
    interrupt.watch()
    defer { interrupt.unwatch() }

    var ladder = CallLadder(ownSound: target.ownSound)
    let begin = ContinuousClock.now
    func elapsed() -> Int64 {
      let duration = ContinuousClock.now - begin
      return duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
    func show(_ rung: CallLadder.Rung?) throws {
      guard let rung else { return }
      switch settings.format {
      case .table: try TextStream.standardOutput.write(rung.line(isColored: isColored))
      case .ndjson: try TextStream.standardOutput.write(rung.json.line + "\n")
      case .json, .csv: break
      }
    }

    try show(
      ladder.note(
        CallLadder.Rung(
          milliseconds: 0, name: "connecting", text: "\(client.gateway) as \(client.userID)",
          facts: [("url", .string("\(client.gateway)"))])))
    let cutOff: @Sendable () -> Void = { Task { await client.stop() } }
    if let recording { interrupt.atLast { recording.finish() } }
    let starting = Task { try await client.started() }
    interrupt.does({ starting.cancel() }, cutOff: cutOff)
    do {
      try await starting.value
    } catch {
      await client.stop()
      if interrupt.wasAsked {
        throw ConsoleError(.interrupted, code: "interrupted", "interrupted before the call", at: "\(client.gateway)")
      }
      guard let failure = error as? CallFailure else { throw error }
      throw Console.notStarted(failure, at: "\(client.gateway)")
    }
    try show(ladder.note(CallLadder.Rung(milliseconds: elapsed(), name: "registered", text: "\(client.userID)")))

    let base = elapsed()
    let call: Call
    do {
      call = try target.place(client, headers: headers, caller: options.caller)
    } catch {
      await client.stop()
      guard let error = error as? ArgumentError else { throw error }
      throw ConsoleError(error.value, in: Console.argument(error.argument))
    }
    interrupt.does({ call.hangUp() }, cutOff: cutOff)
    call.audio.sink = recording
    try show(
      ladder.note(
        CallLadder.Rung(
          milliseconds: base, name: "calling", text: target.text,
          facts: [("kind", .string(call.kind.rawValue)), ("target", .string(call.remote))])))
    let end = CallTimer()
    do {
      for await event in call.events {
        try show(ladder.rung(event, base: base))
        guard case .answered = event.kind else { continue }
        if let keys { try call.sendDTMF(keys) }
        if let duration { end.start(milliseconds: duration) { call.hangUp() } }
      }
    } catch {
      end.cancel()
      await client.stopGracefully()
      throw error
    }
    end.cancel()
    await client.stopGracefully()
    recording?.finish()
    return try outcome(
      CallOutcome(
        details: call.details, expectedSIP: options.expectSIP, wasInterrupted: interrupt.wasAsked),
      call, ladder, recording, at: "\(client.gateway)")
  }

  private func outcome(
    _ outcome: CallOutcome, _ call: Call, _ ladder: CallLadder, _ recording: RecordingSink?, at gateway: String
  ) throws -> Answer {
    var lines = outcome.lines(
      call.quality.map { CallLadder.text($0, ownSound: ladder.ownSound) })
    if let recording, let failure = recording.failure {
      lines.append("record   \(recording.path) is not whole: \(failure)")
    } else if let recording {
      lines.append("record   \(recording.path)")
    }
    let page = call.id.flatMap { id in Console.pages(of: gateway).map { "\($0)/calls/\(id)" } }
    if let id = call.id {
      lines.append("call     \(id)")
      if let page { lines.append("page     \(page)") }
      lines.append("story    landline explain \(id)")
    }
    let details = outcome.details
    let cost = details.cost.map { cost in
      JSONValue.members([
        ("amount", .string(cost.decimal)), ("micros", .integer(cost.micros.count)),
        ("currency", .string("\(cost.currency)")),
      ])
    }
    let members: [(String, JSONValue)] = [
      ("call", .string(optional: call.id?.text)), ("page", .string(optional: page)),
      ("kind", .string(call.kind.rawValue)), ("target", .string(call.remote)),
      ("events", .array(ladder.rungs.map(\.json))), ("end_cause", .string(details.endCause.rawValue)),
      ("duration_ms", .integer(details.durationMilliseconds)),
      ("quality", call.quality.map(CallLadder.json) ?? .null), ("price", details.price.map(CallLadder.json) ?? .null),
      ("cost", cost ?? .null), ("billed_seconds", .integer(details.billedSeconds)),
      ("failure", outcome.failure.map(CallOutcome.json) ?? .null),
      ("expected_sip", outcome.expectedSIP.map { .integer(Int64($0)) } ?? .null),
      ("as_expected", .boolean(outcome.isExpected)), ("exit", .integer(Int64(outcome.status.rawValue))),
    ]
    var answer = Answer(
      blocks: lines.map { .line($0) }, members: members,
      records: Listing(
        [Column("call"), Column("target"), Column("end_cause"), Column("code"), Column("sip_status", .number)],
        rows: [
          [
            .text(optional: call.id?.text), .text(call.remote), .text(details.endCause.rawValue),
            .text(optional: outcome.failure?.code.rawValue),
            .integer(optional: outcome.failure?.sipStatus.map { Int64($0) }),
          ]
        ]))
    answer.status = outcome.status
    return answer
  }
}
