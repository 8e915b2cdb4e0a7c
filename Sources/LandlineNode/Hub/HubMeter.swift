import AppProtocol
import CallEngine
import CallModel
import CoreMetrics
import LandlineWire
import LedgerCore
import NodeCore
package import SIPCore
import Synchronization

/// What the hub counts of itself, as ``LandlineMetric`` names it. Events are counted where they happen; what only others
/// know is asked for once a second.
package final class HubMeter: Sendable {
  private struct Totals {
    var sip = TransportStatistics()
    var agent = UserAgentCounters()
    var media: [Int: MediaLoopStatistics] = [:]
    var legs: [Int: Int] = [:]
    var overloadRefusals = 0
  }

  private let metrics: MetricsRegistry
  private let totals = Mutex(Totals())
  /// Found once: a refused call costs little more than these.
  private let appMessagesReceived, appMessagesSent: any CounterHandler
  private let authorised, answered, extended, ended: any TimerHandler
  private let lag: any TimerHandler
  private let requests: [(method: [UInt8], counter: any CounterHandler)]
  /// By the first digit of the status.
  private let responses: [any CounterHandler]
  private let others: any CounterHandler

  package init(_ metrics: MetricsRegistry) {
    self.metrics = metrics
    let label = LandlineMetric.appMessages.rawValue
    appMessagesReceived = metrics.makeCounter(label: label, dimensions: [("direction", "received")])
    appMessagesSent = metrics.makeCounter(label: label, dimensions: [("direction", "sent")])
    func step(_ name: String) -> any TimerHandler {
      metrics.makeTimer(label: LandlineMetric.ledgerOperation.rawValue, dimensions: [("step", name)])
    }
    (authorised, answered, extended, ended) = (step("authorise"), step("answer"), step("extend"), step("end"))
    lag = metrics.makeTimer(label: LandlineMetric.eventLoopLag.rawValue, dimensions: [])
    func received(_ kind: String) -> any CounterHandler {
      metrics.makeCounter(
        label: LandlineMetric.sipMessages.rawValue, dimensions: [("direction", "received"), ("kind", kind)])
    }
    requests = HubMeter.methods.map { (Array($0.utf8), received($0)) }
    responses = (1...6).map { received("\($0)xx") }
    others = received("other")
  }

  // MARK: Events

  func started(_ call: CallSnapshot) {
    metrics.add(.callsStarted, 1, [("environment", call.environment), ("kind", call.kind.rawValue)])
  }

  func ended(_ record: CallRecord) {
    metrics.add(
      .callsEnded, 1,
      [("environment", record.call.environment), ("code", record.summary.failure?.code.rawValue ?? "none")])
  }

  func reached(_ rule: VelocityRule, environment: String) {
    metrics.add(
      .velocityReached, 1,
      [
        ("environment", environment), ("of", rule.party.rawValue), ("to", rule.destinations.rawValue),
        ("then", rule.consequence.rawValue),
      ])
  }

  func appMessage(isIncoming: Bool) {
    (isIncoming ? appMessagesReceived : appMessagesSent).increment(by: 1)
  }

  func ledger(_ step: LedgerStep, microseconds: Int64, _ result: Result<LedgerReceipt, LedgerUnavailable>) {
    let timer =
      switch step {
      case .authorise: authorised
      case .answer: answered
      case .extend: extended
      case .end: ended
      }
    timer.recordNanoseconds(microseconds * 1000)
    if case .failure(let problem) = result { metrics.add(.ledgerFailures, 1, [("cause", problem.cause.rawValue)]) }
  }

  func late(microseconds: Int64) { lag.recordNanoseconds(max(0, microseconds) * 1000) }

  /// A SIP message as it came: a method that everybody knows, or the class of a status.
  func sip(_ message: [UInt8]) {
    let word = message.prefix(12).prefix { $0 != UInt8(ascii: " ") }
    let counter: (any CounterHandler)?
    if word.elementsEqual("SIP/2.0".utf8) {
      let digit = message.count > 8 ? Int(message[8]) - Int(UInt8(ascii: "1")) : -1
      counter = responses.indices.contains(digit) ? responses[digit] : nil
    } else {
      counter = requests.first { $0.method.elementsEqual(word) }?.counter
    }
    (counter ?? others).increment(by: 1)
  }

  private static let methods = [
    "INVITE", "ACK", "BYE", "CANCEL", "OPTIONS", "REGISTER", "PRACK", "UPDATE", "INFO", "REFER", "NOTIFY",
  ]

  // MARK: Once a second

  func calls(_ calls: [CallSnapshot], environments: [String]) {
    for environment in environments {
      metrics.set(
        .liveCalls, Double(calls.count { $0.environment == environment }), [("environment", environment)])
    }
  }

  func admission(_ gate: AdmissionGate) {
    let before = totals.withLock { totals in
      defer { totals.overloadRefusals = gate.refusals }
      return totals.overloadRefusals
    }
    metrics.set(.admissionOpen, gate.isOpen ? 1 : 0)
    add(.overloadRefusals, UInt64(gate.refusals), UInt64(before), [])
  }

  func recordings(_ environment: String, _ usage: (bytes: Int64, running: Int)) {
    metrics.set(.recordings, Double(usage.running), [("environment", environment)])
    metrics.set(.recordingBytes, Double(usage.bytes), [("environment", environment)])
  }

  func recordingEnded(_ environment: String, _ state: Recording.State) {
    metrics.add(.recordingsEnded, 1, [("environment", environment), ("state", state.rawValue)])
  }

  func trunks(_ trunks: [TrunkReport]) {
    for trunk in trunks {
      metrics.set(.trunkUp, trunk.standing == "up" ? 1 : 0, [("trunk", trunk.name)])
      metrics.set(.trunkLiveCalls, Double(trunk.liveCalls), [("trunk", trunk.name)])
    }
  }

  func sip(_ now: TransportStatistics) {
    let before = totals.withLock { totals in
      defer { totals.sip = now }
      return totals.sip
    }
    add(.sipMessages, now.messagesSent, before.messagesSent, [("direction", "sent"), ("kind", "any")])
    add(.sipDropped, now.datagramsDropped, before.datagramsDropped, [("reason", "queue")])
    add(.sipDropped, now.junkDatagrams, before.junkDatagrams, [("reason", "junk")])
    add(.sipDropped, now.framingRefusals, before.framingRefusals, [("reason", "framing")])
  }

  /// What the agent refused: the rules are few, whatever is sent.
  package func sip(_ now: UserAgentCounters) {
    let before = totals.withLock { totals in
      defer { totals.agent = now }
      return totals.agent
    }
    func others(_ counters: UserAgentCounters, _ rule: GateRule) -> UInt64 {
      let all = counters.refusedByRule[rule, default: 0]
      return all - min(all, counters.refusedResponsesByRule[rule, default: 0])
    }
    for rule in now.refusedByRule.keys {
      add(.sipRefused, others(now, rule), others(before, rule), [("kind", "other"), ("rule", rule.rawValue)])
      add(
        .sipRefused, now.refusedResponsesByRule[rule, default: 0], before.refusedResponsesByRule[rule, default: 0],
        [("kind", "response"), ("rule", rule.rawValue)])
    }
  }

  func media(_ loop: Int, _ now: MediaLoopStatistics, _ holdings: MediaLoopHoldings) {
    let (before, legs) = totals.withLock { totals in
      defer { totals.media[loop] = now }
      totals.legs[loop] = holdings.bridges
      return (totals.media[loop] ?? MediaLoopStatistics(), totals.legs.values.reduce(0, +))
    }
    metrics.set(.mediaLegs, Double(legs))
    add(.mediaPackets, now.receivedDatagrams, before.receivedDatagrams, [("direction", "received")])
    add(.mediaPackets, now.sentDatagrams, before.sentDatagrams, [("direction", "sent")])
    add(.mediaDropped, now.unknownSources, before.unknownSources, [("reason", "source")])
    add(.mediaDropped, now.unknownUserFragments, before.unknownUserFragments, [("reason", "user-fragment")])
    add(.mediaDropped, now.oversized, before.oversized, [("reason", "length")])
    add(.mediaDropped, now.staleDatagrams, before.staleDatagrams, [("reason", "stale")])
    add(.mediaDropped, now.outboxOverflows, before.outboxOverflows, [("reason", "overflow")])
    add(.roomFramesLeftOut, now.roomFramesLeftOut, before.roomFramesLeftOut, [])
  }

  private func add(_ metric: LandlineMetric, _ now: UInt64, _ before: UInt64, _ labels: [(String, String)]) {
    guard now > before else { return }
    metrics.add(metric, Int64(clamping: now - before), labels)
  }
}
