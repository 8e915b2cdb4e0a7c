import CallEngine
import CallModel
import LedgerCore
package import LedgerSpool
package import NodeCore
import Synchronization

/// Carries out what a node's core wants of one ledger, away from its loop. The core asks for one thing of each kind at a
/// time.
package final class LedgerErrands: Sendable {
  private struct State {
    /// Errands that are under way.
    var count = 0
    /// Whoever waits until none is.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let stores: EnvironmentStores
  private let spool: LedgerSpool
  private let state = Mutex(State())

  package init(_ stores: EnvironmentStores, spool: LedgerSpool) {
    self.stores = stores
    self.spool = spool
  }

  /// - Parameter answer: called once, on any thread.
  package func carryOut(_ errand: BillingErrand, answer: @escaping @Sendable (BillingAnswer) -> Void) {
    begin()
    switch errand {
    // On the way of every call: no task stands between the loop and the ledger's writer.
    case .perform(let operations):
      stores.ledger.submit(operations) { results in
        answer(.performed(results))
        self.end()
      }
    case .spool(let operations):
      Task {
        answer(await self.spool(operations))
        end()
      }
    case .replaySpool:
      Task {
        answer(await self.replaySpool())
        end()
      }
    }
  }

  /// - Parameter answer: called once, on any thread.
  package func carryOut(_ errand: KeepingErrand, answer: @escaping @Sendable (KeepingAnswer) -> Void) {
    begin()
    Task {
      answer(await self.result(of: errand))
      end()
    }
  }

  /// Waits for what is under way.
  package func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.count > 0 { state.waiting.append(continuation) }
        return state.count == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  private func begin() { state.withLock { $0.count += 1 } }

  private func end() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.count -= 1
      guard state.count == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Calls

  private func spool(_ operations: [LedgerOperation]) async -> BillingAnswer {
    var problem: String?
    for operation in operations {
      do { try await spool.append(operation) } catch { problem = "\(operation.key): \(error)" }
    }
    return .spooled(waiting: await spool.count, problem: problem)
  }

  private func replaySpool() async -> BillingAnswer {
    do {
      let replay = try await spool.replay(into: stores.ledger)
      return .replayed(
        SpoolReplay(
          answered: replay.answered, refused: replay.refused.map { .init(call: $0.call, refusal: $0.refusal) },
          waiting: await spool.count))
    } catch {
      return .replayed(SpoolReplay(waiting: await spool.count, problem: "\(error)"))
    }
  }

  // MARK: The node

  private func result(of errand: KeepingErrand) async -> KeepingAnswer {
    let ledger = stores.ledger
    switch errand {
    case .register(let node, let at):
      do { return .registered(.success(try await ledger.registerNode(node, at: at).epoch)) } catch {
        return .registered(.failure(error))
      }
    case .beat(let node, let epoch, let at, let uptime):
      do { return .beaten(.success(try await ledger.beat(node, epoch: epoch, at: at, uptime: uptime))) } catch {
        return .beaten(.failure(error))
      }
    case .recover(let at):
      do { return .recovered(.success(try await ledger.recover(nil, at: at))) } catch {
        return .recovered(.failure(error))
      }
    case .readAccounts(let names):
      do {
        return .accounts(
          .success(
            try await ledger.read { reading in try names.compactMap { try reading.customer(named: $0.text) } }))
      } catch {
        return .accounts(
          .failure(error as? LedgerUnavailable ?? LedgerUnavailable(.inputOutput, "\(error)")))
      }
    case .prune(let due): return .pruned(problem: await prune(due))
    }
  }

  private func prune(_ due: Retention.Due) async -> String? {
    do {
      _ = try await stores.ledger.prune(before: due.callOperations)
      _ = try await stores.records.prune(before: due.records)
      if let statistics = due.statistics { _ = try await stores.records.dropStatistics(before: statistics) }
      _ = try await stores.traces?.dropTraces(before: due.traces)
      return nil
    } catch {
      return "\(error)"
    }
  }
}
