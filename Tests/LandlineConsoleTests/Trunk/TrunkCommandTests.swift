import Foundation
import Testing

@Suite("Trunk commands: configuration and refusals")
struct TrunkCommandTests {
  private static let file = """
    listeners:
      inside:
        transport: udp
        bind: 127.0.0.1:5060
    trunks:
      carrier-a:
        uri: sip:sip.carrier-a.example;transport=tls
        account:
          username: "1001"
          password: secret-word
        codecs: [pcmu, pcma]
      carrier-b:
        uri: 192.0.2.7
        drain: true
    """

  private func run(_ arguments: [String], _ text: String = file) async throws -> LandlineProcess.Result {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    try Data(text.utf8).write(to: process.folder.appendingPathComponent("landline.yaml"))
    return try await process.run(arguments, environment: ["LANDLINE_CONFIG": "landline.yaml"])
  }

  @Test("list")
  func list() async throws {
    let result = try await run(["trunk", "list"])
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines.dropFirst().first?.hasPrefix("carrier-a  sip:sip.carrier-a.example;transport=tls  1001") == true,
      "\(result)")
    #expect(lines.last?.hasPrefix("carrier-b  sip:192.0.2.7") == true)
    #expect(result.status == 0)
    #expect(!result.output.contains("secret-word"))
  }

  @Test("show, in every format, without the password", arguments: ["table", "json", "csv", "ndjson"])
  func show(_ format: String) async throws {
    let result = try await run(["trunk", "show", "carrier-a", "-o", format])
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("sip:sip.carrier-a.example;transport=tls"))
    #expect(result.output.contains("1001"))
    #expect(!result.output.contains("secret-word"))
  }

  @Test("an unknown trunk is named with the nearest one")
  func unknown() async throws {
    for command in ["show", "test"] {
      let result = try await run(["trunk", command, "carier-a"])
      #expect(result.status == 3)
      #expect(result.diagnostics.contains("fix: did you mean carrier-a?"), "\(result)")
    }
  }

  @Test("all problems of the file in one run")
  func broken() async throws {
    let text = "trunks:\n  a:\n    uri: sip:x.example\n    tranport: udp\n  b:\n    uri: 'sip:'\n"
    let result = try await run(["trunk", "list"], text)
    #expect(result.status == 9)
    #expect(result.output.isEmpty)
    #expect(result.diagnostics.contains("landline.yaml:4:5 trunks.a: unknown key 'tranport'"), "\(result)")
    #expect(result.diagnostics.contains("landline.yaml:6:10 trunks.b.uri:"), "\(result)")
    let missing = try await run(["trunk", "list", "--config", "none.yaml"])
    #expect(missing.status == 9)
    #expect(missing.diagnostics.contains("the configuration does not exist (none.yaml)"))
  }

  @Test(
    "what cannot be asked",
    arguments: [
      (["--number", "112"], "emergency services are never called"),
      (["--number", "+112"], "emergency services are never called"),
      (["--number", "+46112"], "emergency services are never called"),
      (["--number", "+46000000000"], "the gateway answers that number itself"),
      (["--number", "0701234567"], "the country code is missing"),
      (["--number", "+46701234567"], "nobody is known who could call"),
      (["--timeout", "5min"], "none that can be waited"),
      (["--timeout", "99999999999999999999s"], "none that can be waited"),
      (["--user", "x"], "a user without a password"),
      (["--password-file", "x"], "without a user"),
      (["--user", "x", "--password-file", "none"], "the password file does not exist"),
      (["--name-server", "dns.example"], "no numeric address"),
      (["--pin", "ab:cd"], "no SHA-256 fingerprint"),
      (["--ca", "a.pem", "--pin", "ab"], "needs no authority"),
      (["--register"], "there is no account to register"),
    ] as [([String], String)])
  func refused(_ options: [String], _ text: String) async throws {
    let result = try await run(["trunk", "test", "sip:192.0.2.1"] + options)
    #expect(result.status == 2, "\(result)")
    #expect(result.diagnostics.contains(text), "\(result)")
    #expect(result.output.isEmpty)
  }

  @Test("a trunk that no listener can reach is told before anything else")
  func noListener() async throws {
    let result = try await run(["trunk", "test", "carrier-a", "--name-server", "127.0.0.1:1", "--timeout", "200ms"])
    #expect(result.output.contains("no listener speaks tls"), "\(result)")
    #expect(result.output.contains("add a listener with 'transport: tls' to landline.yaml"))
    #expect(result.status == 4)
  }

  @Test("names of trunks complete")
  func completion() async throws {
    for command in ["show", "test"] {
      let request = [
        "---completion", "trunk", command, "--", "positional@0", "2", "0", "landline", "trunk", command, "",
      ]
      let result = try await run(request)
      #expect(result.output.split(separator: "\n") == ["carrier-a", "carrier-b"], "\(result)")
    }
  }
}
