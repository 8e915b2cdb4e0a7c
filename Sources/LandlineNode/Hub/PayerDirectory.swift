package import CallEngine
package import CallModel
import Foundation
public import LedgerCore
import LedgerSQLite
import RoutingCore
import Synchronization

/// Reads accounts and their prices as calls need them, from one ledger file. Whether an account may pay is the ledger's to
/// say, at the hold, and never this directory's.
public final class PayerDirectory: Sendable {
  private struct State {
    var plans: [String: (fingerprint: String, plan: RatePlan, loadedAt: Instant)] = [:]
    var denyRanges: (rows: [StoredDenyRange], ranges: DenyRanges) = ([], .none)
    /// What is being read; whoever asks meanwhile waits for the same answer.
    var reads: [AccountName: Task<Payer?, any Error>] = [:]
    var isClosed = false
  }

  private let environment: String
  /// The ledger's file.
  let path: String
  private let ledger: any LedgerStore
  private let state = Mutex(State())
  /// Reads the rates: a thread of its own, since a deck of a million prefixes takes seconds.
  private let queue = DispatchQueue(label: "landline.rates")
  /// Kept open: to open a file costs more than all that is read of it while nothing has changed.
  private let rates = Mutex<SQLiteRateStore?>(nil)

  /// - Parameters:
  ///   - ledgerPath: the file that `ledger` stands for; rates are read from it, and it is opened when first needed.
  ///   - ledger: asked for accounts.
  public init(environment: String, ledgerPath: String, ledger: any LedgerStore) {
    self.environment = environment
    path = ledgerPath
    self.ledger = ledger
  }

  /// - Returns: `nil` when the ledger has no such customer.
  /// - Throws: ``LedgerUnavailable``, or what the rates threw.
  package func payer(_ account: AccountName) async throws -> Payer? {
    let read = state.withLock { state -> Task<Payer?, any Error> in
      if let read = state.reads[account] { return read }
      let read = Task {
        defer { self.state.withLock { $0.reads[account] = nil } }
        return try await self.read(account)
      }
      state.reads[account] = read
      return read
    }
    return try await read.value
  }

  private func read(_ account: AccountName) async throws -> Payer? {
    // Not when it was asked for: with many calls waiting, what is new would be old when it comes.
    let now = NodeClock.wallClock()
    guard let row = try await ledger.read({ try $0.customer(named: account.text) }) else { return nil }
    let prices = try await prices(of: row.plan, at: now)
    var payer = Payer(
      environment: environment, account: account, currency: row.currency, plan: prices.plan,
      denyRanges: prices.denyRanges)
    payer.countries = row.caps.countries
    payer.inboundPlan = try await inboundPlan(beside: row.plan, at: now)
    return payer
  }

  /// The plan `NAME.inbound` beside the account's plan `NAME`, or else the plan `inbound`; `nil` where neither is there.
  private func inboundPlan(beside plan: String, at now: Instant) async throws -> RatePlan? {
    if !plan.isEmpty, let own = try await prices(of: "\(plan).inbound", at: now).plan { return own }
    return try await prices(of: "inbound", at: now).plan
  }

  /// Gives the file back, when what is being read is read; nothing is read afterwards.
  package func close() async {
    state.withLock { $0.isClosed = true }
    await withCheckedContinuation { continuation in
      queue.async {
        self.rates.withLock { rates in
          rates?.close()
          rates = nil
        }
        continuation.resume()
      }
    }
  }

  private func prices(of plan: String, at now: Instant) async throws -> (plan: RatePlan?, denyRanges: DenyRanges) {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.load(plan, at: now) })
      }
    }
  }

  private func load(_ name: String, at now: Instant) throws -> (plan: RatePlan?, denyRanges: DenyRanges) {
    guard !state.withLock({ $0.isClosed }) else { throw LedgerUnavailable(.missing, "the gateway stops") }
    return try rates.withLock { rates in
      if rates?.isAtItsPath != true {
        rates?.close()
        rates = nil
        rates = try SQLiteRateStore.open(path: path, writable: false)
      }
      guard let rates else { return (nil, .none) }
      return try load(name, from: rates, at: now)
    }
  }

  /// Loads a plan where one of its decks has another version than last time.
  private func load(
    _ name: String, from rates: SQLiteRateStore, at now: Instant
  ) throws -> (plan: RatePlan?, denyRanges: DenyRanges) {
    let denied = try rates.denyRanges()
    let denyRanges = try state.withLock { state in
      if state.denyRanges.rows != denied {
        state.denyRanges = (denied, try DenyRanges(denied.map { ($0.prefix, $0.ruling) }))
      }
      return state.denyRanges.ranges
    }
    guard !name.isEmpty, let stored = try? rates.plan(name) else { return (nil, denyRanges) }
    let labels = stored.entries.map { entry in
      "\((try? rates.deck(entry.deck, version: nil, at: now).label) ?? "-")*\(entry.multiplier)"
    }
    let fingerprint = labels.joined(separator: " ")
    let known = state.withLock { $0.plans[name] }
    if let known, known.fingerprint == fingerprint { return (known.plan, denyRanges) }
    do {
      guard let plan = try rates.ratePlan(name, at: now) else { return (nil, denyRanges) }
      state.withLock { $0.plans[name] = (fingerprint, plan, now) }
      return (plan, denyRanges)
    } catch RateStoreRefusal.noActiveVersion(let deck) {
      // The clock was set back to before the first version: the prices that were in force go on.
      guard let known, now < known.loadedAt else { throw RateStoreRefusal.noActiveVersion(deck: deck) }
      return (known.plan, denyRanges)
    }
  }
}
