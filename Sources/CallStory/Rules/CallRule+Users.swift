import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// Calls for users: who was there, who rang and who answered.
  static let users: [CallRule] = [
    CallRule("userUnknown", "There is no such user") { call in
      guard call.failure?.code == .userUnknown else { return nil }
      return Verdict(
        97, .app, "No device has ever registered under this user id with the caller's application.",
        evidence: [called(call)],
        fixes: ["check the user id", "the called user signs in once: users of another application are other people"])
    },
    CallRule("userNotThere", "No device of the user was there") { call in
      guard call.failure?.code == .userUnreachable else { return nil }
      let lost = call.devices { if case .deviceGone(let name) = $0 { name } else { nil } }
      return Verdict(
        95, .callee,
        lost.isEmpty
          ? "The user is known, and no device of theirs was connected and listening for calls."
          : "Every device that rang lost its connection before anybody answered: \(lost.names).",
        evidence: lost.lines + [called(call)], fixes: ["open the app on the called side", "call again later"])
    },
    CallRule("userAppsTooOld", "The user's apps cannot be called") { call in
      guard call.failure?.code == .capabilityRemote, call.call?.kind == .user else { return nil }
      return Verdict(
        95, .callee,
        "Devices of the user are connected, and none of them takes calls: they registered without 'calling', or their app "
          + "is older than calls between users.",
        evidence: [called(call)],
        fixes: ["update the app on the called side", "have it register with the capability 'calling' and 'incoming.1'"])
    },
    CallRule("userBusy", "The user is in another call") { call in
      guard call.failure?.code == .userBusy else { return nil }
      let said = call.devices { if case .busyOn(let name) = $0 { name } else { nil } }
      return Verdict(
        95, .callee,
        said.isEmpty
          ? "Each device that could ring is in another call, and the busy rule lets no second one ring."
          : "The app of the called user said that it is busy: \(said.names).",
        evidence: said.lines + [called(call)],
        fixes: ["call again later"]
          + (said.isEmpty ? ["landline.yaml: environments.NAME.applications.NAME.busy: waiting"] : []))
    },
    CallRule("userDeclined", "Somebody declined") { call in
      guard call.failure?.code == .userDeclined else { return nil }
      let declined = call.devices { if case .declinedOn(let name) = $0 { name } else { nil } }
      return Verdict(
        97, .callee, "Somebody declined the call" + (declined.isEmpty ? "." : " on \(declined.names)."),
        evidence: declined.lines + [called(call)])
    },
    CallRule("userRangOut", "Nobody answered") { call in
      guard call.failure?.code == .userNoAnswer else { return nil }
      let rang = call.devices { if case .calledOn(let name) = $0 { name } else { nil } }
      return Verdict(
        92, .callee, "It rang" + (rang.isEmpty ? "" : " on \(rang.names)") + ", and nobody answered in time.",
        evidence: rang.lines + [called(call)], fixes: ["call again later"])
    },
    CallRule("userCameLate", "A device came too late") { call in
      guard call.failure?.code == .userNoAnswer, let record = call.sources.record else { return nil }
      let end = CallEvidence.difference(record.summary.startedAt, record.summary.endedAt)
      let late = call.lines {
        if case .calledOn = $0 { true } else { false }
      }.filter { end - $0.milliseconds <= CallRule.lateMilliseconds && $0.milliseconds > CallRule.lateMilliseconds }
      guard let first = late.first else { return nil }
      return Verdict(
        94, .callee,
        "A device of the user connected \((end - first.milliseconds) / 1000) s before the ring was over: an app that is "
          + "woken has to connect and ring sooner.",
        evidence: late.map { "\($0.milliseconds) ms: \($0.text)" },
        fixes: ["look at what keeps the called app from connecting when it is woken"])
    },
    CallRule("answeredElsewhere", "Several devices rang, one answered") { call in
      let accepted = call.devices { if case .acceptedOn(let name) = $0 { name } else { nil } }
      let rang = call.devices { if case .calledOn(let name) = $0 { name } else { nil } }
      guard !accepted.isEmpty, rang.lines.count > 1 else { return nil }
      return Verdict(
        12, .nobody, "It rang on \(rang.names), and was answered on \(accepted.names); the others were told so.",
        evidence: accepted.lines)
    },
  ]

  private static func called(_ call: CallEvidence) -> String { "called: \(call.call?.destination ?? "a user")" }

  /// A device that is told of the call later than so long before its end had little time to ring.
  private static let lateMilliseconds: Int64 = 16_000
}

/// Devices that lines of the story name.
private struct NamedDevices {
  var list: [String]
  /// The lines, as evidence.
  var lines: [String]

  var isEmpty: Bool { list.isEmpty }
  var names: String { list.joined(separator: ", ") }
}

extension CallEvidence {
  /// The devices of the lines that `name` finds one in.
  fileprivate func devices(_ name: (CallRecord.StoryLine.Event) -> String?) -> NamedDevices {
    let found = story.compactMap { line, event in name(event).map { (line, $0) } }
    return NamedDevices(list: found.map(\.1), lines: found.map { "\($0.0.milliseconds) ms: \($0.0.text)" })
  }
}
