/// What two copies of one request have in common that came on different ways (RFC 3261 section 8.2.2.2).
struct MergedRequestKey: Hashable {
  let callID: String
  let fromTag: String
  let cseq: CSeq

  /// `nil` inside a dialog: only requests without a tag in To are looked at.
  init?(_ message: SIPMessage) {
    guard message.to.tag == nil, let tag = message.from.tag else { return nil }
    callID = message.callID
    fromTag = tag
    cseq = message.cseq
  }
}
