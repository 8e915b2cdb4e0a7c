import CallModel

extension DialogSession {
  func transfer(to target: NameAddress) {}
  func acceptTransfer() {}
  func refuseTransfer(status: Int) {}
  func reportTransfer(status: Int) {}
  func receiveRefer(_ request: SIPMessage, _ transaction: TransactionID) {
    context.respond(transaction, OutgoingResponse(603))
  }
  func receiveNotify(_ request: SIPMessage, _ transaction: TransactionID) {
    context.respond(transaction, OutgoingResponse(489, fields: DialogFields.field("Allow-Events", "refer")))
  }
  func transferAnswered(_ response: SIPMessage, _ status: Int, _ transaction: TransactionID) {}
  func transferFailed(_ failure: TransactionFailure, _ transaction: TransactionID) {}
  var transferDeadlines: [MonotonicInstant?] { [] }
  func advanceTransfers() {}
}
