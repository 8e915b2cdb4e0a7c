import AppProtocol
import CallEngine
import CallModel
import CallStory
import SIPCore

extension RulesRow {
  /// A call that the trunk refuses at once.
  static func refused(
    _ status: Int, _ phrase: String, _ fields: [String] = [], rings: Bool = false, facts: RulesFacts = .plain,
    media: String = RulesScene.plainMedia, invite: [String] = []
  ) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog("carrier", facts.value)
      scene.invite(invite, media: media)
      scene.response(100, "Trying")
      if rings {
        scene.response(180, "Ringing")
        scene.pass(4_000)
      }
      scene.refuse(status, phrase, fields)
    }
  }

  enum RulesFacts: Sendable {
    case plain, account, secret
    var value: CallStorySources.TrunkFacts {
      switch self {
      case .plain: RulesScene.facts()
      case .account: RulesScene.facts(username: "anna")
      case .secret: RulesScene.facts(encryption: "required")
      }
    }
  }

  private static func challenged(
    _ facts: RulesFacts, isAnswered: Bool, _ status: Int, _ phrase: String, _ fields: [String] = []
  ) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog("carrier", facts.value)
      scene.invite()
      if isAnswered { scene.challenge() }
      scene.refuse(status, phrase, fields)
    }
  }

  private static let challenge = "Proxy-Authenticate: Digest realm=\"example.test\", nonce=\"n\""

  private static func unreadable(_ warning: String) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog()
      scene.invite(repeated: 3)
      scene.end(.error, CallFailure(.protocolBroken, warning: warning, trunk: "carrier", leg: .trunk))
    }
  }

  static let signalling: [RulesRow] = [
    RulesRow(
      "wrongPassword", challenged(.account, isAnswered: true, 407, "Proxy Authentication Required", [challenge]),
      not: challenged(.account, isAnswered: false, 407, "Proxy Authentication Required", [challenge])),
    RulesRow(
      "noCredentials", challenged(.plain, isAnswered: false, 407, "Proxy Authentication Required", [challenge]),
      not: challenged(.account, isAnswered: false, 407, "Proxy Authentication Required", [challenge])),
    RulesRow(
      "challengeNotForUs", challenged(.account, isAnswered: false, 407, "Proxy Authentication Required", [challenge]),
      not: challenged(.plain, isAnswered: false, 407, "Proxy Authentication Required", [challenge])),
    RulesRow("addressNotAllowed", refused(403, "Forbidden"), not: refused(403, "Caller ID not allowed")),
    RulesRow("carrierCredit", refused(402, "Payment Required"), not: refused(403, "Forbidden")),

    RulesRow(
      "fromUser", challenged(.account, isAnswered: true, 403, "From user not allowed"),
      not: challenged(.plain, isAnswered: true, 403, "From user not allowed")),
    RulesRow("callerNumberNotAllowed", refused(403, "Caller ID not allowed"), not: refused(403, "Forbidden")),
    RulesRow("identityWanted", refused(428, "Use Identity Header"), not: refused(403, "Forbidden")),
    RulesRow(
      "anonymousRefused", refused(433, "Anonymity Disallowed", invite: ["Privacy: id"]),
      not: refused(403, "Forbidden", invite: ["Privacy: id"])),
    RulesRow(
      "callerNotOfTrunk",
      .call { scene in
        scene.end(.error, CallFailure(.identity, trunk: "carrier", leg: .trunk, invalidValue: owned))
      }, not: .refused(CallFailure(.policy, leg: .app, invalidValue: owned))),
    RulesRow(
      "callerNotOfApplication", .refused(CallFailure(.policy, leg: .app, invalidValue: owned)),
      not: .refused(CallFailure(.number, leg: .app, invalidValue: digit))),
    RulesRow("unwanted", refused(607, "Unwanted"), not: refused(603, "Decline")),

    RulesRow(
      "busy", refused(486, "Busy Here", ["Reason: Q.850;cause=17"]),
      not: refused(486, "Busy Here", ["Reason: Q.850;cause=34"])),
    RulesRow(
      "busyIsCongestion", refused(486, "Busy Here", ["Reason: Q.850;cause=34"]),
      not: refused(486, "Busy Here", ["Reason: Q.850;cause=17"])),
    RulesRow("busyEverywhere", refused(600, "Busy Everywhere"), not: refused(486, "Busy Here")),
    RulesRow("declined", refused(603, "Decline", rings: true), not: refused(607, "Unwanted")),
    RulesRow(
      "notReachable", refused(480, "Temporarily Unavailable", ["Reason: Q.850;cause=20"]),
      not: refused(480, "Temporarily Unavailable", rings: true)),
    RulesRow(
      "rangOut", refused(480, "Temporarily Unavailable", ["Reason: Q.850;cause=19"], rings: true),
      not: refused(480, "Temporarily Unavailable", ["Reason: Q.850;cause=20"])),
    RulesRow(
      "redirected", refused(302, "Moved Temporarily", ["Contact: <sip:bob@example.com>"]),
      not: refused(404, "Not Found")),
    RulesRow("loop", refused(482, "Loop Detected"), not: refused(480, "Temporarily Unavailable")),
    RulesRow(
      "requestRefused", refused(400, "Bad Request", ["Warning: 399 peer \"no Route here\""]), not: refused(404, "No")),
    RulesRow("peerFailed", refused(500, "Server Internal Error"), not: refused(404, "Not Found")),
    RulesRow("failureClass", refused(499, "Odd"), not: { $0.talk() }),

    RulesRow(
      "retryLater", refused(503, "Service Unavailable", ["Retry-After: 30"]),
      not: refused(503, "Service Unavailable")),
    RulesRow("congestion", refused(503, "Service Unavailable"), not: refused(486, "Busy Here")),
    RulesRow(
      "rescued",
      .call { scene in
        scene.dialog()
        scene.invite()
        scene.talk()
        scene.sources.record?.attempts = [attempt("first", 503), attempt("second", nil)]
      },
      not: .call { scene in
        scene.dialog()
        scene.invite()
        scene.talk()
        scene.sources.record?.attempts = [attempt("first", nil)]
      }),
    RulesRow(
      "allTrunksFailed",
      .call { scene in
        scene.end(
          .error,
          CallFailure(
            .congestion, sipStatus: 503, trunk: "second", attempts: [attempt("first", 503), attempt("second", 503)],
            leg: .trunk))
      },
      not: .call { scene in
        scene.end(.error, CallFailure(.congestion, sipStatus: 503, attempts: [attempt("first", 503)], leg: .trunk))
      }),
    RulesRow("trunkResting", noRoute("carrier: asked for no calls for another 9 s"), not: noRoute("carrier: draining")),
    RulesRow("trunkFull", noRoute("carrier: cap of 1 calls reached"), not: noRoute("carrier: draining")),
    RulesRow("trunkDrained", noRoute("carrier: draining"), not: noRoute("carrier: cap of 1 calls reached")),

    RulesRow(
      "trunkSilent", unanswered(repeated: 3), not: unanswered(repeated: 0)),
    RulesRow(
      "responseUnreadable", unreadable(UnreadableResponse(status: 404, rule: .repeatedHeader).warning),
      not: unreadable("399 something else")),
    RulesRow(
      "connectionRefused",
      unanswered(repeated: 0, transport: "tcp", problem: "transport.connectRefused: tcp 203.0.113.5:5060: refused"),
      not: unanswered(repeated: 0)),
    RulesRow(
      "connectionRefused",
      unanswered(repeated: 2, transport: "udp", problem: "transport.connectRefused: udp 203.0.113.5:5060: closed"),
      not: unanswered(repeated: 2)),
    RulesRow(
      "connectionRefused",
      unanswered(repeated: 1, transport: "udp", problem: "transport.unreachable: udp 203.0.113.5:5060: no route"),
      not: unanswered(repeated: 1)),
    RulesRow(
      "certificateUntrusted", unanswered(repeated: 0, transport: "tls", problem: "tls.certificateUntrusted: tls x: no"),
      not: unanswered(repeated: 0, transport: "tls", problem: "tls.certificateName: tls x: no")),
    RulesRow(
      "certificateName", unanswered(repeated: 0, transport: "tls", problem: "tls.certificateName: tls x: no"),
      not: unanswered(repeated: 0, transport: "tls", problem: "tls.certificateExpired: tls x: no")),
    RulesRow(
      "certificateExpired", unanswered(repeated: 0, transport: "tls", problem: "tls.certificateExpired: tls x: no"),
      not: unanswered(repeated: 0, transport: "tls", problem: "tls.certificateUntrusted: tls x: no")),
    RulesRow(
      "requestsRepeated", leads: false,
      .call { scene in
        scene.dialog()
        scene.invite(repeated: 1)
        scene.talk()
      },
      not: .call { scene in
        scene.dialog()
        scene.invite()
        scene.talk()
      }),
    RulesRow(
      "slowTrunk", leads: false,
      .call { scene in
        scene.dialog()
        scene.invite()
        scene.response(100, "Trying")
        scene.pass(5_000)
        scene.talk()
      },
      not: .call { scene in
        scene.dialog()
        scene.invite()
        scene.response(100, "Trying")
        scene.response(180, "Ringing")
        scene.pass(5_000)
        scene.talk()
      }),
  ]

  static let owned = InvalidValue(
    kind: "caller number", rule: "caller.owned", offset: nil, problem: "…67 is not among the numbers", accepted: "one")
  static let digit = InvalidValue(
    kind: "phone number", rule: "e164.digit", offset: 3, problem: "'a' is not a digit 0 to 9", accepted: "+ and digits")

  private static func attempt(_ trunk: String, _ status: Int?) -> CallAttempt {
    CallAttempt(
      trunk: trunk, startedAt: Instant(milliseconds: 1_000), endedAt: Instant(milliseconds: 1_050), sipStatus: status,
      code: status == nil ? nil : .congestion)
  }

  private static func noRoute(_ phrase: String) -> @Sendable (inout RulesScene) -> Void {
    { $0.end(.error, CallFailure(.noRoute, phrase: phrase, leg: .trunk)) }
  }

  private static func unanswered(
    repeated: Int, transport: String = "udp", problem: String? = nil
  ) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog("carrier", RulesScene.facts(uri: "sip:203.0.113.5;transport=\(transport)"))
      scene.invite(repeated: repeated, transport: transport)
      if let problem { scene.note(.story, nil, problem) }
      scene.end(.error, CallFailure(.transport, trunk: "carrier", leg: .trunk))
    }
  }
}
