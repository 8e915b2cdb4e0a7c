import CallModel
import Foundation
import LandlineClient
import LandlineConfiguration

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
    let client = try callClient(options)
    if let path = options.play {
      client.audio.startSendingSoundFile(try Console.sound(path), loops: options.playsForever)
    }
    let recording = try options.record.map { path in
      do throws(SoundFile.Failure) {
        return try RecordingSink(path: path)
      } catch {
        throw ConsoleError(
          .notPermitted, code: "record.file", "the recording cannot be made: \(error.problem)", at: path)
      }
    }
    let interrupt = CallInterrupt()
    interrupt.watch()
    defer { interrupt.unwatch() }

    var ladder = CallLadder(answersItself: target.isTestNumber)
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
        details: call.details, kind: call.kind, expectedSIP: options.expectSIP, wasInterrupted: interrupt.wasAsked),
      call, ladder, recording, at: "\(client.gateway)")
  }

  private func outcome(
    _ outcome: CallOutcome, _ call: Call, _ ladder: CallLadder, _ recording: RecordingSink?, at gateway: String
  ) throws -> Answer {
    var lines = outcome.lines(
      call.quality.map { CallLadder.text($0, answersItself: ladder.answersItself) })
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

  // MARK: Arguments

  private func callClient(_ options: CallOptions) throws -> Client {
    let finder = finder { flags in
      flags.url = options.url
      flags.applicationKey = options.applicationKey
      flags.secretFile = options.secretFile
      flags.user = options.user
    }
    guard let url = try finding({ () throws(FinderProblem) in try finder.url() }) else {
      throw ConsoleError.usage(
        "url.missing", "no gateway is named", at: "--url", fix: "--url ws://127.0.0.1:8080, or LANDLINE_URL")
    }
    announce("gateway", url, in: finder) { $0.url.map { [$0] } ?? [] }
    let application = try finding { () throws(FinderProblem) in try finder.application(at: url.value) }
    guard let key = application.key?.value else {
      throw ConsoleError.usage(
        "key.missing", "no application key is given", at: "--application-key",
        fix: "--application-key KEY, or LANDLINE_APPLICATION_KEY")
    }
    var settings = ClientOptions()
    settings.software = "landline-call/\(LandlineVersion.text)"
    var authorities = options.authorities
    if authorities.isEmpty, let file = environment.value("LANDLINE_AUTHORITY") { authorities = [file] }
    if !authorities.isEmpty { settings.trust = .authorities(authorities) }
    let secret = try applicationSecret(application.secret?.value, key: key)
    do throws(ArgumentError) {
      return try Client(
        applicationKey: key, credentials: .secret(secret), environmentHost: url.value, userID: finder.user,
        device: "landline-call", capabilities: [.calling], options: settings)
    } catch {
      throw ConsoleError(error.value, in: Console.argument(error.argument))
    }
  }

  private func applicationSecret(_ place: SecretPlace?, key: String) throws -> Redacted<String> {
    switch place {
    case .file(let path):
      do throws(ConfigurationProblems) {
        return Redacted(try ConfigurationFile.secret(path))
      } catch {
        throw ConsoleError.usage(
          "secret.file", "the secret's file \(error.all.first?.problem ?? "cannot be read")", at: path,
          fix: "a file whose first line is the application's secret")
      }
    case .variable(let name):
      if let secret = environment.value(name) { return Redacted(secret) }
    case .configuration(let path, let key):
      let applications = try readConfiguration(path).environments.flatMap(\.applications)
      if let application = applications.first(where: { $0.key == key }) { return application.secret }
    case nil: break
    }
    throw ConsoleError.usage(
      "secret.missing", "no application secret is given", at: "--secret-file",
      fix: "--secret-file FILE, or LANDLINE_APPLICATION_SECRET")
  }

  /// The option that carried an argument of the client library.
  private static func argument(_ name: String) -> String {
    switch name {
    case "applicationKey": "--application-key"
    case "environmentHost": "--url"
    case "userID": "--user"
    case "callerNumber": "--from"
    case "headers": "--header"
    default: "TARGET"
    }
  }

  private static func sound(_ path: String) throws -> SoundFile {
    do throws(SoundFile.Failure) {
      return try SoundFile(path: path)
    } catch {
      throw ConsoleError.usage(
        "play.file", "the sound cannot be played: \(error.problem)", at: path,
        fix: "a WAV file: mono or stereo, 16-bit PCM, 8 to 192 kHz")
    }
  }

  /// `x-name: value`.
  private static func headers(_ texts: [String]) throws -> [String: String] {
    var headers: [String: String] = [:]
    for text in texts {
      guard let colon = text.firstIndex(of: ":") else {
        throw ConsoleError.usage("header.form", "header: there is no ':'", at: "--header", fix: "'x-order: 4711'")
      }
      let name = String(text[..<colon])
      let value = text[text.index(after: colon)...].drop { $0 == " " }
      guard headers.updateValue(String(value), forKey: name) == nil else {
        throw ConsoleError.usage("header.duplicate", "header: \(TrunkText.clean(name)) is there twice", at: "--header")
      }
    }
    return headers
  }

  /// Longest time that a call can be asked to last: a day.
  private static let longestMilliseconds: Int64 = 86_400_000

  private static func milliseconds(_ text: String) throws -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s", "": 1000
      case "m": 60_000
      case "h": 3_600_000
      default: nil
      }
    guard let unit, let number = Int64(digits), number > 0, number <= longestMilliseconds / unit else {
      throw ConsoleError.usage(
        "duration.value", "time: \"\(TrunkText.clean(text))\" is none that a call can last", at: "--for",
        fix: "100ms to 24h, such as 10s")
    }
    return number * unit
  }

  private static func notStarted(_ failure: CallFailure, at place: String) -> ConsoleError {
    let row = CallFailureCatalogue.row(for: failure.code)
    let phrase = failure.phrase.map(TrunkText.clean)
    let (what, fix): (String, String) =
      switch failure.code {
      case .networkUnreachable:
        (
          "no gateway answers" + (phrase.map { ": \($0)" } ?? ""),
          "start one with landline dev or landline serve, or name another with --url or LANDLINE_URL"
        )
      case .networkSecurity:
        (
          "no secure connection" + (phrase.map { ": \($0)" } ?? ""),
          "name the authority that signed the gateway's certificate with --authority FILE or LANDLINE_AUTHORITY, and the "
            + "gateway by a name that stands in it"
        )
      case .registration:
        (
          "the gateway does not take this application key and secret" + (phrase.map { ": \($0)" } ?? ""),
          "key and secret of one application under 'applications' in the gateway's configuration: --application-key and "
            + "--secret-file; signatures have to be allowed there"
        )
      default: (row.meaning + (phrase.map { " \($0)" } ?? ""), row.remedies.joined(separator: "; "))
      }
    return ConsoleError(CallOutcome.status(failure), code: failure.code.rawValue, what, at: place, fix: fix)
  }
}
