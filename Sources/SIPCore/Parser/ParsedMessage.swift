internal import CLandlineOSIP

/// Owner of one message as libosip2 reads it.
final class ParsedMessage {
  /// What stands for a byte outside ASCII, and for an escaped NUL, in the parser's reading.
  static let foreignByte = UInt8(ascii: "_")

  let pointer: UnsafeMutablePointer<osip_message_t>

  /// Parses the head of a message that passed the gate; `nil` where the parser refuses it.
  convenience init?(_ message: ScannedMessage) {
    self.init(message.bytes, headBytes: message.body.lowerBound, message.headers)
  }

  /// The parser gets the start line and the fields that ``ParserAgreement`` looks at, and nothing else: it takes time with the square of the elements of others, refuses messages for fields that nobody
  /// asked it about, and has readers of bodies that are not to be used. Without Content-Length it expects no body. It
  /// knows no bytes outside ASCII in names without quotes, so that each becomes ``foreignByte``; and it would end a user
  /// part at an escaped NUL, which becomes the escape of that byte.
  private init?(_ bytes: [UInt8], headBytes: Int, _ headers: [HeaderField]) {
    Self.prepared
    var message: UnsafeMutablePointer<osip_message_t>?
    guard osip_message_init(&message) == OSIP_SUCCESS, let message else { return nil }
    var head: [UInt8] = []
    head.reserveCapacity(headBytes)
    Self.append(bytes[..<(headers.first?.name.lowerBound ?? headBytes)], holdsURI: true, to: &head)
    for header in headers where Self.isParsed(header.kind) {
      head += bytes[header.name]
      head.append(MessageCharacter.colon)
      head.append(MessageCharacter.space)
      Self.append(bytes[header.value], holdsURI: header.kind.holdsURI, to: &head)
      head.append(MessageCharacter.cr)
      head.append(MessageCharacter.lf)
    }
    head.append(MessageCharacter.cr)
    head.append(MessageCharacter.lf)
    for index in head.indices where head[index] >= 0x80 { head[index] = Self.foreignByte }
    let result = head.withUnsafeBytes {
      osip_message_parse(message, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
    }
    guard result == OSIP_SUCCESS else {
      osip_message_free(message)
      return nil
    }
    pointer = message
  }

  private static let escapedNUL = Array("%00".utf8)
  private static let escapedForeignByte: [UInt8] = [MessageCharacter.percent] + Hexadecimal.text([foreignByte]).utf8

  private static func append(_ bytes: ArraySlice<UInt8>, holdsURI: Bool, to head: inout [UInt8]) {
    var rest = bytes
    while holdsURI, let percent = rest.firstIndex(of: MessageCharacter.percent) {
      head += rest[..<percent]
      rest = rest[percent...]
      let isNUL = rest.starts(with: escapedNUL)
      head += isNUL ? escapedForeignByte[...] : rest.prefix(1)
      rest = rest.dropFirst(isNUL ? escapedNUL.count : 1)
    }
    head += rest
  }

  private static func isParsed(_ kind: HeaderKind) -> Bool {
    switch kind {
    case .via, .from, .to, .callID, .cseq, .maxForwards, .contact, .route, .recordRoute: true
    default: false
    }
  }

  deinit {
    osip_message_free(pointer)
  }

  /// Runs the parser's global initialisers once.
  private static let prepared: Void = landline_osip_prepare()
}
