public import CallModel

/// The number of a reliable provisional response (RFC 3262 section 7.1).
public struct RSeq: Hashable, Sendable {
  /// 1 to 2³² − 1; the next reliable response to the same INVITE has one more (RFC 3262 section 3).
  public let number: UInt32

  /// Checks nothing: 0 makes a field that no peer takes.
  public init(_ number: UInt32) { self.number = number }

  /// - Throws: `InvalidValue` with rule `rseq.number`: 1 to 2³² − 1, nothing else.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    guard let number = FieldNumber.read(text), number > 0 else {
      throw InvalidValue(
        kind: "RSeq header", rule: "rseq.number", offset: nil, problem: "the value is no number from 1 on",
        accepted: "a number of 1 to \(UInt32.max), such as 776656")
    }
    self.number = number
  }

  /// The digits alone: `776656`.
  public var fieldValue: String { String(number) }
}

/// Which provisional response a PRACK acknowledges (RFC 3262 section 7.2).
public struct RAck: Hashable, Sendable {
  /// RSeq of the response.
  public let response: UInt32
  /// CSeq of the response, which is that of the INVITE.
  public let cseq: CSeq

  public init(response: UInt32, cseq: CSeq) {
    self.response = response
    self.cseq = cseq
  }

  /// - Throws: `InvalidValue` with rule `rack.value`: two numbers and a method.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    let parts = Array(text.utf8.prefix(256)).split { MessageCharacter.isBlank($0) }
    guard text.utf8.count <= 256, parts.count == 3, let response = ScannedNumber(parts[0]).number,
      let number = ScannedNumber(parts[1]).number, parts[2].allSatisfy(MessageCharacter.isToken)
    else {
      throw InvalidValue(
        kind: "RAck header", rule: "rack.value", offset: nil,
        problem: "the value is not two numbers of at most 32 bits and a method",
        accepted: "the RSeq and the CSeq of the response, such as 776656 1 INVITE")
    }
    self.init(
      response: response, cseq: CSeq(number, SIPMethod(rawValue: String(decoding: parts[2], as: UTF8.self))))
  }

  /// RSeq, then CSeq: `776656 1 INVITE`.
  public var fieldValue: String { "\(response) \(cseq.number) \(cseq.method.rawValue)" }
}

/// Numbers of field values.
enum FieldNumber {
  /// Digits alone, at most 32 bits, with blanks around them.
  static func read(_ text: some StringProtocol) -> UInt32? {
    // More digits than these are leading zeros or too many.
    let bytes = Array(text.utf8.prefix(64))
    guard text.utf8.count < 64 else { return nil }
    let digits = bytes.drop(while: MessageCharacter.isBlank)
    let end = digits.lastIndex { !MessageCharacter.isBlank($0) } ?? digits.startIndex - 1
    return ScannedNumber(digits[digits.startIndex..<(end + 1)]).number
  }
}
