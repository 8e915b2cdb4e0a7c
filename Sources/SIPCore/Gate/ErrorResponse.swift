import CallModel

/// The bytes of a refusal, made from what the gate could read, when there is no parsed message to answer.
public enum ErrorResponse {
  /// A response of RFC 3261 section 8.2.6 with `Content-Length: 0`. It goes to the source of the packet.
  ///
  /// The top Via gets `received` and, where asked for, `rport` from `source`, whatever the sender claimed (RFC 3261
  /// section 18.2.1, RFC 3581 section 4). Of From, To and Call-ID those are copied that are there, so that a request
  /// without them is answered too (RFC 4475 section 3.3.1).
  /// - Parameters:
  ///   - status: 400 to 699.
  ///   - tag: Added to To when it has none; a token.
  ///   - fields: More header fields: Retry-After.
  /// - Returns: `nil` for a response, for an ACK, without a readable Via or CSeq, when a field to be copied holds
  ///   control bytes, and when an argument is none of the above.
  public static func bytes(
    to message: ScannedMessage, status: Int, reason: String, tag: String, source: PacketSource,
    fields: [OutgoingField] = []
  ) -> [UInt8]? {
    guard canAnswer(message), (400...699).contains(status), let top = message.vias.first else { return nil }
    guard reason.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    guard !tag.isEmpty, tag.utf8.allSatisfy(MessageCharacter.isToken) else { return nil }
    var response = Array("SIP/2.0 \(status) \(reason)\r\n".utf8)
    response.reserveCapacity(1024)
    append(top, of: message, from: source, to: &response)
    for via in message.vias.dropFirst() where via.isWellFormed {
      append("Via: ", message.bytes[via.range], to: &response)
    }
    for (kind, name) in copied {
      guard let field = message.header(kind) else { continue }
      append("\(name): ", message.bytes[field.value], to: &response)
      // Behind a value that cannot be read a tag could become part of the URI.
      if kind == .to, let to = message.to, to.tag == nil {
        response.removeLast(2)
        response += ";tag=\(tag)\r\n".utf8
      }
    }
    for field in fields { response += "\(field.name): \(field.value)\r\n".utf8 }
    response += "Content-Length: 0\r\n\r\n".utf8
    return response
  }

  /// Whether ``bytes(to:status:reason:tag:source:)`` can answer the message at all.
  public static func canAnswer(_ message: ScannedMessage) -> Bool {
    guard let method = message.method, !isACK(method), !message.vias.isEmpty, message.header(.cseq) != nil else {
      return false
    }
    // A request that says ACK in one of two places may be one: no answer could be acknowledged.
    if let cseq = message.cseq, isACK(cseq.method) { return false }
    func isClean(_ range: Range<Int>) -> Bool { !message.bytes[range].contains(where: MessageCharacter.isControl) }
    return message.vias.allSatisfy { isClean($0.range) }
      && copied.allSatisfy { message.header($0.kind).map { isClean($0.value) } ?? true }
  }

  private static let copied: [(kind: HeaderKind, name: String)] = [
    (.from, "From"), (.to, "To"), (.callID, "Call-ID"), (.cseq, "CSeq"),
  ]

  private static func isACK(_ method: String) -> Bool { method == "ACK" }

  private static func append(_ name: String, _ value: ArraySlice<UInt8>, to response: inout [UInt8]) {
    response += name.utf8
    response += value
    response += [MessageCharacter.cr, MessageCharacter.lf]
  }

  private static func append(
    _ via: ScannedVia, of message: ScannedMessage, from source: PacketSource, to response: inout [UInt8]
  ) {
    response += "Via: SIP/\(via.version)/\(via.transport) \(via.host)".utf8
    if let port = via.port { response += ":\(port)".utf8 }
    for parameter in via.parameters {
      response.append(MessageCharacter.semicolon)
      response += message.bytes[parameter]
    }
    let host = source.host.unbracketed
    let isSame = via.host.lowercased() == source.host.description.lowercased()
    if via.wantsResponsePort || !isSame { response += ";received=\(host)".utf8 }
    if via.wantsResponsePort { response += ";rport=\(source.port)".utf8 }
    response += [MessageCharacter.cr, MessageCharacter.lf]
  }
}
