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

private func read(_ text: String) throws -> GatewayConfiguration {
  try GatewayConfiguration(head + text, file: "landline.yaml")
}

private func problems(_ text: String) -> [String] {
  do throws(ConfigurationProblems) {
    _ = try GatewayConfiguration(text, file: "landline.yaml")
    return []
  } catch {
    return error.all.map(\.description)
  }
}

@Suite("Configuration: desk phones")
struct DeskPhoneConfigurationTests {
  @Test("a row is a user's device; of the password stands what answers are checked with")
  func row() throws {
    let configuration = try read(
      "    desk-phones:\n      lobby: {user: bob, password: a-long-enough-password, country: 46}\n")
    let wanted = DeskPhone(
      name: "lobby", application: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e90", user: try UserID("bob"), country: 46,
      keys: try PhoneKeys(password: Redacted("a-long-enough-password"), name: "lobby"))
    #expect(configuration.environments[0].deskPhones == [wanted])
    #expect(configuration.warnings.contains { "\($0)".contains("a 'password-file' can be kept from others") })
    #expect(!"\(configuration)".contains("a-long-enough-password"))
    // Made with: printf 'lobby:landline:a-long-enough-password' | md5sum, and sha256sum.
    #expect(wanted.keys.md5.exposed.count == 32 && wanted.keys.sha256.exposed.count == 64)
    #expect(configuration.registrarAlgorithms == [.sha256, .md5])
  }

  @Test(
    "what is wrong is named with its place, and no password stands in the words",
    arguments: [
      ("lobby: {password: a-long-enough-password}", "'user' is missing"),
      ("lobby: {user: bob}", "one of 'password' and 'password-file' is needed"),
      ("lobby: {user: bob, password: short-one}", "12 to 128 printable ASCII characters"),
      ("lobby: {user: bob, password: a-long-enough-password, password-file: x}", "one of 'password' and"),
      ("lobby: {user: bob, password-file: nowhere}", "nowhere"),
      ("lobby: {user: b b, password: a-long-enough-password}", "user"),
      ("lobby: {user: bob, password: a-long-enough-password, country: 999}", "999 is no country's calling code"),
      ("lobby: {user: bob, password: a-long-enough-password, application: other}", "there is no application 'other'"),
      ("\"the lobby\": {user: bob, password: a-long-enough-password}", "no name of a telephone"),
      ("lobby: {user: bob, password: a-long-enough-password, contry: 46}", "did you mean 'country'?"),
    ])
  func wrong(_ row: String, _ words: String) {
    let found = problems(head + "    desk-phones:\n      \(row)\n")
    #expect(found.contains { $0.contains(words) && $0.contains("landline.yaml:11") }, "\(found)")
    #expect(!found.contains { $0.contains("short-one") || $0.contains("a-long-enough-password") })
  }

  @Test("a name stands in one environment alone")
  func twice() {
    let row = "    desk-phones:\n      lobby: {user: bob, password: a-long-enough-password}\n"
    let second = """
        staging:
          trunks: []
          sandbox-numbers: true
          ledger: staging.ledger
          applications:
            phone:
              key: 5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e91
              secret: pfYdkzcWkk6Gh9o5n8YoTg==
              account: anna

      """
    let found = problems(head + row + second + row)
    #expect(found.contains { $0.contains("'lobby' stands in 'production' too") }, "\(found)")
  }

  @Test(
    "what telephones are challenged for",
    arguments: [("[MD5]", [DigestAlgorithm.md5]), ("[MD5, SHA-256]", [.md5, .sha256])])
  func algorithms(_ text: String, _ wanted: [DigestAlgorithm]) throws {
    #expect(try read("registrar:\n  algorithms: \(text)\n").registrarAlgorithms == wanted)
  }

  @Test(arguments: ["[SHA-512]", "[MD5-sess]", "[]"])
  func unknownAlgorithms(_ text: String) {
    #expect(!problems(head + "registrar:\n  algorithms: \(text)\n").isEmpty)
  }
}
