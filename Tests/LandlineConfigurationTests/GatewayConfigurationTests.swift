import AppProtocol
import CallModel
import Foundation
import LandlineConfiguration
import LandlineWire
import RoutingCore
import SDPCore
import SIPCore
import TestVectors
import Testing

/// What is wrong with a text, one line each.
private func problems(_ text: String, file: String = "landline.yaml") -> [String] {
  do throws(ConfigurationProblems) {
    _ = try GatewayConfiguration(text, file: file)
    return []
  } catch {
    return error.all.map(\.description)
  }
}

/// A file with one trunk that has these lines.
private func trunk(_ lines: String...) -> String {
  "trunks:\n  a:\n    uri: sip:a.example\n" + lines.map { "    \($0)\n" }.joined()
}

private func read(_ lines: String...) throws -> TrunkConfiguration {
  let text = "trunks:\n  a:\n    uri: sip:a.example\n" + lines.map { "    \($0)\n" }.joined()
  return try #require(try GatewayConfiguration(text, file: "landline.yaml").trunk("a"))
}

@Suite("Configuration: the example")
struct ExampleTests {
  private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Config/landline.yaml").standardized.path

  @Test("the example is read, and says what holds without it")
  func example() throws {
    let configuration = try GatewayConfiguration(path: Self.path)
    #expect(configuration.listeners.map(\.name) == ["public-udp", "public-tcp"])
    #expect(configuration.listeners.first?.listener.advertisedHost == .ipv4(0xCB00_7107))
    var trunk = try #require(configuration.trunk("carrier-a"))
    let bare = try TrunkConfiguration(name: "carrier-a", uri: "sip:sip.carrier-a.example")
    #expect(trunk.sessionTimer == bare.sessionTimer)
    #expect(trunk.reliability == bare.reliability)
    #expect(trunk.ringTimeoutMilliseconds == bare.ringTimeoutMilliseconds)
    #expect(trunk.trunk.healthPolicy == bare.trunk.healthPolicy)
    #expect(trunk.media.packetTime == bare.media.packetTime)
    #expect(trunk.media.protection == bare.media.protection)
    trunk.identity.ownedNumbers = nil
    #expect(trunk.identity == bare.identity)
  }

  @Test("what is commented out is read too once it is not")
  func uncommented() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("secrets"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in [
      ("carrier-a", "a-secret\n"), ("phone", "pfYdkzcWkk6Gh9o5n8YoTg==\n"), ("admin", "0123456789abcdefghij\n"),
      ("anna", "abcdefghij0123456789\n"), ("turn", "0123456789abcdef\n"),
      ("lobby", "a-long-enough-password\n"),
    ] {
      let file = folder.appendingPathComponent("secrets/\(name)")
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    // Keys and the comments under them lose one mark; prose has no colon behind its first word.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
      guard let match = line.firstMatch(of: /^( +)# ( *(?:(?:[a-z-]+|"\+[0-9]+"):(?: .*)?|- \{.*))$/) else {
        return String(line)
      }
      let name = match.2.split(separator: ":").first?.drop { $0 == " " } ?? ""
      return name == "fingerprints" || line.contains("# #") ? String(line) : "\(match.1)\(match.2)"
    }
    let whole = lines.joined(separator: "\n")
    let configuration = try GatewayConfiguration(whole, file: folder.appendingPathComponent("landline.yaml").path)
    #expect(configuration.listeners.map(\.name) == ["public-udp", "public-tcp", "public-tls"])
    let production = try #require(configuration.environment("production"))
    #expect(production.applications.map(\.name) == ["phone"])
    #expect(production.operators.map(\.name) == ["admin"])
    #expect(production.owners.map(\.name) == ["anna"])
    #expect(production.deskPhones.map(\.name) == ["lobby"] && production.deskPhones.first?.country == 46)
    #expect(configuration.http.tls?.identity.privateKey == folder.appendingPathComponent("tls/gateway.key").path)
    #expect(configuration.warnings.isEmpty)
    #expect(
      configuration.media.turn?.servers.map(\.description) == [
        "turn:turn.example.com:3478?transport=tcp", "turns:turn.example.com:443?transport=tcp",
      ])
    #expect(configuration.media.turn?.secret.exposed == "0123456789abcdef")
    let trunk = try #require(configuration.trunk("carrier-a"))
    #expect(trunk.account?.password.exposed == "a-secret")
    #expect(trunk.account?.algorithms == [.sha256, .md5])
    #expect(trunk.registrationSeconds == 3600)
    #expect(trunk.proxies.count == 1)
    #expect(trunk.identity.domain == .name("gateway.example.com"))
    #expect(trunk.tls?.trust == .authorities([folder.appendingPathComponent("tls/carrier-a-ca.pem").path]))
    #expect(trunk.tls?.identity?.privateKey == folder.appendingPathComponent("tls/gateway.key").path)
  }
}

@Suite("Configuration: signed callers")
struct StirConfigurationTests {
  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "landline-stir-\(UInt64.random(in: 0...UInt64.max))")

  /// A file beside the configuration.
  private func write(_ name: String, _ text: String) throws {
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: Self.folder.appendingPathComponent(name))
  }

  private var file: String { Self.folder.appendingPathComponent("landline.yaml").path }

  private static let trunk = "trunks:\n  a:\n    uri: sip:a.example\n    stir: verify\n"

  @Test("whose signatures are believed, where certificates are fetched, and which trunks verify")
  func whole() throws {
    try write("list.pem", SignedCaller.authority)
    let stir = "stir:\n  authorities: [list.pem]\n  internal-addresses: [10.0.0.0/8]\n  web-authorities: [list.pem]\n"
    let configuration = try GatewayConfiguration(stir + Self.trunk, file: file)
    #expect(configuration.stir.authorities == (try IdentityAuthorities(pems: [Array(SignedCaller.authority.utf8)])))
    #expect(configuration.stir.fetches.gate.allowed == [try AddressGate.Range("10.0.0.0/8")])
    #expect(configuration.stir.fetches.authorities == [Array(SignedCaller.authority.utf8)])
    #expect(configuration.trunks.first?.inbound.stir == .verify)
    #expect(try read("").inbound.stir == .off)
    let other = try GatewayConfiguration(
      stir.replacing("10.0.0.0/8", with: "10.0.0.1") + Self.trunk.replacing("verify", with: "enforce"), file: file)
    #expect(other.changes(since: configuration).needsRestart.isEmpty)
    #expect(other.changes(since: configuration).live.count == 2)
  }

  @Test(
    "what cannot be is named with its place",
    arguments: [
      (StirConfigurationTests.trunk, "4:11", "stir.authorities"),
      (StirConfigurationTests.trunk.replacing("verify", with: "veriyf"), "4:11", "did you mean 'verify'"),
      ("stir:\n  authorities: [missing.pem]\n", "2:16", "does not exist"),
      ("stir:\n  authorities: [empty.pem]\n", "2:16", "no certificate"),
      ("stir:\n  authorities: [leaf.pem]\n", "2:16", "may not sign others"),
      ("stir:\n  internal-addresses: [example.org]\n", "2:23", "neither a numeric address nor a range"),
      ("stir:\n  internal-adresses: []\n", "2:3", "did you mean 'internal-addresses'"),
    ])
  func wrong(_ text: String, _ place: String, _ problem: String) throws {
    try write("empty.pem", "nothing\n")
    try write("leaf.pem", SignedCaller.provider)
    let found = problems(text, file: file)
    #expect(found.contains { $0.contains(problem) && $0.contains("landline.yaml:\(place) ") }, "\(found)")
  }
}

@Suite("Configuration: keys of a trunk")
struct TrunkKeyTests {
  @Test("every key changes what it names")
  func keys() throws {
    #expect(
      try read("proxies: [sip:p.example]").proxies == [
        SIPURI(scheme: .sip, user: nil, host: .name("p.example"), parameters: [SIPParameter("lr")])
      ])
    #expect(try read("proxies: sip:p.example;lr").proxies.first?.parameters == [SIPParameter("lr")])
    #expect(try read("codecs: [opus, PCMU]").media.codecs == [.opus, .pcmu])
    #expect(try read("packet-time: 30ms").media.packetTime == 30)
    #expect(try read("srtp: required").media.protection == .sdes)
    #expect(try read("srtp: optional").media.protection == [.none, .sdes])
    #expect(try read("session-timer: {enabled: false}").sessionTimer.interval == nil)
    #expect(
      try read("session-timer: {interval: 10m, minimum: 2m}").sessionTimer
        == SessionTimerPolicy(interval: 600, minimum: 120))
    #expect(try read("reliable-provisionals: required").reliability == .required)
    #expect(try read("reliable-provisionals: 'off'").reliability == .off)
    #expect(try read("transfers: true").inbound.allowsTransfer)
    #expect(try read("redirections: 3").maximumRedirections == 3)
    #expect(try read("ring-timeout: 90s").ringTimeoutMilliseconds == 90_000)
    #expect(try read("record: opus").recording == RecordingOptions(.opus, isAnnounced: true))
    #expect(try read("priority: 10").recording == nil)
    #expect(try read("max-calls: 7").trunk.limits.concurrentCalls == 7)
    #expect(try read("calls-per-second: 3").trunk.limits.callsPerSecond == 3)
    #expect(try read("burst: 9").trunk.limits.burst == 9)
    #expect(try read("ping: 0s").trunk.healthPolicy.intervalMilliseconds == 0)
    #expect(try read("not-found-tries-next: yes").trunk.failover.triesNextTrunkOnNotFound)
    #expect(try read("priority: 1").trunk.priority == 1)
    #expect(try read("weight: 0").trunk.weight == 0)
    #expect(try read("drain: true").trunk.isDraining)
    #expect(
      try read("dial: {prefix: '99#', plus: false}").identity.dialFormat == DialFormat(prefix: "99#", keepsPlus: false))
    #expect(try read("caller: {from-user: 'trunk1'}").identity.fromUser == .fixed("trunk1"))
    #expect(
      try read("account: {username: '77', password: x}", "caller: {from-user: account}").identity.fromUser
        == .fixed("77"))
    #expect(try read("caller: {domain: 192.0.2.9}").identity.domain == .ipv4(0xC000_0209))
    #expect(try !read("caller: {display-names: false}").identity.sendsDisplayName)
    #expect(try read("caller: {identity: preferred, identity-form: both}").identity.assertion == .preferred)
    #expect(try read("caller: {identity-form: both}").identity.form == .both)
    #expect(try read("caller: {identity: none}").identity.assertion == .none)
    #expect(try read("caller: {plus: false}").identity.callerFormat == .digits)
    #expect(try read("caller: {trusted: true}").identity.isTrusted)
    #expect(try read("caller: {numbers: ['+46812345678']}").identity.ownedNumbers == [E164Number("+46812345678")])
    #expect(try read("tls: {wildcard-names: true}").tls?.allowsWildcardNames == true)
    #expect(try read("tls: {minimum: '1.3'}").tls?.minimumVersion == .tls13)
    #expect(try read("account: {username: u, password: p, realm: r}").account?.realm == "r")
  }

  @Test("pins, with and without colons")
  func pins() throws {
    let plain = String(repeating: "0aF1", count: 16)
    let bytes = (0..<32).map { $0.isMultiple(of: 2) ? UInt8(0x0A) : 0xF1 }
    #expect(try read("tls: {fingerprints: [\(plain)]}").tls?.trust == .fingerprints([bytes]))
    let colons = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    #expect(try CertificatePin("sha256 Fingerprint=\(colons)").bytes == bytes)
    for wrong in [
      "", "0a", String(repeating: "0g", count: 32), String(repeating: "0a", count: 33),
      "é" + String(repeating: "a", count: 62),
    ] {
      #expect(throws: InvalidValue.self, "\(wrong)") { try CertificatePin(wrong) }
    }
  }

  @Test("peers of one host cannot be judged in two ways; policies go by name and address")
  func policies() throws {
    let pin = String(repeating: "ab", count: 32)
    let text = """
      trunks:
        a: {uri: sips:One.example, tls: {fingerprints: [\(pin)]}}
        b: {uri: sips:one.example, tls: {minimum: "1.3"}}
      """
    #expect(problems(text).count == 1)
    #expect(problems(text).first?.contains("trunks.b.tls: differs from that of trunk 'a'") == true)
    let good = try GatewayConfiguration(
      "trunks:\n  a: {uri: 'sips:One.example', proxies: ['192.0.2.1'], tls: {fingerprints: [\(pin)]}}", file: "x")
    #expect(Set(good.tlsClients.byServerName.keys) == ["one.example"])
    #expect(Set(good.tlsClients.byHost.keys) == [.ipv4(0xC000_0201)])
  }

  @Test("what one trunk of a host says of TLS holds for all trunks of that host, wherever it stands")
  func sharedPolicies() throws {
    let pin = String(repeating: "ab", count: 32)
    let configuration = try GatewayConfiguration(
      """
      trunks:
        first: {uri: sips:one.example}
        named: {uri: 'sips:ONE.example', tls: {fingerprints: [\(pin)]}}
        behind: {uri: sips:two.example, proxies: [one.example]}
        handed: {uri: sips:two.example}
        apart: {uri: sips:three.example}
        fourth: {uri: sips:four.example, tls: {minimum: "1.3"}}
      """, file: "x")
    let named = try #require(configuration.trunk("named")?.tls)
    for name in ["first", "behind", "handed"] { #expect(configuration.trunk(name)?.tls == named, "\(name)") }
    #expect(configuration.trunk("apart")?.tls == nil)
    #expect(configuration.trunk("fourth")?.tls?.minimumVersion == .tls13)
    #expect(Set(configuration.tlsClients.byServerName.keys) == ["one.example", "two.example", "four.example"])
    // Two hosts with settings of their own cannot meet in a trunk without any.
    let between = problems(
      """
      trunks:
        a: {uri: sips:a.example, tls: {fingerprints: [\(pin)]}}
        b: {uri: sips:b.example, tls: {minimum: "1.3"}}
        c: {uri: sips:a.example, proxies: [b.example]}
      """)
    #expect(between.count == 1 && between.first?.contains("trunks.c.tls: differs") == true, "\(between)")
  }
}

@Suite("Configuration: listeners")
struct ListenerKeyTests {
  private func listener(_ text: String) throws -> SIPListener {
    let all = try GatewayConfiguration("listeners:\n  a: {\(text)}\n", file: "/etc/landline/landline.yaml").listeners
    return try #require(all.first?.listener)
  }

  @Test("addresses, ports and files")
  func keys() throws {
    #expect(
      try listener("bind: 192.0.2.1")
        == SIPListener(id: ListenerID(1), transport: .udp, host: .ipv4(0xC000_0201), port: 5060))
    #expect(try listener("bind: '[2001:db8::1]:5070', transport: tcp").port == 5070)
    #expect(try listener("bind: 0.0.0.0, advertise: sip.example.com:5099").advertisedPort == 5099)
    let tls = try listener(
      "transport: tls, bind: 192.0.2.1, certificate: c.pem, key: /k.pem, minimum-tls: '1.3', client-authorities: ca.pem"
    )
    #expect(tls.port == 5061)
    #expect(tls.tls?.identity.certificateChain == "/etc/landline/c.pem")
    #expect(tls.tls?.identity.privateKey == "/k.pem")
    #expect(tls.tls?.minimumVersion == .tls13)
    #expect(tls.tls?.clientAuthorities == ["/etc/landline/ca.pem"])
  }

  @Test(
    "what cannot be listened on",
    arguments: [
      ("transport: udp", "'bind' is missing"),
      ("bind: sip.example.com", "a name stands where an address must"),
      ("bind: 192.0.2.1:0", "a port from 1 to 65535"),
      ("bind: 192.0.2.1:99999", "a port from 1 to 65535"),
      ("bind: 0.0.0.0", "'advertise' is missing"),
      ("bind: 192.0.2.1, transport: tls", "needs 'certificate' and 'key'"),
      ("bind: 192.0.2.1, certificate: x", "go with 'transport: tls' only"),
      ("bind: 192.0.2.1, transport: sctp", "'sctp' is none of udp, tcp, tls"),
      ("bind: 192.0.2.1, tranport: tcp", "unknown key 'tranport' (did you mean 'transport'?)"),
    ])
  func refused(_ text: String, _ problem: String) {
    let found = problems("listeners:\n  a: {\(text)}\n")
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.contains(problem) == true, "\(found)")
  }

  @Test("two listeners on one address")
  func twins() {
    let text = "listeners:\n  a: {bind: 192.0.2.1}\n  b: {bind: '192.0.2.1:5060'}\n"
    #expect(
      problems(text).first?.contains("listeners.b: is bound to the same address, port and transport as 'a'") == true)
  }
}

@Suite("Configuration: problems")
struct ProblemTests {
  @Test("an unknown key says where it stands and what was meant")
  func unknownKey() {
    let found = problems("trunks:\n  a:\n    uri: sip:a.example\n    redirectons: 1\n")
    #expect(found == ["landline.yaml:4:5 trunks.a: unknown key 'redirectons' (did you mean 'redirections'?)"])
    #expect(problems("trunk:\n").first == "landline.yaml:1:1 unknown key 'trunk' (did you mean 'trunks'?)")
    #expect(
      problems("zzzzzzzz: 1\n").first?.contains("known here: calls, drain, environments, hep, host, http") == true)
  }

  @Test("all problems in one run, in the order of the file")
  func all() {
    let text = """
      listeners:
        a: {bind: nowhere.example}
      trunks:
        x:
          uri: sip:bob@x.example
          codecs: [gsm]
          redirections: many
        y: {}
        bad name: {uri: x.example}
      surprise: 1
      """
    let found = problems(text)
    #expect(found.count == 7, "\(found)")
    let lines = found.compactMap {
      $0.split(separator: ":").dropFirst().first.flatMap { Int($0.split(separator: " ").first ?? "") }
    }
    #expect(lines == lines.sorted())
    #expect(lines == [2, 5, 6, 7, 8, 9, 10])
  }

  @Test(
    "a wrong value says what would be accepted",
    arguments: [
      ("ring-timeout: 90", "'90' is no duration, such as 500ms, 30s, 5m, 1h or 90d"),
      ("ring-timeout: 1s", "is out of range: 5s to 600s"),
      ("ring-timeout: 99999999999999999s", "is out of range"),
      ("ring-timeout: 999999999999999999999s", "is no duration"),
      ("redirections: 11", "no whole number from 0 to 10"),
      ("redirections: [1]", "must be a text"),
      ("transfers: maybe", "neither true nor false"),
      ("srtp: maybe", "none of off, optional, required"),
      ("srtp: requird", "(did you mean 'required'?)"),
      ("codecs: []", "at least one is needed"),
      ("codecs: {a: b}", "must be a list of texts"),
      ("codecs: [[pcma]]", "entry 1 is no text"),
      ("account: u", "must hold keys"),
      ("account: {username: u}", "one of 'password' and 'password-file'"),
      ("account: {username: u, password: p, password-file: f}", "one of 'password' and 'password-file'"),
      ("account: {password: p}", "'username' is missing"),
      ("account: {username: u, password: p, algorithms: [ROT13]}", "'ROT13' is none of MD5"),
      ("account: {username: u, password-file: /nowhere/secret}", "/nowhere/secret does not exist"),
      ("register: 1h", "there is no 'account'"),
      ("tls: {authorities: a, fingerprints: b}", "exclude each other"),
      ("tls: {fingerprints: [abc]}", "64 hexadecimal digits"),
      ("tls: {certificate: a}", "'certificate' and 'key' go together"),
      ("session-timer: {interval: 2m, minimum: 5m}", "is longer than the interval"),
      ("caller: {numbers: ['0701']}", "entry 1"),
      ("caller: {from-user: 'a b'}", "cannot stand before the @"),
      ("caller: {from-user: account}", "is 'account', and there is none"),
      ("dial: {prefix: abc}", "of 0 to 9, * and #"),
      ("proxies: ['sip:x@y']", "more than a host to call"),
      ("priority: 70000", "no whole number from 0 to 65535"),
      ("\"drain\\u0007\": true", "unknown key 'drain?'"),
      ("dial: {prefix: \"1\\n\"}", "holds a control character"),
    ])
  func value(_ line: String, _ problem: String) {
    let found = problems(trunk(line))
    #expect(found.contains { $0.contains(problem) }, "\(found)")
    #expect(found.allSatisfy { $0.hasPrefix("landline.yaml:") && !$0.contains("\n") }, "\(found)")
  }

  @Test("a key that stands twice")
  func duplicates() {
    let found = problems(trunk("drain: true", "drain: false"))
    #expect(found.count == 1)
    #expect(found.first?.contains("'drain' stands here more than once") == true, "\(found)")
    #expect(
      problems("trunks:\n  a: {uri: x.example}\n  a: {uri: y.example}\n").first?.contains(
        "'a' stands here more than once") == true)
  }

  @Test("what is no YAML")
  func syntax() {
    #expect(problems("trunks: [\n").first?.hasPrefix("landline.yaml:") == true)
    #expect(problems("trunks: \"\n").count == 1)
    #expect(problems("- a\n").first?.contains("must hold keys") == true)
    #expect(problems("trunks:\n\ta: 1\n").count == 1)
    #expect(problems("").isEmpty)
    #expect(problems("trunks:\nlisteners: ~\n").isEmpty)
  }

  @Test("anchors and aliases are told where they stand, and nothing is expanded")
  func aliases() {
    #expect(
      problems("trunks:\n  a: &x {uri: a.example}\n  b: *x\n").map { String($0.prefix(20)) } == [
        "landline.yaml:2:6 an", "landline.yaml:3:6 an",
      ])
    var bomb = "a0: &a0 [x, x]\n"
    for level in 1...40 { bomb += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
    bomb += "? *a40\n: 1\n"
    let clock = ContinuousClock()
    let start = clock.now
    #expect(problems(bomb).count <= ConfigurationProblems.maximum)
    #expect(clock.now - start < .seconds(2))
    // Text that only looks so.
    #expect(problems(trunk("dial: {prefix: '*12'}")).isEmpty)
    #expect(problems("# &a *b\n" + trunk("account: {username: a&b, password: \"*x &y\"} # *z")).isEmpty)
  }

  @Test("depth and size have bounds")
  func bounds() {
    for opener in ["[", "{a: "] {
      let found = problems("trunks: " + String(repeating: opener, count: 100_000))
      #expect(found.first?.contains("more than 16 deep") == true, "\(found.first ?? "")")
    }
    #expect(problems(String(repeating: "- ", count: 100_000)).first?.contains("more than 16 deep") == true)
    let steps = (0..<2000).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
    #expect(problems(steps).first?.contains("deep") == true || problems(steps).first?.contains("bytes") == true)
    #expect(problems(String(repeating: "#", count: 2 << 20)).first?.contains("more than 1048576 bytes") == true)
    let many = "trunks:\n" + (0..<2000).map { "  t\($0): {uri: x.example}\n" }.joined()
    #expect(problems(many).first?.contains("more than 1024 entries") == true)
    let wrong = "trunks:\n" + (0..<500).map { "  t\($0): {}\n" }.joined()
    #expect(problems(wrong).count == ConfigurationProblems.maximum)
  }

  @Test("brackets in comments, texts and numbers are no depth")
  func brackets() {
    let comment = String(repeating: "# [[[[ {{{{\n", count: 50)
    #expect(problems(comment + trunk("account: {username: 'a[[[[[[[[[[[[[[[[[[[b', password: x}")).isEmpty)
  }
}

@Suite("Configuration: files")
struct FileTests {
  private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("configuration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test("a secret is the first line of its file, beside the configuration")
  func secret() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("landline.yaml")
      try Data("trunks:\n  a:\n    uri: a.example\n    account: {username: u, password-file: secret}\n".utf8).write(
        to: file)
      let secret = folder.appendingPathComponent("secret")
      for (content, password) in [("pass word\r\nrest\n", "pass word"), ("x", "x"), ("é\n", "é")] {
        try Data(content.utf8).write(to: secret)
        let trunk = try GatewayConfiguration(path: file.path).trunk("a")
        #expect(trunk?.account?.password.exposed == password)
        #expect(!"\(String(describing: trunk))".contains(password) || password == "x")
      }
      for (content, problem) in [
        ("", "is empty"), ("\nx", "is empty"), (String(repeating: "x", count: 5000), "more than 4096 bytes"),
      ] {
        try Data(content.utf8).write(to: secret)
        let error = #expect(throws: ConfigurationProblems.self) { try GatewayConfiguration(path: file.path) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
      }
      try Data([0xFF, 0xFE]).write(to: secret)
      let error = #expect(throws: ConfigurationProblems.self) { try GatewayConfiguration(path: file.path) }
      #expect(error?.description.contains("no UTF-8 text") == true)
    }
  }

  @Test("a file that cannot be read")
  func unreadable() throws {
    try inFolder { folder in
      let missing = folder.appendingPathComponent("none.yaml").path
      let error = #expect(throws: ConfigurationProblems.self) { try GatewayConfiguration(path: missing) }
      #expect(error?.description == "\(missing) does not exist")
      #expect(throws: ConfigurationProblems.self) { try GatewayConfiguration(path: folder.path) }
    }
  }
}
