import CallModel
import Foundation
import SIPCore
import TestVectors
import Testing

/// RFC 4475 and RFC 5118 through a whole agent: the bytes that leave, beside the table's verdicts.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct TortureTests {
  /// Other answers than the table's, with the reason.
  static let byChoice: [String: (statuses: Set<Int>, reason: String)] = [
    "inv2543": ([400], "a caller of RFC 2543 without tag and Contact: no dialog with it could be told from another")
  ]

  @Test(arguments: ["rfc4475", "rfc5118"])
  func everyMessageGetsItsAnswer(folder: String) throws {
    let (judged, wrong) = try Self.judge(folder)
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    #expect(judged > 5)
  }

  /// How many messages of a folder were judged, and what was wrong with their answers.
  static func judge(_ folder: String) throws -> (judged: Int, wrong: [String]) {
    let rows = try TestVectors.table("\(folder)/expected.tsv")
    var wrong: [String] = []
    var judged = 0
    for row in rows {
      let name = try #require(row["case"])
      let file = TestVectors.folder.appendingPathComponent("\(folder)/\(name).dat")
      guard let data = try? Data(contentsOf: file) else { continue }
      judged += 1
      let transport: SIPTransport =
        switch row["sent_over"] {
        case "TCP": .tcp
        case "TLS": .tls
        default: .udp
        }
      let scene = Scene(transport)
      let statuses = scene.statuses(to: Array(data))
      let wanted = Self.byChoice[name]?.statuses ?? Self.statuses(row)
      let isFine =
        statuses.isEmpty
        ? wanted.isEmpty || Self.mayBeSilent(row)
        : wanted.isEmpty ? !Self.mayBeSilent(row) && !statuses.contains(400) : statuses.allSatisfy(wanted.contains)
      if !isFine {
        wrong.append("\(name): answered \(statuses), wanted \(wanted.sorted()): \(row["gateway_as_ua"] ?? "")")
      }
      let after = scene.statuses(to: Scene.options(transport))
      if after != [200] { wrong.append("\(name): an OPTIONS after it got \(after)") }
    }
    return (judged, wrong)
  }

  /// The statuses that the two columns of verdicts name; none where they say only how the message is to be read.
  private static func statuses(_ row: [String: String]) -> Set<Int> {
    let text = verdicts(row)
    let words = text.split { " ,;:()/".contains($0) }.filter { $0.utf8.count == 3 }
    var statuses = Set(words.compactMap { Int($0) }.filter { (200..<700).contains($0) })
    // Where no credentials are wanted, those that came are nobody's business.
    if text.contains("as if no credentials") { statuses.formUnion([200, 404, 405]) }
    return statuses
  }

  /// A call that comes in waits for the layer above.
  private static func mayBeSilent(_ row: [String: String]) -> Bool {
    let text = verdicts(row)
    return ["drop", "discard", "INVITE", "answer"].contains { text.contains($0) }
  }

  private static func verdicts(_ row: [String: String]) -> String {
    [row["gateway_as_ua"], row["also_acceptable"]].compactMap { $0 }.joined(separator: " ")
  }

  /// One agent and a peer on one transport.
  private struct Scene {
    private let agent: UserAgent
    private let path: SIPPath

    init(_ transport: SIPTransport) {
      let own = SIPHost.ipv4(0x7F00_0001)
      agent = UserAgent(
        UserAgentConfiguration(
          addresses: [AdvertisedAddress(listener: ListenerID(1), transport: transport, host: own, port: 5060)],
          acceptsCalls: true),
        identifiers: .system)
      path = SIPPath(
        listener: ListenerID(1), remote: TransportAddress(transport, .ipv4(0x7F00_0009), port: 5060),
        connection: transport.isStream ? ConnectionID(1) : nil)
    }

    /// The statuses of what is sent within a second, 100 left out.
    func statuses(to bytes: [UInt8]) -> [Int] {
      var effects: [UserAgentEffect] = []
      agent.receive(bytes, from: path, at: .zero, into: &effects)
      agent.advance(to: MonotonicInstant(milliseconds: 400), into: &effects)
      return effects.compactMap { effect in
        guard case .send(let bytes, _, _) = effect,
          case .success(let message) = SIPGate.inspect(bytes, transport: .tcp)
        else { return nil }
        return message.status == 100 ? nil : message.status
      }
    }

    static func options(_ transport: SIPTransport) -> [UInt8] {
      Array(
        """
        OPTIONS sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/\(transport.rawValue.uppercased()) 127.0.0.9;branch=z9hG4bKafter\r\n\
        From: <sip:a@127.0.0.9>;tag=1\r\nTo: <sip:127.0.0.1>\r\nCall-ID: after\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\n\
        Content-Length: 0\r\n\r\n
        """.utf8)
    }
  }
}
