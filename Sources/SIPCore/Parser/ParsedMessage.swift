internal import CLandlineOSIP

/// Owner of one message of the parser; the transaction machines take it over with ``take()``.
final class ParsedMessage {
  private(set) var pointer: UnsafeMutablePointer<osip_message_t>?

  /// Parses the head of bytes that passed the gate, or that the builder made; `nil` where the parser refuses them.
  /// A body never gets here: the parser's readers of multipart bodies and session descriptions are not to be used.
  convenience init?(_ bytes: [UInt8]) {
    let end: [UInt8] = [MessageCharacter.cr, MessageCharacter.lf, MessageCharacter.cr, MessageCharacter.lf]
    var matched = 0
    let head = bytes.firstIndex { byte in
      matched = byte == end[matched] ? matched + 1 : (byte == MessageCharacter.cr ? 1 : 0)
      return matched == end.count
    }
    self.init(bytes, headBytes: head.map { $0 + 1 } ?? bytes.count)
  }

  init?(_ bytes: [UInt8], headBytes: Int) {
    Self.prepared
    var message: UnsafeMutablePointer<osip_message_t>?
    guard osip_message_init(&message) == OSIP_SUCCESS, let message else { return nil }
    let result = bytes.withUnsafeBytes {
      osip_message_parse(message, $0.bindMemory(to: CChar.self).baseAddress, min(headBytes, $0.count))
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
