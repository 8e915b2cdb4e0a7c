import AppProtocol
package import CallEngine
package import CallModel
import LedgerCore
import RoutingCore
package import SIPCore

// MARK: - Calls: what the engine wants

extension NodeCore {
  func perform(_ effect: EngineEffect) {
    switch effect {
    case .app(let session, let event):
      if case .incoming(let call, _) = event {
        trace(.invited(session, call, device: identities[session]?.device ?? ""))
      }
      trace(.told(session, event))
      later(.door(.event(session, event)))
    case .originated(let id, let result): effects.append(.originated(id, result))
    case .ordered(let id, let refusal): effects.append(.ordered(id, refusal))
    case .arrived(let call, let handle, let sipCallID): began(call, handle, sipCallID: sipCallID)
    case .findPayer(let handle, let environment, let account): findPayer(handle, environment, account)
    case .findCertificates(let handle, let addresses): findCertificates(handle, addresses)
    case .findUser(let call, let application, let user): findUser(call, application, user)
    case .prepare(let call, let needs):
      // The first that is asked for a call, but for one that a trunk sent us.
      if configuration.tracesCalls, let snapshot = engine.anyCall(call), snapshot.from == nil {
        effects.append(.trace(.began(snapshot)))
      }
      effects.append(.prepare(call, needs))
    case .media(let call, let order):
      switch order {
      case .plan(let leg, let plan): trace(.plan(call, leg, plan))
      case .join(let leg, let side): trace(.joined(call, leg, side: side))
      default: break
      }
      effects.append(.media(call, order))
    case .recordRoom(let room, let order): effects.append(.recordRoom(room, order))
    case .ledger(let environment, let step, let operation): bill(environment, step, operation)
    case .lock(let account, let environment, let reason): lock(account, environment, reason)
    case .velocity(let rule, let environment): effects.append(.velocity(rule, environment: environment))
    case .sip(let command):
      if case .placeCall(let handle, let plan) = command { dialled(handle, plan) }
      if case .reject(let handle, _) = command { freshInvites[handle] = nil }
      perform(command)
    case .changed(let snapshot): effects.append(.changed(snapshot))
    case .record(var record):
      trunkStatistics.add(record, at: time.clock)
      if !settings.keepsClientStatistics { record.clientStatistics = [:] }
      effects.append(.record(record))
      if configuration.tracesCalls {
        timers.set(
          .keepTrace(record.call.id), time.now.advanced(byMilliseconds: NodeCore.traceLingerMilliseconds))
      }
    case .statistics(let call, let environment, let figures):
      if settings.keepsClientStatistics {
        effects.append(.statistics(call, environment: environment, figures))
      }
    case .pinged(let trunk, let microseconds):
      trunkStatistics.pinged(trunk, microseconds: microseconds, at: time.clock)
    case .log(let entry):
      let level: NodeLogEntry.Level =
        switch entry.level {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
      let facts = entry.call.map { [NodeLogEntry.Fact("call", "\($0)")] } ?? []
      effects.append(.log(NodeLogEntry(level, entry.message, facts)))
    }
  }

  // MARK: What is asked

  /// Oldest first.
  package var liveCalls: [CallSnapshot] { engine.liveCalls }
  package func liveCall(_ id: CallID) -> CallSnapshot? { engine.call(id) }
  /// Conferences that somebody is in.
  package var rooms: [RoomReport] { engine.rooms }
  package func room(_ key: RoomKey) -> RoomReport? { engine.room(key) }
  /// Sessions of apps, those included that wait to be resumed.
  package var sessionCount: Int { door.sessionCount }
  /// No call is live, none waits for its receipts.
  package var isIdle: Bool { engine.isIdle }
  /// How many calls may be prepared at a time, and how many were refused because no more might.
  package var admission: AdmissionGate { engine.admission }
  /// What the SIP agent has counted.
  package var sipCounters: UserAgentCounters { agent.counters }
  /// SIP transactions that live, those included that only absorb copies.
  package var transactionCount: Int { agent.transactionCount }
  /// Whether an answer to what cannot be read may go to a host.
  package func knows(_ host: SIPHost) -> Bool { agent.knows(host) }
  /// What the SIP agent holds, for tests of what a finished call leaves behind.
  package var holdings: [String: Int] { agent.holdings }
  /// Operations that wait on disk for their ledger.
  package var spooledOperations: Int { ledgers.values.reduce(0) { $0 + $1.line.spooled } }
  /// No ledger has anything to do for a call any more.
  package var isBilled: Bool { ledgers.values.allSatisfy { $0.line.isIdle } }

  /// Why the node cannot take calls; empty when it can.
  package var problems: [String] {
    var problems: [String] = []
    if isDraining { problems.append("the node drains") }
    if spooledOperations > 0 { problems.append("\(spooledOperations) operations wait for their ledger") }
    for environment in configuration.environments {
      if let problem = ledgers[environment.name]?.keeper.problem {
        problems.append("environment \(environment.name): \(problem)")
      }
    }
    return problems
  }

  /// How the engine's trunks do, with the configuration's facts beside.
  package var trunkReports: [TrunkReport] {
    engine.trunkReports.map { report in
      let trunk = settings.engine.trunks.first { $0.trunk.name == report.name }
      return TrunkReport(
        name: report.name, uri: trunk.map { TrunkAddress.text($0.uri) } ?? "",
        environments: settings.engine.environments.filter { $0.trunks.contains(report.name) }.map(\.name),
        standing: report.standing, explanation: report.explanation, liveCalls: report.liveCalls,
        maximumCalls: trunk?.trunk.limits.concurrentCalls,
        figures: trunkStatistics.figures(of: report.name, at: time.clock),
        optionsMilliseconds: report.roundTripMicroseconds.map { Double($0) / 1000 })
    }
  }
}
