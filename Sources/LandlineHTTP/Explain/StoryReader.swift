import AppProtocol
public import CallEngine
public import CallModel
public import CallStory
public import LedgerCore
public import NodeCore

/// Brings together what is known of a call: its record, its trace and what the ledger has of it.
public struct StoryReader: Sendable {
  /// Transfers of one call that are looked at: the charge, its corrections.
  static let maximumTransfers = 16
  /// Entries of the account that are searched for them, from the time of the charge on.
  static let searchedEntries = 10_000

  private let ledger: any LedgerStore
  private let records: any CallRecordStore
  private let traces: (any CallTraceStore)?

  /// - Parameter traces: `nil` where traces are not kept; a story then has messages only if a trace is handed in.
  public init(ledger: any LedgerStore, records: any CallRecordStore, traces: (any CallTraceStore)?) {
    self.ledger = ledger
    self.records = records
    self.traces = traces
  }

  /// All three stores of one environment.
  public init(_ stores: EnvironmentStores) {
    self.init(ledger: stores.ledger, records: stores.records, traces: stores.traces)
  }

  /// - Parameters:
  ///   - live: the call as it stands, where it is up.
  ///   - trace: of a call that is up or was a moment ago, in place of the one that is kept.
  /// - Returns: `nil` for a call that nothing is known of.
  /// - Throws: what the stores throw.
  public func sources(
    of call: CallID, live: CallSnapshot? = nil, trace: CallTrace? = nil
  ) async throws -> CallStorySources? {
    let record = try await records.record(call)
    guard let snapshot = live ?? record?.call else { return nil }
    var sources = CallStorySources(record: record, live: record == nil ? live : nil, trace: trace)
    if sources.trace == nil, let bytes = try await traces?.trace(of: call) {
      // One that cannot be read is as good as none: the story says that it is missing.
      sources.trace = try? CallTrace(bytes)
    }
    sources.trunks = sources.trace?.trunks ?? [:]
    sources.money = try await money(of: call, account: snapshot.account)
    sources.money?.billedSeconds = record?.summary.billedSeconds
    return sources
  }

  private func money(of call: CallID, account name: AccountName) async throws -> CallMoney? {
    try await ledger.read { reading in
      guard let account = try reading.customer(named: name.text) else { return nil }
      var money = CallMoney(
        account: name.text, currency: "\(account.currency)", balanceMicro: account.posted,
        availableMicro: account.available)
      guard let hold = try reading.hold(account: account.id, call: call) else { return money }
      money.destination = [hold.snapshot.prefix, hold.snapshot.destination].filter { !$0.isEmpty }
        .joined(separator: " ")
      money.deck = hold.snapshot.deck
      if let tariff = hold.snapshot.segments.first?.tariff, let tier = tariff.tiers.first {
        money.ratePerMinuteNano = tier.ratePerMinute
        money.connectionFeeMicro = tariff.fee.roundedUp
        money.initialSeconds = tariff.initial
        money.incrementSeconds = tier.increment
      }
      money.reservedMicro = hold.amount
      money.holdState = hold.state.rawValue
      money.chargedMicro = hold.cost
      if let first = hold.transfer, let charge = try reading.transfer(seq: first) {
        money.transfers = try Self.transfers(of: call, charge, account, reading)
      }
      return money
    }
  }

  /// The charge, and what was booked for the same call later: refunds and corrections.
  private static func transfers(
    of call: CallID, _ charge: BookedTransfer, _ account: LedgerAccount, _ reading: any LedgerReading
  ) throws -> [CallMoney.Transfer] {
    var found = [charge]
    let later = try reading.history(
      of: account.id, HistoryRange(from: charge.transfer.at, limit: searchedEntries, newest: false))
    for line in later where line.transfer.seq != charge.transfer.seq {
      guard found.count < maximumTransfers else { break }
      guard line.transfer.call == call || line.transfer.reverses == charge.transfer.seq else { continue }
      if let transfer = try reading.transfer(seq: line.transfer.seq) { found.append(transfer) }
    }
    return try found.map { booked in
      func posting(_ id: Int64, _ entry: Entry?) throws -> CallMoney.Posting {
        CallMoney.Posting(
          account: try reading.account(id: id)?.journalName ?? "account \(id)", amountMicro: entry?.amount ?? 0,
          balanceMicro: entry?.balanceAfter ?? 0)
      }
      return CallMoney.Transfer(
        id: "\(booked.transfer.seq)", at: booked.transfer.at.milliseconds, kind: booked.transfer.kind.rawValue,
        debit: try posting(booked.transfer.debit, booked.debit),
        credit: try posting(booked.transfer.credit, booked.credit))
    }
  }
}
