/// What finds the client transaction of a response: branch and CSeq method (RFC 3261 section 17.1.3).
struct ClientTransactionKey: Hashable {
  let branch: String
  let method: String
}
