package import CallModel

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
  /// Other hosts that the peer's name stands for.
  package var alternatives: [SIPHost] = []

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

  /// Whether a request in this dialog can come from there: from where its messages came and went so far, from a proxy
  /// that asked to stay on the way, or from the peer's Contact. Whoever else shows the tags has overheard them. A hop that
  /// is given by a name is not looked up; then nothing speaks against any host.
  package func expects(_ host: SIPHost) -> Bool {
    if path.remote.host == host || alternatives.contains(host) { return true }
    return ([remoteTarget] + routeSet.map(\.uri)).contains { hop in
      if case .name = hop.host { return true }
      return hop.host == host
    }
  }
}
