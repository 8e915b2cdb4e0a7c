import CallModel

// MARK: - INFO

extension DialogSession {
  /// INFO with a body for the other side, in its use without packages (RFC 6086 section 2).
  func sendInfo(_ body: MessageBody) {
    guard isLive else { return }
    send(request(.info, body: body), .information)
  }

  func receiveInfo(_ request: SIPMessage, _ transaction: TransactionID) {
    // None of the packages is known here (RFC 6086 section 4.2.2).
    guard request.value("Info-Package") == nil else {
      context.respond(transaction, OutgoingResponse(469, phrase: "Bad Info Package"))
      return
    }
    guard let body = request.body, !body.bytes.isEmpty else {
      context.respond(transaction, OutgoingResponse(200))
      return
    }
    switch DTMFInfo.read(body) {
    case .key:
      context.respond(transaction, OutgoingResponse(200))
      context.emit(.info(call, body))
    case .malformed: context.respond(transaction, OutgoingResponse(400, phrase: "Bad INFO Body"))
    case .unsupportedMediaType: context.respond(transaction, OutgoingResponse(415, fields: DialogFields.accept))
    }
  }
}
