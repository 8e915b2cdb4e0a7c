/// What the fields of a scanned message say: the checks the parser leaves to its user.
public enum SemanticCheck {
  /// Largest Max-Forwards (RFC 3261 section 20.22).
  public static let maximumMaxForwards: UInt32 = 255
  /// CSeq numbers stay below this (RFC 3261 section 8.1.1.5).
  public static let cseqBound: UInt32 = 1 << 31
  /// Request-URI schemes that are understood.
  public static let schemes: Set<String> = ["sip", "sips", "tel"]

  /// - Returns: The first rule the message breaks; `nil` when it breaks none.
  public static func refusal(of message: ScannedMessage) -> GateRefusal? {
    brokenRule(message).map { GateRefusal($0.rule, at: $0.offset, in: message) }
  }

  private typealias Fault = (rule: GateRule, offset: Int?)

  private static func brokenRule(_ message: ScannedMessage) -> Fault? {
    if message.version != "2.0" { return (.version, nil) }
    return requestURI(message) ?? repeats(message) ?? mandatory(message) ?? values(message) ?? body(message)
  }

  // MARK: Request-URI

  private static func requestURI(_ message: ScannedMessage) -> Fault? {
    guard let uri = message.requestURI else { return nil }
    guard let scheme = message.scheme else { return (.requestURI, uri.lowerBound) }
    guard schemes.contains(scheme) else { return (.scheme, uri.lowerBound) }
    let address = uri.lowerBound + scheme.utf8.count + 1..<uri.upperBound
    if address.isEmpty { return (.requestURI, uri.upperBound) }
    if scheme == "tel" { return nil }
    let ats = address.filter { message.bytes[$0] == UInt8(ascii: "@") }
    if ats.count > 1 { return (.requestURI, ats[1]) }
    if let at = ats.first, at == address.lowerBound { return (.requestURI, at) }
    var cursor = ValueCursor(message.bytes, (ats.first.map { $0 + 1 } ?? address.lowerBound)..<address.upperBound)
    guard ScannedHost.host(&cursor) != nil else { return (.requestURI, cursor.position) }
    if cursor.peek == MessageCharacter.colon {
      cursor.position += 1
      let digits = cursor.run(while: MessageCharacter.isDigit)
      guard let port = ScannedNumber(message.bytes[digits]).number, port > 0, port <= 65_535 else {
        return (.requestURI, digits.lowerBound)
      }
    }
    guard cursor.peek == nil || cursor.peek == MessageCharacter.semicolon else {
      return (.requestURI, cursor.position)
    }
    // Header fields may not stand in a Request-URI (RFC 3261 section 19.1.1): they would be smuggled into the request.
    let rest = cursor.position..<cursor.end
    if let question = rest.first(where: { message.bytes[$0] == UInt8(ascii: "?") }) { return (.requestURI, question) }
    return nil
  }

  // MARK: Header fields

  private static func repeats(_ message: ScannedMessage) -> Fault? {
    // One bit for each kind.
    var seen: UInt64 = 0
    for header in message.headers where header.kind.isSingle {
      let bit: UInt64 = 1 << UInt64(header.kind.rawValue)
      if seen & bit != 0 { return (.repeatedHeader, header.name.lowerBound) }
      seen |= bit
    }
    return nil
  }

  private static func mandatory(_ message: ScannedMessage) -> Fault? {
    for kind in [HeaderKind.via, .from, .to, .callID, .cseq] where message.header(kind) == nil {
      return (.missingHeader, nil)
    }
    return nil
  }

  private static func values(_ message: ScannedMessage) -> Fault? {
    if message.hasMalformedVia { return (.via, message.header(.via)?.value.lowerBound) }
    guard message.from != nil else { return (.address, message.header(.from)?.value.lowerBound) }
    guard message.to != nil else { return (.address, message.header(.to)?.value.lowerBound) }
    for header in message.headers {
      if let rule = brokenRule(header, in: message) { return (rule, header.value.lowerBound) }
    }
    return nil
  }

  private static func brokenRule(_ header: HeaderField, in message: ScannedMessage) -> GateRule? {
    let value = message.bytes[header.value]
    switch header.kind {
    case .callID:
      let isWord = !value.isEmpty && !value.contains(where: MessageCharacter.isBlank)
      return isWord ? nil : .callID
    case .cseq:
      let cseq = ScannedCSeq(value)
      switch cseq.number {
      case .malformed: return .cseq
      case .tooLarge: return .cseqRange
      case .value(let number) where number >= cseqBound: return .cseqRange
      case .value: break
      }
      if cseq.method.isEmpty { return .cseq }
      if let method = message.method, method != cseq.method { return .cseqMethod }
      return nil
    case .maxForwards:
      guard let hops = ScannedNumber(value).number, hops <= maximumMaxForwards else { return .maxForwards }
      return nil
    case .contact:
      return areContacts(header, in: message) ? nil : .contact
    case .contentType:
      return contentType(header, in: message)
    // Date, Expires and Min-Expires too: who needs one reads it, and nobody else minds (RFC 3261 section 8.2.2).
    default: return nil
    }
  }

  /// `*` or a list of addresses.
  private static func areContacts(_ header: HeaderField, in message: ScannedMessage) -> Bool {
    if message.text(header.value) == "*" { return true }
    var cursor = ValueCursor(message.bytes, header.value)
    repeat {
      guard ScannedAddress(&cursor) != nil else { return false }
    } while cursor.consume(MessageCharacter.comma)
    return cursor.peek == nil
  }

  /// `type/subtype` with parameters; a multipart needs its boundary (RFC 2046 section 5.1.1).
  private static func contentType(_ header: HeaderField, in message: ScannedMessage) -> GateRule? {
    var cursor = ValueCursor(message.bytes, header.value)
    let type = cursor.run(while: MessageCharacter.isToken)
    guard !type.isEmpty, cursor.consume(UInt8(ascii: "/")) else { return .contentType }
    guard !cursor.run(while: MessageCharacter.isToken).isEmpty else { return .contentType }
    var hasBoundary = false
    let reader = cursor
    let areWellFormed = cursor.parameters { name, value in
      if value != nil, reader.equals(name, "boundary") { hasBoundary = true }
    }
    cursor.skipBlanks()
    guard areWellFormed, cursor.peek == nil else { return .contentType }
    return reader.equals(type, "multipart") && !hasBoundary ? .contentType : nil
  }

  // MARK: Body

  /// A body says what it is (RFC 3261 section 20.15). An ACK counts all the same: nobody can answer it, and without it a
  /// 200 is repeated until the call ends.
  private static func body(_ message: ScannedMessage) -> Fault? {
    guard !message.body.isEmpty, message.header(.contentType) == nil, message.method != SIPMethod.ack.rawValue else {
      return nil
    }
    return (.contentType, message.body.lowerBound)
  }
}
