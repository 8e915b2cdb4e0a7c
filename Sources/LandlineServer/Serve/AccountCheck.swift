import CallModel
import Foundation
public import LandlineConfiguration
import LandlineNode
import LedgerCore
import LedgerSQLite

/// Whether the accounts that a configuration names can pay for calls. Ledgers are read as files and stay as they are.
public enum AccountCheck {
  /// Blocks while it reads.
  public static func findings(_ configuration: GatewayConfiguration) -> [StartFinding] {
    let now = NodeClock.wallClock()
    return configuration.environments.flatMap { findings($0, at: now) }
  }

  /// Who names an account.
  private struct Payer {
    var place: String
    var account: AccountName
    /// Whether calls are paid from the account.
    var isPaying: Bool
  }

  private static func findings(_ environment: EnvironmentConfiguration, at now: Instant) -> [StartFinding] {
    let path = "environments.\(environment.name)"
    let payers =
      environment.applications.map {
        Payer(place: "\(path).applications.\($0.name)", account: $0.account, isPaying: true)
      }
      + environment.owners.map {
        Payer(place: "\(path).owners.\($0.name)", account: $0.account, isPaying: false)
      } + numbers(environment, path)
    guard !payers.isEmpty else { return [] }
    func create(_ account: AccountName) -> String {
      "landline account create \(account) --currency EUR --database \(environment.ledger)"
    }
    guard FileManager.default.fileExists(atPath: environment.ledger) else {
      return payers.map {
        StartFinding(
          $0.place, "account \($0.account) is not there: there is no ledger yet at \(environment.ledger)",
          fix: create($0.account), isSerious: $0.isPaying)
      }
    }
    do {
      let accounts = try SQLiteLedgerReader.open(path: environment.ledger).read { reading in
        try payers.map { try reading.customer(named: $0.account.text) }
      }
      let rates = try SQLiteRateStore.open(path: environment.ledger, writable: false)
      defer { rates.close() }
      return zip(payers, accounts).flatMap { payer, account -> [StartFinding] in
        guard let account else {
          return [
            StartFinding(
              payer.place, "account \(payer.account) is not in the ledger \(environment.ledger)",
              fix: create(payer.account), isSerious: payer.isPaying)
          ]
        }
        guard payer.isPaying else { return [] }
        return standing(account, payer.place) + prices(account, payer.place, rates, environment.ledger, at: now)
      }
    } catch {
      let problem = (error as? LedgerUnavailable)?.problem ?? "\(error)"
      return [StartFinding("\(path).ledger", "it cannot be read: \(problem)", fix: nil)]
    }
  }

  /// Numbers whose account no application has: one finding for each account, at the first of its numbers.
  private static func numbers(_ environment: EnvironmentConfiguration, _ path: String) -> [Payer] {
    var known = Set(environment.applications.map(\.account))
    return environment.numbers.compactMap { row in
      guard known.insert(row.account).inserted else { return nil }
      return Payer(place: "\(path).numbers.\(row.number)", account: row.account, isPaying: true)
    }
  }

  private static func standing(_ account: LedgerAccount, _ place: String) -> [StartFinding] {
    switch account.status {
    case .open: []
    case .locked:
      [
        StartFinding(
          place, "account \(account.name) is locked", fix: "landline account unlock \(account.name)", isSerious: false)
      ]
    case .closing, .closed:
      [StartFinding(place, "account \(account.name) is closed for good", fix: "name another account")]
    }
  }

  /// Without a price every call that costs is refused.
  private static func prices(
    _ account: LedgerAccount, _ place: String, _ rates: SQLiteRateStore, _ ledger: String, at now: Instant
  ) -> [StartFinding] {
    guard !account.plan.isEmpty else {
      return [
        StartFinding(
          place, "account \(account.name) has no plan: only free numbers can be called",
          fix: "landline account set-plan \(account.name) PLAN --database \(ledger)", isSerious: false)
      ]
    }
    do {
      return try rates.plan(account.plan).entries.compactMap { entry in
        do {
          _ = try rates.deck(entry.deck, version: nil, at: now)
          return nil
        } catch is RateStoreRefusal {
          return StartFinding(
            place, "deck \(entry.deck) of account \(account.name)'s plan \(account.plan) has no version that is active",
            fix: "landline deck activate \(entry.deck)@VERSION --database \(ledger)")
        }
      }
    } catch {
      return [
        StartFinding(
          place, "the prices of account \(account.name)'s plan \(account.plan) cannot be read: \(error)",
          fix: "landline plan list --database \(ledger)")
      ]
    }
  }
}
