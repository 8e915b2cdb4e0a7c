import Testing

@Suite("Every command's output, to the byte")
struct GoldenTests {
  static let transcripts: [GoldenTranscript] = [
    GoldenTranscript(
      name: "first-steps", hasLedger: false,
      commands: [
        "balance", "verify", "account list --json", "topup acme 10",
        "account create acme --currency EUR --dry-run --key first", "account create acme --currency EUR --key k1",
        "topup acme 10 --key k2", "balance", "balance --human", "history acme", "topup acme 10", "topup acme 10 --json",
        "account lock acme",
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
        "history acme --from today", "history acme --from yesterday --to today", "history acme --from -1h",
        "history acme --from 2026-11-21T06:05:00+01:00 --to 2026-11-21T05:07:00.5Z",
        "history beta --from 2026-11-01 --to 2026-11-02 --tz Europe/Stockholm", "history acme --reason noCredit",
        "history beta --tz Europe/Stockholm --from 2026-11", "history delta-us",
        "history revenues:calls --currency EUR",
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
        "statement revenues:calls --currency EUR --month 2026-11",
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
        "account close gamma --key g11", "account close gamma --key g11 --dry-run",
        "account close gamma --yes --key g11",
        "account close gamma --yes --key g11 --json", "topup gamma 1 --key g12", "topup gamma 1 --key g12 --json",
        "account close acme --yes --key a1", "account show acme --json", "account lock acme --key a2",
      ]),
    GoldenTranscript(
      name: "money",
      commands: [
        "topup acme 10 --key pay_1 --note 'first one'", "topup acme 10 --key pay_1 --json", "topup acme 11 --key pay_1",
        "topup acme 11 --key pay_1 --json", "topup acme 2.5 --method wire --key pay_2 --csv",
        "topup acme 1 --key pay_3 --dry-run", "topup acme 1 --key pay_3 --dry-run --ndjson",
        "adjust acme -5 --reason 'too much' --key adj_1", "adjust acme 1.25 --reason more --key adj_2",
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
        "topup acme 5 --key cb_1 --json", "chargeback acme 56 --key cb_2", "chargeback acme 56 99 --yes --key cb_2b",
        "chargeback acme 56 --yes --key cb_3",
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
        "export hledger --month 2026-11 --account beta --tz Europe/Stockholm", "export csv",
        "export csv --account acme",
        "export ndjson --month 2026-10", "export ndjson --from 2026-11-21T05:00:00Z --to now",
        "export hledger --output-dir books", "export hledger --output-dir books --json",
        "export hledger --output-dir books --month 2026-11", "export hledger --account nobody", "export xml",
      ]),
    GoldenTranscript(
      name: "rates", files: decks,
      commands: [
        "deck list", "plan list", "deny list", "rate lookup +46701234567",
        "deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR --activate-from 2026-11-01 --dry-run",
        "deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR --activate-from 2026-11-01",
        "deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR",
        "deck import next.csv --name retail-eu --version 2026-12-01",
        "deck import peak.csv --name peak --version v1 --currency EUR --zone Europe/Stockholm "
          + "--time-classes 'peak=Mon-Fri 08:00-20:00' --activate-from now --json",
        "deck import bad.csv --name bad --version v1 --currency EUR",
        "deck import bad.csv --name bad --version v1 --json", "deck import none.csv --name bad --version v1",
        "deck import . --name bad --version v1", "deck import retail.csv --name a@b --version v1",
        "deck import retail.csv --name 'a b' --version v1",
        "deck import retail.csv --name us --version v1 --currency USD",
        "deck list", "deck list --json", "deck list --csv", "deck activate retail-eu",
        "deck activate retail-eu@v9", "deck activate retail-eu@2026-12-01 --from 2026-12-01 --dry-run",
        "deck activate retail-eu@2026-12-01 --from 2026-12-01", "deck activate us@v1 --json", "deck list",
        "deck export retail-eu", "deck export retail-eu@2026-12-01", "deck export nodeck",
        "rate diff retail-eu retail-eu@2026-12-01", "rate diff retail-eu retail-eu@2026-12-01 --json",
        "rate diff retail-eu@2026-11-01 retail-eu@2026-11-01", "rate diff retail-eu nodeck",
        "plan create eu-retail retail-eu --dry-run", "plan create eu-retail retail-eu",
        "plan create eu-retail retail-eu", "plan create eu-gold peak=0.9 retail-eu=1.15 --json",
        "plan create mixed retail-eu us", "plan create none nodeck", "plan create much retail-eu=99",
        "plan create much retail-eu=x", "plan set eu-retail retail-eu=1.05", "plan set eu-retail retail-eu",
        "plan set nothing retail-eu", "plan list", "plan list --json", "plan show eu-gold", "plan show eu-gold --json",
        "plan show nothing", "account set-plan acme eu-retail --key p1", "account set-plan acme nothing --key p2",
        "account set-plan delta-us eu-retail --key p3", "account set-plan beta eu-gold --key p4",
        "account create gamma --currency EUR --plan eu-retail --key p5",
        "account create zeta --currency USD --plan eu-retail --key p6",
      ]),
    GoldenTranscript(
      name: "rate-questions", files: decks,
      commands: [
        "deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR --activate-from 2026-11-01",
        "deck import peak.csv --name peak --version v1 --currency EUR --zone Europe/Stockholm "
          + "--time-classes 'peak=Mon-Fri 08:00-20:00' --activate-from now",
        "plan create eu-retail retail-eu", "plan create eu-gold peak=0.9 retail-eu=1.15",
        "rate explain +46701234567 --account acme", "account set-plan acme eu-retail --key p1",
        "account set-plan beta eu-gold --key p2", "rate lookup +46701234567", "rate lookup +46701234567 --json",
        "rate lookup 46701234567 --account acme --csv", "rate lookup +4790000000 --plan eu-gold",
        "rate lookup +4790000000 --deck retail-eu", "rate lookup +99", "rate lookup +46701234567 --deck nodeck",
        "rate lookup +46701234567 --deck a --plan b", "rate lookup 46x",
        "rate explain +46000000000 --account acme --seconds 5", "rate explain 112 --account acme --seconds 5 --json",
        "rate explain +46701234567 --account acme --seconds 63.412",
        "rate explain +46701234567 --account acme --seconds 63.412 --json",
        "rate explain +46701234567 --account acme --seconds 63.412 --csv",
        "rate explain +46731234567 --account acme --seconds 5",
        "rate explain +46731234567 --account acme --seconds 100",
        "rate explain +4690123456 --account acme --seconds 10", "rate explain +4670 --account acme --seconds 86401",
        "rate explain +4670 --account acme --seconds 1.2345", "rate explain +4790000000 --account beta --seconds 600",
        "rate explain +46761234567 --account acme --seconds 30.5",
        "rate explain +4790000000 --account beta --seconds 600 --at 2026-11-23T07:30:00Z",
        "rate explain +4490000000 --account acme", "rate explain +1 --account nobody",
        "deny add 4690 --reason premium --note 'pay lines' --dry-run",
        "deny add +4690 --reason premium --note 'pay lines'",
        "deny add 8816 --reason satellite --json", "deny add 1 --reason deck", "deny add 4x --reason other",
        "deny list", "deny list --csv", "rate explain +46901234567 --account acme",
        "rate explain +88161234567 --account acme", "deny remove 4690 --dry-run", "deny remove 4690",
        "rate explain +46770123456 --account acme", "deny allow 4677 --note 'asked for'", "deny list",
        "rate explain +46770123456 --account acme", "deny remove 4677",
        "deny remove 4690", "deny list --ndjson", "account lock acme --key l1",
        "rate explain +46701234567 --account acme", "plan delete eu-retail", "plan delete eu-retail --yes",
        "plan create spare retail-eu", "plan delete spare --yes --dry-run", "plan delete spare --yes",
        "plan delete spare --yes --json", "number parse +46701234567", "number parse +46701234567 --json",
        "number parse +46000000000", "number parse +4670", "number parse 0701234567", "number parse '+46 70'",
      ]),
    GoldenTranscript(
      name: "formats", files: decks,
      commands: setup
        + [
          "balance --all", "history beta", "statement beta --month 2026-11", "hold list", "hold show b-3",
          "account list", "account show beta", "cap show acme", "node list", "recover --dry-run", "verify", "deck list",
          "plan list", "plan show eu-retail", "deny list", "rate lookup +4670123",
          "rate explain +4670123 --account acme",
          "rate diff retail-eu retail-eu@2026-12-01", "number parse +46701234567", "topup acme 1 --key f1",
          "opening acme 1 --key f2", "refund acme 40 0.01 --key f3", "adjust acme -0.01 --reason r --key f4",
          "transfer acme beta 0.5 --key f5", "chargeback acme 27 1 --yes --key f6", "account unlock acme --key f7",
          "account set-cap acme --per-day 9 --key f8", "account lock beta --key f9",
          "account set-plan acme none --key f10",
          "deck activate retail-eu@2026-12-01 --from 2026-12-02", "plan set eu-retail retail-eu=1.1",
          "deny add 4691 --reason other", "balance nobody", "topup acme 1,5 --key f11", "nonsense",
        ].flatMap { command in ["json", "csv", "ndjson"].map { "\(command) -o \($0)" } }
    ),
    GoldenTranscript(
      name: "rehearsals", files: decks,
      commands: setup
        + [
          "account create gamma --currency EUR --key d1", "account close acme --key d2", "account lock acme --key d3",
          "account unlock delta-us --key d4", "account set-plan acme none --key d5",
          "account set-cap acme --concurrent 1 --key d6", "account set-zone acme Asia/Tokyo --key d7",
          "topup acme 1 --key d8", "opening acme 1 --key d9", "refund acme 40 --key d10",
          "adjust acme -1 --reason r --key d11", "adjust acme -100 --reason r --key d12",
          "transfer acme beta 1 --key d13", "chargeback acme 27 --key d14", "recover",
          "deck import next.csv --name other --version v1", "deck activate retail-eu@2026-12-01",
          "plan create second retail-eu", "plan set eu-retail retail-eu=2", "plan delete eu-retail",
          "deny add 4692 --reason other", "deny remove 4690",
        ].map { "\($0) --dry-run" } + ["balance", "account list", "deck list", "plan list", "deny list"]),
    GoldenTranscript(
      name: "explain", hasLedger: false,
      commands: [
        "explain 488", "explain 488 --json", "explain 487", "explain sip:302 --csv", "explain 477",
        "explain 699 --json",
        "explain q850:65", "explain cause 65 --json", "explain Q.850:21", "explain 'cause=16'", "explain cause 77",
        "explain q850:0 --ndjson", "explain sip.media", "explain sip.media --json", "explain gw.funds",
        "explain gw.limit --csv", "explain network.lost", "explain insufficientCredit",
        "explain insufficientCredit --json", "explain concurrencycap", "explain 65", "explain 200", "explain 700",
        "explain cause 128", "explain cause x", "explain sip.meda", "explain media", "explain insuficientCredit",
        "explain busy here", "explain user busy --json", "explain nonsense", "explain nonsense --json", "explain ''",
        "explain",
      ]),
    GoldenTranscript(
      name: "usage",
      commands: [
        "--json balance acme", "-o csv --database ledger.db balance acme", "--database=nowhere.db balance", "--json",
        "balance --database .", "balnce", "account shw", "account show", "balance --jsn", "balance --json --csv",
        "balance -o xml",
        "balance --color blue", "balance --tz Mars/Olympus", "balance --tz Mars/Olympus --json",
        "history acme --limit 0",
        "history acme --limit x", "history acme --after -1", "history acme --from 2026-11 --to 2026-10", "account",
        "--version", "topup --help", "frobnicate --json", "completion tcsh", "help balance",
      ]),
  ]

  /// Decks, a plan and a deny range in place.
  static let setup = [
    "deck import retail.csv --name retail-eu --version 2026-11-01 --currency EUR --activate-from 2026-11-01",
    "deck import next.csv --name retail-eu --version 2026-12-01", "plan create eu-retail retail-eu",
    "deny add 4690 --reason premium", "account set-plan acme eu-retail --key s1",
  ]

  /// Prices as an operator keeps them.
  static let decks = [
    "retail.csv": """
    prefix,name,rate,fee,initial,increment,grace,min_charge,flags
    46,Sweden,0.006,,1,1,,,
    4670,Sweden mobile,0.0145,,60,1,,,
    4673,Sweden mobile 73,0.02,0.01,30,6,5,0.05,
    4676,"Sweden ""M2M"", data",0.0000001,,1,1,,,half-even
    4690,Sweden premium,1,,60,60,,,blocked

    """,
    "next.csv": """
    prefix;name;currency;rate;initial;increment
    46;Sweden;EUR;0.006;1;1
    4670;Sweden mobile;EUR;0.015;60;1
    4673;Sweden mobile 73;EUR;0.02;60;1
    47;Norway;EUR;0.01;1;1

    """,
    "peak.csv": """
    prefix,name,rate,initial,increment,time_class
    47,Norway,0.01,1,1,
    47,Norway,0.03,1,1,peak

    """,
    "bad.csv": """
    prefix,name,rate,initial
    46,Sweden,abc,1
    4a,Nowhere,1,1
    47,Norway,0.0123456789,1
    47,Norway,-1,1
    48,Poland,1,99999999

    """,
  ]

  @Test("transcript", arguments: transcripts)
  func transcript(_ transcript: GoldenTranscript) async throws { try await transcript.check() }
}
