import CallModel
import Foundation

/// Conferences that somebody is in: a running gateway is asked for them.
extension Console {
  package func conferenceList(control: String?, environment name: String?) async throws -> Answer {
    let client = ControlClient(path: controlPath(control))
    let answer = try object(await client.get("/v1/conferences" + query(["environment": name])), control)
    let rows = answer["conferences"]?.elements.compactMap(\.objectValue) ?? []
    let columns = [
      Column("id", title: "conference"), Column("application"), Column("since"), Column("participants", .number),
      Column("locked"),
    ]
    let listing = Listing(
      columns,
      rows: rows.map { row in
        [
          .text(optional: row["id"]?.text), .text(optional: row["application"]?.text),
          .text(optional: row["since"]?.text), .integer(Int64(row["participants"]?.elements.count ?? 0)),
          .flag(row["locked"] == .boolean(true)),
        ]
      })
    var list = Answer("conferences", listing)
    list.members = [("conferences", .array(rows.map { .object($0) }))]
    return list
  }

  /// Who takes part.
  package func conferenceShow(_ place: ConferencePlace) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    return Console.conference(try conferenceAnswer(await client.get(target(place)), place.control))
  }

  package func conferenceLock(_ place: ConferencePlace, _ isLocked: Bool) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    let body = JSONValue.members([("locked", .boolean(isLocked))])
    return Console.conference(try conferenceAnswer(await client.patch(target(place), body), place.control))
  }

  /// - Parameter keys: `ignore`, `forward` or `detect`.
  package func conferenceKeys(_ place: ConferencePlace, _ keys: String) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    let body = JSONValue.members([("keys", .string(keys))])
    return Console.conference(try conferenceAnswer(await client.patch(target(place), body), place.control))
  }

  package func conferenceEnd(_ place: ConferencePlace) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    let response = try await client.delete(target(place))
    guard (200..<300).contains(response.status) else { throw conferenceFailure(response, place.control) }
    return Answer(row: Listing([Column("conference"), Column("ended")], rows: [[.text(place.id), .flag(true)]]))
  }

  package func conferenceKick(_ place: ConferencePlace, _ participant: Int) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    let response = try await client.delete(target(place, "/\(participant)"))
    guard (200..<300).contains(response.status) else { throw conferenceFailure(response, place.control) }
    return Answer(
      row: Listing(
        [Column("conference"), Column("participant", .number), Column("removed")],
        rows: [[.text(place.id), .integer(Int64(participant)), .flag(true)]]))
  }

  /// Mutes a participant or has it hear nothing; `nil` leaves things as they are.
  package func conferenceChange(
    _ place: ConferencePlace, _ participant: Int, isMuted: Bool? = nil, isDeaf: Bool? = nil
  ) async throws -> Answer {
    let client = ControlClient(path: controlPath(place.control))
    let members = [("muted", isMuted), ("deaf", isDeaf)].compactMap { name, value in
      value.map { (name, JSONValue.boolean($0)) }
    }
    let row = try conferenceAnswer(
      await client.patch(target(place, "/\(participant)"), .members(members)), place.control)
    return Console.participants([row], of: place.id, row.members.map { ($0.name, $0.value) })
  }

  /// Calls somebody who takes part once they answer.
  package func conferenceAdd(_ place: ConferencePlace, _ options: ParticipantOptions) async throws -> Answer {
    let members = try options.members()
    let response = try await ControlClient(path: controlPath(place.control)).post(
      target(place, "/participants"), .members(members), key: options.key ?? WriteOptions.newKey())
    let answer = try conferenceAnswer(response, place.control)
    return Answer(
      row: Listing(
        [Column("conference"), Column("target"), Column("call")],
        rows: [[.text(place.id), .text(options.target), .text(optional: answer["id"]?.text)]]))
  }

  /// Calls somebody who talks with the two of a call.
  package func callsAdd(
    _ call: String, _ options: ParticipantOptions, control: String?, environment name: String?
  ) async throws -> Answer {
    let members = try options.members()
    let id = try await callID(call, control: control, environment: name)
    let response = try await ControlClient(path: controlPath(control)).post(
      "/v1/live-calls/\(id)/participants" + query(["environment": name]), .members(members),
      key: options.key ?? WriteOptions.newKey())
    guard (200..<300).contains(response.status) else { throw orderFailure(response, control) }
    let answer = try object(response, control)
    return Answer(
      row: Listing(
        [Column("to"), Column("target"), Column("call")],
        rows: [[.text(id.text), .text(options.target), .text(optional: answer["id"]?.text)]]))
  }

  // MARK: Paths and refusals

  func target(_ place: ConferencePlace, _ rest: String = "") throws -> String {
    do throws(InvalidValue) {
      let id = try ConferenceID(place.id).text
      let path = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id
      return "/v1/conferences/\(path)\(rest)"
        + query(["environment": place.environment, "application": place.application])
    } catch {
      throw ConsoleError.usage(error.rule, error.problem, at: "CONFERENCE", fix: error.accepted)
    }
  }

  private func conferenceAnswer(_ response: ControlClient.Response, _ control: String?) throws -> JSONObject {
    guard (200..<300).contains(response.status) else { throw conferenceFailure(response, control) }
    return try object(response, control)
  }

  private func conferenceFailure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    var error = failure(response, control)
    if error.code == "conference.unknown" { error.fix = "landline conference list" }
    if error.code == "conference.participant" { error.fix = "landline conference show CONFERENCE" }
    return error
  }

  // MARK: What is shown

  private static func conference(_ row: JSONObject) -> Answer {
    participants(
      row["participants"]?.elements.compactMap(\.objectValue) ?? [], of: row["id"]?.text ?? "",
      row.members.map { ($0.name, $0.value) })
  }

  private static func participants(
    _ rows: [JSONObject], of conference: String, _ members: [(String, JSONValue)]
  ) -> Answer {
    let columns = [
      Column("participant", .number), Column("who"), Column("since"), Column("muted"), Column("speaks"),
      Column("dBov", .number), Column("loss", .number), Column("score", .number), Column("call"),
    ]
    let listing = Listing(
      columns,
      rows: rows.map { row in
        let from = row["from"]?.objectValue
        let value = from?["value"]?.text ?? ""
        let name = from?["name"]?.text ?? ""
        let who = value.isEmpty ? from?["kind"]?.text ?? "" : value
        return [
          .integer(optional: row["participant"]?.text.flatMap { Int64($0) }),
          .text(name.isEmpty ? who : "\(who), \(name)"), .text(optional: row["since"]?.text),
          .text(muting(row)),
          .text(row["leads"] == .boolean(true) ? "leads" : row["speaking"] == .boolean(true) ? "yes" : ""),
          .integer(optional: row["level_dbov"]?.text.flatMap { Int64($0) }),
          .text(optional: measure(row, "loss").map { "\(Int(($0 * 100).rounded())) %" }),
          .text(optional: measure(row, "mos").map { String(format: "%.1f", $0) }), .text(optional: row["call"]?.text),
        ]
      })
    var answer = Answer("participants", listing)
    answer.members = members
    return answer
  }

  /// Of what came from a participant in the last second.
  private static func measure(_ row: JSONObject, _ name: String) -> Double? {
    row["quality"]?.objectValue?[name]?.text.flatMap { Double($0) }
  }

  private static func muting(_ row: JSONObject) -> String {
    [("muted", "muted"), ("self_muted", "by itself"), ("deaf", "deaf")]
      .filter { row[$0.0] == .boolean(true) }.map(\.1).joined(separator: ", ")
  }
}

/// Which conference, and which gateway.
package struct ConferencePlace: Sendable {
  package var id: String
  /// Name or key; `nil` for the environment's only one.
  package var application: String?
  package var control: String?
  package var environment: String?

  package init(id: String, application: String?, control: String?, environment: String?) {
    self.id = id
    self.application = application
    self.control = control
    self.environment = environment
  }
}

/// What `landline conference add` and `landline calls add` say.
package struct ParticipantOptions: Sendable {
  package var target: String
  /// Who pays; `nil` for the application's own account.
  package var account: String?
  package var callerNumber: String?
  package var isMuted = false
  /// Makes the command repeatable.
  package var key: String?

  package init(target: String) { self.target = target }

  /// The request's body.
  func members() throws -> [(String, JSONValue)] {
    let (kind, text) = try CallTarget(target).person("a conference cannot be added")
    if let key { _ = try Arguments.name(key, "--key", as: RequestKey.self) }
    var members: [(String, JSONValue)] = [("kind", .string(kind)), ("target", .string(text))]
    if let account { members.append(("account", .string(account))) }
    if let callerNumber { members.append(("caller_number", .string(callerNumber))) }
    if isMuted { members.append(("muted", .boolean(true))) }
    return members
  }
}
