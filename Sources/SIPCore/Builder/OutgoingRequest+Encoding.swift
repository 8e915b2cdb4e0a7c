public import CallModel

extension OutgoingRequest {
  /// The bytes of the request with this Via on top.
  /// - Throws: `InvalidValue` with rules `message.…` when a value cannot stand in a message.
  public func encoded(via: Via) throws(InvalidValue) -> [UInt8] {
    var writer = MessageWriter()
    try writer.token(method.rawValue, "the method")
    guard method.rawValue.utf8.count <= GateLimits.standard.methodBytes else {
      throw MessageWriter.refusal("method", "the method has \(method.rawValue.utf8.count) bytes")
    }
    guard uri.headers.isEmpty else {
      throw MessageWriter.refusal("requestURI", "header fields stand in the Request-URI")
    }
    writer.raw(" ")
    let start = writer.bytes.count
    try writer.write(uri)
    guard writer.bytes.count - start <= GateLimits.standard.requestURIBytes else {
      throw MessageWriter.refusal("requestURI", "the Request-URI has \(writer.bytes.count - start) bytes")
    }
    writer.raw(" SIP/2.0")
    try writer.endLine("the Request-URI", holdsURI: true)
    try writer.field(via)
    guard routes.count <= GateLimits.standard.routes else {
      throw MessageWriter.refusal("routes", "\(routes.count) Route fields")
    }
    try writer.field("Route", routes)
    try writer.field("Max-Forwards", String(maxForwards))
    try writer.field("From", from)
    try writer.field("To", to)
    try writer.callID(callID)
    guard cseq < 1 << 31 else { throw MessageWriter.refusal("cseq", "the CSeq number is 2^31 or more") }
    try writer.field("CSeq", "\(cseq) \(method.rawValue)")
    if let contact { try writer.field("Contact", contact) }
    for field in fields { try writer.field(field.name, field.value) }
    return try writer.finish(body)
  }

  /// The ACK to a failure response (RFC 3261 section 17.1.1.3). It goes out with the Via of this INVITE.
  public func acknowledgement(of response: SIPMessage) -> OutgoingRequest {
    OutgoingRequest(
      .ack, uri: uri, routes: routes, from: from, to: response.to, callID: callID, cseq: cseq, maxForwards: 70)
  }

  /// The CANCEL of this INVITE (RFC 3261 section 9.1). It goes out with the Via of the INVITE.
  public func cancellation(_ fields: [OutgoingField] = []) -> OutgoingRequest {
    OutgoingRequest(
      .cancel, uri: uri, routes: routes, from: from, to: to, callID: callID, cseq: cseq, maxForwards: 70,
      fields: fields)
  }
}
