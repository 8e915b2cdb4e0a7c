/// The state that both ends of a dialog keep (RFC 3261 section 12.1), and the requests it makes of it.
package struct Dialog: Sendable {
  package var id: DialogID
  /// From of our requests, tag included.
  package var local: NameAddress
  /// To of our requests, tag included.
  package var remote: NameAddress
  /// Request-URI of our requests: the peer's Contact.
  package var remoteTarget: SIPURI
  /// In the order of our Route headers.
  package var routeSet: [NameAddress]
  /// Our Contact.
  package var contact: NameAddress
  /// The number of our last request.
  package var localSequence: UInt32
  /// The number of the peer's last request; `nil` before the first.
  package var remoteSequence: UInt32?
  /// Where our requests go: the way that the peer's last message came, or what RFC 3263 found.
  package var path: SIPPath
  package var isEarly: Bool

  package init(
    id: DialogID, local: NameAddress, remote: NameAddress, remoteTarget: SIPURI, routeSet: [NameAddress],
    contact: NameAddress, localSequence: UInt32, remoteSequence: UInt32? = nil, path: SIPPath, isEarly: Bool
  ) {
    self.id = id
    self.local = local
    self.remote = remote
    self.remoteTarget = remoteTarget
    self.routeSet = routeSet
    self.contact = contact
    self.localSequence = localSequence
    self.remoteSequence = remoteSequence
    self.path = path
    self.isEarly = isEarly
  }
}
