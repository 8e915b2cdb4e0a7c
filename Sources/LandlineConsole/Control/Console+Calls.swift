import CallModel
import Foundation

/// Commands that ask or steer a running gateway.
extension Console {
  package func callsList(control: String?, environment name: String?) async throws -> Answer {
    let target = "/v1/live-calls" + query(["environment": name])
    let object = try object(await ControlClient(path: controlPath(control)).get(target), control)
    let calls = object["calls"]?.elements.compactMap(\.objectValue) ?? []
    return Answer("calls", Listing(Console.callColumns, rows: try calls.map { try cells(ofCall: $0) }))
  }

  package func callsShow(_ id: String, control: String?, environment name: String?) async throws -> Answer {
    let call = try await callID(id, control: control, environment: name)
    let client = ControlClient(path: controlPath(control))
    let object = try object(await client.get("/v1/calls/\(call)" + query(["environment": name])), control)
    var answer = Answer(record: Console.flattened(object))
    let finder = finder()
    let application = object["application"]?.text.flatMap { key in
      finder.gateways.flatMap(\.places.applications).first { $0.key == key }?.name
    }
    answer.blocks = CallSheet(
      call: object, base: Console.pages(of: try? finder.url()?.value), applicationName: application, table: try table()
    ).lines.map { .line($0) }
    return answer
  }

  /// Where the pages of a gateway are.
  /// - Parameter url: its address for apps, as far as it is known.
  static func pages(of url: String?) -> String? {
    guard var parts = url.flatMap({ URLComponents(string: $0) }) else { return nil }
    switch parts.scheme?.lowercased() {
    case "ws", "http": parts.scheme = "http"
    case "wss", "https": parts.scheme = "https"
    default: return nil
    }
    parts.path = ""
    parts.query = nil
    return parts.string
  }

  /// Live calls first, then each change, until interrupted.
  package func callsWatch(control: String?, environment name: String?) async throws -> Answer {
    let client = ControlClient(path: controlPath(control))
    let screen =
      environment.standardOutputIsTerminal && environment.value("TERM") != "dumb" ? environment.screenLines : 0
    let isTable = settings.format == .table || settings.format == .csv
    var board = CallBoard(table: try table(), screenLines: screen)
    if isTable { try TextStream.standardOutput.write(board.begin()) }
    try await client.lines("/v1/live-calls" + query(["watch": "true", "environment": name])) { status, line in
      guard status == 200 else { throw self.failure(.init(status: status, body: line), control) }
      if settings.format == .json || settings.format == .ndjson {
        try TextStream.standardOutput.write(VisibleText.json(String(decoding: line, as: UTF8.self)) + "\n")
      } else if let call = JSONObject(answer: line) {
        try TextStream.standardOutput.write(board.changed(call))
      }
      return true
    }
    return Answer.streamed(notes: [])
  }

  /// - Parameter cause: that trunks are told; `nil` for a normal end.
  package func callsHangUp(
    _ id: String, cause: Int? = nil, control: String?, environment name: String?
  ) async throws -> Answer {
    let call = try await callID(id, control: control, environment: name)
    let response = try await ControlClient(path: controlPath(control)).delete(
      "/v1/live-calls/\(call)" + query(["environment": name, "cause": cause.map(String.init)]))
    guard (200..<300).contains(response.status) else { throw failure(response, control) }
    return Answer(row: Listing([Column("call"), Column("ended")], rows: [[.text(call.text), .flag(true)]]))
  }

  package func status(control: String?) async throws -> Answer {
    let response = try await ControlClient(path: controlPath(control)).get("/v1/status")
    return Answer(record: Console.flattened(try object(response, control)))
  }

  // MARK: Shapes

  private static let callColumns = [
    Column("id"), Column("state"), Column("environment"), Column("account"), Column("kind"), Column("destination"),
    Column("trunk"), Column("started_at", title: "started"), Column("answered_at", title: "answered"),
  ]

  private func cells(ofCall call: JSONObject) throws -> [Cell] {
    Console.callColumns.map { column in
      switch column.name {
      case "started_at", "answered_at":
        .instant(optional: call[column.name]?.text.flatMap { try? InstantText.parse($0) })
      default: .text(optional: call[column.name]?.text)
      }
    }
  }

  /// A record's members one below the other, in the order of their names: `failure.code` for a member of a member.
  private static func flattened(_ object: JSONObject) -> Listing {
    var columns: [Column] = []
    var cells: [Cell] = []
    func add(_ name: String, _ value: JSONValue) {
      switch value {
      case .null: break
      case .string, .integer, .number:
        columns.append(Column(name))
        cells.append(.text(optional: value.text))
      case .boolean(let flag):
        columns.append(Column(name))
        cells.append(.flag(flag))
      case .array(let values):
        for (index, value) in values.enumerated() { add("\(name).\(index + 1)", value) }
      case .object(let object): addMembers(of: object, after: name + ".")
      }
    }
    func addMembers(of object: JSONObject, after path: String) {
      for member in object.members.sorted(by: { $0.name < $1.name }) { add(path + member.name, member.value) }
    }
    addMembers(of: object, after: "")
    return Listing(columns, rows: [cells])
  }

  func query(_ values: [String: String?]) -> String {
    let items = values.sorted { $0.key < $1.key }.compactMap { entry in
      entry.value.map { URLQueryItem(name: entry.key, value: $0) }
    }
    var components = URLComponents()
    components.queryItems = items.isEmpty ? nil : items
    return components.string ?? ""
  }

  func object(_ response: ControlClient.Response, _ control: String?) throws -> JSONObject {
    guard (200..<300).contains(response.status) else { throw failure(response, control) }
    guard let object = JSONObject(answer: response.body) else {
      throw ConsoleError(
        .failed, code: "control.answer", "the gateway's answer cannot be read", at: controlPath(control))
    }
    return object
  }

  /// A problem (RFC 9457) that the gateway told.
  func failure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    let problem = JSONObject(answer: response.body)
    let status: ExitStatus =
      switch response.status {
      case 404: .notFound
      case 400, 422: .usage
      case 401, 403: .notPermitted
      case 409: .conflict
      default: .failed
      }
    return ConsoleError(
      status, code: problem?["code"]?.text ?? "http.\(response.status)",
      problem?["detail"]?.text ?? problem?["title"]?.text ?? "the gateway answered \(response.status)",
      at: controlPath(control), fix: problem?["fix"]?.text)
  }
}
