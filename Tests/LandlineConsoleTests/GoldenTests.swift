import Testing

@Suite("Every command's output, to the byte")
struct GoldenTests {
  static let transcripts: [GoldenTranscript] = [
    GoldenTranscript(
      name: "first-steps", hasLedger: false,
      commands: [
        "balance", "verify", "account list --json", "topup acme 10",
        "account create acme --currency EUR --dry-run --key first", "account create acme --currency EUR",
        "topup acme 10", "balance", "balance --human",
      ]),
    GoldenTranscript(
      name: "balance",
      commands: [
        "balance", "balance acme", "balance acme beta --json", "balance --all", "balance --csv", "balance --ndjson",
        "balance -o json acme", "balance revenues:calls", "balance --human", "balance --at 2026-11-01",
        "balance acme --at 2026-11-21T05:05:00Z --json", "balance acme --at 2026-09-01", "balance acm",
        "balance nobody --json", "balance acme --color always",
      ]),
    GoldenTranscript(
      name: "history",
      commands: [
        "history acme", "history acme --json", "history acme --csv", "history acme --ndjson",
        "history acme --from 2026-11-21 --limit 2", "history acme --after 0 --limit 2",
        "history acme --after 0 --limit 2 --json", "history acme --to 2026-11", "history acme --from -60d --to -30d",
        "history acme --from today", "history acme --from yesterday --to today", "history acme --reason noCredit",
        "history beta --tz Europe/Stockholm --from 2026-11", "history delta-us", "history revenues:calls --currency EUR",
        "history liabilities:carriers:telia", "history expenses:overrun", "history assets:payments:card",
        "history nobody", "history acme --human",
      ]),
    GoldenTranscript(
      name: "statement",
      commands: [
        "statement acme --month 2026-11", "statement acme --month 2026-10", "statement acme --month 2026-11 --json",
        "statement acme --month 2026-11 --csv", "statement beta --month 2026-10",
        "statement beta --month 2026-10 --tz UTC", "statement beta --month 2026-11 --ndjson",
        "statement acme --month 2026-13", "statement acme --month november", "statement acme",
      ]),
    GoldenTranscript(
      name: "holds",
      commands: [
        "hold list", "hold list --json", "hold list --csv", "hold list --ndjson", "hold list --all --account acme",
        "hold list --node gw-2", "hold list --all --limit 2", "hold list --all --limit 2 --after 20 --json",
        "hold show a-2", "hold show a-2 --json", "hold show b-3 --account beta", "hold show b-3 --account acme",
        "hold show nope --json", "hold list --account nobody", "cap show acme", "cap show acme --json", "cap show beta",
        "cap show nobody",
      ]),
    GoldenTranscript(
      name: "accounts",
      commands: [
        "account list", "account list --all", "account list --json", "account list --csv", "account show acme",
        "account show acme --json", "account show beta", "account show acmee",
        "account create gamma --currency EUR --kind postpaid --credit-limit 5 --zone Europe/Stockholm "
          + "--concurrent 3 --per-call 1.5 --highest-rate 0.25 --countries 47,46,46 --key g1",
        "account create gamma --currency EUR --kind postpaid --credit-limit 5 --zone Europe/Stockholm "
          + "--concurrent 3 --per-call 1.5 --highest-rate 0.25 --countries 47,46,46 --key g1 --json",
        "account create gamma --currency EUR --key g2", "account show gamma --csv",
        "account set-cap gamma --per-day 7 --per-call none --key g3", "cap show gamma --json",
        "account set-cap gamma --credit-limit 9 --concurrent 4 --key g4 --json", "account show gamma --ndjson",
        "account set-cap gamma --key g5", "account lock gamma --key g6", "topup gamma 1 --key g7",
        "transfer gamma acme 1 --key g8", "account unlock gamma --key g9", "account set-zone gamma UTC --key g10",
        "account close gamma --key g11", "account close gamma --key g11 --dry-run", "account close gamma --yes --key g11",
        "account close gamma --yes --key g11 --json", "topup gamma 1 --key g12", "topup gamma 1 --key g12 --json",
        "account close acme --yes --key a1", "account show acme --json", "account lock acme --key a2",
      ]),
    GoldenTranscript(
      name: "money",
      commands: [
        "topup acme 10 --key pay_1 --note 'first one'", "topup acme 10 --key pay_1 --json", "topup acme 11 --key pay_1",
        "topup acme 11 --key pay_1 --json", "topup acme 2.5 --method wire --key pay_2 --csv",
        "topup acme 1 --key pay_3 --dry-run", "topup acme 1 --key pay_3 --dry-run --ndjson", "topup acme 1",
        "topup acme 1 --json", "adjust acme -5 --reason 'too much' --key adj_1", "adjust acme 1.25 --reason more --key adj_2",
        "adjust acme --amount -0.25 --reason less --key adj_3 --json", "adjust acme -500 --reason big --key adj_4",
        "adjust acme -500 --reason big --key adj_4 --json", "adjust acme -500 --reason big --force --key adj_5",
        "adjust acme -30 --reason big --force --yes --key adj_6", "account show acme --json",
        "account unlock acme --key un_1", "topup acme 40 --key pay_4", "account unlock acme --key un_2",
        "transfer acme beta 3 --key tr_1", "transfer acme beta 300 --key tr_2", "transfer acme delta-us 3 --key tr_3",
        "transfer acme bata 3 --key tr_4", "transfer acme acme 3 --key tr_5", "opening beta 2 --key op_1",
        "balance",
      ]),
    GoldenTranscript(
      name: "reversals",
      commands: [
        "history acme --csv", "refund acme 27 0.01 --key rf_1 --json", "refund acme 27 --key rf_2",
        "refund acme 27 --key rf_3", "refund acme 9999 --key rf_4", "refund acme 7 --key rf_5",
        "topup acme 5 --key cb_1 --json", "chargeback acme 56 --key cb_2", "chargeback acme 56 99 --yes --key cb_2b", "chargeback acme 56 --yes --key cb_3",
        "chargeback acme 56 --yes --key cb_3 --json", "account show acme", "verify --full",
      ]),
    GoldenTranscript(
      name: "books",
      commands: [
        "verify", "verify --full", "verify --json", "verify --full --csv", "node list", "node list --json",
        "recover --dry-run", "recover --dry-run --json", "recover --node gw-9", "recover --node gw-1", "recover",
        "recover", "node list --csv", "hold list", "verify --full",
      ]),
    GoldenTranscript(
      name: "export",
      commands: [
        "export hledger", "export hledger --month 2026-11", "export hledger --account acme",
        "export hledger --month 2026-11 --account beta --tz Europe/Stockholm", "export csv", "export csv --account acme",
        "export ndjson --month 2026-10", "export ndjson --from 2026-11-21T05:00:00Z --to now",
        "export hledger --output-dir books", "export hledger --output-dir books --json",
        "export hledger --output-dir books --month 2026-11", "export hledger --account nobody", "export xml",
      ]),
    GoldenTranscript(
      name: "usage",
      commands: [
        "balnce", "account shw", "account show", "balance --jsn", "balance --json --csv", "balance -o xml",
        "balance --color blue", "balance --tz Mars/Olympus", "balance --tz Mars/Olympus --json", "history acme --limit 0",
        "history acme --limit x", "history acme --after -1", "history acme --from 2026-11 --to 2026-10", "account",
        "--version", "topup --help", "frobnicate --json", "completion tcsh", "help balance",
      ]),
  ]

  @Test("transcript", arguments: transcripts)
  func transcript(_ transcript: GoldenTranscript) async throws { try await transcript.check() }
}
