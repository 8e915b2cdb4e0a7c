import CallModel
import Foundation

/// Numbers that trunks bring calls to: a running gateway is asked for them.
extension Console {
  /// Most pages of numbers that are asked for.
  private static let maximumNumberPages = InboundNumber.maximumNumbers / 1000 + 1

  package func numberList(control: String?, environment name: String?) async throws -> Answer {
    let client = ControlClient(path: controlPath(control))
    var rows: [JSONObject] = []
    var cursor: String?
    for _ in 0..<Console.maximumNumberPages {
      let page = try object(
        await client.get("/v1/numbers" + query(["environment": name, "limit": "1000", "cursor": cursor])), control)
      rows += page["numbers"]?.elements.compactMap(\.objectValue) ?? []
      cursor = page["next"]?.text
      if cursor == nil { break }
    }
    let columns = [
      Column("number"), Column("targets"), Column("active"), Column("account"), Column("application"),
      Column("live_calls", title: "calls", .number), Column("configured_at", title: "configured", for: .machines),
    ]
    let listing = Listing(
      columns,
      rows: rows.map { row in
        [
          .text(optional: row["number"]?.text), .text(Console.targets(row).map(\.name).joined(separator: ", then ")),
          .flag(row["active"] == .boolean(true)), .text(optional: row["account"]?.text),
          .text(optional: row["application"]?.text), Console.count(row["live_calls"]),
          .text(optional: row["configured_at"]?.text),
        ]
      })
    var answer = Answer("numbers", listing)
    answer.members = [("numbers", .array(rows.map { .object($0) }))]
    return answer
  }

  package func numberShow(_ text: String, control: String?, environment name: String?) async throws -> Answer {
    let number = try Arguments.number(text, "NUMBER")
    let client = ControlClient(path: controlPath(control))
    let response = try await client.get(target(number, name))
    guard (200..<300).contains(response.status) else { throw numberFailure(response, control) }
    return Console.answer(try object(response, control))
  }

  /// Makes a number or changes what is named of it.
  package func numberSet(
    _ options: NumberOptions, control: String?, environment name: String?
  ) async throws -> Answer {
    let number = try Arguments.number(options.number, "NUMBER")
    let client = ControlClient(path: controlPath(control))
    let before = try await client.get(target(number, name))
    var known: JSONObject?
    if before.status != 404 { known = try object(before, control) }
    guard known != nil || !options.targets.isEmpty else {
      throw ConsoleError.usage(
        "number.target", "\(number) is new, and nothing says where its calls lead", at: "NUMBER",
        fix: "--user NAME, --phone NUMBER, --sip ADDRESS or --conference ID")
    }
    let response = try await client.put(target(number, name), try body(options, known))
    guard (200..<300).contains(response.status) else {
      throw numberFailure(response, control)
    }
    return Console.answer(try object(response, control))
  }

  package func numberRemove(_ text: String, control: String?, environment name: String?) async throws -> Answer {
    let number = try Arguments.number(text, "NUMBER")
    let response = try await ControlClient(path: controlPath(control)).delete(target(number, name))
    guard (200..<300).contains(response.status) else { throw numberFailure(response, control) }
    return Answer(row: Listing([Column("number"), Column("removed")], rows: [[.text("\(number)"), .flag(true)]]))
  }

  private func target(_ number: E164Number, _ environment: String?) -> String {
    "/v1/numbers/\(number)" + query(["environment": environment])
  }

  /// A refusal; of a number that stands in the configuration it says in which file.
  private func numberFailure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    var error = failure(response, control)
    if error.code == "number.unknown" { error.fix = "landline number list" }
    if error.code == "number.configured" {
      error.fix = "change it in \(configurationPath()), then reload the gateway: kill -HUP its process"
    }
    return error
  }

  // MARK: What is sent

  /// The whole row: as it was, with what the options name.
  private func body(_ options: NumberOptions, _ known: JSONObject?) throws -> JSONValue {
    var members: [(String, JSONValue)] = []
    func add(_ name: String, _ value: JSONValue?, known path: String? = nil) {
      if let value = value ?? known?[path ?? name] { members.append((name, value)) }
    }
    let ring = try options.ring.map { try Console.ringSeconds($0) }
    let targets: [JSONValue]? =
      options.targets.isEmpty
      ? known.map { Console.targets($0).map { $0.tree(ring: ring) } }
      : options.targets.map { target in
        var members: [(String, JSONValue)] = [
          ("kind", .string(target.kind.rawValue)),
          ("target", .string(target.kind == .phone ? Arguments.dialled(target.text) : target.text)),
        ]
        if let ring { members.append(("ring_seconds", .integer(ring))) }
        return .members(members)
      }
    add("targets", targets.map { .array($0) })
    // The key stays good where the name of the application is gone.
    add("application", options.application.map { .string($0) }, known: "application_key")
    // Another application brings its own account.
    if options.application == nil || options.account != nil { add("account", options.account.map { .string($0) }) }
    add("active", options.isActive.map { .boolean($0) })
    add("no_answer", options.noAnswer.map { .integer(Int64($0)) })
    add("channels", try options.channels.map { try Console.channels($0) })
    add("answer_first", options.answersFirst.map { .boolean($0) })
    add("refuse_anonymous", options.refusesAnonymous.map { .boolean($0) })
    let blocked = options.blocked == ["none"] ? [] : options.blocked
    add("blocked", options.blocked.isEmpty ? nil : .array(blocked.map { .string($0) }))
    add("record", options.record.map { $0 == "off" ? .null : .string($0) })
    add("record_announced", options.announcesRecording.map { .boolean($0) })
    add("record_tone", options.hasRecordingTone.map { .boolean($0) })
    return .members(members)
  }

  private static func ringSeconds(_ text: String) throws -> Int64 {
    let milliseconds = try Console.milliseconds(text, at: "--ring")
    guard milliseconds % 1000 == 0 else {
      throw ConsoleError.usage("ring", "\(text) is no whole number of seconds", at: "--ring", fix: "5s to 120s")
    }
    return milliseconds / 1000
  }

  private static func channels(_ text: String) throws -> JSONValue {
    if text == "any" { return .null }
    guard let count = Int64(text), count > 0 else {
      throw ConsoleError.usage(
        "channels", "not a number of calls", at: "--channels", fix: "1 to \(InboundNumber.maximumChannels), or any")
    }
    return .integer(count)
  }

  // MARK: What is shown

  /// A target as the gateway tells it.
  private struct Target {
    var kind: String
    var text: String
    var ring: Int64
    var leadsOn: [String]

    /// `user:bob`, `+46701234567`, `sip:front@pbx.example.com`
    var name: String {
      switch kind {
      case "user": "user:\(text)"
      case "conference": "conf:\(text)"
      case "sip": text.hasPrefix("sips:") ? text : "sip:\(text)"
      default: text
      }
    }

    func tree(ring other: Int64?) -> JSONValue {
      .members([
        ("kind", .string(kind)), ("target", .string(text)), ("ring_seconds", .integer(other ?? ring)),
        ("on", .array(leadsOn.map { .string($0) })),
      ])
    }
  }

  private static func targets(_ row: JSONObject) -> [Target] {
    (row["targets"]?.elements.compactMap(\.objectValue) ?? []).map { target in
      Target(
        kind: target["kind"]?.text ?? "", text: target["target"]?.text ?? "",
        ring: Int64(target["ring_seconds"]?.text ?? "") ?? 0, leadsOn: target["on"]?.elements.compactMap(\.text) ?? [])
    }
  }

  private static func count(_ value: JSONValue?) -> Cell { .integer(optional: value?.text.flatMap { Int64($0) }) }

  private static func answer(_ row: JSONObject) -> Answer {
    func flag(_ name: String) -> Cell { .flag(row[name] == .boolean(true)) }
    func text(_ name: String) -> Cell { .text(optional: row[name]?.text) }
    var cells: [(Column, Cell)] = [(Column("number"), text("number"))]
    let targets = targets(row)
    for (index, target) in targets.enumerated() {
      let ends = target.leadsOn.joined(separator: ", ")
      // What leads on is told where there is something to lead to.
      let on = index + 1 < targets.count && !ends.isEmpty ? ", on to the next when \(ends)" : ""
      cells.append(
        (
          Column("target_\(index + 1)", title: "target \(index + 1)"),
          .text("\(target.name), rings \(target.ring)s\(on)")
        )
      )
    }
    if targets.isEmpty { cells.append((Column("target_1", title: "target"), .text("nobody"))) }
    cells += [
      (Column("active"), flag("active")), (Column("account"), text("account")),
      (Column("application"), text("application")),
      (Column("no_answer", title: "nobody answers", .number), count(row["no_answer"])),
      (Column("channels", .number), row["channels"]?.text.map { .text($0) } ?? .text("any")),
      (Column("answer_first", title: "answers first"), flag("answer_first")),
      (Column("refuse_anonymous", title: "refuses anonymous"), flag("refuse_anonymous")),
      (Column("blocked"), .list(row["blocked"]?.elements.compactMap(\.text) ?? [])),
      (Column("record"), row["record"]?.text.map { .text($0) } ?? .text("off")),
      (Column("live_calls", title: "calls", .number), count(row["live_calls"])),
    ]
    if row["configured_at"]?.text != nil {
      cells.append((Column("configured_at", title: "configured"), text("configured_at")))
    }
    var answer = Answer(record: Listing(cells.map(\.0), rows: [cells.map(\.1)]))
    answer.members = row.members.map { ($0.name, $0.value) }
    return answer
  }
}
