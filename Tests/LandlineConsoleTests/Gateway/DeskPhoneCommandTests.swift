import Foundation
import PeerKit
import Testing

@Suite("landline desk-phone: telephones that register", .serialized)
struct DeskPhoneCommandTests {
  @Test("a telephone is made with a password that is shown once, changed and removed")
  func changes() async throws {
    let gateway = try await GatewayProcess.dev()
    let made = try await gateway.run(["desk-phone", "set", "lobby", "--user", "alice", "--country", "+46", "--json"])
    #expect(made.status == 0 && made.output.contains(#""name":"lobby","user":"alice""#), "\(made)")
    let tree = try #require(
      try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any])
    let password = try #require(tree["password"] as? String)
    #expect(password.utf8.count == 25 && tree["country"] as? Int == 46)
    let table = try await gateway.run(["desk-phone", "list"])
    #expect(table.status == 0 && table.output.contains("lobby") && !table.output.contains(password), "\(table)")
    let changed = try await gateway.run(["desk-phone", "set", "lobby", "--user", "bob", "--country", "none"])
    #expect(
      changed.status == 0 && changed.output.contains("bob") && changed.output.contains("nowhere")
        && !changed.output.contains("password"), "\(changed)")
    let fresh = try await gateway.run(["desk-phone", "set", "lobby", "--new-password"])
    #expect(fresh.output.contains("password, shown once") && !fresh.output.contains(password), "\(fresh)")
    let shown = try await gateway.run(["desk-phone", "show", "lobby", "--json"])
    #expect(shown.output.contains(#""user":"bob","#) && shown.output.contains(#""password":null"#), "\(shown)")
    let removed = try await gateway.run(["desk-phone", "remove", "lobby", "--json"])
    #expect(removed.output == "{\"name\":\"lobby\",\"removed\":true}\n", "\(removed)")
    let gone = try await gateway.run(["desk-phone", "show", "lobby"])
    #expect(gone.status == 3 && gone.diagnostics.contains("the environment has no such desk phone"), "\(gone)")
  }

  @Test(
    "what is wrong is named, with its exit status",
    arguments: [
      (["lobby"], "nothing says whose device it is"), (["the lobby", "--user", "bob"], "no name of a telephone"),
      (["lobby", "--user", "bob", "--country", "sweden"], "no country's calling code"),
      (["lobby", "--user", "bob", "--country", "999"], "country"),
      (["lobby", "--user", "b b"], "user"),
      (["lobby", "--user", "bob", "--password-file", "/nowhere"], "cannot be read"),
    ])
  func wrong(_ arguments: [String], _ words: String) async throws {
    let gateway = try await GatewayProcess.dev()
    let refused = try await gateway.run(["desk-phone", "set"] + arguments)
    #expect(refused.status == 2 && refused.diagnostics.contains(words), "\(refused)")
  }
}
