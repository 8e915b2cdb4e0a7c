internal import CLandlineOSIP
import CallModel

/// Reads the values of a message that passed the gate.
///
/// libosip2 parses the start line and the typed fields. It resolves escapes and cuts texts at NUL, so the values that this
/// node works with are read from the same bytes by readers of our own, and both readings have to agree on every value
/// that says who, where and which: a message that can be read in two ways is refused.
public enum MessageParser {
  /// - Returns: The values that both readings agree on, or the reason for 400 (a response: for dropping it).
  public static func values(of message: ScannedMessage) -> Result<SIPMessage, GateRefusal> {
    let values: SIPMessage
    switch read(message) {
    case .success(let read): values = read
    case .failure(let refusal): return .failure(refusal)
    }
    guard let parsed = ParsedMessage(message) else {
      return .failure(GateRefusal(.unparsable, at: nil, in: message))
    }
    guard ParserAgreement.holds(values, parsed) else {
      return .failure(GateRefusal(.disagreement, at: nil, in: message))
    }
    return .success(values)
  }

  /// What libosip2 read as it would write it: the typed fields alone. A second opinion for tests. Nothing is sent so.
  package static func reprinted(_ message: ScannedMessage) -> [UInt8]? {
    guard let parsed = ParsedMessage(message) else { return nil }
    var count = 0
    guard let text = landline_message_print(parsed.pointer, &count) else { return nil }
    defer { landline_text_free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: count))
  }

  /// A value that cannot be read, and where.
  private struct Fault: Error {
    let offset: Int?
  }

  private static func read(_ message: ScannedMessage) -> Result<SIPMessage, GateRefusal> {
    do throws(Fault) {
      return .success(try values(message))
    } catch {
      return .failure(GateRefusal(.fieldValue, at: error.offset, in: message))
    }
  }

  private static func values(_ message: ScannedMessage) throws(Fault) -> SIPMessage {
    let startLine = try startLine(message)
    var vias: [Via] = []
    vias.reserveCapacity(message.vias.count)
    var from: NameAddress?
    var to: NameAddress?
    var callID: String?
    var contacts: [NameAddress] = []
    var routes: [NameAddress] = []
    var recordRoutes: [NameAddress] = []
    var hasWildcardContact = false
    var contentType: String?
    var fields: [SIPMessage.Field] = []
    fields.reserveCapacity(message.headers.count)
    for header in message.headers {
      switch header.kind {
      case .via: try appendVias(header, of: message, to: &vias)
      case .from: from = try address(header, of: message)
      case .to: to = try address(header, of: message)
      case .callID: callID = message.text(header.value)
      case .cseq, .contentLength: break
      case .contact:
        if header.value.count == 1, message.bytes[header.value.lowerBound] == UInt8(ascii: "*") {
          hasWildcardContact = true
        } else {
          try appendAddresses(header, of: message, to: &contacts)
        }
      case .route: try appendAddresses(header, of: message, to: &routes)
      case .recordRoute: try appendAddresses(header, of: message, to: &recordRoutes)
      case .contentType where !message.body.isEmpty: contentType = message.text(header.value)
      default:
        fields.append(
          SIPMessage.Field(name: FieldName.spelledOut(message.bytes[header.name]), value: message.text(header.value)))
      }
    }
    guard let from, let to, let callID, !vias.isEmpty, let cseq = message.cseq, let number = cseq.number.number else {
      throw Fault(offset: nil)
    }
    // `*` stands alone (RFC 3261 section 20.10).
    if hasWildcardContact, !contacts.isEmpty { throw Fault(offset: message.header(.contact)?.value.lowerBound) }
    let body =
      message.body.isEmpty
      ? nil : MessageBody(contentType: contentType ?? "", bytes: Array(message.bytes[message.body]))
    return SIPMessage(
      startLine: startLine, vias: vias, from: from, to: to, callID: callID,
      cseq: CSeq(number, SIPMethod(rawValue: cseq.method)), contacts: contacts, routes: routes,
      recordRoutes: recordRoutes, fields: fields, body: body, hasWildcardContact: hasWildcardContact, scanned: message)
  }

  private static func startLine(_ message: ScannedMessage) throws(Fault) -> SIPMessage.StartLine {
    switch message.startLine {
    case .request(let method, let uri):
      guard let target = try? SIPURI(message.bytes, uri), target.headers.isEmpty else {
        throw Fault(offset: uri.lowerBound)
      }
      return .request(SIPMethod(rawValue: method), target)
    case .response(let status):
      // `SIP/2.0 200 ` and the phrase up to the line's end.
      let phrase = message.bytes.dropFirst(12).prefix { $0 != MessageCharacter.cr }
      return .response(status: status, phrase: String(decoding: phrase, as: UTF8.self))
    }
  }

  private static func address(_ header: HeaderField, of message: ScannedMessage) throws(Fault) -> NameAddress {
    var cursor = ValueCursor(message.bytes, header.value)
    guard let address = try? NameAddress(&cursor, isText: true), cursor.peek == nil else {
      throw Fault(offset: header.value.lowerBound)
    }
    return address
  }

  private static func appendVias(
    _ header: HeaderField, of message: ScannedMessage, to vias: inout [Via]
  ) throws(Fault) {
    var cursor = ValueCursor(message.bytes, header.value)
    repeat {
      guard let via = try? Via(&cursor, isStrict: false) else { throw Fault(offset: header.value.lowerBound) }
      vias.append(via)
    } while cursor.consume(MessageCharacter.comma)
    guard cursor.peek == nil else { throw Fault(offset: cursor.position) }
  }

  private static func appendAddresses(
    _ header: HeaderField, of message: ScannedMessage, to addresses: inout [NameAddress]
  ) throws(Fault) {
    var cursor = ValueCursor(message.bytes, header.value)
    repeat {
      do throws(InvalidValue) {
        addresses.append(try NameAddress(&cursor))
      } catch {
        // The cursor stands behind the address: another one in the list may be of use.
        guard error.rule == "uri.scheme", header.kind == .contact else { throw Fault(offset: header.value.lowerBound) }
      }
    } while cursor.consume(MessageCharacter.comma)
    guard cursor.peek == nil else { throw Fault(offset: cursor.position) }
  }
}
