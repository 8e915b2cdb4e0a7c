import CallModel
import PeerKit

extension ExplainRow {
  /// The gateway refuses the request of an app of others.
  private static func refused(
    _ rule: String, _ target: String, kind: String = "phone", session: String = "main",
    _ values: [String: any Sendable] = [:]
  ) -> ExplainRow {
    ExplainRow(rule, "aiortc") { stage in
      .refused(try await stage.apps.refused(rule, to: target, kind: kind, session: session, values))
    }
  }

  static let refusedAtTheDoor: [ExplainRow] = [
    refused("badNumber", "+46abc"),
    refused("badAddress", String(repeating: "c", count: 65), kind: "conference"),
    refused("hostNotAllowed", "bob@127.9.9.9", kind: "sip"),
    refused("badHeader", ExplainStage.number, ["headers": ["Route": "<sip:evil.example>"]]),
    refused("notCarried", ExplainStage.number, ["video": true]),
    refused("brokenOffer", ExplainStage.number, ["offer": "v=0\r\n"]),
    refused("callerNotOfApplication", ExplainStage.number, ["caller": "+46109999999"]),
    refused("noCredit", ExplainStage.number, session: "poor"),
    refused("noPrice", GatewayRate.unpriced),
    refused("destinationDenied", ExplainStage.number, session: "homely"),
    refused("accountLocked", ExplainStage.number, session: "locked"),
    refused("accountClosed", ExplainStage.number, session: "closed"),
    refused("accountMissing", ExplainStage.number, session: "nobody"),
    refused("capReached", ExplainStage.number, session: "capped"),
    ExplainRow("tooManyCalls", "SIPp", trunk: .sipp("gateway-unanswered")) { stage in
      _ = try await stage.apps.placed("one", to: try stage.target("tooManyCalls"), kind: "sip", session: "single")
      let failure = try await stage.apps.refused(
        "tooManyCalls", to: try stage.target("tooManyCalls"), kind: "sip", session: "single")
      try stage.apps.hangUp("one")
      try await stage.apps.told("one", "ended")
      return .refused(failure)
    },
    ExplainRow("userUnknown", "aiortc") { stage in
      let id = try await stage.apps.placed("userUnknown", to: "nobody-of-that-name", kind: "user", session: "main")
      try await stage.apps.told("userUnknown", "ended")
      return .call(id)
    },
    ExplainRow(
      "callerNotOfTrunk", "aiortc",
      trunk: .init(peer: .nobody(transport: "udp"), lines: ["caller:", "  numbers: [\"+46812345678\"]"])
    ) { try await $0.ended("callerNotOfTrunk") },
    ExplainRow("testNumber", "aiortc", leads: false) { stage in
      let id = try await stage.apps.placed("testNumber", to: "+4600000000030", kind: "phone", session: "main")
      try await stage.apps.told("testNumber", "ended")
      return .call(id)
    },
  ]
}
