import CallModel
import SDPCore

/// A way that packets can take: from a socket of ours to an address of the peer.
package struct ICEWay: Hashable, Sendable {
  package let port: MediaPort
  package let address: MediaAddress

  package init(port: MediaPort, address: MediaAddress) {
    self.port = port
    self.address = address
  }
}

/// One candidate pair of a full agent (RFC 8445 section 6.1.2.6).
struct ICEPair {
  enum State: Hashable {
    /// A check is to be sent.
    case waiting
    case inProgress(ICECheck)
    case succeeded
    /// Tried again then; `nil`: never.
    case failed(until: MonotonicInstant?)
  }

  let way: ICEWay
  let localKind: ICEPriority.Kind
  let localPreference: UInt16
  let remotePriority: UInt32
  var state = State.waiting
  /// It has passed a check, whatever is being tried with it now.
  var isValid = false
  /// Goes before all others, and even when another pair is selected (RFC 8445 section 6.1.4.1).
  var isTriggered = false
  /// As controlled agent: the peer nominated it, be it before its check succeeded.
  var isNominatedByPeer = false
  /// A check with USE-CANDIDATE is wanted of this pair.
  var isToBeNominated = false
  /// The last answer to a check or a consent check: media may be sent for a while after it (RFC 7675 section 5.1).
  var lastAnswer: MonotonicInstant?
  /// Its first packet of media since the selected pair was last heard; `nil`: it has sent none.
  var speaksAlone: MonotonicInstant?

  /// RFC 8445 section 6.1.2.3.
  func priority(isControlling: Bool) -> UInt64 {
    let local = UInt64(ICEPriority.of(localKind, localPreference: localPreference))
    let remote = UInt64(remotePriority)
    let (controlling, controlled) = isControlling ? (local, remote) : (remote, local)
    return min(local, remote) << 32 + 2 * max(local, remote) + (controlling > controlled ? 1 : 0)
  }
}

/// A connectivity check on its way, with what RFC 8489 section 6.2.1 says about repeating it.
struct ICECheck: Hashable {
  /// Milliseconds to the first repetition; then it doubles.
  static let retransmission: Int64 = 500
  /// Transmissions (Rc).
  static let transmissions = 7
  /// Waits as long as the first after the last transmission, times this (Rm).
  static let lastWait: Int64 = 16

  let transaction: STUNTransaction
  let nominates: Bool
  let isControlling: Bool
  /// Milliseconds (RTO).
  let timeout: Int64
  var sent = 0
  var due: MonotonicInstant

  var isOver: Bool { sent >= ICECheck.transmissions }

  /// A check of the peer came by this pair, so it may work again: repetitions begin anew (RFC 8445 section 7.3.1.4).
  mutating func hurry(at now: MonotonicInstant) {
    sent = min(sent, 1)
    due = min(due, now.advanced(byMilliseconds: timeout))
  }

  /// It is sent now.
  mutating func transmit(at now: MonotonicInstant) {
    sent += 1
    let wait = isOver ? timeout * ICECheck.lastWait : timeout << Int64(sent - 1)
    due = now.advanced(byMilliseconds: wait)
  }
}

/// One generation of a full agent: credentials of both ends and the pairs checked with them.
final class ICECheckList {
  let credentials: ICECredentials
  let userFragment: [UInt8]
  let key: STUNIntegrity
  private(set) var locals: [ClientTransport.Local]
  private(set) var remote: ICECredentials?
  /// Of the peer's password; `nil` before its description is there.
  private(set) var remoteKey: STUNIntegrity?
  /// The USERNAME of our checks.
  private(set) var userName: [UInt8] = []
  var pairs = ContiguousArray<ICEPair>()
  /// Position of the pair that media takes.
  var selected: Int?

  init(_ credentials: ICECredentials, _ locals: [ClientTransport.Local]) {
    self.credentials = credentials
    self.locals = Array(locals.prefix(ClientTransport.maximumLocals))
    userFragment = Array(credentials.userFragment.utf8)
    key = STUNIntegrity(credentials.password.exposed)
  }

  func join(_ remote: ICECredentials) {
    self.remote = remote
    remoteKey = STUNIntegrity(remote.password.exposed)
    userName = Array("\(remote.userFragment):\(credentials.userFragment)".utf8)
  }

  var selectedWay: ICEWay? { selected.map { pairs[$0].way } }
  /// Of the pair that works and is being nominated.
  var nominatedWay: ICEWay? { pairs.first { $0.isToBeNominated && $0.isValid }?.way }

  /// Adds a pair; `nil`: there are too many, or it is no pair of one family.
  func add(_ local: ClientTransport.Local, _ address: MediaAddress, _ priority: UInt32) -> Int? {
    let way = ICEWay(port: local.port, address: address)
    if let known = pairs.firstIndex(where: { $0.way == way }) { return known }
    guard pairs.count < ICEFullAgent.maximumPairs, (local.address.ipv4 == nil) == (address.ipv4 == nil) else {
      return nil
    }
    pairs.append(
      ICEPair(way: way, localKind: local.kind, localPreference: local.preference, remotePriority: priority))
    return pairs.count - 1
  }

  /// Another address of ours, with a pair for each address of the peer that is known.
  func add(_ local: ClientTransport.Local) {
    guard locals.count < ClientTransport.maximumLocals else { return }
    locals.append(local)
    let known = pairs
    for pair in known { _ = add(local, pair.way.address, pair.remotePriority) }
  }

  func isProved(_ address: MediaAddress) -> Bool {
    pairs.contains { $0.way.address == address && $0.isValid }
  }
}
