public import CallModel

extension Via {
  /// Reads one Via element: `SIP/2.0/UDP host:port;branch=…` (RFC 3261 section 20.42).
  /// - Throws: `InvalidValue` with rules `via.long`, `via.protocol`, `via.port`, `via.parameter`, `via.end`, and those
  ///   of the host, `sip.…`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    let bytes = Array(text.utf8.prefix(NameAddress.maximumBytes + 1))
    guard bytes.count <= NameAddress.maximumBytes else {
      throw Via.refusal("long", NameAddress.maximumBytes, "the value has more than \(NameAddress.maximumBytes) bytes")
    }
    var cursor = ValueCursor(bytes, 0..<bytes.count)
    try self.init(&cursor, isStrict: true)
    guard cursor.peek == nil else {
      throw Via.refusal("end", cursor.position, "\(cursor.nextName) stands behind the element")
    }
  }

  static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "Via element", rule: "via.\(rule)", offset: offset, problem: problem,
      accepted: "protocol, host and parameters, such as SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK74bf9")
  }

  /// Reads the element at the cursor, which then stands at a comma or the end.
  /// - Parameter isStrict: Whether `received`, `rport` and `ttl` have to make sense. In a message of others they may be
  ///   anything: nothing is sent where they say.
  init(_ cursor: inout ValueCursor, isStrict: Bool) throws(InvalidValue) {
    cursor.skipBlanks()
    let start = cursor.position
    func refusal(_ rule: String, _ problem: String) -> InvalidValue { Via.refusal(rule, start, problem) }
    let name = cursor.run(while: MessageCharacter.isToken)
    guard cursor.equals(name, "sip"), cursor.consume(UInt8(ascii: "/")) else {
      throw refusal("protocol", "the element does not begin with SIP/")
    }
    let version = cursor.run(while: MessageCharacter.isToken)
    guard cursor.equals(version, "2.0"), cursor.consume(UInt8(ascii: "/")) else {
      throw refusal("protocol", "the version is not 2.0")
    }
    let transport = cursor.run(while: MessageCharacter.isToken)
    guard !transport.isEmpty, let blank = cursor.peek, MessageCharacter.isBlank(blank) else {
      throw refusal("protocol", "the transport is no token with a space behind it")
    }
    cursor.skipBlanks()
    let hostStart = cursor.position
    guard let written = ScannedHost.host(&cursor) else {
      throw Via.refusal("host", hostStart, "the host is missing or its bracket is not closed")
    }
    let host = try SIPHost(signalled: cursor.bytes[written], base: hostStart)
    var port: UInt16?
    if cursor.consume(MessageCharacter.colon) {
      let digits = cursor.run(while: MessageCharacter.isDigit)
      guard let number = ScannedNumber(cursor.bytes[digits]).number, number > 0, let value = UInt16(exactly: number)
      else { throw Via.refusal("port", digits.lowerBound, "the port is no number of 1 to 65535") }
      port = value
    }
    var parameters: [SIPParameter] = []
    var isBranchToken = true
    let reader = cursor
    let areWellFormed = cursor.parameters { name, value in
      if parameters.isEmpty { parameters.reserveCapacity(4) }
      parameters.append(SIPParameter(reader.text(name), value.map(reader.unquoted)))
      if reader.equals(name, "branch") {
        isBranchToken = value.map { reader.bytes[$0].allSatisfy(MessageCharacter.isToken) } ?? false
      }
    }
    guard areWellFormed, isBranchToken else {
      throw Via.refusal("parameter", cursor.position, "a parameter does not follow the grammar")
    }
    cursor.skipBlanks()
    guard cursor.peek == nil || cursor.peek == MessageCharacter.comma else {
      throw Via.refusal("end", cursor.position, "\(cursor.nextName) stands behind the element")
    }
    for parameter in parameters where isStrict {
      if let problem = Via.fault(parameter) { throw refusal("parameter", problem) }
    }
    self.init(transport: cursor.text(transport).uppercased(), host: host, port: port, parameters: parameters)
  }

  /// What is wrong with a parameter that says where responses go.
  private static func fault(_ parameter: SIPParameter) -> String? {
    let value = parameter.value
    switch parameter.name {
    case "ttl":
      guard let value, let number = ScannedNumber(value.utf8).number, number <= 255 else {
        return "the time to live is no number of 0 to 255"
      }
    case "rport":
      guard let value else { return nil }
      guard let number = ScannedNumber(value.utf8).number, (1...65_535).contains(number) else {
        return "rport is no number of 1 to 65535"
      }
    case "received":
      // With and without brackets around IPv6 (RFC 5118 section 4.5).
      guard let value, Via.address(value) != nil else { return "received is no numeric address" }
    default: return nil
    }
    return nil
  }

  /// A numeric address, IPv6 with or without brackets.
  static func address(_ text: String) -> SIPHost? {
    let bytes = Array(text.utf8)
    let host: SIPHost?
    if bytes.first == UInt8(ascii: "[") {
      host = try? SIPHost(signalled: bytes[...])
    } else {
      host = try? SIPHost(unbracketed: text)
    }
    if case .name = host { return nil }
    return host
  }
}
