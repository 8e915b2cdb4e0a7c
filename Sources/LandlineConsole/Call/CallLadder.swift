import AppProtocol
import CallModel
import Foundation
import LandlineClient

/// What happened to a call, one line each, as `landline call` prints it.
struct CallLadder {
  /// Seconds between two lines of quality.
  static let qualityEvery = 5

  struct Rung {
    var milliseconds: Int64
    /// Stable: JSON names rungs by it.
    var name: String
    var text: String
    var facts: [(String, JSONValue)] = []

    /// ` +1203 ms  answered      …`
    func line(isColored: Bool) -> String {
      let time = "+\(milliseconds) ms"
      let indent = String(repeating: " ", count: max(11 - time.count, 0))
      let padding = String(repeating: " ", count: max(12 - name.count, 0))
      let shown = isColored ? "\u{1B}[1m\(name)\u{1B}[0m" : name
      let line =
        "\(indent)\(time)  \(shown)\(text.isEmpty ? "" : padding + "  " + VisibleText.line(CallFailure.shortened(text)))"
      return line + "\n"
    }

    var json: JSONValue {
      .members([("at_ms", .integer(milliseconds)), ("event", .string(name))] + facts)
    }
  }

  /// What the other side sends, where that is the gateway itself and comes to it over no network; `nil` for any other.
  let ownSound: String?
  private(set) var rungs: [Rung] = []
  /// Rungs kept for JSON at most; a call may last for hours.
  static let maximumRungs = 10_000
  private var qualities = 0

  init(ownSound: String? = nil) { self.ownSound = ownSound }

  /// The rung of an event; `nil` where it is not worth a line.
  mutating func rung(_ event: CallEvent, base: Int64) -> Rung? {
    guard let (name, text, facts) = describe(event.kind) else { return nil }
    return note(Rung(milliseconds: base + event.milliseconds, name: name, text: text, facts: facts))
  }

  mutating func note(_ rung: Rung) -> Rung {
    if rungs.count < CallLadder.maximumRungs { rungs.append(rung) }
    return rung
  }

  private mutating func describe(_ kind: CallEvent.Kind) -> (String, String, [(String, JSONValue)])? {
    switch kind {
    case .progressing: ("progressing", "", [])
    case .ringing: ("ringing", "", [])
    case .earlyMedia: ("early media", "sound before the answer", [])
    case .answered: ("answered", "", [])
    case .established: ("established", "sound flows", [])
    case .mediaSecured(let suite): ("secured", suite, [("suite", .string(suite))])
    case .mediaBlocked(let failure):
      ("no sound", failure.phrase ?? failure.code.details.meaning, [("code", .string(failure.code.rawValue))])
    case .price(let price): ("price", CallLadder.text(price), [("price", CallLadder.json(price))])
    case .creditEnds(let seconds):
      (
        "credit", seconds.map { "ends in \($0) s" } ?? "no longer ends the call",
        [("seconds", seconds.map { .integer(Int64($0)) } ?? .null)]
      )
    case .digit(let key, let milliseconds):
      ("digit", "\(key) for \(milliseconds) ms", [("key", .string(String(key)))])
    case .held(let isHeld): (isHeld ? "held" : "unheld", "by the other side", [])
    case .transfer(let progress):
      (
        "transfer",
        "\(progress.step.rawValue): \(progress.target)"
          + (progress.failure.map { ", \($0)" } ?? ""),
        [("state", .string(progress.step.rawValue)), ("to", .string(progress.target))]
      )
    case .onHold(let isOn): (isOn ? "on hold" : "resumed", "", [])
    case .quality(let quality): describe(quality)
    case .members(let members): describe(members)
    case .recording(let state):
      (
        "recording",
        state == .on ? "what is said is recorded" : state == .paused ? "paused" : "over",
        [("state", .string(state.rawValue))]
      )
    // Several a second: a page shows them, a list would be nothing else.
    case .speakers: nil
    case .warning(let warning, let isRaised):
      (
        isRaised ? "warning" : "cleared", warning.rawValue,
        [("warning", .string(warning.rawValue)), ("raised", .boolean(isRaised))]
      )
    case .connection(let isUp):
      (isUp ? "reconnected" : "disconnected", isUp ? "" : "trying again; the call goes on", [])
    case .refused(let failure): ("refused", failure.description, [("code", .string(failure.code.rawValue))])
    case .ended(let details): ("ended", CallLadder.text(details), [("cause", .string(details.endCause.rawValue))])
    }
  }

  private func describe(_ members: RoomMembers) -> (String, String, [(String, JSONValue)])? {
    func who(_ member: RoomMembers.Member) -> String {
      let name = member.from.value.isEmpty ? member.from.kind.rawValue : member.from.value
      return "\(member.participant) \(name)\(member.isMuted ? ", muted" : "")"
    }
    let there = members.members.map(who)
    let left = members.left.map { "\($0) left" }
    return (
      "members", (there + left).joined(separator: "; "),
      [
        ("own", .integer(optional: members.own.map { Int64($0) })),
        (
          "members",
          .array(
            members.members.map {
              .members([
                ("participant", .integer(Int64($0.participant))), ("kind", .string($0.from.kind.rawValue)),
                ("value", .string($0.from.value)), ("muted", .boolean($0.isMuted)),
              ])
            })
        ), ("left", .array(members.left.map { .integer(Int64($0)) })),
      ]
    )
  }

  private mutating func describe(_ quality: CallQuality) -> (String, String, [(String, JSONValue)])? {
    qualities += 1
    guard qualities % CallLadder.qualityEvery == 1 else { return nil }
    return ("quality", CallLadder.text(quality, ownSound: ownSound), [("quality", CallLadder.json(quality))])
  }

  // MARK: Texts

  static func text(_ price: CallPrice) -> String {
    let rate = price.ratePerMinuteNano.decimal
    let fee = price.connectionFeeMicro == .zero ? "" : ", \(price.connectionFeeMicro.decimal) once"
    return "\(rate) \(price.currency) a minute\(fee), credit for \(price.secondsAvailable) s"
  }

  /// - Parameter ownSound: as ``ownSound``.
  static func text(_ quality: CallQuality, ownSound: String? = nil) -> String {
    func direction(_ name: String, _ direction: CallQuality.Direction) -> String {
      guard let score = direction.meanOpinionScore else {
        return name + " " + (direction.packets == 0 ? ownSound ?? "nothing" : "nothing")
      }
      let figures = [
        ("MOS", score, 2, ""), ("loss", (direction.loss ?? 0) * 100, 1, " %"),
        ("jitter", direction.jitter ?? 0, 1, " ms"),
      ]
      return name + " " + figures.map { "\($0.0) \(rounded($0.1, $0.2))\($0.3)" }.joined(separator: ", ")
    }
    let roundTrip = quality.roundTrip.map { "; round trip \(rounded($0, 1)) ms" } ?? ""
    return direction("sent", quality.sent) + "; " + direction("received", quality.received) + roundTrip
  }

  static func text(_ details: CallDetails) -> String {
    let duration =
      details.answeredAt == nil ? "" : " after \(rounded(Double(details.durationMilliseconds) / 1000, 1)) s"
    let device = details.endedByDevice.map { ", by device \($0)" } ?? ""
    return "\(words(details.endCause))\(duration)\(device)\(details.isMissed ? ": missed" : "")"
  }

  static func words(_ cause: CallEndCause) -> String {
    switch cause {
    case .none: "not ended"
    case .timeout: "timed out"
    case .denied: "denied"
    case .noAnswer: "no answer"
    case .error: "failed"
    case .hungUp: "hung up"
    case .canceled: "cancelled"
    case .otherDeviceAnswered: "other device answered"
    case .transferred: "transferred"
    }
  }

  static func rounded(_ value: Double, _ places: Int) -> String {
    value.isFinite ? String(format: "%.\(places)f", value) : "-"
  }

  static func json(_ price: CallPrice) -> JSONValue {
    .members([
      ("currency", .string(price.currency)), ("rate_per_minute_nano", .integer(price.ratePerMinuteNano.count)),
      ("connection_fee_micro", .integer(price.connectionFeeMicro.count)),
      ("initial_seconds", .integer(price.initialSeconds)),
      ("increment_seconds", .integer(price.incrementSeconds)), ("seconds_available", .integer(price.secondsAvailable)),
    ])
  }

  static func json(_ quality: CallQuality) -> JSONValue {
    func whole(_ value: Double?) -> JSONValue { value.map { .integer(Int64(exactly: $0.rounded()) ?? 0) } ?? .null }
    func direction(_ direction: CallQuality.Direction) -> JSONValue {
      .members([
        ("mos_thousandths", whole(direction.meanOpinionScore.map { $0 * 1000 })),
        ("jitter_us", whole(direction.jitter.map { $0 * 1000 })),
        ("loss_ppm", whole(direction.loss.map { $0 * 1_000_000 })),
        ("packets", .integer(Int64(clamping: direction.packets))),
      ])
    }
    return .members([
      ("sent", direction(quality.sent)), ("received", direction(quality.received)),
      ("round_trip_us", quality.roundTrip.map { whole($0 * 1000) } ?? .null),
    ])
  }
}
