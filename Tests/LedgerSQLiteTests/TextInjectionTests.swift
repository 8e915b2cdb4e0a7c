import CallModel
import LandlineSQLite
import LedgerCore
import LedgerSQLite
import PeerKit
import Testing

/// Texts that are commands to a database, a shell or a terminal, in every place of the ledger that takes a text.
@Suite("Commands in texts")
struct TextInjectionTests {
  static let texts = [
    "'; DROP TABLE account; --", "' OR '1'='1", "' OR 1=1 --", "\" OR \"\"=\"", "1; DELETE FROM transfer",
    "'); DELETE FROM entry; --",
    "' UNION SELECT name, sql FROM sqlite_master --", "'; UPDATE account SET posted = 1000000000; --",
    "' || (SELECT hash FROM ledger_head) || '",
    "'; ATTACH DATABASE '/tmp/x' AS x; --", "'; PRAGMA writable_schema = ON; --", "\\'; DROP TABLE hold; --", "%' --",
    "_%", "''", "'", "\"",
    "`", "[account]", "?1", ":name", "@name", "$name", "x' AND load_extension('x') --", "'; VACUUM INTO '/tmp/y'; --",
    "/* */", "--", ";",
    "$(reboot)", "`reboot`", "| reboot", "&& reboot", "> /etc/passwd", "../../etc/passwd", "=cmd|' /C calc'!A0", "+1+1",
    "@SUM(1)", "-2+3",
    "\u{1B}[2J\u{1B}]0;evil\u{7}", "\r\nforged line", "%s%n%x", "${jndi:ldap://127.0.0.1/a}", "{{7*7}}",
    "<script>alert(1)</script>",
    "\u{202E}evil",
  ]

  @Test("change nothing but the text that they are")
  func everyText() async throws {
    let file = try LedgerFile()
    let store = try file.open()
    _ = try await store.registerNode(file.node, at: file.now)
    _ = try await store.perform(file.create("bystander"))
    _ = try await store.perform(file.topup("bystander", 5_000_000))
    let schema = try SQLiteDoor.integer("SELECT count(*) FROM sqlite_master", path: file.path)
    var effects: [String] = []
    for (number, text) in Self.texts.enumerated() {
      // As the name of an account, as the key and the method of a payment, as its detail, as the name of a call.
      let create = try await store.perform(file.create(text))
      let topup = try await store.perform(file.topup(text, 1_000_000))
      let detail = MoneyMovement(
        account: AccountName(unchecked: text), key: RequestKey(unchecked: text),
        .topup(method: RequestKey(unchecked: text)),
        amount: try Credits(micros: 1_000_000, .eur), detail: text)
      let second = try await store.perform(file.operation(.move(detail)))
      // No call's name has a slash: it parts the words of an operation's key.
      let call = try await store.perform(file.authorise(text, text.replacing("/", with: "|")))
      guard create.refusal == nil, topup.refusal == nil, second.refusal == nil, call.refusal == nil else {
        effects.append("\(text) was refused halfway")
        continue
      }
      let accounts = try SQLiteDoor.integer(
        "SELECT count(*) FROM account WHERE posted = 2000000 AND open_holds = 1", path: file.path)
      if accounts != Int64(number + 1) { effects.append("\(text): \(accounts) accounts of \(number + 1)") }
    }
    let after = try SQLiteDoor.integer("SELECT count(*) FROM sqlite_master", path: file.path)
    if after != schema { effects.append("the schema changed") }
    let bystander = try SQLiteDoor.integer("SELECT posted FROM account WHERE name = 'bystander'", path: file.path)
    if bystander != 5_000_000 { effects.append("a bystander's balance is \(bystander)") }
    let report = try file.verify()
    if !report.isSound { effects.append("the book is not sound: \(report.rules.compactMap(\.problem))") }
    #expect(effects.isEmpty, "\(effects)")
    try ScoreboardRow(
      "B11", figure: "\(effects.count)", unit: "effects", target: "= 0", passed: effects.isEmpty,
      detail: "the ledger: \(Self.texts.count) texts in five places", gate: true
    ).record()
  }
}
