public import CallModel

extension OutgoingResponse {
  /// The bytes of the response to a request.
  ///
  /// Via, From, To, Call-ID and CSeq go back as they came. The top Via says where the request really came from (RFC 3261
  /// section 18.2.1, RFC 3581 section 4). Record-Route goes back in responses of 101 to 299 that may form a dialog.
  /// - Throws: `InvalidValue` with rules `message.…` when a value cannot stand in a message, or the message is no request.
  public func encoded(to request: SIPMessage, receivedFrom path: SIPPath) throws(InvalidValue) -> [UInt8] {
    guard let method = request.method else { throw MessageWriter.refusal("request", "a response has no response") }
    guard (100...699).contains(status) else {
      throw MessageWriter.refusal("status", "the status \(status) is not in 100 to 699")
    }
    var writer = MessageWriter()
    writer.raw("SIP/2.0 \(status) ")
    writer.raw(phrase ?? ResponsePhrase.registered(status))
    try writer.endLine("the phrase")
    try OutgoingResponse.writeVias(of: request, from: path, to: &writer)
    if OutgoingResponse.mayFormDialog(method, status) {
      try OutgoingResponse.copy(.recordRoute, "Record-Route", request.recordRoutes, of: request, to: &writer)
    }
    try OutgoingResponse.copy(.from, "From", [request.from], of: request, to: &writer)
    try writeTo(of: request, to: &writer)
    try writer.callID(request.callID)
    try writer.field("CSeq", "\(request.cseq.number) \(request.cseq.method.rawValue)")
    if status == 100, let timestamp = request.value("Timestamp") { try writer.field("Timestamp", timestamp) }
    if let contact { try writer.field("Contact", contact) }
    guard otherContacts.count < GateLimits.standard.contacts else {
      throw MessageWriter.refusal("contacts", "\(otherContacts.count) further Contact fields")
    }
    try writer.field("Contact", otherContacts)
    for field in fields { try writer.field(field.name, field.value) }
    return try writer.finish(body)
  }

  private static func mayFormDialog(_ method: SIPMethod, _ status: Int) -> Bool {
    (101...299).contains(status) && (method == .invite || method == .refer || method.rawValue == "SUBSCRIBE")
  }

  /// The values as the peer wrote them, where they are at hand.
  private static func copy(
    _ kind: HeaderKind, _ name: String, _ values: [NameAddress], of request: SIPMessage, to writer: inout MessageWriter
  ) throws(InvalidValue) {
    guard let scanned = request.scanned else { return try writer.field(name, values) }
    for header in scanned.headers where header.kind == kind {
      try writer.field(name, copy: scanned.bytes[header.value])
    }
  }

  private func writeTo(of request: SIPMessage, to writer: inout MessageWriter) throws(InvalidValue) {
    let added = status == 100 || request.to.tag != nil ? nil : toTag
    writer.raw("To: ")
    if let scanned = request.scanned, let header = scanned.header(.to) {
      writer.raw(scanned.bytes[header.value])
    } else {
      try writer.write(request.to)
    }
    if let added {
      writer.raw(";tag=")
      try writer.token(added, "the tag of To")
    }
    // What was copied passed the gate.
    try writer.endLine("To", holdsURI: request.scanned == nil)
  }

  private static func writeVias(
    of request: SIPMessage, from path: SIPPath, to writer: inout MessageWriter
  ) throws(InvalidValue) {
    guard let top = request.vias.first else { throw MessageWriter.refusal("via", "the request has no Via") }
    if let scanned = request.scanned, let written = scanned.vias.first {
      try writeTop(written, top.received(from: path.remote), of: scanned, to: &writer)
    } else {
      try writer.field(top.received(from: path.remote))
    }
    for (place, via) in request.vias.enumerated().dropFirst() {
      if let scanned = request.scanned, place < scanned.vias.count {
        try writer.field("Via", copy: scanned.bytes[scanned.vias[place].range])
      } else {
        try writer.field(via)
      }
    }
  }
}

extension OutgoingResponse {
  /// The top Via as the peer wrote it, with `received` and `rport` of ours.
  private static func writeTop(
    _ written: ScannedVia, _ stamped: Via, of scanned: ScannedMessage, to writer: inout MessageWriter
  ) throws(InvalidValue) {
    writer.raw("Via: SIP/\(written.version)/\(written.transport) \(written.host)")
    if let port = written.port { writer.raw(":\(port)") }
    for parameter in written.parameters {
      writer.raw(";")
      writer.raw(scanned.bytes[parameter])
    }
    for parameter in stamped.parameters where parameter.name == "received" || parameter.name == "rport" {
      writer.raw(";\(parameter.name)=\(parameter.value ?? "")")
    }
    try writer.endLine("Via")
  }
}

extension Via {
  /// The element with `received` and `rport` as the packet's source has them, whatever the sender claimed: `received`
  /// where the host differs or `rport` was asked for, `rport` where it was asked for.
  public func received(from source: TransportAddress) -> Via {
    var via = self
    let wantsPort = parameters["rport"] != nil
    via.parameters.removeAll { $0.name == "received" || $0.name == "rport" }
    if wantsPort || host != source.host {
      via.parameters.append(SIPParameter("received", source.host.unbracketed))
    }
    if wantsPort { via.parameters.append(SIPParameter("rport", String(source.port))) }
    return via
  }
}
