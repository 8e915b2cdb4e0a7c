import Foundation
import PeerKit
import Testing

/// `landline explain CALL-ID` and `landline calls pcap ID` where no gateway runs.
@Suite("A call's story from the files of a gateway")
struct StoryCommandTests {
  private func process(hasStore: Bool = true) async throws -> LandlineProcess {
    let process = try await LandlineProcess()
    if hasStore { try await StoryStore.build(in: process.folder) }
    return process
  }

  /// No socket of a gateway of this machine is asked.
  private func run(
    _ process: LandlineProcess, _ arguments: [String], _ more: [String: String] = [:]
  ) async throws -> LandlineProcess.Result {
    let own = ["LANDLINE_CONTROL": process.folder.appendingPathComponent("none.sock").path]
    return try await process.run(arguments, environment: own.merging(more) { $1 })
  }

  @Test("The story has the messages, the codecs, the postings and a conclusion, within the width")
  func explained() async throws {
    let process = try await process()
    defer { process.remove() }
    let result = try await run(process, ["explain", StoryStore.answered])
    #expect(result.status == 0)
    #expect(result.diagnostics.isEmpty)
    for part in [
      "Call \(StoryStore.answered)", "  to        +46701234567 (phone)", "  account   acme, production",
      "The call to +46701234567 was answered after 2.3 s over trunk carrier", "the other side", "INVITE (SDP)",
      "<- 180 Ringing", "<- BYE", "Trunk carrier was offered PCMA, in this order.",
      "  price     0.0145 EUR a minute; 60 s at least, then by 1 s; 4670 Sweden mobile; deck",
      "liabilities:prepaid:acme",
      "  charged   0.0145 EUR", "revenues:calls",
    ] {
      #expect(words(result.output).contains(words(part)), "\(part)")
    }
    for line in result.output.split(separator: "\n") { #expect(line.unicodeScalars.count <= 80, "\(line)") }
    let wide = try await run(process, ["explain", StoryStore.answered], ["COLUMNS": "140"])
    #expect((wide.output.split(separator: "\n").map(\.unicodeScalars.count).max() ?? 0) > 80)
  }

  /// Without the folding of lines.
  private func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test("Numbers are hidden on demand")
  func masked() async throws {
    let process = try await process()
    defer { process.remove() }
    for arguments in [[], ["--json"], ["--csv"]] {
      let result = try await run(process, ["explain", StoryStore.answered, "--masked"] + arguments)
      #expect(result.status == 0)
      #expect(result.output.contains("+46*******67"))
      #expect(!result.output.contains("701234567"))
      #expect(!result.output.contains("101234500"))
    }
  }

  @Test("As JSON it is one object with names in snake_case; as CSV it is the ladder")
  func machines() async throws {
    let process = try await process()
    defer { process.remove() }
    let json = try await run(process, ["explain", StoryStore.answered, "--json"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(object["call"] as? String == StoryStore.answered)
    #expect(object["is_live"] as? Bool == false)
    #expect((object["ladder"] as? [[String: Any]])?.count == 7)
    #expect((object["attempts"] as? [[String: Any]])?.first?["sip_call_id"] as? String == "c1@gw")
    #expect(((object["money"] as? [String: Any])?["transfers"] as? [[String: Any]])?.count == 1)
    let csv = try await run(process, ["explain", StoryStore.answered, "--csv"])
    let lines = csv.output.split(whereSeparator: \.isNewline)
    #expect(lines.first == "microseconds,from,to,kind,label,is_repeated,is_failure")
    #expect(lines.dropFirst(2).first == "10000,gateway,far1,sip,INVITE (SDP),false,false")
    #expect(lines.count == 8)
  }

  @Test("A call without a trace is told from its record, and what is missing is said")
  func withoutTrace() async throws {
    let process = try await process()
    defer { process.remove() }
    let result = try await run(process, ["explain", StoryStore.recorded])
    #expect(result.status == 0)
    #expect(words(result.output).contains("No trace of this call is kept"))
    #expect(result.output.contains("* answered"))
    let capture = try await run(process, ["calls", "pcap", StoryStore.recorded])
    #expect(capture.status == 3)
    #expect(capture.diagnostics.contains("no messages of this call are kept"))
    #expect(capture.diagnostics.contains("fix: landline explain \(StoryStore.recorded)"))
    #expect(!FileManager.default.fileExists(atPath: process.folder.appendingPathComponent("x.pcapng").path))
  }

  @Test(
    "A call is found by its id of any age, by the beginning of one, and in letters of either size",
    arguments: [
      (StoryStore.answered, StoryStore.answered), (StoryStore.answered.lowercased(), StoryStore.answered),
      (String(StoryStore.recorded.lowercased().prefix(25)), nil), ("01jd4y8pm2q9v5r7t3w6x0z1ac", StoryStore.recorded),
      (StoryStore.today, StoryStore.today), (StoryStore.today.uppercased(), StoryStore.today),
      ("019a", StoryStore.today), ("019AA505-83F0", StoryStore.today),
      (String(StoryStore.today.prefix(26)), StoryStore.today), (String(StoryStore.today.prefix(35)), StoryStore.today),
      ("019b", nil), (StoryStore.today + "0", nil),
    ] as [(String, String?)])
  func found(_ text: String, _ id: String?) async throws {
    let process = try await process()
    defer { process.remove() }
    let result = try await run(process, ["explain", text])
    #expect((result.status == 0) == (id != nil), "\(result.diagnostics)")
    if let id { #expect(result.output.contains("Call \(id)"), "\(result.output)") }
  }

  @Test("An unknown call, a missing store and a missing ledger are told apart, with advice")
  func refused() async throws {
    let process = try await process()
    defer { process.remove() }
    for command in [["explain"], ["calls", "pcap"]] {
      let unknown = try await run(process, command + [StoryStore.unknown])
      #expect(unknown.status == 3)
      #expect(
        unknown.diagnostics.hasPrefix("landline: no call has that id (\(StoryStore.unknown))\nfix: landline history"))
    }
    let bare = try await self.process(hasStore: false)
    defer { bare.remove() }
    let store = try await run(bare, ["explain", StoryStore.answered])
    #expect(store.status == 7)
    #expect(store.diagnostics.contains("no calls are kept beside the ledger"))
    let ledger = try await run(bare, ["explain", StoryStore.answered, "--database", "other.db"])
    #expect(ledger.status == 7)
    #expect(ledger.diagnostics.contains("there is no ledger to read (other.db)"))
    let named = try await run(bare, ["explain", StoryStore.answered, "--control", "none.sock"])
    #expect(named.status == 11)
    let word = try await run(bare, ["explain", "nonsense"])
    #expect(word.status == 3)
    #expect(word.diagnostics.contains("a call's id, the beginning of one, or last"))
    let json = try await run(process, ["explain", StoryStore.unknown, "--json"])
    #expect(json.diagnostics.contains("\"code\":\"unknownCall\""))
  }

  @Test("Codes are explained as before, whatever lies beside")
  func codes() async throws {
    let process = try await process()
    defer { process.remove() }
    let result = try await run(process, ["explain", "486"])
    #expect(result.output.hasPrefix("SIP 486 Busy Here"))
  }

  @Test("Packets are written for this user alone, never over a file that is there, and to a pipe on demand")
  func packets() async throws {
    let process = try await process()
    defer { process.remove() }
    let written = try await run(process, ["calls", "pcap", StoryStore.answered, "--json"])
    #expect(written.status == 0)
    let file = process.folder.appendingPathComponent("\(StoryStore.answered).pcapng")
    let bytes = try Data(contentsOf: file)
    #expect(bytes.prefix(4).elementsEqual([0x0A, 0x0D, 0x0D, 0x0A]))
    #expect(
      written.output
        == "{\"call\":\"\(StoryStore.answered)\",\"file\":\"\(StoryStore.answered).pcapng\",\"bytes\":\(bytes.count)}\n"
    )
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let again = try await run(process, ["calls", "pcap", StoryStore.answered])
    #expect(again.status == 5)
    #expect(again.diagnostics.contains("fix: -o ANOTHER, or remove it"))
    #expect(try Data(contentsOf: file) == bytes)
    let named = try await run(process, ["calls", "pcap", StoryStore.answered, "-o", "call.pcapng"])
    #expect(named.status == 0)
    #expect(try Data(contentsOf: process.folder.appendingPathComponent("call.pcapng")) == bytes)
    let nowhere = try await run(process, ["calls", "pcap", StoryStore.answered, "-o", "none/call.pcapng"])
    #expect(nowhere.status == 1)
    #expect(nowhere.diagnostics.contains("the file cannot be written"))
    let piped = try await run(process, ["calls", "pcap", StoryStore.answered, "-o", "-"])
    #expect(piped.status == 0)
    #expect(piped.diagnostics.isEmpty)
    #expect(piped.output.contains("INVITE sip:+46701234567@192.0.2.2 SIP/2.0"))
  }

  @Test(
    "tshark reads what was written",
    .enabled(if: PeerProgram.tshark.isInstalled, "\(PeerProgram.tshark.absence)"))
  func tshark() async throws {
    let process = try await process()
    defer { process.remove() }
    _ = try await run(process, ["calls", "pcap", StoryStore.answered, "-o", "call.pcapng"])
    let file = process.folder.appendingPathComponent("call.pcapng").path
    let result = try await PeerProcess.run(
      .tshark, ["-r", file, "-T", "fields", "-e", "sip.CSeq.method", "-e", "sip.Status-Code", "-E", "separator=,"])
    #expect(
      result.output.split(separator: "\n") == ["INVITE,", "INVITE,180", "INVITE,200", "ACK,", "BYE,", "BYE,200"])
  }
}
