import Foundation
import Glibc
import PeerKit
import Testing

@Suite("A gateway of one's own, from an empty home", .serialized)
struct GatewayOfYourOwnTests {
  private static func readmeText() throws -> String {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md")
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// The commands of the first block of code under a heading of the README.
  private static func commands(under heading: String) throws -> [String] {
    let text = try readmeText()
    let section = try #require(text.components(separatedBy: "\n\(heading)\n").dropFirst().first)
    let block = try #require(section.components(separatedBy: "```").dropFirst().first)
    return block.split(separator: "\n").map(String.init).filter { !$0.isEmpty }
  }

  @Test("The README's four commands, word for word, and a call in a second terminal")
  func readme() async throws {
    let commands = try Self.commands(under: "### A gateway of your own")
    #expect(commands.count == 4)
    let home = try CleanHome()
    for command in commands.dropLast() {
      let result = try await home.shell(command)
      #expect(result.status == 0, "\(command): \(result)")
    }
    let last = try #require(commands.last)
    let (gateway, entry) = try await home.gateway(
      String(last.prefix { $0 != "#" }).trimmingCharacters(in: .whitespaces))
    defer { gateway.end() }
    #expect(entry.places.environments.map(\.name) == ["production"])
    let balance = try await home.run(["balance"])
    #expect(balance.output.contains("acme") && balance.output.contains("10.000000"))
    let call = try await home.run(["call", "+46000000000", "--for", "300ms"])
    #expect(call.status == 0, "\(call)")
    #expect(home.files(".db").allSatisfy { $0.contains("production-gateway.db") }, "no second ledger was made")
    kill(entry.process, SIGTERM)
    #expect(try await gateway.exited(within: 10) == 0)
  }

  @Test("The README's first five minutes need nothing sourced")
  func firstMinutes() throws {
    for command in try Self.commands(under: "## First five minutes") { #expect(command.hasPrefix("landline dev")) }
    let text = try Self.readmeText()
    let section = try #require(text.components(separatedBy: "\n## First five minutes\n").dropFirst().first)
    // What stands between the fences of a block: every second part. Only a web page needs values of its own written in.
    let blocks = section.components(separatedBy: "\n## ")[0].components(separatedBy: "```").enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { $0.element }
    let ofCommands = blocks.filter { $0.hasPrefix("\nlandline ") }
    #expect(ofCommands.count >= 2)
    for line in ofCommands.flatMap({ $0.split(separator: "\n") }) { #expect(line.hasPrefix("landline "), "\(line)") }
    let sourcing = blocks.filter { $0.contains("dev/environment") }
    #expect(sourcing.allSatisfy { $0.contains("<!doctype html>") }, "\(sourcing)")
  }

  @Test("init leaves alone what is there, continues what was interrupted, and keeps secrets to their owner")
  func initialised() async throws {
    let home = try CleanHome()
    let made = try await home.run(["init", "own", "--currency", "USD", "--account", "shop", "--json"])
    #expect(made.status == 0, "\(made)")
    #expect(made.output.contains("\"account\":\"shop\"") && made.output.contains("own/landline.yaml"))
    for name in ["phone", "operator"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(home.path)/own/secrets/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    let check = try await home.run(["serve", "--check", "--config", "own/landline.yaml"])
    #expect(check.status == 0, "\(check)")
    let rate = try await home.run(
      ["rate", "explain", "+46701234567", "--account", "shop", "--seconds", "60", "--config", "own/landline.yaml"])
    #expect(rate.status == 0 && rate.output.contains("USD"), "\(rate)")

    let again = try await home.run(["init", "own"])
    #expect(again.status == 5 && again.diagnostics.contains("there is a gateway already"), "\(again)")
    try FileManager.default.createDirectory(atPath: "\(home.path)/full", withIntermediateDirectories: false)
    try home.folder.write("mine", to: "full/notes.txt")
    let full = try await home.run(["init", "full"])
    #expect(full.status == 5 && full.diagnostics.contains("the folder is not empty"), "\(full)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home.path)/full") == ["notes.txt"])

    // A run that ended after the account: the mark is there, the plan is not.
    let key = try String(contentsOfFile: "\(home.path)/own/secrets/application-key", encoding: .utf8)
    try FileManager.default.removeItem(atPath: "\(home.path)/own/landline.yaml")
    let asked = "--account shop --currency USD --application phone --http-bind 127.0.0.1:8080"
    try home.folder.write(asked, to: "own/.init-unfinished")
    let other = try await home.run(["init", "own", "--account", "other"])
    #expect(other.status == 5 && other.diagnostics.contains("other options"), "\(other)")
    let continued = try await home.run(["init", "own", "--currency", "USD", "--account", "shop"])
    #expect(continued.status == 0 && continued.output.contains(key), "\(continued)")
    #expect(try await home.run(["serve", "--check", "--config", "own/landline.yaml"]).status == 0)
    #expect(home.files("init-unfinished").isEmpty)
  }

  @Test(
    "init refuses what no configuration could have",
    arguments: [
      ["--trunk", "foo"], ["--trunk", "sips:sip.example.com"], ["--currency", "euro"],
      ["--address", "gateway.example"],
      ["--from", "0701234567"], ["--application", "../phone"], ["--application", "operator"],
    ])
  func badOptions(_ options: [String]) async throws {
    let home = try CleanHome()
    let result = try await home.run(["init", "own"] + options)
    #expect(result.status == 2, "\(result)")
    #expect(!FileManager.default.fileExists(atPath: "\(home.path)/own"))
  }

  @Test("init takes away what cannot be continued")
  func undone() async throws {
    let home = try CleanHome()
    let result = try await home.run(["init", "own", "--http-bind", "gateway.example:8080"])
    #expect(result.status == 9, "\(result)")
    #expect(!FileManager.default.fileExists(atPath: "\(home.path)/own"))
    #expect(try await home.run(["init", "own"]).status == 0)
  }

  // MARK: serve --check

  /// A folder that `landline init` made, to be spoilt.
  private func made(_ home: CleanHome) async throws -> String {
    let made = try await home.run(["init", "own"])
    #expect(made.status == 0, "\(made)")
    return try String(contentsOfFile: "\(home.path)/own/landline.yaml", encoding: .utf8)
  }

  private func check(_ home: CleanHome, _ text: String) async throws -> LandlineProcess.Result {
    try home.folder.write(text, to: "own/landline.yaml")
    return try await home.run(["serve", "--check", "--config", "own/landline.yaml"])
  }

  @Test("serve --check binds, reads certificates and keys, and asks the ledger for accounts and decks; all in one run")
  func checked() async throws {
    let home = try CleanHome()
    let text = try await made(home)
    let authority = try await CertificateAuthority()
    let old = try await authority.issue("old", names: "DNS:old.example", days: -20 ... -3)
    let good = try await authority.issue("good", names: "DNS:good.example")
    let (descriptor, port) = try FreePort.bound(isDatagram: true)
    defer { close(descriptor) }
    let spoilt =
      text.replacing("account: acme", with: "account: ghost").replacing(":5060\"", with: ":\(port)\"")
      .replacing(
        /udp:\n    transport: udp\n    bind: "[^"]*"/,
        with: """
          udp:
              transport: udp
              bind: "127.0.0.1:\(port)"
            old:
              transport: tls
              bind: "127.0.0.1:5071"
              certificate: \(old.certificate.path)
              key: \(old.key.path)
            mixed:
              transport: tls
              bind: "127.0.0.1:5072"
              certificate: \(good.certificate.path)
              key: \(old.key.path)
            elsewhere:
              transport: tcp
              bind: "203.0.113.254:5060"
          """)
    let result = try await check(home, spoilt)
    #expect(result.status == 9, "\(result)")
    for part in [
      "listeners.udp: 127.0.0.1:\(port) (UDP) is taken by", "(process \(getpid()))",
      "listeners.elsewhere: 203.0.113.254:5060 (TCP) cannot be bound: this machine has no such address",
      "listeners.old: the certificate of old expired 3 days ago", "does not belong to \(good.certificate.path)",
      "account ghost is not in the ledger", "landline account create ghost --currency EUR --database",
    ] {
      #expect(result.diagnostics.contains(part), "\(part) in \(result.diagnostics)")
    }
    #expect(try await check(home, text).status == 0)
  }

  @Test("serve --check names a deck that is not active and an account without a plan")
  func checkedPrices() async throws {
    let home = try CleanHome()
    let text = try await made(home)
    let flags = ["--config", "own/landline.yaml"]
    #expect(try await home.run(["account", "create", "poor", "--currency", "EUR"] + flags).status == 0)
    let poor = try await check(home, text.replacing("account: acme", with: "account: poor"))
    #expect(poor.status == 0 && poor.diagnostics.contains("account poor has no plan"), "\(poor)")
    #expect(
      try await home.run(
        ["deck", "import", "own/rates.csv", "--name", "later", "--version", "1", "--currency", "EUR"] + flags
      ).status == 0)
    #expect(try await home.run(["plan", "create", "later", "later"] + flags).status == 0)
    #expect(try await home.run(["account", "set-plan", "acme", "later"] + flags).status == 0)
    let inactive = try await check(home, text)
    #expect(inactive.status == 9, "\(inactive)")
    #expect(inactive.diagnostics.contains("deck later of account acme's plan later has no version that is active"))
  }

  @Test("Fix lines say what to write, one for each problem")
  func fixLines() async throws {
    let home = try CleanHome()
    let text = try await made(home)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let transport = try #require(lines.firstIndex { $0.contains("transport: udp") }) + 1
    let format = try #require(lines.firstIndex { $0.contains("format: text") }) + 1
    let spoilt = text.replacing("    transport: udp", with: "    tranport: udp").replacing(
      "format: text", with: "format: txet")
    let result = try await check(home, spoilt)
    let fixes = result.diagnostics.split(separator: "\n").filter { $0.hasPrefix("fix: ") }.map(String.init)
    #expect(result.status == 9 && fixes.contains("fix: line \(transport): write 'transport'"), "\(result)")
    #expect(fixes.contains("fix: line \(format): log.format: text"), "\(result)")

    let elsewhere = try await check(home, text.replacing(/bind: "[^"]*:5060"/, with: "bind: \"203.0.113.254:5060\""))
    let wanted = "fix: listeners.udp: an address that 'ip address' lists, or 0.0.0.0 with 'advertise'"
    #expect(elsewhere.status == 9 && elsewhere.diagnostics.contains(wanted), "\(elsewhere)")
    let json = try await home.run(["serve", "--check", "--config", "own/landline.yaml", "--json"])
    #expect(json.diagnostics.contains(#""fix":"listeners.udp: an address"#), "\(json)")
  }

  @Test("A state folder that every user may write to is refused, by --check and by a start, with what to do")
  func openFolder() async throws {
    let home = try CleanHome()
    _ = try await made(home)
    let state = "\(home.path)/own/state"
    let serve = ["serve", "--config", "own/landline.yaml"]
    for (mode, says) in [
      (0o777, "chmod o-w"), (0o1777, "a folder of the gateway's own, such as"),
    ] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: state)
      let check = try await home.run(serve + ["--check"])
      #expect(check.status == 9, "\(check)")
      let problem = "every user of this machine may put files into \(state) (mode \(String(mode, radix: 8)))"
      #expect(check.diagnostics.contains("state: \(problem)"), "\(check)")
      #expect(check.diagnostics.contains(says), "\(check)")
      let start = try await home.run(serve)
      #expect(start.status == 8 && start.diagnostics.contains("the gateway does not start: \(problem)"), "\(start)")
    }
    // The group is the operator's choice.
    try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: state)
    #expect(try await home.run(serve + ["--check"]).status == 0)
  }

  @Test("An empty file is an error, for --check and for a start")
  func emptyFile() async throws {
    let home = try CleanHome()
    try home.folder.write("# nothing yet\n", to: "empty.yaml")
    for arguments in [["serve", "--check", "--config", "empty.yaml"], ["serve", "--config", "empty.yaml"]] {
      let result = try await home.run(arguments)
      #expect(result.status == 9, "\(result)")
      #expect(result.diagnostics.contains("the configuration has no setting"))
    }
  }

  // MARK: An account that is missing

  @Test("An account that is missing is gw.account, is named at the start and at a reload; free numbers work without it")
  func missingAccount() async throws {
    let home = try CleanHome()
    // The development gateway's own configuration, with another account than the one that has the credit.
    let (dev, made) = try await home.gateway("landline dev --port 0")
    kill(made.process, SIGTERM)
    _ = try await dev.exited(within: 10)
    let text = try String(contentsOfFile: made.places.configuration, encoding: .utf8)
      .replacing("account: demo", with: "account: ghost").replacing("level: warning", with: "level: info")
    try Data(text.utf8).write(to: URL(fileURLWithPath: made.places.configuration))
    let (gateway, entry) = try await home.gateway("landline serve --config \(made.places.configuration)")
    defer { gateway.end() }
    try await gateway.says("account ghost is not in the ledger")
    for free in ["+46000000000", "+46000000202"] {
      let call = try await home.run(["call", free, "--for", "300ms"])
      #expect(call.status == 0, "\(call)")
      #expect(!call.diagnostics.contains("ledger cannot be asked"))
    }
    let paid = try await home.run(["call", "+46701234567"])
    #expect(paid.status == 4 && (paid.output + paid.diagnostics).contains("gw.account"), "\(paid)")
    let page = try await home.run(["explain", "gw.account"])
    #expect(page.status == 0 && page.output.contains("account"))

    let create = try await home.run(["account", "create", "ghost", "--currency", "EUR"])
    #expect(create.status == 0)
    #expect(try await home.run(["account", "set-plan", "ghost", "dev"]).status == 0)
    #expect(try await home.run(["topup", "ghost", "1"]).status == 0)
    // What was known of the account is asked again after a second.
    let works = try await Deadline(seconds: 10).first("call that is paid") {
      let call = try await home.run(["call", "+46701234567", "--for", "300ms"])
      return call.status == 0 ? call : nil
    }
    #expect(works.output.contains("cost"))
    try Data(text.replacing("account: ghost", with: "account: nobody").utf8)
      .write(to: URL(fileURLWithPath: made.places.configuration))
    kill(entry.process, SIGHUP)
    try await gateway.says("account nobody is not in the ledger")
  }

  // MARK: The end

  @Test("A gateway that stops tells its apps how their calls ended and what they cost, and is gone a second later")
  func stop() async throws {
    let home = try CleanHome()
    let (gateway, entry) = try await home.gateway("landline dev --port 0")
    defer { gateway.end() }
    let call = try home.start("landline call +46701234567")
    defer { call.end() }
    try await call.says("established")
    let begin = ContinuousClock.now
    kill(entry.process, SIGTERM)
    _ = try await gateway.exited(within: 5)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    #expect(seconds < 1.5, "the last call ends at once, and the process within a second after it")
    _ = try await call.exited(within: 5)
    #expect(call.output.contains("ended") && call.output.contains("cost     0.0"), "\(call.output)")
    #expect(!call.output.contains("network.lost") && !call.output.contains("disconnected"), "\(call.output)")
    // An app that never answers a goodbye, and one that watches, keep nobody waiting.
    let (second, other) = try await home.gateway("landline dev --port 0")
    defer { second.end() }
    let watcher = try home.start("landline calls watch")
    defer { watcher.end() }
    let port = try #require(other.places.url?.split(separator: ":").last)
    let deaf = try home.start(
      """
      bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(port); printf "GET /v1/connect HTTP/1.1\\r\\nHost: x\\r\\nUpgrade: websocket\\r\\n\
      Connection: Upgrade\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nSec-WebSocket-Version: 13\\r\\n\
      Sec-WebSocket-Protocol: landline.v1\\r\\n\\r\\n" >&3; head -1 <&3; sleep 60'
      """)
    defer { deaf.end() }
    try await deaf.says("101")
    let again = ContinuousClock.now
    kill(other.process, SIGTERM)
    _ = try await second.exited(within: 10)
    #expect((ContinuousClock.now - again) / .seconds(1) < 1.5)
  }
}
