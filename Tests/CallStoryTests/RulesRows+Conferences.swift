import AppProtocol
import CallEngine
import CallModel
import CallStory

extension RulesRow {
  static let conferences: [RulesRow] = [
    RulesRow(
      "participantLoss", inConference { $0.fromApp = .losing(5) }, not: inConference { $0.fromApp = .losing(1) }),
    RulesRow(
      "participantMuted", inConference(["muted by operator:anna"]),
      not: inConference(["muted by operator:anna", "no longer muted by operator:anna"])),
    RulesRow("conferenceAlone", inConference(["alone in the conference for 900 s"]), not: inConference()),
  ]

  private static func inConference(
    _ lines: [String] = [], _ change: @escaping @Sendable (inout SceneSound) -> Void = { _ in }
  ) -> Situation {
    .call { scene in
      var sound = SceneSound()
      change(&sound)
      scene.talk(sound)
      scene.sources.record?.call.kind = .conference
      scene.sources.record?.call.destination = "weekly"
      for line in ["in conference weekly"] + lines {
        scene.sources.record?.story.append(CallRecord.StoryLine(milliseconds: 100, text: line))
      }
    }
  }
}
