import CallModel

/// What an operator does to a call that is up.
extension Console {
  /// Presses keys towards a side.
  package func callsPress(_ place: CallPlace, _ digits: String) async throws -> Answer {
    let body = JSONValue.members([("side", .string(place.side)), ("digits", .string(digits))])
    let path = try await target(place, "/keys")
    let response = try await ControlClient(path: controlPath(place.control)).post(
      path, body, key: WriteOptions.newKey())
    guard (200..<300).contains(response.status) else { throw orderFailure(response, place.control) }
    return done(place, "pressed", digits)
  }

  /// Mutes a side or has it wait; `nil` leaves things as they are.
  package func callsChange(
    _ place: CallPlace, isMuted: Bool? = nil, isOnHold: Bool? = nil
  ) async throws -> Answer {
    var members: [(String, JSONValue)] = [("side", .string(place.side))]
    if let isMuted { members.append(("muted", .boolean(isMuted))) }
    if let isOnHold { members.append(("on_hold", .boolean(isOnHold))) }
    let path = try await target(place)
    let response = try await ControlClient(path: controlPath(place.control)).patch(path, .members(members))
    guard (200..<300).contains(response.status) else { throw orderFailure(response, place.control) }
    let call = try object(response, place.control)
    func sides(_ name: String) -> Cell { .text(call[name]?.elements.compactMap(\.text).joined(separator: ", ") ?? "") }
    var answer = Answer(
      row: Listing(
        [Column("call"), Column("muted"), Column("on_hold", title: "on hold")],
        rows: [[.text(optional: call["id"]?.text), sides("muted"), sides("on_hold")]]))
    answer.members = call.members.map { ($0.name, $0.value) }
    return answer
  }

  /// Has a side leave, and the other one talk with somebody else.
  package func callsTransfer(_ place: CallPlace, to text: String) async throws -> Answer {
    let (kind, target) = try CallTarget(text).person("no call is put through to a conference")
    let body = JSONValue.members([
      ("side", .string(place.side)), ("kind", .string(kind)), ("target", .string(target)),
    ])
    let path = try await self.target(place, "/transfer")
    let response = try await ControlClient(path: controlPath(place.control)).post(
      path, body, key: WriteOptions.newKey())
    guard (200..<300).contains(response.status) else { throw orderFailure(response, place.control) }
    return done(place, "calling", target)
  }

  private func target(_ place: CallPlace, _ rest: String = "") async throws -> String {
    let call = try await callID(place.call, control: place.control, environment: place.environment)
    return "/v1/live-calls/\(call)\(rest)" + query(["environment": place.environment])
  }

  func orderFailure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    var error = failure(response, control)
    if error.code == "call.unknown" { error.fix = "landline calls list" }
    return error
  }

  private func done(_ place: CallPlace, _ name: String, _ text: String) -> Answer {
    Answer(
      row: Listing(
        [Column("call"), Column("side"), Column(name)], rows: [[.text(place.call), .text(place.side), .text(text)]]))
  }
}

/// A side of a call that is up, and which gateway.
package struct CallPlace: Sendable {
  /// The call's id, the beginning of one, or last.
  package var call: String
  /// `caller` or `called`.
  package var side: String
  package var control: String?
  package var environment: String?

  package init(call: String, side: String, control: String?, environment: String?) {
    self.call = call
    self.side = side
    self.control = control
    self.environment = environment
  }
}
