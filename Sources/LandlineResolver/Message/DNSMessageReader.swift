import CallModel
package import SIPCore

/// Reads the answer out of a DNS message (RFC 1035 section 4) that came from anywhere: every offset is checked, names
/// may only point backwards, and counts are bounded. The library that fetched the message gives no time to live for SRV
/// and NAPTR, which is why it is read here.
package struct DNSMessageReader {
  /// Most records of an answer that are looked at.
  package static let maximumRecords = 1024
  /// Most aliases followed inside one answer.
  package static let maximumAliases = 8
  /// Most bytes of a name in a message (RFC 1035 section 2.3.4).
  static let maximumNameBytes = 255

  /// An answer and how long it holds.
  package struct Reading: Hashable, Sendable {
    package let answer: DNSAnswer
    /// `nil` where the message does not say.
    package let seconds: Int64?
  }

  private struct Malformed: Error {}

  private struct Record {
    let owner: String
    let type: UInt16
    let seconds: Int64
    let data: Range<Int>
  }

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The answer to a question; bytes that make no sense, or answer something else, are a failure of the server.
  package static func read(_ bytes: [UInt8], answering question: DNSQuestion) -> Reading {
    var reader = DNSMessageReader(bytes)
    do {
      return try reader.read(question)
    } catch {
      return Reading(answer: .serverFailure, seconds: nil)
    }
  }

  private mutating func read(_ question: DNSQuestion) throws(Malformed) -> Reading {
    _ = try number16()
    let flags = try number16()
    let counts = (questions: try number16(), answers: try number16(), authorities: try number16())
    _ = try number16()
    guard flags & 0x8000 != 0, counts.questions == 1 else { throw Malformed() }
    guard try name() == question.name, try number16() == question.kind.type, try number16() == 1 else {
      throw Malformed()
    }
    // NOERROR and NXDOMAIN have something to say about the name.
    guard [0, 3].contains(flags & 0xF) else { throw Malformed() }

    var aliases: [String: (target: String, seconds: Int64)] = [:]
    var records: [Record] = []
    for _ in 0..<min(Int(counts.answers), DNSMessageReader.maximumRecords) {
      guard let record = try record() else { continue }
      if record.type == 5 {
        aliases[record.owner] = (try name(at: record.data.lowerBound), record.seconds)
      } else if record.type == question.kind.type {
        records.append(record)
      }
    }
    var owner = question.name
    var seconds = Int64.max
    for _ in 0..<DNSMessageReader.maximumAliases {
      guard let alias = aliases[owner] else { break }
      owner = alias.target
      seconds = min(seconds, alias.seconds)
    }
    records.removeAll { $0.owner != owner }
    guard !records.isEmpty else {
      let isComplete = counts.answers <= DNSMessageReader.maximumRecords
      return Reading(answer: .notFound, seconds: isComplete ? try negativeSeconds(counts.authorities) : nil)
    }
    seconds = records.reduce(seconds) { min($0, $1.seconds) }
    return Reading(answer: try answer(records, question.kind), seconds: seconds)
  }

  /// The time to live of "no such record" (RFC 2308 section 5); the reader stands before the authority section.
  private mutating func negativeSeconds(_ authorities: UInt16) throws(Malformed) -> Int64? {
    for _ in 0..<min(Int(authorities), DNSMessageReader.maximumRecords) {
      guard let record = try record(), record.type == 6 else { continue }
      position = record.data.lowerBound
      _ = try name()
      _ = try name()
      for _ in 0..<4 { _ = try number32() }
      return min(record.seconds, Int64(try number32()))
    }
    return nil
  }

  private mutating func answer(_ records: [Record], _ kind: DNSQuestion.Kind) throws(Malformed) -> DNSAnswer {
    var addresses: [SIPHost] = []
    var services: [SRVRecord] = []
    var pointers: [NAPTRRecord] = []
    for record in records {
      position = record.data.lowerBound
      switch kind {
      case .a:
        guard record.data.count == 4 else { throw Malformed() }
        addresses.append(.ipv4(try number32()))
      case .aaaa:
        guard record.data.count == 16 else { throw Malformed() }
        let high = UInt64(try number32()) << 32 | UInt64(try number32())
        addresses.append(.ipv6(high: high, low: UInt64(try number32()) << 32 | UInt64(try number32())))
      case .srv:
        services.append(
          SRVRecord(priority: try number16(), weight: try number16(), port: try number16(), target: try name()))
      case .naptr:
        pointers.append(
          NAPTRRecord(
            order: try number16(), preference: try number16(), flags: try text(), services: try text(),
            regularExpression: try text(), replacement: try name()))
      }
      guard position == record.data.upperBound else { throw Malformed() }
    }
    return switch kind {
    case .a, .aaaa: .addresses(addresses)
    case .srv: .srv(services)
    case .naptr: .naptr(pointers)
    }
  }

  /// The next record, `nil` for one of another class than IN; the reader stands behind it afterwards.
  private mutating func record() throws(Malformed) -> Record? {
    let owner = try name()
    let type = try number16()
    let network = try number16()
    let written = try number32()
    let length = Int(try number16())
    guard length <= bytes.count - position else { throw Malformed() }
    let data = position..<(position + length)
    position += length
    // A time to live with the highest bit is none (RFC 2181 section 8).
    return network == 1
      ? Record(owner: owner, type: type, seconds: written > 0x7FFF_FFFF ? 0 : Int64(written), data: data) : nil
  }

  // MARK: Pieces

  private mutating func number8() throws(Malformed) -> UInt8 {
    guard position < bytes.count else { throw Malformed() }
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func number16() throws(Malformed) -> UInt16 {
    let high = try number8()
    return UInt16(high) << 8 | UInt16(try number8())
  }

  private mutating func number32() throws(Malformed) -> UInt32 {
    let high = try number16()
    return UInt32(high) << 16 | UInt32(try number16())
  }

  /// A character string, its bytes above ASCII replaced.
  private mutating func text() throws(Malformed) -> String {
    let length = Int(try number8())
    guard length <= bytes.count - position else { throw Malformed() }
    defer { position += length }
    return String(decoding: bytes[position..<(position + length)].map { $0 < 0x80 ? $0 : 0x3F }, as: UTF8.self)
  }

  private mutating func name(at offset: Int) throws(Malformed) -> String {
    let kept = position
    position = offset
    defer { position = kept }
    return try name()
  }

  /// A name in lower case without its final dot. Bytes that no host name has are written as RFC 1035 section 5.1
  /// escapes them, so that no label can pass for two.
  private mutating func name() throws(Malformed) -> String {
    var result: [UInt8] = []
    var length = 0
    var cursor = position
    var lowest = cursor
    var behind: Int?
    while true {
      guard cursor < bytes.count else { throw Malformed() }
      let first = Int(bytes[cursor])
      switch first {
      case 0:
        position = behind ?? (cursor + 1)
        return String(decoding: result, as: UTF8.self)
      case 1...63:
        guard first < bytes.count - cursor else { throw Malformed() }
        length += first + 1
        guard length < DNSMessageReader.maximumNameBytes else { throw Malformed() }
        if !result.isEmpty { result.append(UInt8(ascii: ".")) }
        for byte in bytes[(cursor + 1)...(cursor + first)] { DNSMessageReader.append(byte, to: &result) }
        cursor += first + 1
      case 0xC0...0xFF:
        guard cursor + 1 < bytes.count else { throw Malformed() }
        let target = (first & 0x3F) << 8 | Int(bytes[cursor + 1])
        // Each jump goes back, so that no name can run in a circle.
        guard target < lowest else { throw Malformed() }
        if behind == nil { behind = cursor + 2 }
        lowest = target
        cursor = target
      default: throw Malformed()
      }
    }
  }

  private static func append(_ byte: UInt8, to result: inout [UInt8]) {
    switch byte {
    case 0x41...0x5A: result.append(byte + 0x20)
    case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): result.append(byte)
    default:
      let digits = String(byte)
      result.append(UInt8(ascii: "\\"))
      result.append(contentsOf: [UInt8](repeating: 0x30, count: 3 - digits.utf8.count))
      result.append(contentsOf: digits.utf8)
    }
  }
}

extension DNSQuestion.Kind {
  /// The record type as IANA numbers it.
  package var type: UInt16 {
    switch self {
    case .a: 1
    case .aaaa: 28
    case .srv: 33
    case .naptr: 35
    }
  }
}
