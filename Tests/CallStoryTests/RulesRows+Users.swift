import AppProtocol
import CallEngine
import CallModel
import CallStory

extension RulesRow {
  static let users: [RulesRow] = [
    RulesRow("userUnknown", ended(.userUnknown), not: ended(.userUnreachable)),
    RulesRow("userNotThere", ended(.userUnreachable), not: ended(.userUnknown)),
    RulesRow("userAppsTooOld", ended(.capabilityRemote), not: ended(.userUnreachable)),
    RulesRow("userBusy", ended(.userBusy, ["busy on phone"]), not: ended(.userDeclined)),
    RulesRow("userDeclined", ended(.userDeclined, ["declined on phone"]), not: ended(.userBusy)),
    RulesRow("userRangOut", ended(.userNoAnswer, ["called on phone"]), not: ended(.userUnreachable)),
    RulesRow(
      "userCameLate", ended(.userNoAnswer, ["called on phone"], at: 40_000),
      not: ended(.userNoAnswer, ["called on phone"])),
    RulesRow(
      "answeredElsewhere", leads: false,
      ended(nil, ["called on phone", "called on tablet", "accepted on phone"]),
      not: ended(nil, ["called on phone", "accepted on phone"])),
  ]

  /// A call for a user that lasted 50 s, with lines of its story that were written then.
  private static func ended(
    _ code: CallFailureCode?, _ lines: [String] = [], at milliseconds: Int64 = 100
  ) -> Situation {
    .call { scene in
      let failure = code.map { CallFailure($0, leg: .app) }
      scene.end(failure?.endCause ?? .hungUp, failure)
      scene.sources.record?.call.kind = .user
      scene.sources.record?.call.destination = "bob"
      scene.sources.record?.summary.endedAt = Instant(milliseconds: 51_000)
      for line in lines {
        scene.sources.record?.story.append(CallRecord.StoryLine(milliseconds: milliseconds, text: line))
      }
    }
  }
}
