import CallModel
import LandlineResolver
import SIPCore
import Testing

@Suite("Reading DNS messages")
struct DNSMessageReaderTests {
  static func message(
    _ question: DNSQuestion, _ records: [NameServer.Record], flags: [UInt8] = [0x81, 0x80],
    authorities: [NameServer.Record] = []
  ) -> [UInt8] {
    [0, 1] + flags + [0, 1] + NameServer.number16(records.count) + NameServer.number16(authorities.count) + [0, 0]
      + NameServer.name(question.name) + NameServer.number16(Int(question.kind.type)) + [0, 1]
      + (records + authorities).flatMap(NameServer.wire)
  }

  static let question = DNSQuestion(.a, "h.example.com")

  @Test(
    "The shortest time to live on the way counts",
    arguments: [
      ([NameServer.Record.a(192, 0, 2, 1, seconds: 300), .a(192, 0, 2, 2, seconds: 20)], 20),
      ([.alias(nil, to: "x.example", seconds: 7), .a(192, 0, 2, 1, seconds: 300, owner: "x.example")], 7),
      ([.a(192, 0, 2, 1, seconds: 0x8000_0000)], 0),
    ] as [([NameServer.Record], Int64)])
  func timeToLive(records: [NameServer.Record], seconds: Int64) {
    let bytes = DNSMessageReaderTests.message(DNSMessageReaderTests.question, records)
    let reading = DNSMessageReader.read(bytes, answering: DNSMessageReaderTests.question)
    #expect(reading.seconds == seconds)
    guard case .addresses = reading.answer else {
      Issue.record("\(reading.answer)")
      return
    }
  }

  @Test("Aliases are followed eight times", arguments: [(8, true), (9, false)])
  func aliases(count: Int, isFound: Bool) {
    var records = [NameServer.Record.alias(nil, to: "n1.example")]
    for number in 1..<count { records.append(.alias("n\(number).example", to: "n\(number + 1).example")) }
    records.append(.a(192, 0, 2, 1, owner: "n\(count).example"))
    let bytes = DNSMessageReaderTests.message(DNSMessageReaderTests.question, records.reversed())
    let reading = DNSMessageReader.read(bytes, answering: DNSMessageReaderTests.question)
    #expect((reading.answer != .notFound) == isFound)
  }

  @Test("A label with a dot inside does not pass for two")
  func dotInLabel() {
    let question = DNSQuestion(.srv, "_sip._udp.example.com")
    let record = NameServer.Record(type: 33, data: [0, 1, 0, 1, 0x13, 0xC4, 3] + Array("a.b".utf8) + [0])
    let reading = DNSMessageReader.read(
      DNSMessageReaderTests.message(question, [record]), answering: question)
    #expect(reading.answer == .srv([SRVRecord(priority: 1, weight: 1, port: 5060, target: "a\\046b")]))
  }

  @Test("Cut or changed anywhere, a message is read or refused, never more")
  func mutations() {
    let question = DNSQuestion(.naptr, "example.com")
    let records: [NameServer.Record] = [
      .naptr(10, 1, "s", "SIP+D2U", "_sip._udp.example.com"), .alias("x.example", to: "y.example"),
      .naptr(20, 1, "s", "SIP+D2T", "_sip._tcp.example.com"),
    ]
    let bytes = DNSMessageReaderTests.message(question, records)
    var outcomes: Set<Bool> = []
    for count in 0..<bytes.count {
      #expect(
        DNSMessageReader.read(Array(bytes[..<count]), answering: question).answer == .serverFailure, "\(count) bytes")
    }
    for place in bytes.indices {
      for value in [0, 1, 12, 0x3F, 0x40, 0x7F, 0xC0, 0xFF] as [UInt8] {
        var changed = bytes
        changed[place] = value
        if case .naptr = DNSMessageReader.read(changed, answering: question).answer {
          outcomes.insert(true)
        } else {
          outcomes.insert(false)
        }
      }
    }
    #expect(outcomes == [true, false])
  }

  @Test("What answers another question is no answer")
  func otherQuestion() {
    let bytes = DNSMessageReaderTests.message(DNSQuestion(.a, "evil.example"), [.a(192, 0, 2, 1)])
    #expect(DNSMessageReader.read(bytes, answering: DNSMessageReaderTests.question).answer == .serverFailure)
    let query = DNSMessageReaderTests.message(DNSMessageReaderTests.question, [.a(192, 0, 2, 1)], flags: [1, 0])
    #expect(DNSMessageReader.read(query, answering: DNSMessageReaderTests.question).answer == .serverFailure)
  }

  @Test("A flood of records is cut")
  func flood() {
    let records = (0..<3000).map { _ in NameServer.Record.a(192, 0, 2, 1) }
    let bytes = DNSMessageReaderTests.message(DNSMessageReaderTests.question, records)
    guard case .addresses(let found) = DNSMessageReader.read(bytes, answering: DNSMessageReaderTests.question).answer
    else {
      Issue.record("no addresses")
      return
    }
    #expect(found.count == DNSMessageReader.maximumRecords)
  }
}
