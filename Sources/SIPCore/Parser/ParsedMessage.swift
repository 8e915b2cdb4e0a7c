internal import CLandlineOSIP

/// Owner of one message of the parser; the transaction machines take it over with ``take()``.
final class ParsedMessage {
  private(set) var pointer: UnsafeMutablePointer<osip_message_t>?

  /// Parses bytes that passed the gate, or that the builder made; `nil` where the parser refuses them.
  init?(_ bytes: [UInt8]) {
    Self.prepared
    var message: UnsafeMutablePointer<osip_message_t>?
    guard osip_message_init(&message) == OSIP_SUCCESS, let message else { return nil }
    let result = bytes.withUnsafeBytes {
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
