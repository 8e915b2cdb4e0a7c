import Foundation
import PeerKit
import Testing

/// Guesses, fixes and keys: what a command says when it did not do what was wanted.
@Suite("Words that help, and none that do not")
struct WordingTests {
  @Test(
    "nothing is guessed that lies further off than two slips",
    arguments: [
      ("blanaces", nil), ("histroy", "history"), ("verfy", "verify"), ("colour", nil), ("statementxyz", nil),
    ] as [(String, String?)])
  func commands(_ typed: String, _ meant: String?) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let result = try await process.run([typed])
    #expect(result.status == 2)
    #expect(result.diagnostics.contains("did you mean") == (meant != nil), "\(result.diagnostics)")
    if let meant { #expect(result.diagnostics.contains("did you mean landline \(meant)?")) }
  }

  @Test(
    "options too",
    arguments: [
      ("--jsn", true), ("--allow", true), ("--allows", false), ("--csb", true), ("--colour", true), ("--hmn", false),
    ])
  func options(_ typed: String, _ isGuessed: Bool) async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let result = try await process.run(["balance", typed])
    #expect(result.status == 2)
    #expect(result.diagnostics.contains("Unknown option '\(typed)'"), "\(result.diagnostics)")
    #expect(result.diagnostics.contains("Did you mean") == isGuessed, "\(result.diagnostics)")
  }

  @Test("a generated key is told for what happened, and for nothing else")
  func keys() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    for refused in [
      ["topup", "nobody", "1"], ["topup", "acme", "0"], ["account", "create", "acme", "--currency", "EUR"],
    ] {
      let result = try await process.run(refused)
      #expect(result.status != 0)
      #expect(!result.diagnostics.contains("key: "), "\(refused): \(result.diagnostics)")
    }
    let done = try await process.run(["topup", "acme", "1"])
    #expect(done.status == 0)
    #expect(done.diagnostics.contains("key: cli-"), "\(done.diagnostics)")
    let dry = try await process.run(["topup", "acme", "1", "--dry-run"])
    #expect(!dry.diagnostics.contains("key: "), "\(dry.diagnostics)")
  }

  @Test("what was just done is no fix for itself")
  func fixes() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let file = process.folder.appendingPathComponent(LedgerScenario.fileName)
    var content = try Data(contentsOf: file)
    // Pages of the database, but not its head.
    for index in 8192..<min(content.count, 65_536) { content[index] = 0xA5 }
    try content.write(to: file)
    let other = try await process.run(["balance"])
    let same = try await process.run(["verify", "--full"])
    #expect(other.status == 6, "\(other.diagnostics)")
    #expect(other.diagnostics.contains("fix: landline verify --full"), "\(other.diagnostics)")
    #expect(!same.diagnostics.contains("fix: landline verify --full"), "\(same.diagnostics)")
  }

  @Test("landline dev --trunk names the option, and writes nothing")
  func developmentTrunk() async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    for trunk in ["foo", "http://example.com", ""] {
      let result = try await process.run(["dev", "--state", "state", "--port", "0", "--trunk", trunk])
      #expect(result.status == 2, "\(trunk): \(result.diagnostics)")
      #expect(result.diagnostics.contains("--trunk"), "\(result.diagnostics)")
      #expect(result.diagnostics.contains("fix: a SIP URI such as sip:127.0.0.1:5070"), "\(result.diagnostics)")
      #expect(!FileManager.default.fileExists(atPath: process.folder.appendingPathComponent("state").path))
    }
  }

  @Test("marks that turn the direction of writing are shown as escapes wherever a terminal may show them")
  func directions() async throws {
    let process = try await LandlineProcess()
    defer { process.remove() }
    let note = "paid\u{202E}1.00\u{2066}"
    #expect(try await process.run(["topup", "acme", "1", "--note", note]).status == 0)
    let table = try await process.run(["history", "acme"])
    let json = try await process.run(["history", "acme", "--json"])
    let option = try await process.run(["balance", "--all\u{202E}"])
    let csv = try await process.run(["history", "acme", "--csv"])
    // Under a terminal of its own.
    let line = "\(LandlineProcess.executable.path) history acme --csv"
    let terminal = try await LandlineProcess.run(
      URL(fileURLWithPath: "/usr/bin/script"), ["-qec", line, "/dev/null"], in: process.folder)
    for shown in [table.output, json.output, option.diagnostics, terminal.output] {
      #expect(!shown.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{2066}" }, "\(shown)")
    }
    #expect(table.output.contains(#"paid\u{202E}1.00\u{2066}"#), "\(table.output)")
    #expect(json.output.contains(#"paid\u202e1.00\u2066"#), "\(json.output)")
    #expect(option.diagnostics.contains(#"--all\u{202E}"#), "\(option.diagnostics)")
    #expect(terminal.output.contains(#"paid\u{202E}1.00\u{2066}"#), "\(terminal.output)")
    // A file gets what is in the books, to the byte.
    #expect(csv.output.contains(note), "\(csv.output)")
  }

  @Test("numbers are taken as people write them")
  func numbers() async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    for text in ["+46 70 123 45 67", "0046701234567", "tel:+46-70-123-45-67", "+46 (0)70 123 45 67"] {
      let result = try await process.run(["number", "parse", text, "--csv"])
      #expect(result.output.contains("+46701234567"), "\(text): \(result.diagnostics)")
    }
    let bad = try await process.run(["number", "parse", "+46 70x"])
    #expect(bad.status == 2)
    #expect(
      bad.diagnostics.contains("'x' is no part of a telephone number (NUMBER, character 7)"), "\(bad.diagnostics)")
  }

  @Test(
    "every command has an example that the parser takes",
    // As many commands as have help, at the least.
    arguments: [(LandlineProcess.executable, 60), (LandlineProcess.lab, 12)])
  func examples(_ program: URL, _ least: Int) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let result = try await process.run(["manual", "--examples", "--csv"], of: program)
    #expect(result.status == 0, "\(result.diagnostics)")
    #expect(result.output.split(whereSeparator: \.isNewline).count > least, "\(result.output)")
  }

  @Test(
    "what is the laboratory's is told to whoever asks landline for it, and each program speaks under its own name",
    arguments: [
      (
        LandlineProcess.executable, ["simulate", "calls"],
        "landline: there is no such command (simulate)\nfix: landline-lab simulate\n"
      ),
      (LandlineProcess.executable, ["bench"], "landline: there is no such command (bench)\nfix: landline-lab bench\n"),
      (
        LandlineProcess.lab, ["bench", "call"],
        "landline-lab: there is no such command (bench call)\nfix: did you mean landline-lab bench calls?\n"
      ),
      (
        LandlineProcess.lab, ["simulate", "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--delay", "-5"],
        "landline-lab: value: -5.0 is out of range (--delay)\nfix: 0 to 60000\n"
      ),
    ])
  func laboratory(_ program: URL, _ arguments: [String], _ diagnostics: String) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let result = try await process.run(arguments, of: program)
    #expect(result.status == 2)
    #expect(result.diagnostics == diagnostics)
  }

  @Test(
    "manual pages without a warning of mandoc",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc"), "mandoc is not installed"))
  func manual() async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    let configuration = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Config/landline.yaml").standardizedFileURL.path
    let made = try await process.run(["manual", "--output-dir", "man", "--configuration", configuration])
    #expect(made.status == 0, "\(made.diagnostics)")
    let folder = process.folder.appendingPathComponent("man")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for page in ["landline.1", "landline-call.1", "landline-calls-show.1", "landline-trunk-test.1", "landline.yaml.5"] {
      #expect(pages.contains(page), "\(pages)")
    }
    let lint = try await LandlineProcess.run(
      URL(fileURLWithPath: "/usr/bin/mandoc"), ["-T", "lint", "-W", "style"] + pages, in: folder)
    // References among the pages are looked for where manual pages are installed.
    let found = (lint.output + lint.diagnostics).split(separator: "\n").filter {
      !$0.contains("referenced manual not found")
    }
    #expect(found.isEmpty, "\(found.prefix(20).joined(separator: "\n"))")
    let text = try await LandlineProcess.run(URL(fileURLWithPath: "/usr/bin/mandoc"), ["landline-call.1"], in: folder)
    #expect(text.output.contains("landline call +46000000486 --expect-sip 486"), "\(text.output)")
    let yaml = try String(contentsOf: folder.appendingPathComponent("landline.yaml.5"), encoding: .utf8)
    for key in [
      "http.limits.connections-per-host", "trunks.carrier-a.caller.from-user", "trunks.carrier-a.account.realm",
    ] {
      #expect(yaml.contains(key), "\(key)")
    }
  }
}
