import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import SIPCore
import Testing

/// What holds for every call, whatever happened to it.
struct Invariants {
  private struct Life {
    var placed = 0
    var caller: SessionID?
    /// How often each session was told that it is called, and of the end.
    var invited: [SessionID: Int] = [:]
    var ended: [SessionID: Int] = [:]
    var told: [String] = []
    var prepared = 0
    var closed = 0
    var records = 0
    var originated = 0
    var arrived = 0
    var lastChange: CallState?
  }

  private var lives: [CallID: Life] = [:]
  private var steps: [CallID: [String: Int]] = [:]
  private var hangUps: [CallHandle: Int] = [:]
  private var replies: [String: Int] = [:]
  private(set) var problems: [String] = []

  /// Reads what a bench has seen. `isOver`: everything has come to its end.
  init(_ bench: Bench, isOver: Bool) {
    for effect in bench.effects { observe(effect) }
    for (call, life) in lives {
      check(call, life.placed <= 1, "placed \(life.placed) times")
      for (session, count) in life.invited { check(call, count == 1, "\(session) invited \(count) times") }
      for (session, count) in life.ended { check(call, count == 1, "\(session) heard \(count) ends") }
      check(call, life.records <= 1, "\(life.records) records")
      check(call, life.closed <= 1, "media closed \(life.closed) times")
      let told = life.placed + life.invited.count
      check(call, life.ended.count <= told, "ended but never placed")
      guard isOver else { continue }
      check(call, life.closed == min(1, life.prepared), "media prepared \(life.prepared) times, closed \(life.closed)")
      check(call, life.ended.count == told, "told to \(told), ended for \(life.ended.count)")
      check(call, life.records == life.placed + life.originated + life.arrived, "\(life.records) records")
      if life.records > 0 {
        check(call, life.lastChange == .ended, "last seen as \(String(describing: life.lastChange))")
      }
    }
    for (call, steps) in steps {
      check(call, steps["authorise"] ?? 0 == 1, "authorised \(steps["authorise"] ?? 0) times")
      check(call, steps["end"] ?? 0 <= 1, "the hold ended \(steps["end"] ?? 0) times")
      if isOver, bench.plain.granted.contains(call) { check(call, steps["end"] ?? 0 == 1, "the hold never ended") }
    }
    for (handle, count) in hangUps where count > 1 { problems.append("\(handle) hung up \(count) times") }
    for (reply, count) in replies where count > 1 { problems.append("request \(reply) has \(count) replies") }
    guard isOver else { return }
    if bench.plain.openHolds > 0 { problems.append("\(bench.plain.openHolds) holds are open") }
    if !bench.engine.isIdle { problems.append("the engine is not idle") }
    if !bench.engine.liveCalls.isEmpty { problems.append("calls are live") }
    if let next = bench.engine.nextDeadline { problems.append("a deadline is left: \(next)") }
    for report in bench.engine.trunkReports where report.liveCalls > 0 {
      problems.append("\(report.liveCalls) places taken at \(report.name)")
    }
  }

  private mutating func check(_ call: CallID, _ holds: Bool, _ problem: @autoclosure () -> String) {
    if !holds { problems.append("\(call): \(problem())") }
  }

  private mutating func observe(_ effect: EngineEffect) {
    switch effect {
    case .app(let session, let event): observe(event, session)
    case .originated(_, .success(let call)): lives[call, default: Life()].originated += 1
    case .originated(_, .failure), .ordered: break
    case .arrived(let call, _, _): lives[call.id, default: Life()].arrived += 1
    case .findPayer, .findUser, .findCertificates, .recordRoom: break
    case .prepare(let call, _): lives[call, default: Life()].prepared += 1
    case .media(let call, let order):
      if case .close = order {
        lives[call, default: Life()].closed += 1
      } else {
        check(call, lives[call]?.closed ?? 0 == 0, "\(Bench.word(order)) after the media were closed")
      }
    case .ledger(_, let step, let operation):
      switch step {
      case .authorise: steps[operation.call, default: [:]]["authorise", default: 0] += 1
      case .end: steps[operation.call, default: [:]]["end", default: 0] += 1
      case .answer, .extend:
        check(operation.call, steps[operation.call]?["end"] ?? 0 == 0, "\(step) after the end")
      }
    case .sip(.hangUp(let handle, _)): hangUps[handle, default: 0] += 1
    case .sip, .log, .statistics, .pinged, .lock, .velocity: break
    case .changed(let snapshot):
      let former = lives[snapshot.id]?.lastChange
      check(
        snapshot.id, former.map { $0 <= snapshot.state } ?? true,
        "\(snapshot.state) after \(String(describing: former))")
      check(snapshot.id, former != .ended, "seen after its end")
      lives[snapshot.id, default: Life()].lastChange = snapshot.state
    case .record(let record): lives[record.call.id, default: Life()].records += 1
    }
  }

  private mutating func observe(_ event: AppEvent, _ session: SessionID) {
    func reply(_ number: RequestNumber) -> String { "\(session.number)/\(number.value)" }
    switch event {
    case .placed(let number, let call, _):
      replies[reply(number), default: 0] += 1
      lives[call, default: Life()].placed += 1
      lives[call]?.caller = session
    case .incoming(let call, _):
      check(call, lives[call]?.ended[session] == nil, "invited after its end")
      lives[call, default: Life()].invited[session, default: 0] += 1
    case .done(let number), .refused(let number, _), .answered(let number, _, _):
      replies[reply(number), default: 0] += 1
    case .progressing(let call, _), .ringing(let call, _), .earlyMedia(let call), .accepted(let call, _),
      .established(let call), .price(let call, _), .creditEnds(let call, _), .digit(let call, _, _), .held(let call, _),
      .transfer(let call, _), .offered(let call, _), .quality(let call, _), .warning(let call, _, _),
      .members(let call, _), .speakers(let call, _), .recording(let call, _):
      let isTold = lives[call].map { $0.placed == 1 && $0.caller == session || $0.invited[session] == 1 } ?? false
      check(call, isTold, "\(Bench.word(event)) before it was placed")
      check(call, lives[call]?.ended[session] ?? 0 == 0, "\(Bench.word(event)) after its end")
    case .ended(let call, _): lives[call, default: Life()].ended[session, default: 0] += 1
    }
  }
}
