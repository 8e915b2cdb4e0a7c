import CallModel
import Foundation
import LandlineConfiguration
import Testing

@Suite("Configuration: what stands above the file")
struct OverrideTests {
  private let text = "node: filed\nhttp: {bind: 192.0.2.1:1}\nlog: {level: error}\n"

  @Test("a flag stands above a variable, a variable above the file, the file above the standard")
  func precedence() throws {
    let environment = [
      "LANDLINE_NODE": "varied", "LANDLINE_HTTP_BIND": "192.0.2.2:2", "LANDLINE_LOG_LEVEL": "", "HOME": "/root",
    ]
    let overrides = ConfigurationOverrides(flags: [.node: "flagged", .state: "/s"], environment: environment)
    let node = try GatewayConfiguration(text, file: "x", overrides: overrides)
    #expect(node.node.text == "flagged")
    #expect(node.state == "/s")
    #expect(node.http.port == 2)
    #expect(node.log.level == .error)
    #expect(node.log.format == .json)
    func origin(_ key: String) -> String? { node.settings.first { $0.key == key }?.origin.description }
    #expect(origin("node") == "--node")
    #expect(origin("state") == "--state")
    #expect(origin("http.bind") == "LANDLINE_HTTP_BIND")
    #expect(origin("log.level") == "line 3")
    #expect(origin("log.format") == "default")
    #expect(node.settings.first { $0.key == "http.bind" }?.value == "192.0.2.2:2")
    #expect(node.settings.first { $0.key == "log.level" }?.value == "error")
  }

  @Test("a wrong value is told with its flag or variable, without a line of the file")
  func problems() throws {
    let overrides = ConfigurationOverrides(
      flags: [.httpBind: "nowhere.example"], environment: ["LANDLINE_LOG_LEVEL": "loud"])
    let error = #expect(throws: ConfigurationProblems.self) {
      try GatewayConfiguration("", file: "x", overrides: overrides)
    }
    let found = error?.all.map(\.description) ?? []
    #expect(found.count == 2)
    #expect(found.contains { $0.hasPrefix("--http-bind a name stands where an address must") }, "\(found)")
    #expect(found.contains { $0.hasPrefix("LANDLINE_LOG_LEVEL 'loud' is none of trace, debug") }, "\(found)")
  }

  @Test("the state folder of the service manager is the standard where there is one")
  func stateDirectory() throws {
    let manager = ConfigurationOverrides(environment: ["STATE_DIRECTORY": "/var/lib/private/l:/other"])
    #expect(try GatewayConfiguration("", file: "x", overrides: manager).state == "/var/lib/private/l")
    #expect(try GatewayConfiguration("state: /f", file: "x", overrides: manager).state == "/f")
  }

  @Test("every key has a variable and a flag")
  func names() {
    #expect(
      ConfigurationOverrides.Key.allCases.map(\.variable) == [
        "LANDLINE_NODE", "LANDLINE_STATE", "LANDLINE_HTTP_BIND", "LANDLINE_LOG_LEVEL", "LANDLINE_LOG_FORMAT",
      ])
    #expect(
      ConfigurationOverrides.Key.allCases.map(\.flag) == [
        "--node", "--state", "--http-bind", "--log-level", "--log-format",
      ])
  }
}

@Suite("Configuration: reload")
struct ConfigurationChangeTests {
  private func changes(_ before: String, _ after: String) throws -> ConfigurationChanges {
    try GatewayConfiguration(after, file: "x").changes(since: GatewayConfiguration(before, file: "x"))
  }

  @Test("the same file, written otherwise, changes nothing")
  func same() throws {
    #expect(try changes("log: {level: info}", "# nothing\n").isEmpty)
    #expect(try changes("http: {bind: 127.0.0.1}", "drain: {timeout: 300s}").isEmpty)
  }

  @Test("what holds at once and what waits for a restart")
  func sides() throws {
    let found = try changes(
      """
      node: a
      log: {level: info}
      retention: {records: 90d}
      trunks: {x: {uri: x.example}, y: {uri: y.example}}
      environments: {p: {trunks: [x]}}
      """,
      """
      node: b
      log: {level: debug}
      retention: {records: forever}
      http: {bind: 127.0.0.1:9, origins: ["https://a.example"]}
      listeners: {l: {bind: 192.0.2.1}}
      trunks: {x: {uri: x.example, drain: true}, z: {uri: z.example}}
      environments: {p: {trunks: [x, z]}, q: {sandbox-numbers: true}}
      """)
    #expect(
      found.live == [
        "log.level: info, now debug", "trunks.x: changed", "trunks.z: added", "environments.p.trunks: changed",
        "trunks.y: removed",
      ])
    #expect(
      found.needsRestart == [
        "node: a, now b", "http.bind: 127.0.0.1:8080, now 127.0.0.1:9", "http.origins: , now https://a.example",
        "retention.records: 90d, now forever", "listeners.l: added", "environments.q: added",
      ])
  }

  @Test("a new secret is a change whose text does not show it")
  func secrets() throws {
    func text(_ secret: String) -> String {
      """
      environments: {p: {sandbox-numbers: true, applications: {a: {account: x, secret: \(secret),
        key: 5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90}}}}
      """
    }
    let found = try changes(text("AAAAAAAAAAAAAAAAAAAAAA=="), text("AQAAAAAAAAAAAAAAAAAAAA=="))
    #expect(found.live == ["environments.p.applications.a: changed"])
    #expect(found.needsRestart.isEmpty)
  }
}

@Suite("Configuration: hostile files")
struct ConfigurationMutationTests {
  /// A generator whose numbers are the same in every run (Marsaglia's xorshift).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  @Test("whatever becomes of the example, it is read or refused, with places and without traps", arguments: 1...4)
  func mutations(_ seed: UInt64) throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Config/landline.yaml").standardized.path
    // Without comments, so that mutations meet what is read.
    let example = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .filter { !$0.drop { $0 == " " }.hasPrefix("#") }.joined(separator: "\n")
    let pieces: [[UInt8]] = [
      "-1", "99999999999999999999", "0", "\"\"", "~", "[]", "{}", "[[[[", "}}", ": ", "\n", "\t", "é", "\u{0}",
      "0.0.0.0",
      "::", "65535", "1-2", "16384-16383", "9999999999d", "*a", "&b", "!!binary x", "- ", "? ", "|\n", "true",
    ].map { Array($0.utf8) }
    var random = Seeded(state: seed &* 0x9E37_79B9_7F4A_7C15)
    var (read, refused) = (0, 0)
    for _ in 0..<500 {
      var bytes = Array(example.utf8)
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(place..<min(bytes.count - 1, place + Int.random(in: 0...20, using: &random) + 1))
        case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
        default:
          let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? place
          let start = bytes[..<end].lastIndex(of: UInt8(ascii: ":")).map { min($0 + 2, end) } ?? place
          bytes.replaceSubrange(start..<end, with: pieces.randomElement(using: &random) ?? [])
        }
      }
      do throws(ConfigurationProblems) {
        let node = try GatewayConfiguration(String(decoding: bytes, as: UTF8.self), file: "x.yaml")
        _ = (node.media.loops.count, node.settings.count, node.changes(since: node).isEmpty)
        #expect(node.changes(since: node).isEmpty)
        read += 1
      } catch {
        #expect(!error.all.isEmpty && error.all.count <= ConfigurationProblems.maximum)
        #expect(error.all.allSatisfy { !$0.description.contains("\n") })
        refused += 1
      }
    }
    // The mutations reach both sides.
    #expect(read > 0 && refused > 0)
  }
}
