import CallModel

/// One call, live or over, as lines for people, out of what the gateway says of it.
struct CallSheet {
  let call: JSONObject
  /// `http://127.0.0.1:8080` where it is known; else the page's path stands alone.
  var base: String?
  /// The name that the configuration gives to the application, whose key is all that the call has of it.
  var applicationName: String?
  let table: TableText

  private static let labelWidth = 9

  var lines: [String] {
    let id = text("id") ?? ""
    let rows: [(String, String?)] = [
      ("call", id), ("account", account), ("who", who), ("signed", signed), ("to", to), ("state", state),
      ("started", time("started_at")),
      ("rang", time("rung_at")), ("answered", time("answered_at")), ("ended", time("ended_at")), ("codec", codec),
      ("sound", call["quality"]?.objectValue.map(CallSheet.sound)), ("money", money), ("failed", failure),
      ("page", (base ?? "") + "/calls/\(id)"), ("explain", "landline explain \(id)"),
    ]
    return rows.compactMap { label, value in
      value.map { label + String(repeating: " ", count: CallSheet.labelWidth - label.count) + $0 }
    }
  }

  private func text(_ name: String) -> String? { call[name]?.text.map(CallFailure.shortened) }

  private var account: String? {
    text("account").map { name in name + (text("environment").map { " in \($0)" } ?? "") }
  }

  private var who: String? {
    let application = applicationName ?? text("application")
    let names = [text("user"), application.map { "of \($0)" }, text("caller_number").map { "as \($0)" }]
    let known = names.compactMap { $0 }
    return known.isEmpty ? nil : known.joined(separator: " ")
  }

  /// What is known of a signed caller; `nil` where nothing is.
  private var signed: String? {
    guard let from = call["from"]?.objectValue, let verified = from["verified"]?.stringValue else { return nil }
    return CallerIdentity.Verification(rawValue: verified).words(
      from["why"]?.stringValue.map(CallFailure.shortened))
  }

  private var to: String? {
    text("destination").map { target in
      let kind = text("kind").map { " (\($0))" } ?? ""
      return target + kind + (text("trunk").map { " by way of \($0)" } ?? "")
    }
  }

  private var state: String? {
    text("state").map { name in
      guard let state = CallState(rawValue: name) else { return name }
      guard state == .ended else { return CallSheet.words(state) }
      let cause = text("cause").flatMap(CallEndCause.init(rawValue:)).map(CallLadder.words)
      let milliseconds = text("duration_ms").flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
      let duration = milliseconds.map { " after \(CallLadder.rounded(Double($0) / 1000, 1)) s" } ?? ""
      return (cause ?? "over") + duration
    }
  }

  static func words(_ state: CallState) -> String {
    switch state {
    case .initiating: "being placed"
    case .progressing: "reaching the other side"
    case .ringing: "ringing"
    case .answered: "answered, no sound yet"
    case .established: "talking"
    case .ended: "over"
    }
  }

  /// In the zone of `--tz`.
  private func time(_ name: String) -> String? {
    guard let instant = text(name).flatMap({ try? InstantText.parse($0) }) else { return nil }
    return "\(table.time(instant)) \(table.zone)"
  }

  private var codec: String? {
    switch (text("near_codec"), text("far_codec")) {
    case (nil, nil): nil
    case (let near?, nil): "app \(near)"
    case (nil, let far?): "trunk \(far)"
    case (let near?, let far?): near == far ? "\(near) on both sides" : "app \(near), trunk \(far)"
    }
  }

  /// A direction through which nothing came has no figures.
  private static func sound(_ quality: JSONObject) -> String {
    func number(_ object: JSONObject, _ name: String) -> Double? { object[name]?.text.flatMap(Double.init) }
    func direction(_ name: String) -> String {
      guard let direction = quality[name]?.objectValue, (number(direction, "packets") ?? 0) > 0 else {
        return "\(name) nothing"
      }
      let figures: [(String, Double?, Int, String)] = [
        ("MOS", number(direction, "mos"), 2, ""), ("loss", number(direction, "loss").map { $0 * 100 }, 1, " %"),
        ("jitter", number(direction, "jitter_ms"), 1, " ms"),
      ]
      let shown = figures.compactMap { figure in
        figure.1.map { "\(figure.0) \(CallLadder.rounded($0, figure.2))\(figure.3)" }
      }
      return "\(name) \(shown.joined(separator: ", "))"
    }
    let roundTrip = number(quality, "round_trip_ms").map { "; round trip \(CallLadder.rounded($0, 1)) ms" } ?? ""
    return "\(direction("sent")); \(direction("received"))\(roundTrip)"
  }

  private var money: String? {
    guard let currency = text("currency").flatMap({ try? Currency($0) }) else { return nil }
    func amount(_ name: String) -> Credits? {
      text(name + "_micro").flatMap(Int64.init).flatMap { try? Credits(micros: MicroUnits($0), currency) }
    }
    if let cost = amount("cost") { return "\(cost.readable) for \(text("billed_seconds") ?? "0") s" }
    guard text("state") != CallState.ended.rawValue else { return "not known yet" }
    return amount("held").map { $0.micros == 0 ? "nothing held" : "\($0.readable) held" }
  }

  private var failure: String? {
    guard let failure = call["failure"]?.objectValue, let code = failure["code"]?.text else { return nil }
    let meaning = failure["message"]?.text.map { ": \($0)" } ?? ""
    let status = failure["sip_status"]?.text.map { number in
      " (SIP \(number)\(failure["phrase"]?.text.map { " \(CallFailure.shortened($0))" } ?? ""))"
    }
    return "\(code)\(meaning)\(status ?? "")"
  }
}
