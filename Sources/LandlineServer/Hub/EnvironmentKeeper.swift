import CallEngine
import CallModel
import LedgerCore
import LedgerSpool
import Logging
import Synchronization

/// Keeps one environment alive: the node's heartbeat, the calls of dead nodes, what has become of the accounts of live
/// calls, and what may be forgotten.
final class EnvironmentKeeper: Sendable {
  static let beatMilliseconds: Int64 = 1000
  /// How often it is looked what has become of accounts with live calls: a lock has to be felt within a second.
  static let lookMilliseconds: Int64 = 500
  /// Every so many beats, the calls of nodes that are dead are settled.
  static let recoveryBeats = 5
  /// Every so many beats, what repeats no longer need is deleted.
  static let pruneBeats = 3600

  private struct State {
    var epoch: Int64 = 0
    var problem: String?
    var task: Task<Void, Never>?
  }

  private let environment: HubEnvironment
  private let log: Logger
  private let state = Mutex(State())

  init(_ environment: HubEnvironment, log: Logger) {
    self.environment = environment
    self.log = log
  }

  /// Why the environment cannot take calls; `nil` when it can.
  var problem: String? { state.withLock { $0.problem } }

  /// Starts a life of the node: what an earlier one left is settled.
  func register() async throws -> Int64 {
    // In the name of the earlier life: once the new one has begun, the ledger takes nothing from it.
    _ = try? await environment.spool.replay(into: environment.stores.ledger)
    let now = NodeClock.wallClock()
    let node = try await environment.stores.ledger.registerNode(environment.node, at: now)
    state.withLock { $0.epoch = node.epoch }
    await recover(now)
    return node.epoch
  }

  func start(_ hub: CallHub) {
    let task = Task { [weak hub] in
      var looks: Int64 = 0
      while !Task.isCancelled {
        do { try await Task.sleep(for: .milliseconds(Self.lookMilliseconds)) } catch { return }
        guard let hub else { return }
        looks += 1
        let (beats, rest) = (looks * Self.lookMilliseconds).quotientAndRemainder(dividingBy: Self.beatMilliseconds)
        if rest == 0 { await beat(hub, Int(beats)) }
        await look(hub)
      }
    }
    state.withLock { $0.task = task }
  }

  func stop() async {
    let task = state.withLock { $0.task }
    task?.cancel()
    await task?.value
  }

  private func beat(_ hub: CallHub, _ beats: Int) async {
    let now = NodeClock.wallClock()
    let ledger = environment.stores.ledger
    do {
      let epoch = state.withLock { $0.epoch }
      if try await ledger.beat(environment.node, epoch: epoch, at: now, uptime: NodeClock.now().milliseconds) {
        state.withLock { $0.problem = nil }
      } else {
        // Another life of this node, or a peer that found it dead, has its calls: they are no longer ours to bill.
        log.critical("the node was declared dead", metadata: ["environment": "\(environment.name)"])
        state.withLock { $0.problem = "environment \(environment.name): the node was declared dead" }
        await hub.fence(environment.name)
      }
      hub.pokeLedger(environment.name)
      if beats % Self.recoveryBeats == 0 { await recover(now) }
      if beats % Self.pruneBeats == 0 { await prune(now) }
    } catch {
      log.error("the ledger is away", metadata: ["environment": "\(environment.name)", "problem": "\(error)"])
      state.withLock { $0.problem = "environment \(environment.name): \(error)" }
    }
  }

  private func look(_ hub: CallHub) async {
    let names = await hub.payingAccounts(of: environment.name)
    guard !names.isEmpty else { return }
    do {
      let rows = try await environment.stores.ledger.read { reading in
        try names.compactMap { try reading.customer(named: $0.text) }
      }
      await hub.changed(rows, in: environment.name)
    } catch {
      // The next beat says so.
      log.debug("accounts cannot be read", metadata: ["environment": "\(environment.name)", "problem": "\(error)"])
    }
  }

  private func recover(_ now: Instant) async {
    do {
      for recovery in try await environment.stores.ledger.recover(nil, at: now)
      where !recovery.settled.isEmpty || !recovery.voided.isEmpty {
        log.warning(
          "calls of an earlier life were settled",
          metadata: [
            "node": "\(recovery.node)", "settled": "\(recovery.settled.count)", "voided": "\(recovery.voided.count)",
          ])
      }
    } catch {
      log.error("recovery has to wait", metadata: ["environment": "\(environment.name)", "problem": "\(error)"])
    }
  }

  private func prune(_ now: Instant) async {
    let hour: Int64 = 3_600_000
    do {
      _ = try await environment.stores.ledger.prune(
        before: now.advanced(byMilliseconds: -LedgerRetention.callOperationHours * hour))
      // Whatever is kept for ever: what has ended beside the records goes with this as well.
      let oldest = environment.recordMilliseconds.map { now.advanced(byMilliseconds: -$0) } ?? .distantPast
      _ = try await environment.stores.records.prune(before: oldest)
      if let statistics = environment.statisticsMilliseconds {
        _ = try await environment.stores.records.dropStatistics(before: now.advanced(byMilliseconds: -statistics))
      }
      // Where none are kept any longer, those of before go as well.
      _ = try await environment.stores.traces?.dropTraces(
        before: now.advanced(byMilliseconds: -(environment.traceMilliseconds ?? 0)))
    } catch {
      log.warning("pruning has to wait", metadata: ["environment": "\(environment.name)", "problem": "\(error)"])
    }
  }
}
