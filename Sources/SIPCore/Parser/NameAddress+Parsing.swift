public import CallModel

extension NameAddress {
  /// Most bytes of a field value that is read by itself.
  public static let maximumBytes = 4096
  /// Most addresses of one list.
  public static let maximumAddresses = 32

  /// Reads one address: `"Alice" <sip:alice@example.com>;tag=1`, or a URI whose parameters are then the field's.
  /// - Throws: `InvalidValue` with rules `address.long`, `address.name`, `address.bracket`, `address.parameter`,
  ///   `address.end`, and those of ``SIPURI/init(parsing:)``.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var cursor = try NameAddress.cursor(text)
    try self.init(&cursor)
    guard cursor.peek == nil else {
      throw NameAddress.refusal("end", cursor.position, "\(cursor.nextName) stands behind the address")
    }
  }

  /// Reads addresses between commas, at least one.
  /// - Throws: `InvalidValue` as for one, and `address.many`.
  public static func list(parsing text: some StringProtocol) throws(InvalidValue) -> [NameAddress] {
    var cursor = try cursor(text)
    var addresses: [NameAddress] = []
    repeat {
      guard addresses.count < maximumAddresses else {
        throw refusal("many", cursor.position, "more than \(maximumAddresses) addresses")
      }
      addresses.append(try NameAddress(&cursor))
    } while cursor.consume(MessageCharacter.comma)
    guard cursor.peek == nil else {
      throw refusal("end", cursor.position, "\(cursor.nextName) stands behind the address")
    }
    return addresses
  }

  private static func cursor(_ text: some StringProtocol) throws(InvalidValue) -> ValueCursor {
    let bytes = Array(text.utf8.prefix(maximumBytes + 1))
    guard bytes.count <= maximumBytes else {
      throw refusal("long", maximumBytes, "the value has more than \(maximumBytes) bytes")
    }
    return ValueCursor(bytes, 0..<bytes.count)
  }

  static func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "address", rule: "address.\(rule)", offset: offset, problem: problem,
      accepted: "a URI in angle brackets with an optional name before and parameters behind, such as "
        + "\"Alice\" <sip:alice@example.com>;tag=1")
  }

  /// Reads the address at the cursor, which then stands at a comma or the end.
  /// - Parameter isText: As with a URI of From and To.
  init(_ cursor: inout ValueCursor, isText: Bool = false) throws(InvalidValue) {
    cursor.skipBlanks()
    let start = cursor.position
    var displayName: String?
    if cursor.peek == MessageCharacter.quote {
      guard let name = cursor.quotedString() else {
        throw NameAddress.refusal("name", start, "the quoted name is not closed")
      }
      displayName = cursor.unquoted(name)
      cursor.skipBlanks()
      guard cursor.peek == MessageCharacter.open else {
        throw NameAddress.refusal("bracket", cursor.position, "no '<' follows the name")
      }
    } else {
      // Names outside ASCII without quotes are common in the field, and no byte of theirs is a delimiter.
      let name = cursor.run { MessageCharacter.isToken($0) || MessageCharacter.isBlank($0) || $0 >= 0x80 }
      if cursor.peek == MessageCharacter.open {
        var end = name.upperBound
        while end > name.lowerBound, MessageCharacter.isBlank(cursor.bytes[end - 1]) { end -= 1 }
        if end > name.lowerBound { displayName = cursor.text(name.lowerBound..<end) }
      } else {
        cursor.position = start
      }
    }
    let uri: Range<Int>
    if cursor.peek == MessageCharacter.open {
      cursor.position += 1
      uri = cursor.run { $0 > 0x20 && $0 != MessageCharacter.close && $0 != MessageCharacter.open }
      guard cursor.peek == MessageCharacter.close else {
        throw NameAddress.refusal("bracket", cursor.position, "the '<' is not closed")
      }
      cursor.position += 1
    } else {
      // Without brackets a URI ends at the first of these (RFC 3261 section 20).
      uri = cursor.run {
        $0 > 0x20 && $0 != MessageCharacter.semicolon && $0 != MessageCharacter.comma && $0 != UInt8(ascii: "?")
          && $0 != MessageCharacter.open && $0 != MessageCharacter.quote
      }
    }
    // Everything of this address is passed first: a list can then be read on behind one whose scheme is another.
    let parameters = SIPParameter.list(&cursor)
    cursor.skipBlanks()
    guard let parameters else {
      throw NameAddress.refusal("parameter", cursor.position, "a parameter does not follow the grammar")
    }
    guard cursor.peek == nil || cursor.peek == MessageCharacter.comma else {
      throw NameAddress.refusal("end", cursor.position, "\(cursor.nextName) stands behind the address")
    }
    self.init(try SIPURI(cursor.bytes, uri, isText: isText), displayName: displayName, parameters: parameters)
  }
}

extension SIPParameter {
  /// The `;name=value` parameters at the cursor; `nil` where one does not follow the grammar.
  static func list(_ cursor: inout ValueCursor) -> [SIPParameter]? {
    var parameters: [SIPParameter] = []
    let reader = cursor
    let areWellFormed = cursor.parameters { name, value in
      parameters.append(SIPParameter(reader.text(name), value.map(reader.unquoted)))
    }
    return areWellFormed ? parameters : nil
  }
}
