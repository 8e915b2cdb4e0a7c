import CallEngine
import CallModel
import NodeCore
import PeerKit

extension ExplainRow {
  static let course: [ExplainRow] = [
    ExplainRow(
      "rescued", "Kamailio, SIPp",
      trunk: .sipp(
        "explain-answers",
        keys: [
          "media": "m=audio [media_port] RTP/AVP 0 101", "host": "[media_ip]",
          "attribute": "rtpmap:101 telephone-event/8000",
        ], echoes: true)
    ) { stage in
      let id = try await stage.apps.placed(
        "rescued", to: ExplainStage.number, kind: "phone", session: "talk", ["sound": "talking"])
      try await stage.apps.told("rescued", "established")
      try await stage.figures(id, after: 1)
      try stage.apps.hangUp("rescued")
      try await stage.apps.told("rescued", "ended")
      return .call(id)
    },
    ExplainRow("ringTimeout", "SIPp", trunk: .sipp("gateway-unanswered", ["ring-timeout: 5s"])) {
      try await $0.ended("ringTimeout")
    },
    ExplainRow("cancelledByCaller", "SIPp", trunk: .sipp("gateway-unanswered")) { stage in
      let id = try await stage.placed("cancelledByCaller")
      try await stage.apps.told("cancelledByCaller", "ringing")
      try stage.apps.hangUp("cancelledByCaller")
      try await stage.apps.told("cancelledByCaller", "ended")
      return .call(id)
    },
    ExplainRow("cancelCrossed", "SIPp", trunk: .sipp("gateway-crosses-cancel")) { stage in
      let id = try await stage.placed("cancelCrossed")
      try await stage.apps.told("cancelCrossed", "ringing")
      try stage.apps.hangUp("cancelCrossed")
      try await stage.apps.told("cancelCrossed", "ended")
      return .call(id)
    },
    ExplainRow(
      "droppedAtOnce", "SIPp", trunk: .sipp("gateway-hangs-up", keys: ["linger": "900"], echoes: true)
    ) { stage in
      let id = try await stage.placed("droppedAtOnce", ["sound": "talking"])
      try await stage.apps.told("droppedAtOnce", "ended")
      return .call(id)
    },
    ExplainRow(
      "announcement", "SIPp", leads: false, trunk: .sipp("gateway-early-then-busy", keys: ["linger": "1500"])
    ) { try await $0.ended("announcement", ["sound": "talking"]) },

    ExplainRow("creditEnded", "SIPp") { stage in
      let id = try await stage.placed("creditEnded", at: echo, session: "short", ["sound": "talking"])
      try await stage.apps.told("creditEnded", "ended")
      return .call(id)
    },
    ExplainRow("hungUpByOperator", "SIPp") { stage in
      let id = try await stage.placed("hungUpByOperator", at: echo, ["sound": "talking"])
      try await stage.apps.told("hungUpByOperator", "established")
      _ = await stage.gateway.operations.hangUp(CallID(unchecked: id), by: "support", cause: HangUpCause.normal)
      try await stage.apps.told("hungUpByOperator", "ended")
      return .call(id)
    },
    ExplainRow("appLost", "aiortc, SIPp") { stage in
      let id = try await stage.placed("appLost", at: echo, session: "lost", ["sound": "talking"])
      try await stage.apps.told("appLost", "established")
      try stage.apps.peer.run("drop", ["session": "lost"])
      _ = try await Deadline(seconds: 50).first("end of the call", everyMilliseconds: 200) { () -> Bool? in
        await stage.gateway.operations.liveCall(CallID(unchecked: id)) == nil ? true : nil
      }
      return .call(id)
    },
    ExplainRow("appBack", "aiortc, SIPp", leads: false) { stage in
      let id = try await stage.placed("appBack", at: echo, session: "back", ["sound": "talking"])
      try await stage.apps.told("appBack", "established")
      _ = try await stage.apps.peer.ask("drop", ["session": "back"], for: "back:dropped")
      try await stage.figures(id, after: 1)
      _ = try await stage.apps.peer.ask(
        "connect", ["session": "back", "port": Int(stage.gateway.httpPort)], for: "back:connected")
      _ = try await stage.apps.peer.ask("resume", ["session": "back"], for: "back:resumed")
      try stage.apps.hangUp("appBack")
      try await stage.apps.told("appBack", "ended")
      return .call(id)
    },
    ExplainRow("appGone", "aiortc, SIPp") { stage in
      let id = try await stage.placed("appGone", at: echo, session: "gone", ["sound": "talking"])
      try await stage.apps.told("appGone", "established")
      try await stage.figures(id, after: 3)
      try stage.apps.peer.run("bye", ["session": "gone"])
      return .call(id)
    },
  ]
}
