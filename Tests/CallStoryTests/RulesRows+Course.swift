import AppProtocol
import CallEngine
import CallModel
import CallStory

extension RulesRow {
  static let course: [RulesRow] = [
    RulesRow(
      "appLost",
      talked {
        $0.fail(CallFailure(.networkLost, leg: .app))
        $0.story("the app's connection is lost")
      },
      not: talked { $0.story("the app's connection is lost") }),
    RulesRow(
      "appBack", leads: false,
      talked {
        $0.story("the app's connection is lost")
        $0.story("the app is back")
      }, not: talked { $0.story("the app's connection is lost") }),
    RulesRow("appGone", talked { $0.story("the app's session is over") }, not: talked { _ in }),
    RulesRow(
      "hungUpByOperator", talked { $0.sources.record?.flags = [.endedByOperator] }, not: talked { _ in }),
    RulesRow(
      "badHeader", .refused(CallFailure(.header, leg: .app, invalidValue: prefix)),
      not: .refused(CallFailure(.number, leg: .app, invalidValue: digit))),
    RulesRow(
      "notCarried", .refused(CallFailure(.capabilityRemote, phrase: "video is not carried", leg: .app)),
      not: .refused(CallFailure(.number, leg: .app, invalidValue: digit))),
    RulesRow(
      "tooManyCalls",
      .refused(CallFailure(.limit, refusal: .concurrencyCap, phrase: "calls of one session", leg: .app)),
      not: .refused(CallFailure(.dailyCap))),

    RulesRow(
      "creditEnded",
      talked {
        $0.fail(CallFailure(.insufficientCredit))
        $0.story("no more credit: insufficientCredit")
      },
      not: .call { $0.end(.error, CallFailure(.insufficientCredit)) }),
    RulesRow(
      "noCredit", .refused(CallFailure(.insufficientCredit)), not: .refused(CallFailure(.noRate))),
    RulesRow("noPrice", .refused(CallFailure(.noRate)), not: .refused(CallFailure(.insufficientCredit))),
    RulesRow(
      "destinationDenied",
      .refused(CallFailure(.destinationBlocked, phrase: "premium-rate numbers that begin +44909 are blocked")),
      not: .refused(CallFailure(.noRate))),
    RulesRow("accountLocked", .refused(CallFailure(.accountLocked)), not: .refused(CallFailure(.accountClosed))),
    RulesRow("accountClosed", .refused(CallFailure(.accountClosed)), not: .refused(CallFailure(.accountLocked))),
    RulesRow("accountMissing", .refused(CallFailure(.unknownAccount)), not: .refused(CallFailure(.accountClosed))),
    RulesRow("capReached", .refused(CallFailure(.rateTooHigh)), not: .refused(CallFailure(.concurrencyCap))),

    RulesRow(
      "ringTimeout",
      ringing {
        $0.request("CANCEL", isSent: true)
        $0.end(.noAnswer, CallFailure(.noAnswer, leg: .trunk))
      },
      not: ringing {
        $0.request("CANCEL", isSent: true)
        $0.end(.canceled)
      }),
    RulesRow(
      "cancelledByCaller",
      ringing {
        $0.request("CANCEL", isSent: true, ["Reason: Q.850;cause=16"])
        $0.end(.canceled)
        $0.story("the caller gives up")
      },
      not: ringing {
        $0.request("CANCEL", isSent: true)
        $0.end(.noAnswer, CallFailure(.noAnswer, leg: .trunk))
      }),
    RulesRow(
      "cancelCrossed",
      ringing {
        $0.request("CANCEL", isSent: true)
        $0.response(200, "OK", media: RulesScene.plainMedia)
        $0.end(.canceled)
        $0.story("the caller gives up")
        $0.sources.record?.flags = [.cancelRace]
      },
      not: ringing { $0.end(.canceled) }),
    RulesRow(
      "droppedAtOnce", talked(milliseconds: 900, endedByFar: true) { _ in },
      not: talked(milliseconds: 9_000, endedByFar: true) { _ in }),
    RulesRow(
      "announcement", leads: false,
      .call { scene in
        scene.dialog()
        scene.invite()
        scene.response(183, "Session Progress", media: RulesScene.plainMedia)
        scene.pass(3_000)
        scene.refuse(486, "Busy Here")
      },
      not: .call { scene in
        scene.dialog()
        scene.invite()
        scene.response(183, "Session Progress")
        scene.refuse(486, "Busy Here")
      }),
    RulesRow("fine", talked { _ in }, not: talked { $0.fail(CallFailure(.mediaLost, leg: .trunk)) }),
  ]

  private static let prefix = InvalidValue(
    kind: "header", rule: "header.prefix", offset: 0, problem: "the name does not begin with x-", accepted: "x-name")

  private static func talked(
    milliseconds: Int64 = 8_000, endedByFar: Bool = false, _ more: @escaping @Sendable (inout RulesScene) -> Void
  ) -> Situation {
    .call { scene in
      scene.dialog()
      scene.invite()
      scene.talk(milliseconds: milliseconds)
      if endedByFar { scene.request("BYE", isSent: false, ["Reason: Q.850;cause=16"]) }
      scene.sources.trace = scene.trace
      more(&scene)
    }
  }

  private static func ringing(_ more: @escaping @Sendable (inout RulesScene) -> Void) -> Situation {
    .call { scene in
      scene.dialog()
      scene.invite()
      scene.response(180, "Ringing")
      more(&scene)
      scene.sources.trace = scene.trace
    }
  }
}
