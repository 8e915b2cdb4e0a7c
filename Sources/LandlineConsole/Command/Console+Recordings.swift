import CallModel
import Foundation

/// Recordings of calls and conferences: a running gateway is asked for them.
extension Console {
  package func recordingList(
    _ gateway: RecordingGateway, call: String?, account: String?, limit: Int
  ) async throws -> Answer {
    let call = try await callIDText(call, gateway)
    let target =
      "/v1/recordings"
      + query(
        ["environment": gateway.environment, "call": call, "account": account, "limit": "\(limit)"])
    let answer = try object(await client(gateway).get(target), gateway.control)
    let rows = answer["recordings"]?.elements.compactMap(\.objectValue) ?? []
    var list = Answer("recordings", Console.recordings(rows))
    list.members = [("recordings", .array(rows.map { .object($0) }))]
    return list
  }

  /// - Parameter format: `wav` or `opus`; `nil` for the gateway's own choice.
  package func recordingStart(
    _ place: RecordingPlace, format: String?, isAnnounced: Bool, hasTone: Bool, hasTracks: Bool
  ) async throws -> Answer {
    var members: [(String, JSONValue)] = [("announce", .boolean(isAnnounced)), ("tone", .boolean(hasTone))]
    if hasTracks { members.append(("tracks", .boolean(true))) }
    if let format { members.append(("format", .string(format))) }
    let response = try await client(place.gateway).post(
      try await path(place), .members(members), key: WriteOptions.newKey())
    return try running(response, place)
  }

  package func recordingPause(_ place: RecordingPlace, _ isPaused: Bool) async throws -> Answer {
    let body = JSONValue.members([("paused", .boolean(isPaused))])
    return try running(try await client(place.gateway).patch(try await path(place), body), place)
  }

  package func recordingStop(_ place: RecordingPlace) async throws -> Answer {
    let response = try await client(place.gateway).delete(try await path(place))
    guard (200..<300).contains(response.status) else { throw recordingFailure(response, place.gateway) }
    return Answer(row: Listing([Column("of"), Column("stopped")], rows: [[.text(place.subject), .flag(true)]]))
  }

  /// Writes the sound of a recording to a file.
  /// - Parameter file: `nil` for one in the working folder that is named by the recording; never one that is there.
  package func recordingSave(_ id: String, to file: String?, _ gateway: RecordingGateway) async throws -> Answer {
    let row = try await recording(id, gateway)
    let name = "\(row["id"]?.text ?? id).\(row["format"]?.text ?? "sound")"
    let path = file ?? name
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ConsoleError(.refused, code: "record.exists", "the file is there already", at: path, fix: "another name")
    }
    let target = "/v1/recordings/\(id)/sound" + query(["environment": gateway.environment])
    let written = try FileRecording(path: path)
    var size = 0
    do {
      let refused = try await client(gateway).pieces(target) { piece in
        written.append(piece)
        size += piece.count
      }
      written.close()
      if let refused { throw recordingFailure(refused, gateway) }
      if let failure = written.failure {
        throw ConsoleError(.failed, code: "record.file", "the file cannot be written: \(failure)", at: path)
      }
    } catch {
      // A part of it would look like the whole.
      try? FileManager.default.removeItem(atPath: path)
      throw error
    }
    return Answer(
      row: Listing(
        [Column("recording"), Column("file"), Column("bytes", .number)],
        rows: [[.text(id), .text(path), .integer(Int64(size))]]))
  }

  package func recordingDelete(_ id: String, _ gateway: RecordingGateway) async throws -> Answer {
    let response = try await client(gateway).delete(
      "/v1/recordings/\(try recordingID(id))" + query(["environment": gateway.environment]))
    guard (200..<300).contains(response.status) else { throw recordingFailure(response, gateway) }
    return Answer(row: Listing([Column("recording"), Column("deleted")], rows: [[.text(id), .flag(true)]]))
  }

  // MARK: Paths and refusals

  private func client(_ gateway: RecordingGateway) -> ControlClient {
    ControlClient(path: controlPath(gateway.control))
  }

  private func recordingID(_ text: String) throws -> String {
    try Arguments.name(text, "ID", as: RecordingID.self).text
  }

  private func recording(_ id: String, _ gateway: RecordingGateway) async throws -> JSONObject {
    let target = "/v1/recordings/\(try recordingID(id))" + query(["environment": gateway.environment])
    let response = try await client(gateway).get(target)
    guard (200..<300).contains(response.status) else { throw recordingFailure(response, gateway) }
    return try object(response, gateway.control)
  }

  private func callIDText(_ text: String?, _ gateway: RecordingGateway) async throws -> String? {
    guard let text else { return nil }
    return try await callID(text, control: gateway.control, environment: gateway.environment).text
  }

  /// Where the recording of a call or a conference is begun, paused and ended.
  private func path(_ place: RecordingPlace) async throws -> String {
    let environment = place.gateway.environment
    if case .conference(let room)? = try? CallTarget(place.subject) {
      let conference = ConferencePlace(
        id: room, application: place.application, control: place.gateway.control, environment: environment)
      return try target(conference, "/recording")
    }
    let call = try await callID(place.subject, control: place.gateway.control, environment: environment)
    return "/v1/live-calls/\(call)/recording" + query(["environment": environment])
  }

  private func recordingFailure(_ response: ControlClient.Response, _ gateway: RecordingGateway) -> ConsoleError {
    var error = failure(response, gateway.control)
    switch error.code {
    case "recording.unknown": error.fix = "landline recording list"
    case "call.unknown": error.fix = "landline calls list"
    case "conference.unknown": error.fix = "landline conference list"
    default: break
    }
    return error
  }

  // MARK: What is shown

  private func running(_ response: ControlClient.Response, _ place: RecordingPlace) throws -> Answer {
    guard (200..<300).contains(response.status) else { throw recordingFailure(response, place.gateway) }
    let row = try object(response, place.gateway.control)["recording"]?.objectValue
    var answer = Answer(
      row: Listing(
        [Column("of"), Column("recording"), Column("format"), Column("paused")],
        rows: [
          [
            .text(place.subject), .text(optional: row?["id"]?.text), .text(optional: row?["format"]?.text),
            .flag(row?["paused"] == .boolean(true)),
          ]
        ]))
    answer.members = row?.members.map { ($0.name, $0.value) } ?? []
    return answer
  }

  private static func recordings(_ rows: [JSONObject]) -> Listing {
    Listing(
      [
        Column("id", title: "recording"), Column("of"), Column("started_at", title: "started"),
        Column("duration_ms", title: "ms", .number), Column("format"), Column("bytes", .number), Column("state"),
      ],
      rows: rows.map { row in
        let conference = row["conference"]?.text.map { "conf:\($0)" }
        func number(_ name: String) -> Cell { .integer(optional: row[name]?.text.flatMap { Int64($0) }) }
        return [
          .text(optional: row["id"]?.text), .text(optional: row["call"]?.text ?? conference),
          .text(optional: row["started_at"]?.text), number("duration_ms"), .text(optional: row["format"]?.text),
          number("bytes"), .text(optional: row["state"]?.text),
        ]
      })
  }
}

/// Which gateway, and which environment of it.
package struct RecordingGateway: Sendable {
  package var control: String?
  package var environment: String?

  package init(control: String?, environment: String?) {
    self.control = control
    self.environment = environment
  }
}

/// Whose recording: a call's or a conference's.
package struct RecordingPlace: Sendable {
  /// A call's id, the beginning of one, last, or `conf:` with the id of a conference.
  package var subject: String
  /// Name or key of the conference's application; `nil` for the environment's only one.
  package var application: String?
  package var gateway: RecordingGateway

  package init(subject: String, application: String?, gateway: RecordingGateway) {
    self.subject = subject
    self.application = application
    self.gateway = gateway
  }
}
