import CallModel

/// What is said in calls and conferences: a running gateway is asked for it.
extension Console {
  /// Has something said to a side or both, in place of the other side or beneath the talk; without words ends what is
  /// said.
  package func callsSay(
    _ call: String, to side: String?, beneath: Bool = false, _ words: SayingOptions, control: String?,
    environment name: String?
  ) async throws -> Answer {
    let id = try await callID(call, control: control, environment: name)
    let path = "/v1/live-calls/\(id)/say" + query(["environment": name])
    return try await say(path, of: id.text, words, side: side, beneath: beneath, control)
  }

  /// Has something said to all of a conference; without words ends what is said.
  package func conferenceSay(_ place: ConferencePlace, _ words: SayingOptions) async throws -> Answer {
    try await say(try target(place, "/say"), of: place.id, words, side: nil, beneath: false, place.control)
  }

  private func say(
    _ path: String, of subject: String, _ words: SayingOptions, side: String?, beneath: Bool, _ control: String?
  ) async throws -> Answer {
    let client = ControlClient(path: controlPath(control))
    guard !words.isEmpty else {
      let response = try await client.delete(path)
      guard (200..<300).contains(response.status) else { throw orderFailure(response, control) }
      return Answer(row: Listing([Column("of"), Column("stopped")], rows: [[.text(subject), .flag(true)]]))
    }
    var members = [("text", words.text), ("sound", words.sound), ("side", side)].compactMap { name, value in
      value.map { (name, JSONValue.string($0)) }
    }
    if beneath { members.append(("beneath", .boolean(true))) }
    let response = try await client.post(path, .members(members), key: WriteOptions.newKey())
    guard (200..<300).contains(response.status) else { throw orderFailure(response, control) }
    let length = try object(response, control)["duration_ms"]?.text.flatMap { Int64($0) }
    return Answer(
      row: Listing(
        [Column("of"), Column("duration_ms", title: "ms", .number)],
        rows: [[.text(subject), .integer(optional: length)]]))
  }
}

/// What is to be said: a text, or the name of a sound.
package struct SayingOptions: Sendable {
  package var text: String?
  package var sound: String?

  package init(text: String?, sound: String?) {
    self.text = text
    self.sound = sound
  }

  var isEmpty: Bool { text == nil && sound == nil }
}
