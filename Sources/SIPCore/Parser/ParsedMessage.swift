internal import CLandlineOSIP

/// Owner of one message of the parser; the transaction machines take it over with ``take()``.
final class ParsedMessage {
  /// What stands for a byte outside ASCII in the parser's reading.
  static let foreignByte = UInt8(ascii: "_")

  private(set) var pointer: UnsafeMutablePointer<osip_message_t>?

  /// Parses the head of bytes that the builder made; `nil` where the parser refuses them.
  convenience init?(_ bytes: [UInt8]) {
    var scanner = HeadScanner(bytes, limits: .standard)
    scanner.scan()
    guard scanner.isComplete else { return nil }
    self.init(scanner.bytes, headBytes: scanner.position, scanner.headers)
  }

  /// Parses the head of a message that passed the gate; `nil` where the parser refuses it.
  convenience init?(_ message: ScannedMessage) {
    self.init(message.bytes, headBytes: message.body.lowerBound, message.headers)
  }

  /// A body never gets to the parser, whose readers of multipart bodies and session descriptions are not to be used. It
  /// would refuse a head that announces one, so that it reads a length of 0. It knows no bytes outside ASCII in names
  /// without quotes either, so that each of them becomes ``foreignByte``.
  private init?(_ bytes: [UInt8], headBytes: Int, _ headers: [HeaderField]) {
    Self.prepared
    var message: UnsafeMutablePointer<osip_message_t>?
    guard osip_message_init(&message) == OSIP_SUCCESS, let message else { return nil }
    var head = Array(bytes.prefix(headBytes))
    for header in headers where header.kind == .contentLength {
      for index in header.value where index < head.count { head[index] = MessageCharacter.zero }
    }
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

  deinit {
    if let pointer { osip_message_free(pointer) }
  }

  /// The caller frees it from now on.
  func take() -> UnsafeMutablePointer<osip_message_t>? {
    defer { pointer = nil }
    return pointer
  }

  /// Runs the parser's global initialisers once.
  private static let prepared: Void = landline_osip_prepare()
}
