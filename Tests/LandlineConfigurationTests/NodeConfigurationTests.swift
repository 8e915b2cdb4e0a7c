import AppProtocol
import CallEngine
import CallModel
import Foundation
import LandlineConfiguration
import LandlineWire
import SIPCore
import Testing

/// A folder with files, removed at the end.
final class ConfigurationFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("configuration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  @discardableResult
  func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }
}

private func problems(
  _ text: String, file: String = "/etc/landline/landline.yaml",
  overrides: ConfigurationOverrides = ConfigurationOverrides()
) -> [String] {
  do throws(ConfigurationProblems) {
    _ = try GatewayConfiguration(text, file: file, overrides: overrides)
    return []
  } catch {
    return error.all.map(\.description)
  }
}

private let secret = "pfYdkzcWkk6Gh9o5n8YoTg=="
private let key = "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90"

@Suite("Configuration: the node")
struct NodeConfigurationTests {
  @Test("an empty file is a node on loopback that keeps its calls to itself")
  func standard() throws {
    let node = try GatewayConfiguration("", file: "x")
    #expect(node.node.text == "gateway")
    #expect(node.state == "/var/lib/landline")
    #expect(node.host == nil)
    #expect(node.http == HTTPConfiguration())
    #expect(node.http.host == .ipv4(0x7F00_0001) && node.http.port == 8080)
    #expect(node.media == MediaConfiguration())
    #expect(node.environments.isEmpty)
    #expect(node.log == LogConfiguration())
    #expect(node.log.masksNumbers)
    #expect(node.calls == EngineConfiguration.Limits())
    #expect(node.drainMilliseconds == 300_000)
    #expect(node.retention.recordMilliseconds == 7_776_000_000)
    #expect(node.warnings.isEmpty)
    #expect(node.settings.allSatisfy { $0.origin == .standard })
    #expect(node.isEmpty)
  }

  @Test(
    "only a file without any setting is empty",
    arguments: [("# comment\n", true), ("---\n", true), ("{}\n", true), ("node: main\n", false)])
  func emptiness(text: String, isEmpty: Bool) throws {
    #expect(try GatewayConfiguration(text, file: "x").isEmpty == isEmpty)
  }

  @Test("the example says what holds without it")
  func example() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Config/landline.yaml").standardized.path
    let node = try GatewayConfiguration(path: path)
    let bare = try GatewayConfiguration("", file: "x")
    #expect(node.node == bare.node)
    #expect(node.http == bare.http)
    #expect(node.media.threads == bare.media.threads)
    #expect(node.media.app.map(\.port) == bare.media.app.map(\.port))
    #expect(node.media.trunk.map(\.ports) == bare.media.trunk.map(\.ports))
    #expect(node.log == bare.log)
    #expect(node.calls == bare.calls)
    #expect(node.drainMilliseconds == bare.drainMilliseconds)
    #expect(node.retention.recordMilliseconds == bare.retention.recordMilliseconds)
    let production = try #require(node.environment("production"))
    var plain = EnvironmentConfiguration(name: "production", ledger: "/var/lib/landline/production.ledger")
    plain.trunks = ["carrier-a"]
    #expect(production == plain)
    #expect(node.warnings.isEmpty)
  }

  @Test("every key of http")
  func http() throws {
    let text = """
      http:
        bind: "[::]:8443"
        advertise: gw.example.com:443
        certificate: c.pem
        key: /k.pem
        minimum-tls: "1.3"
        origins: ["https://Phone.example.com", "http://localhost:3000"]
        proxies: [192.0.2.10, "2001:db8::10"]
        metrics: false
        limits: {connections: 1, connections-per-host: 2, sessions: 3, requests-per-second: 4, burst: 5,
          registrations-per-second: 6, body: 1024}
      """
    let http = try GatewayConfiguration(text, file: "/etc/l/l.yaml").http
    #expect(http.host == .ipv6(high: 0, low: 0) && http.port == 8443)
    #expect(http.advertisedHost == .name("gw.example.com") && http.advertisedPort == 443)
    #expect(http.tls?.identity == TLSIdentityFiles(certificateChain: "/etc/l/c.pem", privateKey: "/k.pem"))
    #expect(http.tls?.minimumVersion == .tls13)
    #expect(http.origins == ["https://phone.example.com", "http://localhost:3000"])
    #expect(http.proxies == [.ipv4(0xC000_020A), .ipv6(high: 0x2001_0DB8_0000_0000, low: 0x10)])
    #expect(!http.hasMetrics)
    var limits = HTTPConfiguration.Limits()
    (limits.connections, limits.connectionsPerHost, limits.sessions) = (1, 2, 3)
    (limits.requestsPerSecond, limits.requestBurst, limits.registrationsPerSecond) = (4, 5, 6)
    limits.bodyBytes = 1024
    #expect(http.limits == limits)
  }

  @Test("relays: servers, a secret of its own file, a lifetime")
  func turn() throws {
    let folder = try ConfigurationFolder()
    try folder.write("secret", "0123456789abcdef0123456789abcdef\n")
    let file = folder.url.appendingPathComponent("landline.yaml").path
    func read(_ text: String) throws -> GatewayConfiguration {
      try GatewayConfiguration("media: {turn: {\(text), secret-file: secret}}\n", file: file)
    }
    let turn = try #require(try read("servers: [\"turn:192.0.2.7\", \"turns:[2001:db8::7]:443\"]").media.turn)
    #expect(
      turn.servers.map(\.description) == [
        "turn:192.0.2.7:3478?transport=udp", "turns:[2001:db8::7]:443?transport=tcp",
      ])
    #expect(turn.secret.exposed == "0123456789abcdef0123456789abcdef")
    #expect(turn.lifetimeSeconds == 43_200)
    // Calls may last four hours, and begin with credentials that are half over.
    #expect(try read("servers: [turn:a.example], lifetime: 8h").warnings.isEmpty)
    let warning = try read("servers: [turn:a.example], lifetime: 7h").warnings.map(\.description)
    #expect(warning.count == 1 && warning.first?.contains("media.turn.lifetime: is less than twice") == true)
    // What a running gateway takes over; the secret is never shown.
    let before = try GatewayConfiguration("", file: "x")
    let found = try read("servers: [turn:a.example], lifetime: 8h").changes(since: before)
    #expect(
      found.live == [
        "media.turn.servers: none, now turn:a.example:3478?transport=udp", "media.turn.secret-file: changed",
        "media.turn.lifetime: 12h, now 8h",
      ])
    #expect(found.needsRestart.isEmpty)
  }

  @Test("relays that cannot be used are told, and no part of a secret is")
  func badTurn() throws {
    let folder = try ConfigurationFolder()
    try folder.write("secret", "0123456789abcdef\n")
    try folder.write("short", "x-secret\n")
    try folder.write("open", "0123456789abcdef\n", mode: 0o644)
    let file = folder.url.appendingPathComponent("landline.yaml").path
    let bad: [(String, String)] = [
      ("secret-file: secret", "'servers' is missing"),
      ("servers: [], secret-file: secret", "names no server"),
      ("servers: [turn:a]", "'secret-file' is missing"),
      ("servers: [turn:a, turn:b, turn:c, turn:d, e, f, g, h, i], secret-file: secret", "more than 8"),
      ("servers: [turn:a, turn:a], secret-file: secret", "entry 2: stands there already"),
      ("servers: [stun:a], secret-file: secret", "entry 1: neither turn: nor turns:"),
      ("servers: [\"turns:a?transport=udp\"], secret-file: secret", "DTLS"),
      ("servers: [\"turn:a?transport=sctp\"], secret-file: secret", "neither transport=udp nor transport=tcp"),
      ("servers: [\"turn:a:0\"], secret-file: secret", "the port is not a number from 1 to 65535"),
      ("servers: [\"turn:a:65536\"], secret-file: secret", "the port is not a number from 1 to 65535"),
      ("servers: [\"turn:\"], secret-file: secret", "the domain is missing"),
      ("servers: [\"turn:user@a\"], secret-file: secret", "entry 1"),
      ("servers: [turn:a], secret-file: secret, lifetime: 9m", "is out of range"),
      ("servers: [turn:a], secret-file: secret, lifetime: 8d", "is out of range"),
      ("servers: [turn:a], secret-file: short", "its first line is no secret"),
      ("servers: [turn:a], secret-file: open", "secret-file"),
      ("servers: [turn:a], secret-file: missing", "secret-file"),
      ("servers: [turn:a], secret-file: secret, secret: x", "unknown key 'secret'"),
    ]
    for (text, problem) in bad {
      let found = problems("media: {turn: {\(text)}}\n", file: file)
      #expect(found.count == 1 && found.first?.contains(problem) == true, "\(text): \(found)")
      #expect(!found.contains { $0.contains("x-secret") })
    }
  }

  @Test("media is split among threads")
  func media() throws {
    let text = """
      media:
        threads: 3
        app: [{bind: 192.0.2.1, port: 20000}, {bind: "[::]", advertise: "[2001:db8::1]", only-this-machine: true}]
        trunk: [{bind: 0.0.0.0, advertise: 203.0.113.7, ports: 30000-30017}]
      """
    let media = try GatewayConfiguration(text, file: "x").media
    let loops = media.loops
    #expect(loops.count == 3)
    #expect(loops.map { $0.app.map(\.port) } == [[20_000, 10_000], [20_001, 10_001], [20_002, 10_002]])
    #expect(loops.map { $0.trunk.map(\.ports) } == [[30_000...30_005], [30_006...30_011], [30_012...30_017]])
    #expect(loops.map { $0.app.map(\.admitsOnlyThisMachine) } == Array(repeating: [false, true], count: 3))
    #expect(loops.first?.trunk.first?.advertised == .ipv4(0xCB00_7107))
  }

  @Test("an environment with all it has")
  func environment() throws {
    let folder = try ConfigurationFolder()
    try folder.write("secrets/phone", secret + "\n")
    try folder.write("secrets/admin", "0123456789abcdefghij\n")
    let text = """
      state: data
      trunks: {a: {uri: a.example}, b: {uri: b.example}}
      environments:
        production:
          trunks: [b, a]
          sip-hosts: [SIP.example.com, 192.0.2.1]
          sip-rate: 0.015
          countries: [47, 46]
          velocity:
            - {of: user, to: foreign, calls: 10, spend: 2.5, then: lock}
            - {of: account, to: any, spend: 100, then: alarm}
          emergency: {numbers: [112, "000"], calls: 3, trunks: [a]}
          user-length: 100
          registration: [token]
          ledger-cache: 8
          largest-amount: 2500.50
          applications:
            phone: {key: \(key), secret-file: secrets/phone, account: anna,
              caller-numbers: ["+46812345678", "+46701234567"], busy: waiting}
          operators: {admin: {key-file: secrets/admin}}
        sandbox: {sandbox-numbers: true, ledger: /x/y.db}
      """
    let node = try GatewayConfiguration(text, file: folder.url.appendingPathComponent("l.yaml").path)
    let production = try #require(node.environment("production"))
    #expect(production.ledger == folder.url.appendingPathComponent("data/production.ledger").path)
    #expect(production.trunks == ["b", "a"])
    #expect(production.sipHosts == .init(listed: ["sip.example.com", "192.0.2.1"]))
    #expect(production.sipRatePerMinute == 15_000_000)
    #expect(production.countries == .listed([46, 47]))
    #expect(
      production.velocity == [
        VelocityRule(.user, to: .foreign, calls: 10, spendMicro: 2_500_000, then: .lock),
        VelocityRule(.account, to: .any, spendMicro: 100_000_000, then: .alarm),
      ])
    #expect(production.callerCountries == [AccountName(unchecked: "anna"): [46]])
    #expect(production.emergencyNumbers == ["112", "000"] && production.emergencyCalls == 3)
    #expect(production.emergencyTrunks == ["a"])
    #expect(production.registration == [.token])
    #expect(production.usersMaximumLength == 100 && production.ledgerCacheMebibytes == 8)
    #expect(production.largestAmountMicros == 2_500_500_000)
    var phone = ApplicationConfiguration(
      name: "phone", key: key, secret: Redacted(secret), account: AccountName(unchecked: "anna"),
      callerNumbers: [try E164Number("+46812345678"), try E164Number("+46701234567")], busyRule: .waiting)
    phone.secretFile = folder.url.appendingPathComponent("secrets/phone").path
    #expect(production.applications == [phone])
    #expect(production.operators == [OperatorConfiguration(name: "admin", key: Redacted("0123456789abcdefghij"))])
    #expect(!"\(node)".contains(secret) && !"\(node)".contains("0123456789abcdefghij"))
    let sandbox = try #require(node.environment("sandbox"))
    #expect(sandbox.ledger == "/x/y.db" && sandbox.hasSandboxNumbers && sandbox.trunks.isEmpty)
    #expect(sandbox.ledgerCacheMebibytes == 64 && sandbox.largestAmountMicros == 1_000_000_000_000_000)
    #expect(sandbox.countries == .ofCallerNumbers && sandbox.velocity == VelocityRule.standard)
    #expect(sandbox.registration == [.signature, .token], "both, where nothing is said")
  }

  @Test("log, calls, drain and retention")
  func settings() throws {
    let text = """
      log: {level: debug, format: text, mask-numbers: no}
      calls: {maximum: 1, per-session: 2, first-grant: 30s, grant: 2m, grant-guard: 10s, ledger-timeout: 500ms,
        maximum-length: 1h, early-media: 1m, dead-media: 20s, media-set-up: 9s, preparation: 1s,
        conferences: 3, conference-participants: 1000, conference-alone: 1h}
      drain: {timeout: 0s}
      retention: {records: forever, statistics: 7d, client-statistics: drop}
      """
    let node = try GatewayConfiguration(text, file: "x")
    #expect(node.log.level == .debug && node.log.format == .text && !node.log.masksNumbers)
    var calls = EngineConfiguration.Limits()
    (calls.calls, calls.callsPerSession, calls.firstGrantSeconds, calls.grantSeconds) = (1, 2, 30, 120)
    (calls.guardMilliseconds, calls.ledgerMilliseconds, calls.maximumCallSeconds) = (10_000, 500, 3600)
    (calls.earlyMediaMilliseconds, calls.deadMediaMilliseconds) = (60_000, 20_000)
    (calls.mediaSetUpMilliseconds, calls.preparationMilliseconds) = (9_000, 1_000)
    (calls.rooms, calls.participantsPerRoom, calls.aloneMilliseconds) = (3, 1_000, 3_600_000)
    #expect(node.calls == calls)
    #expect(node.drainMilliseconds == 0)
    #expect(node.retention.recordMilliseconds == nil)
    #expect(node.retention.statisticsMilliseconds == 604_800_000)
    #expect(!node.retention.keepsClientStatistics)
  }
}

@Suite("Configuration: problems of the node")
struct NodeProblemTests {
  @Test(
    "one wrong value is one problem with its place",
    arguments: [
      ("node: 'a b'", "1:7 node: a space cannot stand here"),
      ("host: x.example:5060", "1:7 host: a port stands where only a host belongs"),
      ("http: {bind: gw.example.com}", "1:14 http.bind: a name stands where an address must"),
      ("http: {certificate: x}", "1:7 http: 'certificate' and 'key' go together"),
      ("http: {minimum-tls: '1.2'}", "1:21 http.minimum-tls: goes with 'certificate' and 'key' only"),
      ("http: {origins: ['*']}", "origins: entry 1: any page of the world could place calls"),
      ("http: {origins: [phone.example.com]}", "entry 1: it begins with no https:// or http://"),
      ("http: {origins: ['https://a.example/x']}", "entry 1: there is more, or less, than a host and a port"),
      ("http: {origins: ['https://a.example:443']}", "entry 1: browsers leave the port 443 out"),
      ("http: {limits: {sesions: 5}}", "1:17 http.limits: unknown key 'sesions' (did you mean 'sessions'?)"),
      ("http: {proxies: [proxy.example]}", "entry 1: it is no numeric address; accepted: the address that the proxy's"),
      ("http: {limits: {body: 0}}", "1:23 http.limits.body: '0' is no whole number from 1024 to 16777216"),
      ("http: {metrcs: true}", "1:8 http: unknown key 'metrcs' (did you mean 'metrics'?)"),
      ("http: {pages: maybe}", "1:15 http.pages: 'maybe' is neither true nor false, nor a folder that exists"),
      ("http: {pages: /etc/hostname}", "1:15 http.pages: '/etc/hostname' is neither true nor false"),
      ("media: {threads: 65}", "1:18 media.threads: '65' is no whole number from 1 to 64"),
      ("media: {app: {bind: 192.0.2.1}}", "1:14 media.app: must be a list: each entry starts with '- '"),
      ("media: {app: [{port: 5000}]}", "1:15 media.app[1]: 'bind' is missing"),
      ("media: {app: [{bind: 0.0.0.0}]}", "media.app[1]: 'advertise' is missing"),
      ("media: {app: [{bind: 192.0.2.1:99}]}", "media.app[1].bind: a port stands where only an address belongs"),
      (
        "media: {app: [{bind: 192.0.2.1, port: 80}]}",
        "port: 80 belongs to the system; accepted: 1024 to 65535, or 0 for any"
      ),
      ("media: {threads: 9, app: [{bind: 192.0.2.1, port: 65530}]}", "entry 1: 9 threads from port 65530 on go past"),
      ("media: {app: [{bind: 192.0.2.1}, {bind: 192.0.2.1}]}", "media.app: entry 2: has ports of entry 1"),
      (
        "media: {threads: 2, app: [{bind: 192.0.2.1}, {bind: 192.0.2.1, port: 10001}]}", "entry 2: has ports of entry 1"
      ),
      ("media: {trunk: [{bind: 192.0.2.1, ports: 5-9}]}", "media.trunk[1].ports: it is no range of ports"),
      ("media: {trunk: [{bind: 192.0.2.1, ports: 9000-8000}]}", "media.trunk[1].ports: it is no range of ports"),
      (
        "media: {trunk: [{bind: 192.0.2.1, ports: 20000-21001}, {bind: 192.0.2.1, ports: 21000-22000}]}",
        "media.trunk: entry 2: its ports overlap those of entry 1"
      ),
      (
        "media: {threads: 4, trunk: [{bind: 127.0.0.1, ports: 20000-20003}]}", "entry 1: there are fewer pairs of ports"
      ),
      ("media: {app: [{bind: 127.0.0.1, port: 16384}]}", "entry 1: its ports lie within those of trunk entry 1"),
      (
        "listeners: {l: {bind: 192.0.2.1:20000}}\nmedia: {trunk: [{bind: 192.0.2.1}]}",
        "2:16 media.trunk: the ports contain 20000, which listener 'l' has"
      ),
      (
        "listeners: {l: {bind: 192.0.2.1:10000}}\nmedia: {app: [{bind: 0.0.0.0, advertise: 192.0.2.1}]}",
        "media.app: takes port 10000, which listener 'l' has"
      ),
      (
        "listeners: {l: {transport: tcp, bind: 127.0.0.1:8080}}\nhttp: {metrics: true}",
        "http.bind: takes port 8080, which listener 'l' has"
      ),
      ("environments: {Prod: {sandbox-numbers: true}}", "environments.Prod: the name is not 1 to 32 lower-case"),
      ("environments: {p: {}}", "environments.p: no call could go anywhere"),
      ("environments: {p: {trunks: [x]}}", "environments.p.trunks: there is no trunk 'x'"),
      (
        "trunks: {carrier: {uri: x.example}}\nenvironments: {p: {trunks: [carier]}}",
        "there is no trunk 'carier' (did you mean 'carrier'?)"
      ),
      (
        "trunks: {a: {uri: x.example}}\nenvironments: {p: {trunks: [a, a]}}",
        "2:28 environments.p.trunks: 'a' stands here more than once"
      ),
      (
        "environments: {p: {sandbox-numbers: true, ledger: a}, q: {sandbox-numbers: true, ledger: a}}",
        "environments.q.ledger: is the ledger of 'p' too: their money would mix"
      ),
      (
        "environments: {p: {sandbox-numbers: true, registration: []}}",
        "p.registration: is empty: no app could register"
      ),
      (
        "environments: {p: {sandbox-numbers: true, registration: [tokn]}}",
        "'tokn' is none of signature, token (did you"
      ),
      ("environments: {p: {sandbox-numbers: true, user-length: 256}}", "'256' is no whole number from 1 to 255"),
      ("environments: {p: {sandbox-numbers: true, sip-rate: -1}}", "sip-rate"),
      ("environments: {p: {sandbox-numbers: true, emergency: {numbers: ['+112']}}}", "'+' is not a digit"),
      ("environments: {p: {sandbox-numbers: true, emergency: {trunks: [x]}}}", "there is no trunk 'x'"),
      ("environments: {p: {sandbox-numbers: true, sip-hosts: ['a:5060']}}", "entry 1: a port stands where only a host"),
      ("log: {level: loud}", "1:14 log.level: 'loud' is none of trace, debug, info"),
      ("log: {level: inof}", "(did you mean 'info'?)"),
      ("log: {mask-number: true}", "unknown key 'mask-number' (did you mean 'mask-numbers'?)"),
      ("calls: {grant: 1500ms}", "1:16 calls.grant: 1500ms is no whole number of seconds"),
      ("calls: {grant-guard: 60s}", "calls.grant-guard: 60000ms is not shorter than the shortest grant, 60s"),
      ("calls: {ledger-timeout: 6s}", "calls.ledger-timeout: 6000ms is longer than 'grant-guard', 5000ms"),
      ("calls: {maximum: 0}", "'0' is no whole number from 1 to 1000000"),
      ("drain: {timeout: 2d}", "drain.timeout: 2d is out of range: 0s to 86400s"),
      ("drain: {timeuot: 5m}", "unknown key 'timeuot' (did you mean 'timeout'?)"),
      ("retention: {records: 1h}", "retention.records: 1h is out of range"),
      ("retention: {records: ever}", "retention.records: 'ever' is no duration"),
      ("retention: {records: 5d, statistics: 6d}", "retention.statistics: is longer than 'records'"),
      ("retention: {client-statistics: keeep}", "(did you mean 'keep'?)"),
      ("enviroments: {}", "1:1 unknown key 'enviroments' (did you mean 'environments'?)"),
    ])
  func value(_ text: String, _ problem: String) {
    let found = problems(text)
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.contains(problem) == true, "\(found)")
    #expect(found.allSatisfy { $0.hasPrefix("/etc/landline/landline.yaml:") })
  }

  @Test(
    "countries and rules of an hour: what is no good is named",
    arguments: [
      ("countries: [46, x]", "countries: entry 2: 'x' is no country code"),
      ("countries: [999]", "countries: entry 1: '999' is no country code"),
      ("countries: [+46]", "'+46' is no country code"),
      ("velocity: [{of: account, to: any, then: lock}]", "limits nothing: 'calls', 'spend' or both are needed"),
      ("velocity: [{to: any, calls: 1, then: lock}]", "'of' is missing"),
      ("velocity: [{of: account, to: abroad, calls: 1, then: lock}]", "'abroad' is none of any, domestic, foreign"),
      ("velocity: [{of: account, to: any, calls: 0, then: lock}]", "'0' is no whole number from 1 to 1000000"),
      ("velocity: [{of: account, to: any, spend: 0, then: refuse}]", "it is not above zero"),
      ("velocity: [{of: account, to: any, calls: 1, then: locks}]", "(did you mean 'lock'?)"),
    ])
  func reach(_ text: String, _ problem: String) {
    let found = problems("environments: {p: {sandbox-numbers: true, \(text)}}")
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.contains(problem) == true, "\(found)")
  }

  @Test("every country, and no rule, can be written out")
  func openReach() throws {
    let text = "environments: {p: {sandbox-numbers: true, countries: any, velocity: []}}"
    let environment = try #require(try GatewayConfiguration(text, file: "x").environment("p"))
    #expect(environment.countries == .any && environment.velocity.isEmpty)
  }

  @Test(
    "applications and operators",
    arguments: [
      ("a: {secret: \(secret), account: x}", "applications.a: 'key' is missing"),
      ("a: {key: \(key), secret: \(secret)}", "applications.a: 'account' is missing"),
      ("a: {key: \(key.uppercased()), secret: \(secret), account: x}", "a.key: it is no GUID in lower-case"),
      ("a: {key: \(key)0, secret: \(secret), account: x}", "a.key: it is no GUID in lower-case"),
      ("a: {key: \(key), account: x}", "applications.a: one of 'secret' and 'secret-file' is needed"),
      ("a: {key: \(key), secret: abc, secret-file: x, account: x}", "one of 'secret' and 'secret-file' is needed"),
      ("a: {key: \(key), secret: TopSecret, account: x}", "a.secret: is not the Base64 of 16 bytes"),
      ("a: {key: \(key), secret: \(secret), account: '-'}", "a.account: "),
      ("a: {key: \(key), secret: \(secret), account: x, caller-numbers: ['1']}", "caller-numbers: entry 1"),
      ("a: {key: \(key), secret: \(secret), account: x, busy: waitng}", "(did you mean 'waiting'?)"),
      (
        "a: {key: \(key), secret: \(secret), account: x, self-signed: true}",
        "a.self-signed: is no setting any more: signatures are taken unless 'registration: [token]'"
      ),
      ("a: {key: \(key), secret-file: /nowhere/s, account: x}", "a.secret-file: /nowhere/s does not exist"),
    ])
  func applications(_ text: String, _ problem: String) {
    let found = problems("environments: {p: {sandbox-numbers: true, applications: {\(text)}}}")
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.contains(problem) == true, "\(found)")
    // What is wrong with a secret never repeats it.
    #expect(found.allSatisfy { !$0.contains("TopSecret") && !$0.contains(secret) })
  }

  @Test("keys that two have")
  func twins() throws {
    let folder = try ConfigurationFolder()
    try folder.write("one", "0123456789abcdefghij")
    try folder.write("two", "0123456789abcdefghij\n")
    let application = "{key: \(key), secret: \(secret), account: x}"
    let text = """
      environments:
        p: {sandbox-numbers: true, applications: {a: \(application)}, operators: {o: {key-file: one}}}
        q: {sandbox-numbers: true, applications: {b: \(application)}, operators: {u: {key-file: two}}}
      """
    let found = problems(text, file: folder.url.appendingPathComponent("l.yaml").path)
    #expect(found.count == 2, "\(found)")
    #expect(found.first?.contains("q: application 'b' has the key of environments.p.applications.a") == true)
    #expect(found.last?.contains("q: operator 'u' has the key of environments.p.operators.o") == true)
  }

  @Test("a secret's file that others may read is a problem, a trunk's a warning")
  func modes() throws {
    let folder = try ConfigurationFolder()
    let file = folder.url.appendingPathComponent("l.yaml").path
    let text = """
      environments: {p: {sandbox-numbers: true, applications: {a: {key: \(key), secret-file: s, account: x}},
        operators: {o: {key-file: k}}}}
      """
    for mode in [0o604, 0o640, 0o620, 0o644] {
      try folder.write("s", secret, mode: mode)
      try folder.write("k", "0123456789abcdefghij", mode: mode)
      let found = problems(text, file: file)
      #expect(found.count == 2, "\(found)")
      #expect(found.allSatisfy { $0.contains("(mode \(String(mode, radix: 8))): chmod 600") }, "\(found)")
    }
    for mode in [0o600, 0o400] {
      try folder.write("s", secret, mode: mode)
      try folder.write("k", "0123456789abcdefghij", mode: mode)
      #expect(problems(text, file: file).isEmpty)
    }
    try folder.write("k", "short")
    #expect(problems(text, file: file).first?.contains("o.key-file: its first line is no key") == true)
  }

  @Test("the owners of accounts")
  func owners() throws {
    let folder = try ConfigurationFolder()
    let file = folder.url.appendingPathComponent("l.yaml").path
    try folder.write("one", "0123456789abcdefghij")
    try folder.write("two", "0123456789abcdefghik")
    func text(_ owners: String) -> String {
      "environments: {p: {sandbox-numbers: true, operators: {o: {key-file: one}}, owners: {\(owners)}}}"
    }
    let good = try GatewayConfiguration(text("ann: {key-file: two, account: acme}"), file: file)
    #expect(
      good.environments.first?.owners == [
        OwnerConfiguration(
          name: "ann", key: Redacted("0123456789abcdefghik"), account: try AccountName(validating: "acme"))
      ])
    for (owner, problem) in [
      ("ann: {account: acme}", "owners.ann: 'key-file' is missing"),
      ("ann: {key-file: two}", "owners.ann: 'account' is missing"),
      ("ann: {key-file: two, account: '-'}", "owners.ann.account: "),
      ("ann: {key-file: two, account: acme, role: x}", "owners.ann: unknown key 'role'"),
      ("ann: {key-file: none, account: acme}", "owners.ann.key-file: "),
      ("ann: {key-file: one, account: acme}", "p: owner 'ann' has the key of environments.p.operators.o"),
      (
        "ann: {key-file: two, account: a}, bob: {key-file: two, account: b}",
        "p: owner 'bob' has the key of environments.p.owners.ann"
      ),
    ] {
      let found = problems(text(owner), file: file)
      #expect(found.count == 1, "\(found)")
      #expect(found.first?.contains(problem) == true, "\(found)")
      #expect(found.allSatisfy { !$0.contains("0123456789abcdefghi") })
    }
  }

  @Test("the web pages: on, off, or a folder's")
  func pages() throws {
    let folder = try ConfigurationFolder()
    let file = folder.url.appendingPathComponent("l.yaml").path
    func read(_ value: String) throws -> HTTPConfiguration.Pages {
      try GatewayConfiguration("http: {pages: \(value)}", file: file).http.pages
    }
    #expect(try GatewayConfiguration("", file: file).http.pages == .builtIn)
    #expect(try read("true") == .builtIn)
    #expect(try read("off") == .none)
    #expect(try read(".") == .folder(folder.url.path))
    let changed = try GatewayConfiguration("http: {pages: false}", file: file)
      .changes(since: GatewayConfiguration("", file: file))
    #expect(changed.needsRestart == ["http.pages: true, now false"])
    try folder.write("p", "password", mode: 0o644)
    let trunk = try GatewayConfiguration(
      "trunks: {a: {uri: a.example, account: {username: u, password-file: p}}}", file: file)
    #expect(trunk.warnings.count == 1)
    #expect(trunk.warnings.first?.description.contains("password-file: ") == true)
  }

  @Test("what is unwise is told with its place, and no reason to refuse")
  func warnings() throws {
    let text = """
      http: {bind: 0.0.0.0}
      environments: {p: {sandbox-numbers: true, applications: {a: {key: \(key), secret: \(secret), account: x}}}}
      """
    let warnings = try GatewayConfiguration(text, file: "x").warnings
    #expect(warnings.count == 2)
    #expect(warnings.first?.description.hasPrefix("x:1:7 http: plain HTTP on an address that others reach") == true)
    #expect(warnings.last?.description.contains("a.secret: stands in the file itself") == true)
    #expect(try GatewayConfiguration("http: {bind: '[::1]'}", file: "x").warnings.isEmpty)
  }
}
