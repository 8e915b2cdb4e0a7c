import Foundation
import LandlineBench
import Testing

@Suite struct CallsBenchTests {
  /// The program that is built beside the tests; `nil` where only some targets were built.
  private static let gateway: String? = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("landline").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()
  private static let hasGateway = gateway != nil
  private static let hasPeers = hasGateway && SIPBench.peersAreInstalled

  private static func short(_ rows: [CallsBench.Row]) -> CallsBench.Options {
    var options = CallsBench.Options()
    options.gateway = gateway
    options.rows = rows
    options.rounds = 1
    options.seconds = 0.5
    options.rates = [20]
    options.handshakeRate = 10
    options.delayRate = 20
    options.apps = 2
    options.memoryCounts = (few: 2, many: 4)
    options.finishedCalls = 10
    options.ledgerEntries = 0
    // Wherever the tests run, Janus would take half a minute.
    options.perfTools = "/nonexistent"
    return options
  }

  @Test(.enabled(if: CallsBenchTests.hasPeers, "no gateway beside the tests, or sipp or kamailio is not installed"))
  func everyCallWithoutMediaIsGood() async throws {
    let report = try await CallsBench.run(Self.short([.b3]))
    #expect(report.calls.all == 10, "\(report.table)")
    #expect(report.calls.failed == 0, "\(report.table)")
    #expect(report.table.contains("kamailio"))
    #expect(report.table.contains("CPU of a call by thread"))
    // What is counted by programs that are built for the run.
    let isCounted = report.table.contains("allocations of a call at 20/s")
    #expect(isCounted || report.table.contains("gcc is not installed"), "\(report.table)")
  }

  @Test(.enabled(if: CallsBenchTests.hasPeers, "no gateway beside the tests, or sipp or kamailio is not installed"))
  func everyCallToAUserIsGood() async throws {
    let report = try await CallsBench.run(Self.short([.b3u]))
    #expect(report.calls.all == 20, "\(report.table)")
    #expect(report.calls.failed == 0, "\(report.table)")
    #expect(report.table.contains("telephone"))
  }

  @Test(.enabled(if: CallsBenchTests.hasPeers, "no gateway beside the tests, or sipp or kamailio is not installed"))
  func everyCallWithKeysIsGood() async throws {
    let report = try await CallsBench.run(Self.short([.b3d]))
    #expect(report.calls.all == 5, "\(report.table)")
    #expect(report.calls.failed == 0, "\(report.table)")
    #expect(report.notes.contains { $0.contains("B3d has no anchor") })
  }

  @Test(.enabled(if: CallsBenchTests.hasGateway, "no gateway beside the tests"))
  func everyTimedCallIsGood() async throws {
    let report = try await CallsBench.run(Self.short([.b4]))
    #expect(report.calls.all == 20, "\(report.table)")
    #expect(report.calls.failed == 0, "\(report.table)")
    #expect(report.table.contains("call to INVITE, idle, p50 ms"))
    #expect(report.table.contains("write and flush of 4 KiB"))
  }

  @Test(.enabled(if: CallsBenchTests.hasGateway, "no gateway beside the tests"))
  func heldAndRingingCallsEndWell() async throws {
    let report = try await CallsBench.run(Self.short([.b6, .b8]))
    // Two held loads of two halves, the pools' calls, and those that are counted.
    #expect(report.calls.all == 4 + 4 + 10 + 10, "\(report.table)")
    #expect(report.calls.failed == 0, "\(report.table)")
    #expect(report.table.contains("start to ready, empty ledger, ms"))
  }

  @Test func aProgramThatIsMissingIsNamed() async throws {
    var options = Self.short([.b3])
    options.sipp = "/nonexistent/sipp"
    let chosen = options
    await #expect(throws: BenchProblem("/nonexistent/sipp is not installed: apt-get install sip-tester")) {
      try await CallsBench.run(chosen)
    }
  }

  @Test func aGatewayThatIsNoneIsNamed() async throws {
    var options = Self.short([.b8])
    options.gateway = "/nonexistent/landline"
    let chosen = options
    await #expect(throws: BenchProblem("/nonexistent/landline is no program")) { try await CallsBench.run(chosen) }
  }

  // What the stub callee reads and writes.

  private static let invite = """
    INVITE sip:+46700000001@127.0.0.1:5080;transport=udp SIP/2.0\r
    Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKa;rport\r
    Record-Route: <sip:127.0.0.1;lr>\r
    From: <sip:+46701234567@127.0.0.1>;tag=x\r
    To: <sip:+46700000001@127.0.0.1>\r
    Call-ID: one\r
    CSeq: 7 INVITE\r
    Content-Length: 0\r
    \r

    """

  @Test func theCalledNumberIsRead() {
    let request = StubRequest(Self.invite)
    #expect(request.method == "INVITE")
    #expect(request.user == "+46700000001")
    #expect(StubRequest("BYE sip:127.0.0.1:5080 SIP/2.0\r\n\r\n").user.isEmpty)
  }

  @Test func answersRepeatWhatTheyMust() {
    let lines = StubRequest(Self.invite).response("180 Ringing", tag: true, port: 5080).split(separator: "\r\n")
    #expect(
      lines == [
        "SIP/2.0 180 Ringing", "Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKa;rport",
        "Record-Route: <sip:127.0.0.1;lr>", "From: <sip:+46701234567@127.0.0.1>;tag=x", "Call-ID: one",
        "To: <sip:+46700000001@127.0.0.1>;tag=callee", "CSeq: 7 INVITE", "Contact: <sip:callee@127.0.0.1:5080>",
        "Content-Length: 0",
      ])
    let ended = StubRequest(Self.invite.replacing("INVITE", with: "CANCEL"))
      .response("487 Request Terminated", tag: true, port: 5080, method: "INVITE")
    #expect(ended.contains("CSeq: 7 INVITE\r\n"))
  }

  @Test(arguments: ["", "\r\n\r\n", "INVITE", "INVITE sip: SIP/2.0\r\nVia\r\n\r\n", "::\r\n: :\r\n\r\n"])
  func whatIsNoRequestHarmsNothing(_ text: String) {
    #expect(StubRequest(text).user.isEmpty)
    #expect(StubRequest(text).response("200 OK", tag: true, port: 1).hasPrefix("SIP/2.0 200 OK\r\n"))
  }

  @Test func offersOfDifferentCallsDiffer() {
    let texts = Set((0..<1000).map { AppOffer(call: $0).text })
    #expect(texts.count == 1000)
    #expect(texts.allSatisfy { $0.contains("a=ice-ufrag:b") && $0.hasSuffix("\r\n") })
  }
}
