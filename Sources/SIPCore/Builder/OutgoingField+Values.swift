public import CallModel

extension OutgoingField {
  /// One Reason field with these reasons (RFC 3326); none where there is nothing to say. Texts are cut to what a line
  /// holds, and control bytes in them become spaces: an explanation never keeps a message from leaving.
  public static func reason(_ reasons: [CallFailure.Reason]) -> [OutgoingField] {
    let clean = reasons.map { reason in
      CallFailure.Reason(
        protocolName: reason.protocolName, cause: reason.cause, text: reason.text.map(printable),
        location: reason.location)
    }
    return field("Reason", ReasonHeader(clean).fieldValue)
  }

  /// A Warning field (RFC 3261 section 20.43).
  /// - Parameters:
  ///   - code: 300 to 399.
  ///   - agent: Who warns.
  public static func warning(_ code: Int, agent: SIPHost, text: String) -> [OutgoingField] {
    guard (300...399).contains(code) else { return [] }
    var quoted = String.UnicodeScalarView()
    for scalar in printable(text).unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      quoted.append(scalar)
    }
    return field("Warning", "\(code) \(agent) \"\(String(quoted))\"")
  }

  /// Retry-After in seconds.
  public static func retryAfter(_ seconds: Int) -> OutgoingField? {
    field("Retry-After", String(max(0, min(seconds, RetryAfter.maximumSeconds)))).first
  }

  /// A field of tokens: Allow, Supported, Require.
  /// - Throws: `InvalidValue` with rule `message.token` where one is no token.
  public static func tokens(_ name: String, _ tokens: [String]) throws(InvalidValue) -> OutgoingField {
    guard tokens.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(MessageCharacter.isToken) }) else {
      throw MessageWriter.refusal("token", "a value of \(name) is no token")
    }
    return try OutgoingField(name, tokens.joined(separator: ", "))
  }

  /// A field with an address: Refer-To, Referred-By, P-Asserted-Identity.
  /// - Throws: `InvalidValue` with rules `message.…` where the address cannot be written.
  public static func address(_ name: String, _ address: NameAddress) throws(InvalidValue) -> OutgoingField {
    try OutgoingField(name, address.encoded())
  }

  /// The application's headers, in order.
  /// - Throws: `InvalidValue` with rule `message.separators` for a value with more commas or semicolons than a message
  ///   may hold in a line.
  public static func fields(of headers: CustomHeaders) throws(InvalidValue) -> [OutgoingField] {
    var fields: [OutgoingField] = []
    for header in headers {
      var trial = MessageWriter()
      try trial.field(header.name, header.value)
      fields.append(try OutgoingField(header.name, header.value))
    }
    return fields
  }

  private static func field(_ name: String, _ value: String?) -> [OutgoingField] {
    guard let value, let field = try? OutgoingField(name, value) else { return [] }
    return [field]
  }

  private static func printable(_ text: String) -> String {
    // Commas and semicolons of a text count against those of the line.
    var separators = 0
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard scalars.count < CallFailure.maximumTextBytes / 4 else { break }
      let isSeparator = scalar == ";" || scalar == ","
      if isSeparator { separators += 1 }
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      scalars.append(isControl || isSeparator && separators > 4 ? " " : scalar)
    }
    return String(scalars)
  }
}

extension NameAddress {
  /// As it stands in a header field: `"Alice" <sip:alice@example.com>;tag=1`.
  /// - Throws: `InvalidValue` with rules `message.…` where it cannot be written.
  public func encoded() throws(InvalidValue) -> String {
    var writer = MessageWriter()
    try writer.write(self)
    let bytes = writer.bytes
    try writer.endLine("an address", holdsURI: true)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension SIPURI {
  /// As it stands in a request line: `sip:alice@example.com`.
  /// - Throws: `InvalidValue` with rules `message.…` where it cannot be written.
  public func encoded() throws(InvalidValue) -> String {
    var writer = MessageWriter()
    try writer.write(self)
    let bytes = writer.bytes
    try writer.endLine("a URI", holdsURI: true)
    return String(decoding: bytes, as: UTF8.self)
  }
}
