import CallModel
import PeerKit

extension ExplainRow {
  /// Kamailio answers the calls to a row's address with these statements, and the call ends by itself.
  private static func says(
    _ rule: String, leads: Bool = true, _ statements: String, _ lines: [String] = [],
    values: [String: any Sendable] = [:]
  ) -> ExplainRow {
    ExplainRow(rule, "Kamailio", leads: leads, trunk: .kamailio(statements, lines)) { stage in
      try await stage.ended(rule, values)
    }
  }

  private static func reply(_ status: Int, _ phrase: String, _ fields: String...) -> String {
    fields.map { "append_to_reply(\"\($0.replacing("\"", with: "\\\""))\\r\\n\"); " }.joined()
      + "sl_send_reply(\"\(status)\", \"\(phrase)\");"
  }

  /// Rings for a second first.
  private static let ring = "sl_send_reply(\"180\", \"Ringing\"); sleep(\"1\"); "

  private static let challenge = """
    if (!pv_proxy_authenticate("\(ExplainKamailio.realm)", "\(ExplainKamailio.password)", "0")) {
          proxy_challenge("\(ExplainKamailio.realm)", "1");
          exit;
        }
    """

  private static func account(_ password: String, _ more: String...) -> [String] {
    ["account:", "  username: alice", "  password: \"\(password)\""] + more.map { "  \($0)" }
  }

  static let kamailio: [ExplainRow] = [
    says("wrongPassword", challenge + reply(404, "Not Found"), account("wrong")),
    says("noCredentials", challenge + reply(404, "Not Found")),
    says(
      "challengeNotForUs", challenge + reply(404, "Not Found"),
      account(ExplainKamailio.password, "realm: elsewhere.example")),
    says(
      "fromUser", challenge + "if ($fU != \"alice\") { " + reply(403, "From user not allowed") + " exit; }",
      account(ExplainKamailio.password)),
    says("addressNotAllowed", reply(403, "Forbidden")),
    says("carrierCredit", reply(402, "Payment Required")),
    says("callerNumberNotAllowed", reply(403, "Caller ID not allowed")),
    says("identityWanted", reply(428, "Use Identity Header")),
    says(
      "anonymousRefused", "if ($fU == \"anonymous\") { " + reply(433, "Anonymity Disallowed") + " exit; }",
      values: ["anonymous": true]),
    says("unwanted", reply(607, "Unwanted")),

    says("busy", reply(486, "Busy Here", "Reason: Q.850;cause=17;text=\"User busy\"")),
    says("busyIsCongestion", reply(486, "Busy Here", "Reason: Q.850;cause=34;text=\"No circuit available\"")),
    says("busyEverywhere", reply(600, "Busy Everywhere")),
    says("declined", ring + reply(603, "Decline")),
    says("notReachable", reply(480, "Temporarily Unavailable", "Reason: Q.850;cause=20;text=\"Subscriber absent\"")),
    says(
      "rangOut", ring + reply(480, "Temporarily Unavailable", "Reason: Q.850;cause=19;text=\"No answer\"")),
    says("redirected", reply(302, "Moved Temporarily", "Contact: <sip:+46700000099@127.0.1.9>")),
    says("loop", reply(482, "Loop Detected")),
    says("requestRefused", reply(400, "Bad Request", "Warning: 399 carrier \"Missing field\"")),
    says("peerFailed", reply(500, "Server Internal Error", "Reason: Q.850;cause=127")),
    says("failureClass", reply(499, "Odd")),

    says(
      "numberFormat", "if ($rU =~ \"^\\+\") { " + reply(404, "Number format not supported") + " exit; }"),
    says("unallocatedNumber", reply(404, "Not Found", "Reason: Q.850;cause=1;text=\"Unallocated number\"")),
    says("incompleteNumber", reply(484, "Address Incomplete", "Reason: Q.850;cause=28")),
    says("numberChanged", reply(410, "Gone", "Reason: Q.850;cause=22;text=\"Number changed\"")),
    says("destinationBarred", reply(403, "Forbidden", "Reason: Q.850;cause=57")),
    says("noRouteBehindTrunk", reply(404, "Not Found", "Reason: Q.850;cause=3;text=\"No route to destination\"")),

    says("noCommonCodec", reply(488, "Not Acceptable Here", "Warning: 305 carrier \"Incompatible media format\"")),
    says(
      "encryptionWanted",
      "if (search_body(\"RTP/AVP\")) { "
        + reply(488, "Not Acceptable Here", "Warning: 399 carrier \"SRTP required\"") + " exit; }"),
    says(
      "encryptionRefused", "if (search_body(\"RTP/SAVP\")) { " + reply(488, "Not Acceptable Here") + " exit; }",
      ["srtp: required"]),
    says("extensionWanted", reply(421, "Extension Required", "Require: 100rel")),
    says("sessionInterval", reply(422, "Session Interval Too Small", "Min-SE: 7200")),

    ExplainRow(
      "retryLater", "Kamailio", trunk: .kamailio(reply(503, "Service Unavailable", "Retry-After: 30"))
    ) { try await $0.ended("retryLater") },
    ExplainRow(
      "trunkResting", "Kamailio", trunk: .kamailio(reply(503, "Service Unavailable", "Retry-After: 30"))
    ) { stage in
      _ = try await stage.apps.placed("before", to: try stage.target("trunkResting"), kind: "sip", session: "main")
      try await stage.apps.told("before", "ended")
      return try await stage.ended("trunkResting")
    },
    says("congestion", reply(503, "Service Unavailable", "Reason: Q.850;cause=34")),
    ExplainRow(
      "trunkFull", "Kamailio",
      trunk: .kamailio(
        "sl_send_reply(\"180\", \"Ringing\"); sleep(\"5\"); " + reply(486, "Busy Here"), ["max-calls: 1"])
    ) { stage in
      _ = try await stage.apps.placed("first", to: try stage.target("trunkFull"), kind: "sip", session: "main")
      try await stage.apps.told("first", "ringing")
      let outcome = try await stage.ended("trunkFull")
      try await stage.apps.told("first", "ended")
      return outcome
    },
    says("trunkDrained", reply(486, "Busy Here"), ["drain: true"]),
    says("trunkSilent", "exit;"),
    // The response counts for nothing, so the call waits as long as for a silent trunk; its app has a way for sound.
    ExplainRow("responseUnreadable", "Kamailio", trunk: .kamailio(reply(404, "Not Found", "Max-Forwards: 300"))) {
      try await $0.ended("responseUnreadable", ["sound": "silent"])
    },
    says("requestsRepeated", leads: false, "usleep(\"900000\"); " + reply(486, "Busy Here")),
    says(
      "slowTrunk", leads: false,
      "sl_send_reply(\"100\", \"Trying\"); sleep(\"5\"); " + ring + reply(486, "Busy Here")),
    ExplainRow("connectionRefused", "none", trunk: .init(peer: .nobody(transport: "tcp"), lines: [])) {
      try await $0.ended("connectionRefused")
    },
    ExplainRow("certificateUntrusted", "Kamailio", trunk: .kamailio(reply(486, "Busy"), transport: "tls")) {
      try await $0.ended("certificateUntrusted")
    },
    ExplainRow("certificateName", "Kamailio", trunk: .kamailio(reply(486, "Busy"), transport: "tls")) {
      try await $0.ended("certificateName")
    },
    ExplainRow("certificateExpired", "Kamailio", trunk: .kamailio(reply(486, "Busy"), transport: "tls")) {
      try await $0.ended("certificateExpired")
    },
    ExplainRow("emergency", "Kamailio", leads: false, trunk: .kamailio(reply(486, "Busy Here"))) { stage in
      let id = try await stage.apps.placed("emergency", to: "112", kind: "phone", session: "main")
      try await stage.apps.told("emergency", "ended")
      return .call(id)
    },
    ExplainRow(
      "allTrunksFailed", "Kamailio",
      trunk: .kamailio(reply(503, "Service Unavailable", "Reason: Q.850;cause=127"))
    ) { stage in
      let id = try await stage.apps.placed(
        "allTrunksFailed", to: ExplainStage.number, kind: "phone", session: "trial")
      try await stage.apps.told("allTrunksFailed", "ended")
      return .call(id, environment: "sandbox")
    },
  ]
}
