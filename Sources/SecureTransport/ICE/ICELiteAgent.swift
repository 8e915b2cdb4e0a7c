package import CallModel
package import SDPCore

/// The lite end of ICE (RFC 8445 section 2.5): it sends no checks, answers those of the peer, is always controlled, and
/// sends media only where a check of the peer came from, by the port of ours that it came to: where it nominated last, or
/// from where it speaks since the nominated path is silent (``PairSilence``).
///
/// An answer goes only to one who knows our user fragment or our password, or whose address has proved itself; strangers
/// hear nothing, so that the port reflects nothing. Consent to send (RFC 7675) rests on the peer's checks, which must keep
/// coming; each path has its own, and the end of one ends no other.
package final class ICELiteAgent {
  /// Ways that are proved at a time; the one not heard for longest makes room.
  package static let maximumPaths = 16
  /// For so long after its last nomination a path is not left for one of lower priority: a peer that nominates
  /// aggressively (RFC 5245 section 8.1.1.2) names all of its pairs within a moment.
  package static let nominationHold: Int64 = 300_000

  /// What was done with a STUN message.
  package enum Verdict: Hashable, Sendable {
    /// A success response stands in the reply.
    case accepted
    /// An error response stands in the reply.
    case refused(Int)
    /// Nothing stands in the reply.
    case silent
  }

  private struct Local {
    let credentials: ICECredentials
    let userFragment: [UInt8]
    let key: STUNIntegrity

    init(_ credentials: ICECredentials) {
      self.credentials = credentials
      userFragment = Array(credentials.userFragment.utf8)
      key = STUNIntegrity(credentials.password.exposed)
    }
  }

  /// Where media goes: the remote address of the selected pair.
  package var selected: MediaAddress? { selection?.address }
  /// The selected pair: the port of ours and the remote address.
  package var selectedWay: ICEWay? { selection }
  /// Where the last valid check came from, and to which port, selected or not.
  package var latest: ICEWay? { latestWay }
  /// Set when checks never came or stopped; only new credentials lead on from there.
  package private(set) var failure: TransportFailure?
  package var nextDeadline: MonotonicInstant? { deadline }

  // Private: a property that another module sees is guarded against overlapping access with each use, which costs a
  // packet more than the comparison of its address.
  private var selection: ICEWay?
  private var latestWay: ICEWay?
  private var deadline: MonotonicInstant?
  private var silence = PairSilence()
  private let connectivityTimeout: Int64
  private let consentTimeout: Int64
  private var local: Local
  /// Those before the last restart, until a check names the new ones (RFC 8445 section 9).
  private var former: Local?
  private var generation: UInt64 = 0
  private var paths = ContiguousArray<ICEPath>()
  private var transactions = TransactionMemory()
  private var connectivityDeadline: MonotonicInstant?

  /// - Parameters:
  ///   - connectivityTimeout: milliseconds from ``begin(at:)`` to the first nomination.
  ///   - consentTimeout: milliseconds a path lives without a check.
  package init(_ credentials: ICECredentials, connectivityTimeout: Int64, consentTimeout: Int64) {
    local = Local(credentials)
    self.connectivityTimeout = connectivityTimeout
    self.consentTimeout = consentTimeout
  }

  /// The peer knows where to send its checks: from now on they are due.
  package func begin(at now: MonotonicInstant) {
    guard selection == nil, connectivityDeadline == nil, failure == nil else { return }
    connectivityDeadline = now.advanced(byMilliseconds: connectivityTimeout)
    updateDeadline()
  }

  /// New credentials of ours. Media stays where it is, and the old ones are good until the new ones are used.
  package func restart(_ credentials: ICECredentials) {
    guard credentials != local.credentials else { return }
    former = local
    if failure != nil {
      // What failed does not come back.
      former = nil
      failure = nil
      transactions.removeAll()
    }
    local = Local(credentials)
    generation += 1
  }

  /// True for an address that passed a check and still may send.
  package func isProved(_ address: MediaAddress) -> Bool {
    selection?.address == address || paths.contains { $0.way.address == address }
  }

  /// Takes one STUN message that came to a port of ours; an answer is written into `reply` and leaves by the same port.
  package func receive(
    _ packet: PacketBuffer, on port: MediaPort, from source: MediaAddress, at now: MonotonicInstant,
    reply: PacketBuffer,
    events: inout [TransportEvent]
  ) -> Verdict {
    guard failure == nil, let message = STUNMessage(packet), message.kind == .request,
      message.method == STUNMessage.bindingMethod, message.hasFingerprint
    else { return .silent }
    guard message.integrityOffset != nil else {
      // RFC 8489 section 9.1.3, where the address cannot be forged.
      return isProved(source) ? refuse(message, .badRequest, reply, key: nil) : .silent
    }
    guard let (local, generation) = credentials(named: message) else {
      guard message.hasIntegrity(self.local.key) else { return .silent }
      // A peer that knows the password and names nobody (RFC 8489 section 9.1.3).
      return refuse(message, hasColon(message) ? .unauthenticated : .badRequest, reply, key: nil)
    }
    let key = local.key
    guard message.hasIntegrity(key) else { return refuse(message, .unauthenticated, reply, key: nil) }
    guard message.unknownCount == 0 else { return refuse(message, .unknownAttribute, reply, key: key) }
    guard message.controlled == nil else { return refuse(message, .roleConflict, reply, key: key) }
    if generation == self.generation, former != nil {
      former = nil
      transactions.removeAll()
    }
    if transactions.contains(message.transaction) {
      // The answer may have been lost. From elsewhere it is a recorded check.
      guard isProved(source) else { return .silent }
    } else {
      transactions.remember(message.transaction)
      checked(ICEWay(port: port, address: source), message, generation, at: now, &events)
    }
    let writer = STUNWriter(reply, .success, transaction: message.transaction)
    writer.appendMappedAddress(source)
    writer.appendIntegrity(key)
    writer.appendFingerprint()
    return .accepted
  }

  /// Media of the peer came, authentic and no replay.
  package func heard(_ way: ICEWay, at now: MonotonicInstant, events: inout [TransportEvent]) {
    if way == selection { silence.end(at: now) } else { heardElsewhere(way, at: now, &events) }
  }

  /// Ends what is due: no checks came, or they stopped.
  package func advance(to now: MonotonicInstant, events: inout [TransportEvent]) {
    guard let deadline, deadline <= now else { return }
    if let connectivityDeadline, connectivityDeadline <= now {
      fail(.noConnectivity, &events)
    } else {
      expirePaths(at: now, &events)
    }
    updateDeadline()
  }

  // MARK: Credentials

  private func credentials(named message: STUNMessage) -> (Local, UInt64)? {
    if message.userNameNames(local.userFragment) { return (local, generation) }
    if let former, message.userNameNames(former.userFragment) { return (former, generation - 1) }
    return nil
  }

  private func hasColon(_ message: STUNMessage) -> Bool {
    guard let userName = message.userName else { return false }
    return userName.contains { message.packet[$0] == UInt8(ascii: ":") }
  }

  private func refuse(_ message: STUNMessage, _ error: STUNError, _ reply: PacketBuffer, key: STUNIntegrity?) -> Verdict
  {
    let writer = STUNWriter(reply, .failure, transaction: message.transaction)
    writer.append(error)
    if error == .unknownAttribute { writer.appendUnknown(message.unknown, count: message.unknownCount) }
    if let key { writer.appendIntegrity(key) }
    writer.appendFingerprint()
    // Without a key anyone may have sent it, in anyone's name: it must not pay.
    return key == nil && reply.count > message.packet.count ? .silent : .refused(error.rawValue)
  }

  // MARK: Paths

  private func checked(
    _ way: ICEWay, _ message: STUNMessage, _ generation: UInt64, at now: MonotonicInstant,
    _ events: inout [TransportEvent]
  ) {
    latestWay = way
    let index: Int
    if let known = paths.firstIndex(where: { $0.way == way }) {
      index = known
      paths[index].lastCheck = max(paths[index].lastCheck, now)
      paths[index].generation = max(paths[index].generation, generation)
      if let priority = message.priority { paths[index].priority = priority }
    } else {
      makeRoom(&events)
      index = paths.count
      if !isProved(way.address) { events.append(.addressProved(way.address)) }
      paths.append(ICEPath(way: way, priority: message.priority ?? 0, generation: generation, lastCheck: now))
    }
    if way == selection { silence.end(at: now) }
    if message.nominates { nominate(index, at: now, &events) }
    updateDeadline()
  }

  private func nominate(_ index: Int, at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    paths[index].lastNomination = now
    let path = paths[index]
    if let former = selection, former != path.way {
      if let held = paths.first(where: { $0.way == former }), held.generation == path.generation,
        held.priority > path.priority, let nominated = held.lastNomination,
        now.microseconds(since: nominated) < ICELiteAgent.nominationHold
      {
        return
      }
      events.append(.moved(path.way.address))
    }
    select(path.way, at: now)
    connectivityDeadline = nil
    // A nomination after a restart ends what was before it (RFC 8445 section 9).
    if path.generation == generation { drop({ $0.generation < path.generation }, &events) }
  }

  private func select(_ way: ICEWay, at now: MonotonicInstant) {
    selection = way
    silence.end(at: now)
  }

  /// A path without a check says nothing here, whatever it sends.
  private func heardElsewhere(_ way: ICEWay, at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    guard selection != nil, let index = paths.firstIndex(where: { $0.way == way }),
      silence.gives(wayTo: &paths[index].speaksAlone, at: now)
    else { return }
    select(way, at: now)
    events.append(.moved(way.address))
  }

  private func makeRoom(_ events: inout [TransportEvent]) {
    guard paths.count >= ICELiteAgent.maximumPaths else { return }
    let oldest = paths.lazy.filter { $0.way != self.selection }.min { $0.lastCheck < $1.lastCheck }
    guard let oldest else { return }
    drop({ $0.way == oldest.way }, &events)
  }

  private func expirePaths(at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    let limit = consentTimeout
    drop({ $0.lastCheck.advanced(byMilliseconds: limit) <= now }, &events)
    guard let lost = selection, !paths.contains(where: { $0.way == lost }) else { return }
    // Another path that the peer still checks goes on in its place, nominated or not: of those, the one checked last.
    guard let next = paths.max(by: { $0.lastCheck < $1.lastCheck }) else { return fail(.consentLost, &events) }
    select(next.way, at: now)
    events.append(.moved(next.way.address))
  }

  private func fail(_ failure: TransportFailure, _ events: inout [TransportEvent]) {
    drop({ _ in true }, &events)
    selection = nil
    former = nil
    connectivityDeadline = nil
    self.failure = failure
    events.append(.failed(failure))
  }

  private func drop(_ isDropped: (ICEPath) -> Bool, _ events: inout [TransportEvent]) {
    var dropped: [MediaAddress] = []
    paths.removeAll { path in
      guard isDropped(path) else { return false }
      if latestWay == path.way { latestWay = nil }
      if !dropped.contains(path.way.address) { dropped.append(path.way.address) }
      return true
    }
    // An address may have checked several of our ports: it stays proved while one of them is left.
    for address in dropped where !paths.contains(where: { $0.way.address == address }) {
      events.append(.addressDropped(address))
    }
  }

  private func updateDeadline() {
    let oldest = paths.lazy.map(\.lastCheck).min()
    let expiry = oldest?.advanced(byMilliseconds: consentTimeout)
    deadline = [expiry, connectivityDeadline].lazy.compactMap { $0 }.min()
  }
}
