import CallModel
import LedgerCore

/// Commands that only look.
extension Console {
  package func balance(accounts: [String], includesOperator: Bool, at text: String?) async throws -> Answer {
    let now = try now()
    let zone = try zone()
    let at = try text.map { text in
      try Arguments.value("--at") { () throws(InvalidValue) in try InstantText.parse(text, now: now, zone: zone) }
    }
    return try reading {
      try BalanceReport($0, accounts: accounts, includesOperator: includesOperator, at: at).answer()
    }
  }

  package func history(
    account: String, currency: String?, period: PeriodOptions, page: PageOptions, reason: String?
  ) async throws -> Answer {
    try page.check()
    let now = try now()
    let period = try period.period(now: now, zone: zone())
    return try reading { reading in
      let account = try LedgerLookup(reading).account(account, currency: currency)
      let report = try HistoryReport(
        reading, account: account, period: period, page: page, reason: reason, now: now)
      var answer = try report.answer()
      if report.isCut { answer.notes.append(cutNote(page, last: report.lines.last?.history.transfer.seq)) }
      return answer
    }
  }

  private func cutNote(_ page: PageOptions, last: Int64?) -> String {
    page.after == nil
      ? "only the newest \(page.limit) entries: --after 0 starts with the oldest, --limit shows more"
      : "there are more entries: --after \(last ?? 0) continues"
  }

  package func statement(account: String, currency: String?, month: String) async throws -> Answer {
    try reading { reading in
      let account = try LedgerLookup(reading).account(account, currency: currency)
      let zone = try zone(orElse: CivilZone(account.zone))
      return try StatementReport(reading, account: account, month: month, zone: zone).answer()
    }
  }

  package func holdList(account: String?, node: String?, includesEnded: Bool, page: PageOptions) async throws -> Answer
  {
    try page.check()
    return try reading {
      try HoldReport.list($0, account: account, node: node, includesEnded: includesEnded, page: page)
    }
  }

  package func holdShow(call: String, account: String?) async throws -> Answer {
    try reading { try HoldReport.show($0, call: call, account: account) }
  }

  package func accountList(includesOperator: Bool) async throws -> Answer {
    try reading { try AccountReport.list($0, includesOperator: includesOperator) }
  }

  package func accountShow(_ name: String) async throws -> Answer {
    try reading { try AccountReport.show($0, name) }
  }

  package func capShow(_ name: String) async throws -> Answer {
    let now = try now()
    return try reading { try CapReport.show($0, name, now: now) }
  }

  package func nodeList() async throws -> Answer {
    let now = try now()
    return try reading { try NodeReport.list($0, now: now) }
  }

  package func verify(full: Bool) async throws -> Answer {
    let clock = try clock()
    let start = clock.now()
    let report = try reading { try LedgerVerifier.verify($0, full: full) }
    return VerifyReport.answer(report, milliseconds: max(0, clock.now().milliseconds(since: start)))
  }

  /// The names of customers' accounts, for completion; empty where there is no ledger.
  package func accountNames() -> [String] {
    (try? reading { try $0.allAccounts().filter { $0.kind.isCustomer }.map(\.name) }) ?? []
  }
}
