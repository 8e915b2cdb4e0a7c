/// The state that both ends of a dialog keep (RFC 3261 section 12.1), and the requests it makes of it.
struct Dialog: Sendable {
  var id: DialogID
  /// From of our requests, tag included.
  var local: NameAddress
  /// To of our requests, tag included.
  var remote: NameAddress
  /// Request-URI of our requests: the peer's Contact.
  var remoteTarget: SIPURI
  /// In the order of our Route headers.
  var routeSet: [NameAddress]
  /// Our Contact.
  var contact: NameAddress
  /// The number of our last request.
  var localSequence: UInt32
  /// The number of the peer's last request; `nil` before the first.
  var remoteSequence: UInt32?
  /// Where our requests go: the way that the peer's last message came, or what RFC 3263 found.
  var path: SIPPath
  var isEarly: Bool
}
