import AppProtocol
import CallEngine
import CallModel
import SDPCore
import SIPCore
import Testing

/// Any three things that can happen to a call that a trunk sent us, in any order and with any pause between them.
@Suite("A call that comes in over a trunk, whatever crosses")
struct ArrivalMatrixTests {
  enum Happening: String, CaseIterable, CustomTestStringConvertible {
    case alert, accept, acceptOther, decline, declineDevice, deviceLost, deviceComes, appHangsUp
    case callerCancels, callerHangsUp, forwardRings, forwardAnswers, forwardBusy, forwardHangsUp
    case operatorHangsUp, accountLocked, numberRemoved

    var testDescription: String { rawValue }
  }

  private static let phone = SessionID(2)
  private static let tablet = SessionID(3)
  /// Milliseconds between two happenings: in one turn, soon, past the user's ring, past the phone's.
  private static let pauses: [Int64] = [0, 5, 21_000, 46_000]

  private final class Run {
    let bench: Bench
    let handle: CallHandle
    let call: CallID?
    private var isOver = false

    init(answersFirst: Bool) throws {
      bench = try Bench()
      bench.devices["bob"] = [try Bench.device(phone, "phone"), try Bench.device(tablet, "tablet")]
      var row = InboundNumber(
        try E164Number("+46850000536"), application: "key", account: Scene.account,
        targets: [
          .init(.user(try UserID("bob")), ringSeconds: 20),
          .init(.phone(try E164Number("+46701234567")), ringSeconds: 25),
        ])
      row.answersFirst = answersFirst
      bench.payer?.inboundPlan = try Scene.plan(
        "prefix,name,currency,rate,unit,fee,initial,increment,grace\n46,Sweden,EUR,0.012,60,0,1,1,0\n")
      bench.feed(.numbers(environment: "production", [row]))
      handle = try bench.arrive()
      call = bench.arrived
    }

    /// The caller's dialog ends by itself, at most once, as the agent tells it.
    private func ended(isUp: Bool) {
      let answers = bench.answers(handle)
      let isAnswered = answers.contains("200")
      guard !isOver, isUp == isAnswered, answers.last != "BYE", !answers.contains(where: { $0.contains("/") }) else {
        return
      }
      isOver = true
      bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: isUp))))
    }

    func happen(_ happening: Happening) throws {
      let accept = Bench.Word.accept(offer: Scene.appOffer())
      switch happening {
      case .alert: bench.say(call, .alert(offer: Scene.appOffer()), on: phone)
      case .accept: bench.say(call, accept, on: phone)
      case .acceptOther: bench.say(call, accept, on: tablet)
      case .decline: bench.say(call, .decline(.declined), on: phone)
      case .declineDevice: bench.say(call, .decline(.busy, .device), on: phone)
      case .deviceLost: bench.feed(.sessionEnded(tablet))
      case .deviceComes: bench.feed(.deviceListens(try Bench.device(SessionID(4), "desk")))
      case .appHangsUp: if let call { try bench.askCalled(.hangUp(call)) }
      case .callerCancels: ended(isUp: false)
      case .callerHangsUp: ended(isUp: true)
      case .forwardRings: if bench.invites.count == 1 { try bench.progress(180) }
      case .forwardAnswers: if bench.invites.count == 1 { try bench.answer() }
      case .forwardBusy: if bench.invites.count == 1 { bench.fail(486) }
      case .forwardHangsUp: if bench.invites.count == 1 { bench.bye() }
      case .operatorHangsUp: if let call { bench.feed(.hangUp(call, by: "anna")) }
      case .accountLocked: bench.feed(.accountLocked(Scene.account, environment: "production"))
      case .numberRemoved: bench.feed(.numbers(environment: "production", []))
      }
    }

    /// What does not hold at the end.
    func problems() -> [String] {
      // A CANCEL of ours has its answer.
      if bench.invites.count == 1 { bench.hungUp() }
      bench.finish()
      var problems = Invariants(bench, isOver: true).problems
      let answers = bench.answers(handle)
      let finals = answers.filter { $0 != "180" && $0 != "BYE" }
      if finals.count > 1 { problems.append("final answers: \(finals)") }
      if finals.isEmpty, !isOver { problems.append("the caller has no final answer: \(answers)") }
      if answers.firstIndex(of: "BYE") != nil, finals != ["200"] { problems.append("BYE without 200: \(answers)") }
      if bench.records.count != 1 { problems.append("\(bench.records.count) records") }
      if let record = bench.records.first, !finals.contains("200"), record.summary.costMicro != 0 {
        problems.append("nobody answered, and it costs \(String(describing: record.summary.costMicro))")
      }
      if answers.contains("200"), !isOver, answers.last != "BYE" {
        problems.append("the caller is left up: \(answers)")
      }
      return problems
    }
  }

  @Test("every ordered pair, at any distance", arguments: Happening.allCases)
  func pairs(_ first: Happening) throws {
    for answersFirst in [false, true] {
      for second in Happening.allCases {
        for before in ArrivalMatrixTests.pauses {
          for between in ArrivalMatrixTests.pauses {
            let run = try Run(answersFirst: answersFirst)
            run.bench.pass(milliseconds: before)
            try run.happen(first)
            run.bench.pass(milliseconds: between)
            try run.happen(second)
            run.bench.pass(milliseconds: 100)
            let problems = run.problems()
            let ladder = run.bench.ladder().joined(separator: "\n")
            #expect(
              problems.isEmpty,
              "\(first) after \(before) ms, \(second) after \(between) ms, answers first: \(answersFirst): \(problems)\n\(ladder)"
            )
          }
        }
      }
    }
  }
}
