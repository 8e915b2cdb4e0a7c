/// What the gate reads of a message: enough to answer it when the parser behind refuses it, and to judge it.
///
/// Ranges are offsets into ``bytes``.
public struct ScannedMessage: Sendable {
  /// Says whether the message is a request or a response.
  public enum StartLine: Hashable, Sendable {
    /// The URI is empty when the line does not follow the grammar.
    case request(method: String, uri: Range<Int>)
    case response(status: Int)
  }

  /// The message as the parser gets it: nothing before the start line and behind the body, a fold is spaces, a
  /// control byte escaped in a quoted string is a space, and no white space stands before a colon.
  public let bytes: [UInt8]
  /// Read before anything else: without one there is no ``ScannedMessage``.
  public let startLine: StartLine
  /// What follows `SIP/`: `2.0`.
  public let version: String
  /// In the order of the message, each line of a repeated field by itself.
  public let headers: [HeaderField]
  /// Empty without a body.
  public let body: Range<Int>
  /// Bytes of the datagram behind the body, cut off (RFC 3261 section 18.3).
  public let trailingBytes: Int

  /// All Via elements from the top that can be read; none when there are more than ``GateLimits/vias``.
  public let vias: [ScannedVia]
  /// Whether an element of the Via list cannot be read or is malformed.
  public let hasMalformedVia: Bool
  /// The first From; `nil` when absent or malformed.
  public let from: ScannedAddress?
  /// The first To; `nil` when absent or malformed.
  public let to: ScannedAddress?
  /// The first CSeq; `nil` when absent.
  public let cseq: ScannedCSeq?
  /// Of the first Content-Length; `nil` when absent.
  public let contentLength: ScannedNumber?

  init(
    bytes: [UInt8], startLine: StartLine, version: String, headers: [HeaderField], body: Range<Int>, trailingBytes: Int,
    maximumVias: Int
  ) {
    self.bytes = bytes
    self.startLine = startLine
    self.version = version
    self.headers = headers
    self.body = body
    self.trailingBytes = trailingBytes
    var vias: [ScannedVia] = []
    var hasMalformedVia = false
    scan: for header in headers where header.kind == .via {
      var cursor = ValueCursor(bytes, header.value)
      repeat {
        guard let via = ScannedVia(&cursor) else {
          hasMalformedVia = true
          break
        }
        vias.append(via)
        if vias.count > maximumVias { break scan }
        if !via.isWellFormed {
          hasMalformedVia = true
          break
        }
      } while cursor.consume(MessageCharacter.comma)
    }
    // An answer with half of the list would go astray, and the whole one is too much work.
    self.vias = vias.count > maximumVias ? [] : vias
    self.hasMalformedVia = hasMalformedVia
    func first(_ kind: HeaderKind) -> Range<Int>? { headers.first { $0.kind == kind }?.value }
    func only(_ kind: HeaderKind) -> ScannedAddress? {
      guard let value = first(kind) else { return nil }
      var cursor = ValueCursor(bytes, value)
      guard let address = ScannedAddress(&cursor), cursor.peek == nil else { return nil }
      return address
    }
    from = only(.from)
    to = only(.to)
    cseq = first(.cseq).map { ScannedCSeq(bytes[$0]) }
    contentLength = first(.contentLength).map { ScannedNumber(bytes[$0]) }
  }

  /// The first field of this kind.
  public func header(_ kind: HeaderKind) -> HeaderField? { headers.first { $0.kind == kind } }

  /// The bytes of a range as text; what is no UTF-8 becomes U+FFFD.
  public func text(_ range: Range<Int>) -> String {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return "" }
    return String(decoding: bytes[range], as: UTF8.self)
  }

  // Not inlined: Swift 6.3's optimiser ends the borrow of a message that a caller reads several times too early.
  /// As written; `nil` for a response.
  @inline(never)
  public var method: String? {
    if case .request(let method, _) = startLine { return method }
    return nil
  }

  // Not inlined, for the same reason as the method.
  /// `nil` for a request.
  @inline(never)
  public var status: Int? {
    if case .response(let status) = startLine { return status }
    return nil
  }

  // Not inlined, for the same reason as the method.
  /// Empty when the line does not follow the grammar; `nil` for a response.
  @inline(never)
  public var requestURI: Range<Int>? {
    if case .request(_, let uri) = startLine { return uri }
    return nil
  }

  /// Scheme of the Request-URI in lower case: `sip`.
  public var scheme: String? {
    guard let uri = requestURI else { return nil }
    let scheme = bytes[uri].prefix { $0 != MessageCharacter.colon }
    guard scheme.endIndex < uri.upperBound, let first = scheme.first, MessageCharacter.isLetter(first),
      scheme.allSatisfy(ScannedMessage.isSchemeByte)
    else { return nil }
    return String(decoding: scheme.map(MessageCharacter.lowercase), as: UTF8.self)
  }

  /// The first Call-ID as written; `nil` when absent.
  public var callID: String? { header(.callID).map { text($0.value) } }
  /// Of the first Max-Forwards; `nil` when absent.
  public var maxForwards: ScannedNumber? { header(.maxForwards).map { ScannedNumber(bytes[$0.value]) } }
  /// As written, with parameters.
  public var contentType: String? { header(.contentType).map { text($0.value) } }

  static func isSchemeByte(_ byte: UInt8) -> Bool {
    MessageCharacter.isLetter(byte) || MessageCharacter.isDigit(byte) || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }
}
