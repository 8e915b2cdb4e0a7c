import CallModel
import Foundation
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import PeerKit
import Testing

/// One altered row at a time, by someone who has the file: verification must find each.
@Suite("Tampering")
struct TamperingTests {
  struct Tampering: Sendable {
    let what: String
    let sql: String
    let rule: VerifiedRule.ID

    init(_ what: String, _ rule: VerifiedRule.ID, _ sql: String) {
      self.what = what
      self.rule = rule
      self.sql = sql
    }
  }

  private static let charge = "(SELECT transfer FROM hold WHERE call_id = 'settled')"
  private static let topup = "(SELECT min(seq) FROM transfer WHERE kind = 'topup')"
  private static let last = "(SELECT max(seq) FROM transfer)"
  private static func hold(_ call: String, _ change: String) -> String {
    "UPDATE hold SET \(change) WHERE call_id = '\(call)'"
  }
  private static func account(_ change: String) -> String { "UPDATE account SET \(change) WHERE name = 'acme'" }
  private static func transfer(_ change: String) -> String { "UPDATE transfer SET \(change) WHERE seq = \(charge)" }
  private static func grants(of call: String) -> String { "hold = (SELECT seq FROM hold WHERE call_id = '\(call)')" }

  static let kinds: [Tampering] = [
    // Entries.
    .init("entry amount", .i2, "UPDATE entry SET amount = amount - 1 WHERE transfer = \(charge) AND amount < 0"),
    .init(
      "entry balance", .i3,
      "UPDATE entry SET balance_after = balance_after + 1 WHERE transfer = \(charge) AND amount < 0"),
    .init("entry number", .i2, "UPDATE entry SET version = 9999 WHERE transfer = \(charge) AND amount < 0"),
    .init(
      "entry's transfer", .i2, "UPDATE entry SET transfer = transfer + 1 WHERE transfer = \(charge) AND amount < 0"),
    .init("entry deleted", .i2, "DELETE FROM entry WHERE transfer = \(charge) AND amount < 0"),
    .init("entry added", .i2, "INSERT INTO entry VALUES(1, 9999, 1, 5, 5)"),
    // Transfers.
    .init(
      "transfer deleted with its entries", .i11,
      "CREATE TEMP TABLE x AS SELECT \(topup) s; DELETE FROM entry WHERE transfer IN x; DELETE FROM transfer WHERE seq IN x"
    ),
    .init(
      "newest transfer deleted with its entries", .i11,
      "CREATE TEMP TABLE x AS SELECT \(last) s; DELETE FROM entry WHERE transfer IN x; DELETE FROM transfer WHERE seq IN x"
    ),
    .init(
      "transfer duplicated", .i2,
      "INSERT INTO transfer SELECT seq + 1000, kind, debit, credit, debit_version, credit_version, amount, currency, call_id, reverses, key, actor, at, event_at, detail, hash FROM transfer WHERE seq = \(topup)"
    ),
    .init("transfer amount", .i2, transfer("amount = amount - 1")),
    .init(
      "transfer and entries by the same amount", .i3,
      "UPDATE entry SET amount = amount + (CASE WHEN amount < 0 THEN 1 ELSE -1 END) WHERE transfer = \(charge); \(transfer("amount = amount - 1"))"
    ),
    .init(
      "debit and credit swapped", .i2,
      transfer("debit = credit, credit = debit, debit_version = credit_version, credit_version = debit_version")),
    .init("transfer kind", .i11, "UPDATE transfer SET kind = 'opening' WHERE seq = \(topup)"),
    .init("transfer currency", .i9, transfer("currency = 'USD'")),
    .init("transfer currency unreadable", .i11, transfer("currency = 'xyz'")),
    .init("transfer's call", .i8, transfer("call_id = 'other'")),
    .init("transfer reverses", .i11, "UPDATE transfer SET reverses = 1 WHERE kind = 'refund'"),
    .init("transfer key", .i11, "UPDATE transfer SET key = 'another' WHERE seq = \(topup)"),
    .init("transfer actor", .i11, transfer("actor = 'nobody'")),
    .init("transfer booking time", .i8, transfer("at = at - 1")),
    .init("transfer event time", .i11, transfer("event_at = event_at - 1")),
    .init("transfer detail", .i11, "UPDATE transfer SET detail = 'a gift' WHERE seq = \(topup)"),
    .init("transfer hash", .i11, transfer("hash = zeroblob(32)")),
    // Head.
    .init("head hash", .i11, "UPDATE ledger_head SET hash = zeroblob(32)"),
    .init("head sequence", .i11, "UPDATE ledger_head SET seq = seq - 1"),
    .init("head time", .i11, "UPDATE ledger_head SET at = at - 1"),
    .init("next account", .i11, "UPDATE ledger_head SET next_account = next_account - 1"),
    .init("head deleted", .i11, "DELETE FROM ledger_head"),
    // Accounts.
    .init("account posted", .i3, account("posted = posted + 1")),
    .init(
      "two balances by the same amount", .i3,
      "UPDATE account SET posted = posted + (CASE name WHEN 'acme' THEN 9 ELSE -9 END) WHERE name IN ('acme', 'bolt')"),
    .init("account held", .i5, account("held = held - 1")),
    .init("account open holds", .i5, account("open_holds = open_holds + 1")),
    .init("account floor", .i11, account("floor = -1000000")),
    .init("account entries", .i4, account("version = version + 1")),
    .init("account status", .i11, account("status = 'open'")),
    .init("account status unreadable", .i11, account("status = 'great'")),
    .init("account plan", .i11, account("plan = 'friends'")),
    .init("account caps", .i11, account("cap_concurrent = 100")),
    .init("account countries", .i11, account("cap_countries = '1,46,53'")),
    .init("account zone", .i11, account("zone = 'Asia/Tokyo'")),
    .init("account currency", .i9, account("currency = 'USD'")),
    .init("account name", .i11, account("name = 'acme2'")),
    .init("account kind", .i11, account("kind = 'postpaid'")),
    .init("account deleted", .i9, "DELETE FROM account WHERE name = 'acme'"),
    .init(
      "account added", .i11,
      "INSERT INTO account SELECT 999, 'ghost', kind, currency, 0, 0, 0, 0, 0, 'open', plan, NULL, NULL, NULL, NULL, NULL, NULL, zone, 0, 0, 0, 0 FROM account WHERE name = 'acme'"
    ),
    .init("account below its floor", .i6, "UPDATE account SET posted = -1, status = 'open' WHERE name = 'cent'"),
    // Holds.
    .init("hold amount", .i5, hold("talking", "amount = amount - 1")),
    .init("hold seconds", .i5, hold("talking", "granted_seconds = granted_seconds + 60")),
    .init("hold extensions", .i5, hold("talking", "extensions = extensions + 1")),
    .init("hold beyond its longest", .i5, hold("talking", "maximum_seconds = 10")),
    .init("hold reopened", .i7, hold("settled", "state = 'answered', resolved_at = NULL")),
    .init("hold settled without an answer", .i7, hold("settled", "answered_at = NULL")),
    .init("hold answered before it was authorised", .i7, hold("settled", "answered_at = authorised_at - 1")),
    .init("hold unanswered with an answer", .i7, hold("talking", "state = 'authorised'")),
    .init("answer taken away", .i7, hold("talking", "answered_at = NULL")),
    .init("hold cost", .i10, hold("settled", "cost = cost - 1")),
    .init("hold cost above its amount", .i7, hold("settled", "cost = amount + 1")),
    .init("hold duration", .i10, hold("settled", "duration_ms = duration_ms - 5000")),
    .init("hold duration inside its second", .i8, hold("settled", "duration_ms = duration_ms + 1")),
    .init("hold end", .i8, hold("settled", "resolved_at = resolved_at + 1")),
    .init("hold start", .i5, hold("settled", "authorised_at = authorised_at - 1")),
    .init("hold destination", .i8, hold("settled", "destination = '+46111111111'")),
    .init("hold price", .i10, hold("settled", "snapshot = replace(snapshot, '60000000', '50000000')")),
    .init("hold price of an open call", .i10, hold("talking", "snapshot = replace(snapshot, '60000000', '50000000')")),
    .init("hold price unreadable", .i10, hold("talking", "snapshot = 'free'")),
    .init("hold currency", .i9, hold("settled", "snapshot = replace(snapshot, 'EUR', 'USD')")),
    .init("hold's charge", .i8, hold("settled", "transfer = \(topup)")),
    .init("hold's charge removed", .i8, hold("settled", "transfer = NULL")),
    .init("hold's account", .i5, hold("talking", "account = 2")),
    .init("hold's call", .i8, hold("settled", "call_id = 'renamed'")),
    .init("voided hold's call", .i11, hold("voided", "call_id = 'renamed'")),
    .init("voided hold with a cost", .i7, hold("voided", "cost = 5")),
    .init("voided hold with a duration", .i7, hold("voided", "duration_ms = 5")),
    .init(
      "charge forgiven as a void", .i8,
      hold("settled", "state = 'voided', cost = NULL, duration_ms = NULL, transfer = NULL")),
    .init("hold's node", .i7, hold("talking", "node = 'gw-9'")),
    .init("hold's epoch", .i7, hold("talking", "epoch = 9")),
    .init("hold's day", .i12, hold("settled", "day = day + 1")),
    .init("settled hold deleted", .i8, "DELETE FROM hold WHERE call_id = 'settled'"),
    .init("open hold deleted", .i5, "DELETE FROM hold WHERE call_id = 'talking'"),
    .init("free open hold deleted", .i5, "DELETE FROM hold WHERE call_id = 'help'"),
    .init("voided hold deleted", .i11, "DELETE FROM hold WHERE call_id = 'voided'"),
    .init("hold newer than the head", .i11, hold("voided", "seq = seq + 100000")),
    .init("node's life deleted", .i7, "DELETE FROM node WHERE epoch = 2"),
    // Grants.
    .init("grant deleted", .i5, "DELETE FROM hold_grant WHERE number = 0 AND \(grants(of: "talking"))"),
    .init("last grant deleted", .i5, "DELETE FROM hold_grant WHERE number = 1 AND \(grants(of: "talking"))"),
    .init(
      "first grant's amount", .i5,
      "UPDATE hold_grant SET amount = amount * 3 WHERE number = 0 AND \(grants(of: "talking"))"),
    .init(
      "middle grant's seconds", .i5,
      "UPDATE hold_grant SET granted_seconds = 1 WHERE number = 1 AND \(grants(of: "settled"))"),
    .init("middle grant's time", .i5, "UPDATE hold_grant SET at = 0 WHERE number = 1 AND \(grants(of: "settled"))"),
    // Recorded answers.
    .init(
      "answer to a settlement", .i11,
      "UPDATE op SET outcome = replace(outcome, '95500', '95400') WHERE key = 'c/settled/end'"),
    .init(
      "answer to an authorisation", .i11,
      "UPDATE op SET outcome = 'granted 600 65000 more' WHERE key = 'c/talking/authorise'"),
    .init(
      "answer to an extension", .i11,
      "UPDATE op SET outcome = 'granted 600 605000 more' WHERE key = 'c/talking/extend/1'"),
    .init(
      "grant denied", .i11,
      "UPDATE op SET outcome = 'refused insufficientCredit' WHERE key = 'c/talking/authorise'"),
    .init("answer to an answer", .i11, "UPDATE op SET outcome = 'voided' WHERE key = 'c/talking/answer'"),
    .init("answer to a void", .i11, "UPDATE op SET outcome = 'settled 0 0 0 -' WHERE key = 'c/voided/end'"),
    .init("answer to a top-up", .i11, "UPDATE op SET outcome = outcome || '0' WHERE seq = \(topup)"),
    .init("answer to a change", .i11, "UPDATE op SET seq = seq + 1 WHERE outcome = 'changed' AND key = 'k/key-1'"),
    .init("answer unreadable", .i11, "UPDATE op SET outcome = 'fine' WHERE seq = \(topup)"),
    .init("answer deleted, so that the key pays again", .i11, "DELETE FROM op WHERE seq = \(topup)"),
    .init("answer under another key", .i11, "UPDATE op SET key = 'k/fresh' WHERE seq = \(topup)"),
    .init("answer newer than the head", .i11, "UPDATE op SET seq = seq + 100000 WHERE key = 'c/too-dear/authorise'"),
    // Counters.
    .init("counter spent", .i12, "UPDATE counter SET spent = spent - 1"),
    .init("counter held", .i12, "UPDATE counter SET held = held + 1"),
    .init("counter deleted", .i12, "DELETE FROM counter"),
    .init("counter of a day that never was", .i12, "INSERT INTO counter VALUES(1, 9223372036854775807, 1, 1)"),
    // Events.
    .init("event settings", .i11, "UPDATE account_event SET settings = replace(settings, 'retail', 'friends')"),
    .init("event kind", .i11, "UPDATE account_event SET kind = 'unlock' WHERE kind = 'lock'"),
    .init("event actor", .i11, "UPDATE account_event SET actor = 'nobody' WHERE kind = 'lock'"),
    .init("event reason", .i11, "UPDATE account_event SET reason = 'by mistake' WHERE kind = 'lock'"),
    .init("event time", .i11, "UPDATE account_event SET at = at + 1 WHERE kind = 'lock'"),
    .init("event's account", .i11, "UPDATE account_event SET account = 2 WHERE kind = 'lock'"),
    .init("event deleted", .i11, "DELETE FROM account_event WHERE kind = 'set-cap'"),
  ]

  @Test("each kind of altered row is caught by its rule")
  func caught() async throws {
    let sound = try await LedgerFile.varied()
    #expect(try sound.verify().isSound)
    var table: [String] = []
    var found = 0
    for kind in Self.kinds {
      let file = try sound.copy()
      let changed = try SQLiteDoor.execute(kind.sql, path: file.path)
      #expect(changed > 0, "\(kind.what) changed no row")
      let broken = try file.verify().rules.filter { $0.problem != nil }.map(\.id.rawValue)
      #expect(broken.contains(kind.rule.rawValue), "\(kind.what) was caught by \(broken)")
      if !broken.isEmpty { found += 1 }
      table.append("\(kind.what.padding(toLength: 48, withPad: " ", startingAt: 0)) \(broken.joined(separator: " "))")
    }
    print(table.joined(separator: "\n"))
    #expect(Set(Self.kinds.map(\.what)).count == Self.kinds.count && Self.kinds.count > 100)
    try ScoreboardRow(
      "M11", figure: "\(found * 100 / Self.kinds.count)", unit: "% found", target: "= 100",
      passed: found == Self.kinds.count, detail: "\(found) of \(Self.kinds.count) kinds of altered rows"
    ).record()
  }

  @Test("altered rows at the ends of the integers are found without a trap")
  func extremes() async throws {
    let sound = try await LedgerFile.varied()
    let columns: [(table: String, columns: [String])] = [
      ("account", ["posted", "held", "floor", "version", "open_holds", "id", "cap_day"]),
      (
        "hold",
        [
          "amount", "granted_seconds", "extensions", "maximum_seconds", "day", "cost", "duration_ms", "answered_at",
          "authorised_at", "resolved_at", "transfer", "epoch", "account", "seq",
        ]
      ),
      ("hold_grant", ["amount", "granted_seconds", "at", "number"]),
      ("transfer", ["amount", "debit", "credit", "at", "seq", "debit_version"]),
      ("entry", ["amount", "balance_after", "version", "transfer"]),
      ("op", ["seq", "at"]), ("counter", ["spent", "held", "day"]),
      ("ledger_head", ["seq", "at", "next_account"]), ("account_event", ["seq", "at", "account"]),
    ]
    for (table, names) in columns {
      for name in names {
        for value in ["9223372036854775807", "-9223372036854775808"] {
          // A clock far ahead could have booked that: the head's time may be anything after the last record's.
          if table == "ledger_head", name == "at", !value.hasPrefix("-") { continue }
          let file = try sound.copy()
          // One row only: most of these columns are keys.
          let row =
            switch table {
            case "account": "name = 'acme'"
            case "hold": "call_id = 'settled'"
            case "hold_grant": "(hold, number) = (SELECT hold, number FROM hold_grant ORDER BY hold DESC LIMIT 1)"
            case "transfer": "seq = \(Self.charge)"
            case "entry": "transfer = \(Self.charge) AND amount < 0"
            case "op": "key = 'c/settled/end'"
            case "counter": "(account, day) = (SELECT account, day FROM counter LIMIT 1)"
            case "account_event": "kind = 'lock'"
            default: "true"
            }
          try SQLiteDoor.execute("UPDATE \(table) SET \(name) = \(value) WHERE \(row)", path: file.path)
          do {
            #expect(try file.verify().isSound == false, "\(table).\(name) = \(value)")
            _ = try file.verify(full: false)
          } catch let error as LedgerUnavailable {
            // SQLite's own sums refuse to overflow.
            #expect(error.cause == .inputOutput, "\(table).\(name) = \(value): \(error)")
          }
        }
      }
    }
  }

  @Test("a quick verification sees altered balances and the end of the chain")
  func quick() async throws {
    let sound = try await LedgerFile.varied()
    #expect(try sound.verify(full: false).isSound)
    let quick: Set<String> = ["account posted", "account held", "account status", "head hash", "open hold deleted"]
    for kind in Self.kinds where quick.contains(kind.what) {
      let file = try sound.copy()
      try SQLiteDoor.execute(kind.sql, path: file.path)
      #expect(try file.verify(full: false).isSound == false, "\(kind.what)")
    }
  }
}
