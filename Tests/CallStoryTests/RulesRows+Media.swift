import AppProtocol
import CallEngine
import CallModel
import CallStory

extension RulesRow {
  static let numbers: [RulesRow] = [
    RulesRow(
      "numberFormat", refused(404, "Number format not supported, use national format"), not: refused(404, "Not Found")),
    RulesRow(
      "unallocatedNumber", refused(404, "Not Found", ["Reason: Q.850;cause=1"]),
      not: refused(404, "Not Found", ["Reason: Q.850;cause=3"])),
    RulesRow(
      "incompleteNumber", refused(484, "Address Incomplete", ["Reason: Q.850;cause=28"]), not: refused(404, "Not Found")
    ),
    RulesRow(
      "numberChanged", refused(410, "Gone", ["Reason: Q.850;cause=22"]), not: refused(404, "Not Found")),
    RulesRow(
      "destinationBarred", refused(403, "Forbidden", ["Reason: Q.850;cause=57"]), not: refused(403, "Forbidden")),
    RulesRow(
      "noRouteBehindTrunk", refused(404, "Not Found", ["Reason: Q.850;cause=3"]),
      not: refused(404, "Not Found", ["Reason: Q.850;cause=1"])),
    RulesRow(
      "badNumber", .refused(CallFailure(.number, leg: .app, invalidValue: digit)),
      not: .refused(CallFailure(.policy, leg: .app, invalidValue: owned))),
    RulesRow(
      "badAddress", .refused(CallFailure(.address, leg: .app, invalidValue: invalid("conference.long"))),
      not: .refused(CallFailure(.number, leg: .app, invalidValue: digit))),
    RulesRow(
      "hostNotAllowed", .refused(CallFailure(.policy, leg: .app, invalidValue: invalid("sip.hostNotAllowed"))),
      not: .refused(CallFailure(.policy, refusal: .destinationBlocked, leg: .app))),
    RulesRow(
      "emergency", leads: false,
      .call { scene in
        scene.number = "112"
        scene.dialog()
        scene.invite()
        scene.talk()
      }, not: .call { $0.talk() }),
    RulesRow(
      "testNumber", leads: false,
      .call { scene in
        scene.number = "+46000000000"
        scene.talk()
      }, not: .call { $0.talk() }),
  ]

  private static func invalid(_ rule: String) -> InvalidValue {
    InvalidValue(kind: "value", rule: rule, offset: nil, problem: "it is wrong", accepted: "a right one")
  }

  static let media: [RulesRow] = [
    RulesRow(
      "noCommonCodec", refused(488, "Not Acceptable Here", ["Warning: 305 peer \"Incompatible media format\""]),
      not: refused(488, "SRTP required")),
    RulesRow(
      "encryptionWanted", refused(488, "Not Acceptable Here", ["Warning: 302 peer \"SRTP required\""]),
      not: refused(488, "Not Acceptable Here", media: RulesScene.secretMedia)),
    RulesRow(
      "encryptionRefused", refused(488, "Not Acceptable Here", facts: .secret, media: RulesScene.secretMedia),
      not: refused(488, "Not Acceptable Here")),
    RulesRow(
      "answeredOtherCodec", answered(with: "m=audio 4000 RTP/AVP 18\r\n", failing: true),
      not: answered(with: "m=audio 4000 RTP/AVP 8\r\n", failing: true)),
    RulesRow(
      "answerKeyNotOffered", answered(with: RulesScene.secretMedia, failing: true),
      not: answered(with: RulesScene.plainMedia, failing: true)),
    RulesRow(
      "answerRefusesSound", answered(with: "m=audio 0 RTP/AVP 8\r\n", failing: true),
      not: answered(with: "m=audio 4000 RTP/AVP 18\r\n", failing: true)),
    RulesRow(
      "brokenOffer", .refused(CallFailure(.media, sipStatus: 400, warning: "line 1: no version", leg: .app)),
      not: .call(refused(488, "Not Acceptable Here"))),
    RulesRow(
      "extensionWanted", refused(421, "Extension Required", ["Require: 100rel"]), not: refused(400, "Bad Request")),
    RulesRow(
      "sessionInterval",
      refused(422, "Session Interval Too Small", ["Min-SE: 7200"], invite: ["Session-Expires: 1800"]),
      not: refused(421, "Extension Required")),
    RulesRow(
      "brokenAnswer",
      .call { scene in
        scene.dialog()
        scene.invite()
        scene.response(200, "OK", media: RulesScene.plainMedia)
        scene.end(.error, CallFailure(.protocolBroken, sipStatus: 200, leg: .trunk))
      },
      not: .call { scene in
        scene.dialog()
        scene.invite()
        scene.talk()
      }),

    RulesRow("noSoundAtAll", heard(near: 0, far: 0), not: heard(near: 50, far: 0)),
    RulesRow("noSoundFromTrunk", heard(near: 50, far: 0), not: heard(near: 50, far: 0, isHeld: true)),
    RulesRow("noSoundFromApp", heard(near: 0, far: 50), not: heard(near: 50, far: 50)),
    RulesRow(
      "soundDied",
      .call { scene in
        heard(near: 50, far: 50)(&scene)
        scene.fail(CallFailure(.mediaLost, leg: .trunk))
        scene.story("the far side is dead")
      }, not: .call(heard(near: 50, far: 50))),
    RulesRow(
      "wayLost",
      .call { scene in
        heard(near: 50, far: 50)(&scene)
        scene.fail(CallFailure(.mediaLost, leg: .app))
        scene.story("nothing at all comes from the near side")
        scene.story("the near side is dead")
      },
      not: .call { scene in
        heard(near: 50, far: 50)(&scene)
        scene.fail(CallFailure(.mediaLost, leg: .trunk))
        scene.story("nothing at all comes from the near side")
        scene.story("the near side's way is back")
        scene.story("the far side is dead")
      }),
    RulesRow(
      "soundNeverCame",
      .call { scene in
        heard(near: 0, far: 50)(&scene)
        scene.fail(CallFailure(.mediaLost, leg: .app))
        scene.sources.record?.flags = [.noSoundFromCaller]
      },
      not: .call { scene in
        heard(near: 50, far: 50)(&scene)
        scene.fail(CallFailure(.mediaLost, leg: .app))
      }),
    RulesRow("iceFailed", mediaFailed("noConnectivity"), not: mediaFailed("fingerprint")),
    RulesRow("fingerprintMismatch", mediaFailed("fingerprint"), not: mediaFailed("noConnectivity")),
    RulesRow("handshakeFailed", mediaFailed("handshakeTimeout"), not: mediaFailed("noConnectivity")),
    RulesRow(
      "privateAddress",
      .call { scene in
        answered(with: "m=audio 4000 RTP/AVP 8\r\nc=IN IP4 192.168.7.9\r\n")(&scene)
        scene.seconds(near: 50, far: 0)
      }, not: .call(answered(with: "m=audio 4000 RTP/AVP 8\r\n"))),
    RulesRow("jitter", heard(near: 50, far: 50, jitter: 60), not: heard(near: 50, far: 50, jitter: 10)),
    RulesRow("transcoded", leads: false, plans("opus", "PCMA"), not: plans("PCMA", "PCMA")),
    RulesRow(
      "keysNotCarried",
      .call { scene in
        answered(with: "m=audio 4000 RTP/AVP 8\r\n")(&scene)
        scene.sources.trace?.lines.append(CallTrace.Line(at: 0, isFromApp: true, type: "dtmf", text: "1 keys"))
      }, not: .call(answered(with: RulesScene.plainMedia))),
    RulesRow(
      "heldByOther", leads: false,
      .call { scene in
        answered(with: RulesScene.plainMedia)(&scene)
        scene.story("held by the other side")
      }, not: .call(answered(with: RulesScene.plainMedia))),
  ]

  static func answered(with media: String, failing: Bool = false) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog()
      scene.invite()
      scene.talk(media: media)
      guard failing else { return }
      scene.sources.record?.summary.answeredAt = nil
      scene.sources.record?.summary.establishedAt = nil
      scene.fail(CallFailure(.media, warning: "no codec in common", trunk: "carrier", leg: .trunk))
    }
  }

  private static func heard(
    near: Int64, far: Int64, loss: Double = 0, jitter: Double = 1, isHeld: Bool = false
  ) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog()
      scene.invite()
      scene.talk()
      scene.plan(.far, "PCMA", direction: isHeld ? "sendonly" : "sendrecv")
      scene.seconds(near: near, far: far, loss: loss, jitter: jitter)
    }
  }

  private static func mediaFailed(_ text: String) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog()
      scene.invite()
      scene.talk()
      scene.sources.record?.summary.establishedAt = nil
      scene.note(.mediaFailed, .near, text)
      scene.fail(CallFailure(.networkMedia, phrase: text, leg: .app))
    }
  }

  private static func plans(_ near: String, _ far: String) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      scene.dialog()
      scene.invite()
      scene.talk()
      scene.plan(.near, near)
      scene.plan(.far, far)
    }
  }
}
