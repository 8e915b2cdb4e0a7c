public import CallModel

extension SIPURI {
  /// Most bytes of a URI that is read by itself.
  public static let maximumBytes = 2048

  /// Reads a `sip:`, `sips:` or `tel:` URI (RFC 3261 section 25.1, RFC 3966).
  ///
  /// A password is dropped: RFC 3261 section 19.1.1 warns of it, and it must not reach a log or another hop. Tolerated
  /// beyond the grammar: underscores in hosts, and `#`, `[`, `]`, `^`, `` ` ``, `{`, `|`, `}` and UTF-8 in the user
  /// part, which are escaped on the way out. `%00` may stand in the user part, as written, and nowhere else.
  /// - Throws: `InvalidValue` with rules `uri.long`, `uri.scheme`, `uri.user`, `uri.escape`, `uri.port`,
  ///   `uri.parameter`, `uri.header`, `uri.number`, `uri.end`, and those of the host, `sip.…`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    let bytes = Array(text.utf8.prefix(SIPURI.maximumBytes + 1))
    guard bytes.count <= SIPURI.maximumBytes else {
      throw SIPURI.refusal("long", SIPURI.maximumBytes, "the URI has more than \(SIPURI.maximumBytes) bytes")
    }
    try self.init(bytes, 0..<bytes.count)
  }

  /// Reads the URI that these bytes of a message are, to the last one.
  /// - Parameter isText: Whether nothing is sent there, as with From and To: a URI of any scheme will do.
  init(_ bytes: [UInt8], _ range: Range<Int>, isText: Bool = false) throws(InvalidValue) {
    var cursor = ValueCursor(bytes, range)
    let name = cursor.run { $0 != MessageCharacter.colon }
    guard cursor.peek == MessageCharacter.colon, let scheme = SIPURI.scheme(name, in: cursor) else {
      if isText, let text = SIPURI.otherURI(bytes[range]) {
        self.init(scheme: .other, user: text, host: nil)
        return
      }
      throw SIPURI.refusal("scheme", 0, "the scheme is none of sip, sips and tel")
    }
    cursor.position += 1
    if scheme == .tel {
      try self.init(number: &cursor, from: range.lowerBound)
    } else {
      try self.init(scheme, &cursor, from: range.lowerBound)
    }
  }

  /// A URI of another scheme, as written: visible ASCII without brackets and quotes, and nothing that would unescape to
  /// NUL.
  static func otherURI(_ bytes: ArraySlice<UInt8>) -> String? {
    let scheme = bytes.prefix { $0 != MessageCharacter.colon }
    guard let first = scheme.first, MessageCharacter.isLetter(first), scheme.allSatisfy(ScannedMessage.isSchemeByte),
      scheme.endIndex + 1 < bytes.endIndex,
      bytes.allSatisfy({
        $0 > 0x20 && $0 < 0x7F && $0 != MessageCharacter.open && $0 != MessageCharacter.close
          && $0 != MessageCharacter.quote
      })
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.contains("%00") ? nil : text
  }

  private static func scheme(_ name: Range<Int>, in cursor: ValueCursor) -> Scheme? {
    if cursor.equals(name, "sip") { return .sip }
    if cursor.equals(name, "sips") { return .sips }
    return cursor.equals(name, "tel") ? .tel : nil
  }

  static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "URI", rule: "uri.\(rule)", offset: offset, problem: problem,
      accepted: "a sip, sips or tel URI such as sip:alice@example.com:5060;transport=tcp or tel:+46701234567")
  }

  // MARK: sip and sips

  private init(_ scheme: Scheme, _ cursor: inout ValueCursor, from start: Int) throws(InvalidValue) {
    let bytes = cursor.bytes
    var user: String?
    // The first one: behind it no other may stand unescaped but in header fields, so that all readers agree on the host.
    if let at = bytes[cursor.position..<cursor.end].firstIndex(of: UInt8(ascii: "@")) {
      let colon = bytes[cursor.position..<at].firstIndex(of: MessageCharacter.colon) ?? at
      try SIPURI.check(cursor.position..<colon, of: bytes, from: start, "user", mayHoldNUL: true, SIPURI.isUserByte)
      if colon < at {
        try SIPURI.check(colon + 1..<at, of: bytes, from: start, "user", mayHoldNUL: true, SIPURI.isUserByte)
      }
      guard colon > cursor.position else {
        throw SIPURI.refusal("user", cursor.position - start, "the user part is empty")
      }
      user = String(validating: bytes[cursor.position..<colon], as: UTF8.self)
      if user == nil { throw SIPURI.refusal("user", cursor.position - start, "the user part is no UTF-8") }
      cursor.position = at + 1
    }
    let hostStart = cursor.position
    guard let written = ScannedHost.host(&cursor) else {
      throw SIPURI.refusal("host", hostStart - start, "the host is missing or its bracket is not closed")
    }
    let host = try SIPHost(signalled: bytes[written], base: hostStart - start)
    var port: UInt16?
    if cursor.peek == MessageCharacter.colon {
      cursor.position += 1
      let digits = cursor.run(while: MessageCharacter.isDigit)
      guard let number = ScannedNumber(bytes[digits]).number, number > 0, let value = UInt16(exactly: number) else {
        throw SIPURI.refusal("port", digits.lowerBound - start, "the port is no number of 1 to 65535")
      }
      port = value
    }
    let parameters = try SIPURI.parameters(&cursor, from: start)
    let headers = try SIPURI.headers(&cursor, from: start)
    guard cursor.peek == nil else {
      throw SIPURI.refusal("end", cursor.position - start, "\(cursor.nextName) cannot stand here")
    }
    self.init(scheme: scheme, user: user, host: host, port: port, parameters: parameters, headers: headers)
  }

  /// Every byte allowed, every `%` with two digits behind it, which are those of NUL in a user part only.
  private static func check(
    _ range: Range<Int>, of bytes: [UInt8], from start: Int, _ rule: String, mayHoldNUL: Bool = false,
    _ isAllowed: (UInt8) -> Bool
  ) throws(InvalidValue) {
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      if byte == MessageCharacter.percent {
        guard index + 2 < range.upperBound, MessageCharacter.isHexadecimal(bytes[index + 1]),
          MessageCharacter.isHexadecimal(bytes[index + 2])
        else { throw refusal("escape", index - start, "'%' is not followed by two hexadecimal digits") }
        guard mayHoldNUL || bytes[index + 1] != MessageCharacter.zero || bytes[index + 2] != MessageCharacter.zero
        else {
          throw refusal("escape", index - start, "an escaped NUL is not allowed")
        }
        index += 3
        continue
      }
      guard isAllowed(byte) else {
        throw refusal(rule, index - start, "\(InvalidValue.name(of: byte)) must be escaped or left out")
      }
      index += 1
    }
  }

  private static func isUserByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "^"), UInt8(ascii: "`"),
      UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), 0x80...:
      true
    default: URICharacter.isUser(byte)
    }
  }

  private static func parameters(_ cursor: inout ValueCursor, from start: Int) throws(InvalidValue) -> [SIPParameter] {
    var parameters: [SIPParameter] = []
    while cursor.peek == MessageCharacter.semicolon {
      cursor.position += 1
      let name = cursor.run(while: URICharacter.isParameterOrEscape)
      guard !name.isEmpty else {
        throw refusal("parameter", name.lowerBound - start, "a parameter without a name")
      }
      try check(name, of: cursor.bytes, from: start, "parameter", URICharacter.isParameter)
      var value: Range<Int>?
      if cursor.peek == MessageCharacter.equals {
        cursor.position += 1
        // `=` and the tolerated bytes of user parts occur in values that proxies make.
        let written = cursor.run { URICharacter.isParameterOrEscape($0) || $0 == MessageCharacter.equals || $0 == 0x7C }
        guard !written.isEmpty else {
          throw refusal("parameter", written.lowerBound - start, "a parameter's value is missing")
        }
        try check(written, of: cursor.bytes, from: start, "parameter") {
          URICharacter.isParameter($0) || $0 == MessageCharacter.equals || $0 == 0x7C
        }
        value = written
      }
      try checkKnown(name, value, in: cursor, from: start)
      parameters.append(SIPParameter(cursor.text(name), value.map(cursor.text)))
    }
    return parameters
  }

  /// Parameters that decide where a request goes say something that can be used.
  private static func checkKnown(
    _ name: Range<Int>, _ value: Range<Int>?, in cursor: ValueCursor, from start: Int
  ) throws(InvalidValue) {
    func missing(_ problem: String) -> InvalidValue {
      refusal("parameter", (value ?? name).lowerBound - start, problem)
    }
    if cursor.equals(name, "transport") {
      guard let value, cursor.bytes[value].allSatisfy(MessageCharacter.isToken) else {
        throw missing("the transport is no token")
      }
    } else if cursor.equals(name, "ttl") {
      guard let value, let number = ScannedNumber(cursor.bytes[value]).number, number <= 255 else {
        throw missing("the time to live is no number of 0 to 255")
      }
    } else if cursor.equals(name, "maddr") {
      guard let value else { throw missing("the address of maddr is missing") }
      _ = try SIPHost(signalled: cursor.bytes[value], base: value.lowerBound - start)
    }
  }

  private static func headers(_ cursor: inout ValueCursor, from start: Int) throws(InvalidValue) -> [SIPParameter] {
    guard cursor.peek == UInt8(ascii: "?") else { return [] }
    var headers: [SIPParameter] = []
    repeat {
      cursor.position += 1
      let name = cursor.run { URICharacter.isHeaderOrEscape($0) }
      guard !name.isEmpty else { throw refusal("header", name.lowerBound - start, "a header field without a name") }
      try check(name, of: cursor.bytes, from: start, "header", URICharacter.isHeader)
      var value: Range<Int>?
      if cursor.peek == MessageCharacter.equals {
        cursor.position += 1
        func isAllowed(_ byte: UInt8) -> Bool {
          URICharacter.isHeader(byte) || byte == MessageCharacter.equals || byte == UInt8(ascii: "@")
            || byte == MessageCharacter.semicolon || byte == MessageCharacter.comma
        }
        let written = cursor.run { isAllowed($0) || $0 == MessageCharacter.percent }
        try check(written, of: cursor.bytes, from: start, "header", isAllowed)
        value = written
      }
      headers.append(SIPParameter(cursor.text(name), value.map(cursor.text)))
    } while cursor.peek == UInt8(ascii: "&")
    return headers
  }

  // MARK: tel

  private init(number cursor: inout ValueCursor, from start: Int) throws(InvalidValue) {
    let first = cursor.position
    let isGlobal = cursor.peek == UInt8(ascii: "+")
    if isGlobal { cursor.position += 1 }
    let number = cursor.run { isGlobal ? URICharacter.isGlobalNumber($0) : URICharacter.isLocalNumber($0) }
    guard cursor.bytes[number].contains(where: { !URICharacter.isVisualSeparator($0) }) else {
      throw SIPURI.refusal("number", first - start, "the number has no digit")
    }
    let user = cursor.text(first..<cursor.position)
    let parameters = try SIPURI.parameters(&cursor, from: start)
    guard cursor.peek == nil else {
      throw SIPURI.refusal("end", cursor.position - start, "\(cursor.nextName) cannot stand in a tel URI")
    }
    if let context = parameters["phone-context"] {
      guard let value = context.value, SIPURI.isContext(value) else {
        throw SIPURI.refusal("parameter", nil, "the phone context is neither a prefix with + nor a domain")
      }
    }
    self.init(scheme: .tel, user: user, host: nil, parameters: parameters)
  }

  private static func isContext(_ value: String) -> Bool {
    let bytes = Array(value.utf8)
    guard bytes.first == UInt8(ascii: "+") else { return (try? SIPHost(signalled: bytes[...])) != nil }
    let rest = bytes.dropFirst()
    return rest.allSatisfy(URICharacter.isGlobalNumber) && rest.contains(where: MessageCharacter.isDigit)
  }
}
