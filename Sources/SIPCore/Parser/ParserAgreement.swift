internal import CLandlineOSIP
import CallModel

/// Whether libosip2 understood a message as this node did.
enum ParserAgreement {
  static func holds(_ message: SIPMessage, _ parsed: ParsedMessage) -> Bool {
    let pointer = parsed.pointer
    let view = landline_message_view(pointer)
    switch message.startLine {
    case .request(let method, let uri):
      guard view.status == 0, equals(method.rawValue, view.method), agrees(uri, view.request_uri) else { return false }
    case .response(let status, _):
      guard view.status == status else { return false }
    }
    guard view.bodies == 0, agrees(message.from, view.from), agrees(message.to, view.to) else { return false }
    guard equals(message.cseq.method.rawValue, view.cseq_method), number(view.cseq_number) == message.cseq.number,
      callID(message.callID, view)
    else { return false }
    guard Int(view.vias) == message.vias.count, Int(view.routes) == message.routes.count,
      Int(view.record_routes) == message.recordRoutes.count
    else { return false }
    for (place, via) in message.vias.enumerated() {
      let other = landline_message_via(pointer, Int32(truncatingIfNeeded: place))
      guard equals(via.transport, other.transport, ignoringCase: true), agrees(via.host, other.host),
        agrees(via.port, other.port), agrees(via.branch, other.branch)
      else { return false }
    }
    guard agrees(message.routes, landline_routes, pointer),
      agrees(message.recordRoutes, landline_record_routes, pointer)
    else { return false }
    // Contacts of other schemes are left out of ours, so that places only match where none is.
    if message.hasWildcardContact { return view.contacts == 1 }
    guard Int(view.contacts) >= message.contacts.count else { return false }
    return Int(view.contacts) > message.contacts.count || agrees(message.contacts, landline_contacts, pointer)
  }

  private static func agrees(
    _ addresses: [NameAddress], _ list: landline_list, _ pointer: UnsafePointer<osip_message_t>
  ) -> Bool {
    for (place, address) in addresses.enumerated() {
      let other = landline_message_address(pointer, list, Int32(truncatingIfNeeded: place))
      guard agrees(address.uri, other) else { return false }
    }
    return true
  }

  private static func agrees(_ address: NameAddress, _ other: landline_address) -> Bool {
    agrees(address.uri, other) && agrees(address.tag, other.tag)
  }

  private static func agrees(_ uri: SIPURI, _ other: landline_address) -> Bool {
    if uri.scheme == .other { return isWritten(uri.user ?? "", as: other) }
    guard equals(uri.scheme.rawValue, other.scheme, ignoringCase: true) else { return false }
    guard let host = uri.host else { return other.host.bytes == nil }
    guard agrees(host, other.host), agrees(uri.port, other.port) else { return false }
    guard let user = uri.user else { return other.user.bytes == nil }
    return unescaped(user, equals: other.user)
  }

  /// The parser keeps what stands behind the colon of a scheme that it does not know.
  private static func isWritten(_ uri: String, as other: landline_address) -> Bool {
    let bytes = Array(uri.utf8)
    guard let colon = bytes.firstIndex(of: MessageCharacter.colon),
      equals(String(decoding: bytes[..<colon], as: UTF8.self), other.scheme, ignoringCase: true),
      let rest = buffer(other.other)
    else { return false }
    return rest.elementsEqual(bytes[(colon + 1)...])
  }

  /// The parser has no brackets around IPv6.
  private static func agrees(_ host: SIPHost, _ text: landline_text) -> Bool {
    guard let bytes = buffer(text) else { return false }
    if case .name(let name) = host {
      let written = bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes[...]
      return name.utf8.elementsEqual(written) { $0 == MessageCharacter.lowercase($1) }
    }
    let isBracketed = bytes.first == UInt8(ascii: "[")
    let written = Array(isBracketed ? bytes.dropFirst().dropLast() : bytes[...])
    guard case .ipv6 = host else { return (try? SIPHost(signalled: written[...])) == host }
    return (try? SIPHost(signalled: ([UInt8(ascii: "[")] + written + [UInt8(ascii: "]")])[...])) == host
  }

  private static func agrees(_ port: UInt16?, _ text: landline_text) -> Bool {
    guard let port else { return text.bytes == nil }
    return number(text) == UInt32(port)
  }

  private static func agrees(_ value: String?, _ text: landline_text) -> Bool {
    guard let value else { return text.bytes == nil }
    return equals(value, text)
  }

  private static func callID(_ callID: String, _ view: landline_message) -> Bool {
    guard let number = buffer(view.call_id_number) else { return false }
    guard let host = buffer(view.call_id_host) else { return callID.utf8.elementsEqual(number) }
    var bytes = callID.utf8[...]
    guard bytes.starts(with: number) else { return false }
    bytes = bytes.dropFirst(number.count)
    return bytes.first == UInt8(ascii: "@") && bytes.dropFirst().elementsEqual(host)
  }

  private static func number(_ text: landline_text) -> UInt32? {
    guard let bytes = buffer(text) else { return nil }
    return ScannedNumber(bytes).number
  }

  private static func buffer(_ text: landline_text) -> UnsafeBufferPointer<UInt8>? {
    guard let bytes = text.bytes else { return nil }
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: text.count)
  }

  private static func equals(_ value: String, _ text: landline_text, ignoringCase: Bool = false) -> Bool {
    guard let bytes = buffer(text) else { return false }
    guard ignoringCase else { return value.utf8.elementsEqual(bytes) }
    return value.utf8.elementsEqual(bytes) { MessageCharacter.lowercase($0) == MessageCharacter.lowercase($1) }
  }

  /// Whether a text is the other one once its escapes are resolved.
  private static func unescaped(_ value: String, equals text: landline_text) -> Bool {
    guard let bytes = buffer(text) else { return false }
    var index = bytes.startIndex
    var written = value.utf8.makeIterator()
    while var byte = written.next() {
      if byte == MessageCharacter.percent, let high = written.next(), let low = written.next() {
        guard let upper = Hexadecimal.digit(high), let lower = Hexadecimal.digit(low) else { return false }
        byte = upper << 4 | lower
        if byte == 0 { byte = ParsedMessage.foreignByte }
      } else if byte >= 0x80 {
        byte = ParsedMessage.foreignByte
      }
      guard index < bytes.endIndex, bytes[index] == byte else { return false }
      index += 1
    }
    return index == bytes.endIndex
  }
}
