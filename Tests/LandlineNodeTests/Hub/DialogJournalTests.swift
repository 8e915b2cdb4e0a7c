import CallModel
import Foundation
import LandlineNode
import Logging
import NodeCore
import PeerKit
import SIPCore
import Testing

@Suite("The journal of dialogs")
struct DialogJournalTests {
  private static let now = Instant(milliseconds: 1_800_000_000_000)
  private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let path = SIPPath(
    listener: ListenerID(7), remote: TransportAddress(.tls, .ipv6(high: 0x2001_0DB8 << 32, low: 5), port: 5061),
    serverName: "sip.example.com")
  private static let listeners = [
    AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: .ipv4(0xC000_0201), port: 5060),
    AdvertisedAddress(listener: ListenerID(2), transport: .tls, host: .ipv4(0xC000_0201), port: 5061),
    AdvertisedAddress(
      listener: ListenerID(3), transport: .tls, host: .ipv6(high: 0x2001_0DB8 << 32, low: 1), port: 5061),
  ]

  private static func invite(_ callID: String, sequence: Int = 1) -> [UInt8] {
    Array(
      """
      INVITE sip:+46701234567@sip.example.com SIP/2.0\r
      Via: SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK\(callID)\(sequence)\r
      From: <sip:+46812345678@192.0.2.1>;tag=a\r
      To: <sip:+46701234567@sip.example.com>\r
      Call-ID: \(callID)\r
      CSeq: \(sequence) INVITE\r
      Max-Forwards: 70\r
      Contact: <sip:192.0.2.1:5061;transport=tls>\r
      Authorization: Digest response="0123456789abcdef"\r
      Content-Type: application/sdp\r
      Content-Length: 5\r
      \r
      v=0\r\n
      """.utf8)
  }

  private static func answer(_ callID: String, _ status: Int = 200, method: String = "INVITE") -> [UInt8] {
    Array(
      """
      SIP/2.0 \(status) Whatever\r
      Via: SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK\(callID)1\r
      From: <sip:+46812345678@192.0.2.1>;tag=a\r
      To: <sip:+46701234567@sip.example.com>;tag=b\r
      Call-ID: \(callID)\r
      CSeq: 1 \(method)\r
      Contact: <sip:gate@198.51.100.9>\r
      Content-Length: 0\r
      \r\n
      """.utf8)
  }

  private static func journal(_ path: String, at now: Instant = now) throws -> DialogJournal {
    try DialogJournal(path: path, at: now, log: log)
  }

  /// The book and the file that it is written to.
  private final class Kept {
    var book = DialogBook()
    let journal: DialogJournal
    private var transactions: UInt64 = 0

    init(_ journal: DialogJournal) { self.journal = journal }

    func begin(_ number: Int, _ callID: String, trunk: String = "t") {
      let isBegun = book.begin(CallHandle(UInt64(number)), sipCallID: callID, trunk: trunk, at: now)
      #expect(isBegun)
    }

    /// - Parameter isAgain: the same transaction as before.
    func sent(_ bytes: [UInt8], _ callID: String, isAgain: Bool = false) {
      if !isAgain { transactions += 1 }
      let message = SentMessage(callID, transaction: TransactionID(transactions), isInvite: true)
      write(book.sent(bytes, message, on: path))
    }

    func received(_ bytes: [UInt8]) {
      let agent = UserAgent(UserAgentConfiguration(addresses: listeners), identifiers: .system)
      var effects: [UserAgentEffect] = []
      write(book.received(bytes, agent.receive(bytes, from: path, at: .zero, into: &effects)))
    }

    func ended(_ number: Int) { write(book.ended(CallHandle(UInt64(number)))) }

    private func write(_ entry: JournalEntry?) { if let entry { journal.write(entry) } }
  }

  @Test("what was up and what rang is there in the next life, what ended is not")
  func nextLife() throws {
    let temporary = try TemporaryFolder("journal")
    let folder = temporary.url
    defer { withExtendedLifetime(temporary) {} }
    let file = folder.path + "/gateway.dialogs"
    var kept: Kept? = Kept(try Self.journal(file))
    for (number, callID) in ["up", "ringing", "over", "never"].enumerated() {
      kept?.begin(number, callID, trunk: "carrier-a")
      if callID != "never" { kept?.sent(Self.invite(callID), callID) }
    }
    kept?.received(Self.answer("up", 180))
    kept?.received(Self.answer("up", 200, method: "PRACK"))
    kept?.received(Self.answer("up"))
    kept?.received(Self.answer("over"))
    kept?.ended(2)
    kept = nil
    let bytes = try #require(FileManager.default.contents(atPath: file))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("0123456789abcdef"))
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)

    let next = try Self.journal(file, at: Instant(milliseconds: Self.now.milliseconds + 5_000))
    #expect(Set(next.leftOver.map(\.callID)) == ["up", "ringing"])
    for left in next.leftOver {
      let leg = try #require(left.leg(over: Self.listeners, account: nil))
      #expect(leg.path.listener == ListenerID(3) && leg.path.serverName == "sip.example.com")
      #expect(leg.path.remote == Self.path.remote && left.trunk == "carrier-a")
      #expect((leg.answer != nil) == (left.callID == "up"))
    }
    #expect(next.leftOver[0].leg(over: Array(Self.listeners.prefix(2)), account: nil) == nil)
    let last = Kept(next)
    for (number, left) in next.leftOver.enumerated() { last.book.adopt(CallHandle(UInt64(number)), left) }
    last.ended(0)
    last.ended(1)
    #expect(try Self.journal(file).leftOver.isEmpty)
    next.close()
    #expect(FileManager.default.contents(atPath: file)?.isEmpty == true)
  }

  @Test("the INVITE with credentials takes the place of the one before")
  func again() throws {
    let temporary = try TemporaryFolder("journal")
    let folder = temporary.url
    defer { withExtendedLifetime(temporary) {} }
    let kept = Kept(try Self.journal(folder.path + "/a.dialogs"))
    kept.begin(1, "x")
    kept.sent(Self.invite("x"), "x")
    let size = FileManager.default.contents(atPath: folder.path + "/a.dialogs")?.count
    // A repetition tells nothing new.
    kept.sent(Self.invite("x"), "x", isAgain: true)
    #expect(FileManager.default.contents(atPath: folder.path + "/a.dialogs")?.count == size)
    kept.sent(Self.invite("x", sequence: 2), "x")
    let left = try #require(try Self.journal(folder.path + "/a.dialogs").leftOver.first)
    let leg = try #require(left.leg(over: Self.listeners, account: nil))
    #expect(leg.invite.cseq.number == 2)
  }

  @Test("a file that was cut anywhere, or holds anything else, is read as far as it is whole")
  func torn() throws {
    let leg = JournaledLeg(
      callID: "x", trunk: "t", startedAt: Self.now, path: Self.path, invite: Array("INVITE a\r\n".utf8),
      answer: Array("SIP/2.0 200 OK\r\n".utf8))
    let second = JournaledLeg(callID: "y", trunk: "t", startedAt: Self.now, path: Self.path, invite: leg.invite)
    let whole = leg.inviteRecord + leg.answerRecord + second.inviteRecord + leg.endRecord
    #expect(JournaledLeg.live(in: whole).keys.sorted() == ["y"])
    for count in 0..<whole.count {
      let live = JournaledLeg.live(in: Array(whole[..<count]))
      #expect((live["x"] != nil) == (count >= leg.inviteRecord.count))
      #expect((live["y"] != nil) == (count >= whole.count - leg.endRecord.count))
    }
    for words in [
      "invite x t 1 udp 192.0.2.1 5060 - 99999999999999999999\n", "invite x 5\nabcde\n", "end x -1\n", "\n",
    ] {
      #expect(JournaledLeg.live(in: leg.inviteRecord + Array(words.utf8)).keys.sorted() == ["x"])
    }
    #expect(JournaledLeg.live(in: [UInt8](repeating: 0xFF, count: 5000)).isEmpty)
  }

  @Test("old legs are left alone, and the file is written anew before it grows without end")
  func bounds() throws {
    let temporary = try TemporaryFolder("journal")
    let folder = temporary.url
    defer { withExtendedLifetime(temporary) {} }
    let file = folder.path + "/a.dialogs"
    let kept = Kept(try Self.journal(file))
    kept.begin(0, "stays")
    kept.sent(Self.invite("stays"), "stays")
    var largest = 0
    for number in 1...12_000 {
      kept.begin(number, "c\(number)")
      kept.sent(Self.invite("c\(number)"), "c\(number)")
      kept.ended(number)
      if number % 100 == 0 {
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
        largest = max(largest, size ?? 0)
      }
    }
    #expect(largest <= DialogJournal.compactionBytes)
    #expect(try Self.journal(file).leftOver.map(\.callID) == ["stays"])
    let later = Instant(milliseconds: Self.now.milliseconds + DialogJournal.maximumAgeMilliseconds + 1)
    #expect(try Self.journal(file, at: later).leftOver.isEmpty)
  }

  @Test("a file that cannot be opened is told with its name")
  func unopenable() throws {
    let problem = #expect(throws: InvalidValue.self) { try Self.journal("/nowhere/at/all") }
    #expect(problem?.description.contains("/nowhere/at/all") == true)
  }
}
