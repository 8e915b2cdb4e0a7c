import CallModel
import LandlineConfiguration
import SIPCore
import Testing

private let head = """
  environments:
    production:
      trunks: []
      sandbox-numbers: true
      applications:
        phone:
          key: 5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90
          secret: pfYdkzcWkk6Gh9o5n8YoTg==
          account: anna

  """

private let second = """
        desk:
          key: 5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e91
          secret: pfYdkzcWkk6Gh9o5n8YoTg==
          account: acme

  """

private func read(_ numbers: String, applications: String = "") throws -> [InboundNumber] {
  try GatewayConfiguration(head + applications + numbers, file: "landline.yaml").environments[0].numbers
}

private func problems(_ text: String) -> [String] {
  do throws(ConfigurationProblems) {
    _ = try GatewayConfiguration(text, file: "landline.yaml")
    return []
  } catch {
    return error.all.map(\.description)
  }
}

@Suite("Configuration: numbers that trunks bring calls to")
struct NumberConfigurationTests {
  private let key = "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90"

  @Test("the short form: one user of the only application, whose account pays")
  func short() throws {
    let rows = try read("    numbers:\n      \"+46850000536\": {user: bob}\n")
    #expect(
      rows == [
        InboundNumber(
          try E164Number("+46850000536"), application: key, account: AccountName(unchecked: "anna"),
          targets: [InboundNumber.Target(.user(try UserID("bob")))])
      ])
  }

  @Test("the long form: every key")
  func long() throws {
    let rows = try read(
      """
          numbers:
            "+46850000536":
              application: desk
              account: other
              targets:
                - {user: bob, ring: 20s, on: [busy, declined]}
                - {phone: "+46701234567"}
                - {sip: "front@pbx.example.com", on: []}
              active: false
              no-answer: 503
              channels: 10
              answer-first: true
              callers: {anonymous: refuse, blocked: ["+4670111", "+1"]}
              record: wav
              record-announced: false

      """, applications: second)
    let row = try #require(rows.first)
    #expect(row.application == "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e91")
    #expect(row.account.text == "other")
    #expect(
      row.targets == [
        InboundNumber.Target(.user(try UserID("bob")), ringSeconds: 20, leadsOn: [.busy, .declined]),
        InboundNumber.Target(.phone(try E164Number("+46701234567"))),
        InboundNumber.Target(.sip(try SIPAddress("front@pbx.example.com")), leadsOn: []),
      ])
    #expect(!row.isActive && row.noAnswerStatus == 503 && row.channels == 10 && row.answersFirst)
    #expect(row.callers == InboundNumber.Callers(refusesAnonymous: true, blocked: ["+4670111", "+1"]))
    #expect(row.recording == RecordingOptions(.wav, isAnnounced: false))
    #expect(throws: Never.self) { try row.check() }
  }

  @Test(
    "a wrong row says where, and what would be accepted",
    arguments: [
      ("\"46850000536\": {user: bob}", 10, 22, "numbers.46850000536: '4' stands where the number must begin with '+'"),
      ("\"+46000000404\": {user: bob}", 10, 23, "numbers that the gateway answers itself"),
      (
        "\"+46850000536\": {user: bob, phone: \"+46701234567\"}", 10, 23,
        "names 2 targets; accepted: one of user, phone, sip and conference"
      ),
      ("\"+46850000536\": {user: bob, targets: [{user: eve}]}", 10, 44, "stands beside a target of the number's own"),
      ("\"+46850000536\": {targets: [{ring: 20s}]}", 10, 34, "targets[1]: names 0 targets"),
      ("\"+46850000536\": {user: bob, no-answer: 404}", 10, 46, "404 is none of 408, 480, 486, 503"),
      ("\"+46850000536\": {user: bob, record: mp3}", 10, 43, "'mp3' is none of wav, opus"),
      ("\"+46850000536\": {user: bob, record-announced: no}", 10, 53, "there is no 'record': nothing is recorded"),
      ("\"+46850000536\": {user: bob, channels: 0}", 10, 45, "'0' is no whole number from 1 to 10000"),
      ("\"+46850000536\": {user: bob, ring: 4s}", 10, 41, "out of range: 5s to 120s"),
      (
        "\"+46850000536\": {user: bob, on: [bussy]}", 10, 39,
        "'bussy' is none of busy, no-answer, unreachable, declined (did you mean 'busy'?)"
      ),
      (
        "\"+46850000536\": {user: bob, callers: {blocked: [\"4670\"]}}", 10, 54,
        "entry 1: it is no beginning of a number"
      ),
      ("\"+46850000536\": {user: bob, callers: {anonymous: maybe}}", 10, 56, "'maybe' is none of allow, refuse"),
      (
        "\"+46850000536\": {user: bob, application: phon}", 10, 48,
        "there is no application 'phon' in this environment (did you mean 'phone'?)"
      ),
      ("\"+46850000536\": {user: \"b b\"}", 10, 30, "user"),
      ("\"+46850000536\": {usr: bob}", 10, 24, "unknown key 'usr' (did you mean 'user'?)"),
    ])
  func wrong(_ row: String, _ line: Int, _ column: Int, _ problem: String) {
    let found = problems(head + "    numbers:\n      \(row)\n")
    #expect(found.contains { $0.contains(problem) }, "\(found)")
    #expect(found.contains { $0.hasPrefix("landline.yaml:\(line + 1):\(column) ") }, "\(found)")
  }

  @Test("with several applications a user needs one, and a number an account")
  func application() {
    let user = problems(head + second + "    numbers:\n      \"+46850000536\": {user: bob}\n")
    #expect(user.contains { $0.contains("'application' does not say whose") }, "\(user)")
    let phone = problems(head + second + "    numbers:\n      \"+46850000536\": {phone: \"+46701234567\"}\n")
    #expect(phone.count == 1 && phone[0].contains("nobody pays"), "\(phone)")
  }

  @Test("a number stands in one environment only")
  func twice() {
    let other = """
        other:
          sandbox-numbers: true
          numbers:
            "+46850000536": {phone: "+46701234567", account: anna}

      """
    let found = problems(head + "    numbers:\n      \"+46850000536\": {user: bob}\n" + other)
    #expect(found.count == 1 && found[0].contains("+46850000536 stands in 'production' too"), "\(found)")
  }

  @Test("a number that leads to nobody is unwise, and a change of one is live")
  func changes() throws {
    let before = try GatewayConfiguration(head + "    numbers: {\"+46850000536\": {}}\n", file: "x")
    #expect(before.warnings.contains { "\($0)".contains("leads to nobody") }, "\(before.warnings)")
    let after = try GatewayConfiguration(
      head + "    numbers: {\"+46850000536\": {user: bob}, \"+46850000537\": {user: eve}}\n", file: "x")
    let changes = after.changes(since: before)
    #expect(changes.needsRestart.isEmpty)
    #expect(
      changes.live == [
        "environments.production.numbers.+46850000536: changed",
        "environments.production.numbers.+46850000537: added",
      ])
  }
}

@Suite("Configuration: what is believed of a trunk's calls")
struct InboundTrunkTests {
  private func inbound(_ keys: String) throws -> InboundTrunkPolicy? {
    try GatewayConfiguration("trunks:\n  a: {uri: a.example, inbound: {\(keys)}}\n", file: "x").trunks.first?.inbound
  }

  @Test("every key")
  func keys() throws {
    #expect(try inbound("") == InboundTrunkPolicy())
    #expect(
      try inbound(
        "trusts-identity: true, numbers: national, country: 46, foreign-callers: true, "
          + "sources: [192.0.2.1, \"2001:db8::1\"]")
        == InboundTrunkPolicy(
          trustsIdentity: true, numberFormat: .national(countryCode: 46), takesForeignCallers: true,
          sources: [.ipv4(0xC000_0201), .ipv6(high: 0x2001_0DB8_0000_0000, low: 1)]))
  }

  @Test(
    "what is wrong",
    arguments: [
      ("numbers: national", "are national, and 'country' does not say of which"),
      ("country: 46", "has no use where numbers have their country code"),
      ("numbers: national, country: 21", "'21' is no country code"),
      ("numbers: nat", "'nat' is none of e164, national"),
      ("sources: [carrier.example]", "entry 1: it is no numeric address"),
      ("sources: [192.0.2.0/24]", "entry 1: it is no numeric address"),
      ("trust-identity: yes", "did you mean 'trusts-identity'?"),
    ])
  func wrong(_ keys: String, _ problem: String) {
    let found = problems("trunks:\n  a:\n    uri: a.example\n    inbound: {\(keys)}\n")
    #expect(found.contains { $0.contains(problem) && $0.hasPrefix("landline.yaml:4:") }, "\(found)")
  }

  @Test("where transfers stood before, it says where they stand now")
  func retired() {
    let found = problems("trunks:\n  a:\n    uri: a.example\n    inbound: {transfers: true}\n")
    #expect(found.count == 1 && found[0].hasPrefix("landline.yaml:4:"), "\(found)")
    #expect(found.first?.contains("stands beside 'inbound' now") == true, "\(found)")
  }
}
