import Foundation
import Glibc
import PeerKit
import Testing

@Suite("A second terminal finds the gateway of the first")
struct FoundGatewayTests {
  @Test("Nothing is sourced: call, balance, calls, status, history, explain and the trunk test; and no second ledger")
  func everyCommand() async throws {
    let home = try CleanHome()
    let (gateway, entry) = try await home.gateway("landline dev --port 0")
    defer { gateway.end() }
    let file = "\(home.running)/\(entry.process).json"
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    let call = try await home.run(["call", "+46000000000", "--for", "300ms"])
    #expect(call.status == 0, "\(call)")
    #expect(call.diagnostics.contains("gateway: \(entry.places.url ?? "?") (landline dev, process \(entry.process))"))
    let id = try #require(
      call.output.split(separator: "\n").first { $0.hasPrefix("call  ") }?.split(separator: " ").last.map(String.init))
    #expect(call.output.contains("landline explain \(id)"))
    #expect(call.output.contains("/calls/\(id)"))

    for command in [
      ["balance"], ["balance", "demo"], ["history", "demo"], ["calls", "list"], ["calls", "list", "--ended"],
      ["status"],
      ["explain", id], ["explain", "last"], ["explain", String(id.prefix(id.count - 2))], ["calls", "show", "last"],
      ["verify"], ["trunk", "list"], ["trunk", "test", "far-end", "--timeout", "2s"], ["topup", "demo", "1"],
    ] {
      let result = try await home.run(command)
      #expect(result.status == 0, "\(command): \(result)")
      #expect(
        result.diagnostics.contains("(landline dev, process \(entry.process))") || command[0] == "trunk", "\(command)")
    }
    #expect(try await home.run(["explain", "last"]).output.contains(id))
    // A call that costs something is booked: its id is in the history, and explain takes it from there.
    let paid = try await home.run(["call", "+46701234567", "--for", "300ms"])
    #expect(paid.status == 0, "\(paid)")
    let paidID = try #require(
      paid.output.split(separator: "\n").first { $0.hasPrefix("call  ") }?.split(separator: " ").last.map(String.init))
    #expect(try await home.run(["history", "demo"]).output.contains(paidID))
    #expect(try await home.run(["explain", "last"]).output.contains(paidID))
    let json = try await home.run(["balance", "--json"])
    #expect(json.output.hasPrefix("{\"accounts\"") && !json.output.contains("landline dev"))
    let quiet = try await home.run(["balance", "--database", entry.places.environments[0].ledger])
    #expect(quiet.diagnostics.isEmpty)

    // An account is made where the gateway looks, and nowhere else.
    #expect(try await home.run(["account", "create", "acme", "--currency", "EUR"]).status == 0)
    #expect(home.files("ledger.db") == [".local/state/landline/dev/ledger.db"])

    kill(entry.process, SIGTERM)
    _ = try await gateway.exited(within: 10)
    #expect(home.entries.isEmpty)
    let after = try await home.run(["status"])
    #expect(after.status == 11)
  }

  @Test("A gateway that was killed is noticed, once; of several the newest is taken, and another can be named")
  func severalAndStale() async throws {
    let home = try CleanHome()
    let (first, older) = try await home.gateway("landline dev --port 0")
    defer { first.end() }
    let (second, newer) = try await home.gateway("landline dev --port 0 --state second")
    defer { second.end() }
    let newest = try await home.run(["balance"])
    #expect(
      newest.diagnostics.contains("\(newer.places.environments[0].ledger) (landline dev, process \(newer.process),"))
    #expect(newest.diagnostics.contains("the newest of 2"))
    let named = try await home.run(["balance", "--state", older.places.state])
    #expect(
      named.diagnostics.contains("\(older.places.environments[0].ledger) (landline dev, process \(older.process))"))
    let socket = try await home.run(["status", "--control", older.places.control])
    #expect(socket.status == 0 && socket.diagnostics.isEmpty)
    let variable = try await home.run(["balance"], ["LANDLINE_DATABASE": "none.db"])
    #expect(variable.status == 7)
    #expect(variable.diagnostics.contains("none.db (LANDLINE_DATABASE), not that of landline dev, process"))

    kill(newer.process, SIGKILL)
    _ = try await second.exited(within: 10)
    let noticed = try await home.run(["balance"])
    #expect(noticed.diagnostics.contains("note: landline dev, process \(newer.process), has ended without saying so"))
    #expect(noticed.diagnostics.contains(older.places.environments[0].ledger))
    let once = try await home.run(["balance"])
    #expect(!once.diagnostics.contains("note:"))
  }

  @Test("An entry that another user could have written, or that is none, is ignored with a word")
  func strangeEntries() async throws {
    let home = try CleanHome()
    try FileManager.default.createDirectory(atPath: home.running, withIntermediateDirectories: true)
    for (name, mode) in [("1.json", 0o600), ("2.json", 0o644)] {
      #expect(
        FileManager.default.createFile(
          atPath: "\(home.running)/\(name)", contents: Data("{}".utf8), attributes: [.posixPermissions: mode]))
    }
    let result = try await home.run(["balance"])
    #expect(result.status == 7)
    #expect(result.diagnostics.components(separatedBy: "is ignored").count == 3)
  }

  @Test("A port in use names who holds it, for dev and for serve")
  func portInUse() async throws {
    let home = try CleanHome()
    let (gateway, entry) = try await home.gateway("landline dev --port 0")
    defer { gateway.end() }
    let port = try #require(entry.places.url?.split(separator: ":").last)
    for command in ["landline dev --port \(port) --state other", "landline serve --config other/landline.yaml"] {
      let second = try await home.shell(command)
      #expect(second.status == 5, "\(second)")
      #expect(
        second.diagnostics.contains(
          "127.0.0.1:\(port) (TCP) is taken by landline dev (process \(entry.process)) (http.bind)"),
        "\(second.diagnostics)")
    }
  }
}
