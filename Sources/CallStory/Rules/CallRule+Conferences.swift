import AppProtocol
import CallEngine
import CallModel

extension CallRule {
  /// What became of somebody in a conference.
  static let conferences: [CallRule] = [
    CallRule("participantLoss", "All in the conference heard gaps in what this participant said") { call in
      guard let room = conference(call), let loss = call.losses.first(where: { !$0.isSent && $0.isHeard })
      else { return nil }
      return Verdict(
        76, loss.side == .near && call.attempts.isEmpty ? .app : .trunk,
        "\(described(loss)) of what the participant sent never reached the mixer, so everybody else in conference \(room) "
          + "missed it. What the others said is not touched by it.",
        evidence: packets(call),
        fixes: [
          "have the participant use a wire, a nearer access point or another line", "landline conference show \(room)",
        ])
    },
    CallRule("participantMuted", "An operator muted the participant") { call in
      guard let room = conference(call), let last = call.story.last(where: { isMuting($0.event) != nil }),
        isMuting(last.event) == true
      else { return nil }
      return Verdict(
        80, .gateway,
        "From \(last.line.milliseconds / 1000) s of the call on nobody in conference \(room) heard the participant: an "
          + "operator muted it, which its app cannot change.",
        evidence: [last.line.text],
        fixes: ["landline conference mute \(room) NUMBER --off   # NUMBER as landline conference show \(room) tells it"]
      )
    },
    CallRule("conferenceAlone", "Nobody else was in the conference") { call in
      guard let room = conference(call), let seconds = call.aloneSeconds else { return nil }
      return Verdict(
        96, .nobody, "Nobody else was in conference \(room) for \(seconds) s, and the gateway ended the call.",
        evidence: call.told { if case .aloneInConference = $0 { true } else { false } },
        fixes: ["compare the conference's id: letters count as they are written, and each application has its own"])
    },
  ]

  /// The id of the conference that a call was in.
  static func conference(_ call: CallEvidence) -> String? {
    for (_, event) in call.story { if case .inConference(let id) = event { return id } }
    return nil
  }

  /// Whether an operator mutes by it, or takes that back; `nil` for anything else.
  private static func isMuting(_ event: CallRecord.StoryLine.Event) -> Bool? {
    switch event {
    case .mutedByOperator: true
    case .unmutedByOperator: false
    default: nil
    }
  }
}

extension CallEvidence {
  fileprivate var aloneSeconds: Int64? {
    for (_, event) in story { if case .aloneInConference(let seconds) = event { return seconds } }
    return nil
  }
}
