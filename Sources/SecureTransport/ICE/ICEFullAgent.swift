package import CallModel
package import SDPCore

/// The full end of ICE (RFC 8445), reduced to what an app needs: host candidates of our own and, later, relayed ones, one
/// component, checks with repetition, regular nomination, consent (RFC 7675) and restarts.
///
/// ```
///   begin ─▶ checks, 50 ms apart, best pair first ─▶ a pair works ─▶ nominate the best ─▶ selected ─▶ consent, every 5 s
///                                                                                          │  restart: as from begin,
///                                                                                          ▼  media goes on meanwhile
/// ```
/// It begins in the controlling role, which a lite peer leaves it; where a full peer thinks the same of itself, the tie
/// breakers decide. What a check from elsewhere shows is a new pair; media follows it when it is nominated, or when it
/// speaks alone (``PairSilence``).
package final class ICEFullAgent {
  /// Pairs of one generation; further candidates are passed over.
  package static let maximumPairs = 64
  /// Milliseconds between two new checks (Ta).
  static let pacing: Int64 = 50
  /// Milliseconds that a pair that works waits for a better one before it is nominated.
  static let nominationPatience: Int64 = 200
  /// Milliseconds until a pair whose check was refused or timed out is checked again.
  static let retryDelay: Int64 = 500
  /// Milliseconds from one consent check to the next, taken by 0.8 to 1.2 (RFC 7675 section 5.1).
  static let consentInterval: Int64 = 5_000
  /// Consent checks whose answer is still believed.
  static let openConsentChecks = 8

  /// Where media goes. After a restart it takes the new way as soon as that works and is being nominated: a lite peer
  /// takes nothing from the old one once it has heard of the nomination.
  package var selected: ICEWay? { current.selectedWay ?? former.flatMap { current.nominatedWay ?? $0.selectedWay } }
  /// No way was found since the beginning, or the last restart; media may go on by one of before.
  package var seeksWay: Bool { current.selected == nil }
  /// When the selected pair was last heard, by sound or a report, or was selected; `nil` while there is none.
  package var heard: MonotonicInstant? { selected == nil ? nil : silence.heard }
  package private(set) var failure: TransportFailure?
  package internal(set) var nextDeadline: MonotonicInstant?

  private let connectivityTimeout: Int64
  let consentTimeout: Int64
  private let draw: @Sendable () -> UInt64
  private var tieBreaker: UInt64
  private var isControlling = true
  var current: ICECheckList
  /// Before a restart; media takes its selected pair until the new generation has one.
  private var former: ICECheckList?
  private var connectivityDeadline: MonotonicInstant?
  /// No new check before.
  private var paced = MonotonicInstant(microseconds: .min)
  /// When the first pair of this generation worked.
  private var firstSuccess: MonotonicInstant?
  var consentChecks: [STUNTransaction] = []
  var nextConsent: MonotonicInstant?
  var lastConsent = MonotonicInstant.zero
  var silence = PairSilence()
  /// Sound came since the last answer: when it stops, the next consent check does not wait for its turn.
  var asksWhenSilent = false
  private var lastAsked = MonotonicInstant.zero

  /// - Parameters:
  ///   - connectivityTimeout: milliseconds from ``begin(_:fallback:at:)`` to the first nomination.
  ///   - consentTimeout: milliseconds that a selected pair lives without an answer.
  ///   - draw: random numbers from the system's generator.
  package init(
    _ credentials: ICECredentials, _ locals: [ClientTransport.Local], connectivityTimeout: Int64,
    consentTimeout: Int64, draw: @escaping @Sendable () -> UInt64
  ) {
    current = ICECheckList(credentials, locals)
    self.connectivityTimeout = connectivityTimeout
    self.consentTimeout = consentTimeout
    self.draw = draw
    tieBreaker = draw()
  }

  /// The peer's description: its checks begin, unless they have. `fallback`: where it wants media, for a description
  /// that names no candidate we can use.
  package func begin(_ remote: MediaPlan.RemoteICE, fallback: MediaAddress?, at now: MonotonicInstant) {
    guard failure == nil else { return }
    if remote.isLite { isControlling = true }
    if let known = current.remote, known != remote.credentials {
      // A restart of the peer's without one of ours: its new credentials go with ours.
      keepFormer()
      current = ICECheckList(current.credentials, current.locals)
    }
    if current.remote == nil {
      current.join(remote.credentials)
      firstSuccess = nil
      connectivityDeadline = now.advanced(byMilliseconds: connectivityTimeout)
    }
    var addresses = remote.addresses
    if addresses.isEmpty, let fallback { addresses.append((fallback, ICEPriority.of(.host))) }
    for (address, priority) in addresses {
      for local in current.locals { _ = current.add(local, address, priority) }
    }
    updateDeadline(now)
  }

  /// New credentials of ours, and addresses where they changed; checks begin with the peer's answer to them.
  package func restart(_ credentials: ICECredentials, locals: [ClientTransport.Local]?) {
    guard credentials != current.credentials else { return }
    keepFormer()
    if failure != nil {
      // What failed does not come back.
      former = nil
      failure = nil
    }
    current = ICECheckList(credentials, locals ?? current.locals)
    connectivityDeadline = nil
  }

  /// Another address of ours, for the present generation.
  package func add(_ local: ClientTransport.Local, at now: MonotonicInstant) {
    guard failure == nil else { return }
    current.add(local)
    updateDeadline(now)
  }

  private func keepFormer() { if current.selected != nil { former = current } }

  /// True for an address of the peer that answered a check.
  package func isProved(_ address: MediaAddress) -> Bool {
    current.isProved(address) || former?.isProved(address) == true
  }

  // MARK: Messages

  /// Takes one STUN message; an answer, and checks that it leads to, go into the outbox. `false`: it meant nothing.
  package func receive(
    _ packet: PacketBuffer, on port: MediaPort, from source: MediaAddress, at now: MonotonicInstant,
    outbox: PacketOutbox, events: inout [TransportEvent]
  ) -> Bool {
    guard failure == nil, let message = STUNMessage(packet), message.method == STUNMessage.bindingMethod,
      message.hasFingerprint, message.integrityOffset != nil
    else { return false }
    let way = ICEWay(port: port, address: source)
    let isTaken =
      switch message.kind {
      case .request: answer(message, way, at: now, outbox)
      case .success, .failure: conclude(message, way, at: now, &events)
      case .indication: false
      }
    if isTaken { work(at: now, outbox, &events) }
    return isTaken
  }

  /// A check of the peer.
  private func answer(_ message: STUNMessage, _ way: ICEWay, at now: MonotonicInstant, _ outbox: PacketOutbox) -> Bool {
    let named = [current, former].compactMap { $0 }.first { message.userNameNames($0.userFragment) }
    guard let list = named, message.hasIntegrity(list.key) else { return false }
    if message.unknownCount > 0 {
      reply(message, .unknownAttribute, list, way, outbox)
      return true
    }
    guard settleRoles(message) else {
      reply(message, .roleConflict, list, way, outbox)
      return true
    }
    reply(message, nil, list, way, outbox)
    guard list.remoteKey != nil, let local = list.locals.first(where: { $0.port == way.port }),
      let index = list.add(local, way.address, message.priority ?? 0)
    else { return true }
    if message.nominates, !isControlling, list.selected != index { list.pairs[index].isNominatedByPeer = true }
    switch list.pairs[index].state {
    case .succeeded:
      // Where the peer still checks a pair that is not selected, its consent is kept.
      if list === current, let selected = current.selected, selected != index, wantsAnswer(index, at: now) {
        ask(index)
      }
    case .waiting: list.pairs[index].isTriggered = true
    case .inProgress(var check):
      check.hurry(at: now)
      list.pairs[index].state = .inProgress(check)
    case .failed:
      list.pairs[index].state = .waiting
      list.pairs[index].isTriggered = true
    }
    return true
  }

  /// Both ends of one mind about who controls; `false`: the peer is to change its own (RFC 8445 section 7.3.1.1).
  private func settleRoles(_ message: STUNMessage) -> Bool {
    if isControlling, let other = message.controlling {
      guard tieBreaker < other else { return false }
      isControlling = false
    } else if !isControlling, let other = message.controlled {
      guard tieBreaker >= other else { return false }
      isControlling = true
    }
    return true
  }

  private func reply(
    _ message: STUNMessage, _ error: STUNError?, _ list: ICECheckList, _ way: ICEWay, _ outbox: PacketOutbox
  ) {
    let writer = STUNWriter(outbox.next, error == nil ? .success : .failure, transaction: message.transaction)
    if let error {
      writer.append(error)
      if error == .unknownAttribute { writer.appendUnknown(message.unknown, count: message.unknownCount) }
    } else {
      writer.appendMappedAddress(way.address)
    }
    writer.appendIntegrity(list.key)
    writer.appendFingerprint()
    outbox.commit(on: way.port, to: way.address)
  }

  /// An answer to a check of ours. It counts only from where the check went, where the check left from.
  private func conclude(
    _ message: STUNMessage, _ way: ICEWay, at now: MonotonicInstant, _ events: inout [TransportEvent]
  ) -> Bool {
    if consentChecks.contains(message.transaction) {
      let list = current.selected != nil ? current : former
      guard message.kind == .success, let list, list.selectedWay == way, let key = list.remoteKey,
        message.hasIntegrity(key)
      else { return false }
      lastConsent = now
      if let selected = list.selected { list.pairs[selected].lastAnswer = now }
      // An answer of before the silence says nothing of the way now.
      if silence.isLong(at: now) { asksWhenSilent = false }
      return true
    }
    guard let key = current.remoteKey, message.hasIntegrity(key) else { return false }
    for index in current.pairs.indices {
      guard case .inProgress(let check) = current.pairs[index].state, check.transaction == message.transaction else {
        continue
      }
      guard current.pairs[index].way == way else { return false }
      if message.kind == .success {
        succeeded(index, check, at: now, &events)
      } else {
        refused(index, check, message.errorCode, at: now)
      }
      return true
    }
    return false
  }

  private func succeeded(
    _ index: Int, _ check: ICECheck, at now: MonotonicInstant, _ events: inout [TransportEvent]
  ) {
    let address = current.pairs[index].way.address
    if !isProved(address) { events.append(.addressProved(address)) }
    current.pairs[index].state = .succeeded
    current.pairs[index].isValid = true
    current.pairs[index].lastAnswer = now
    current.pairs[index].isTriggered = false
    firstSuccess = firstSuccess ?? now
    if check.nominates && check.isControlling { select(index, at: now, &events) }
  }

  private func refused(_ index: Int, _ check: ICECheck, _ code: Int?, at now: MonotonicInstant) {
    if code == STUNError.roleConflict.rawValue {
      // RFC 8445 section 7.2.5.1: the other role, another tie breaker, and the same check again.
      isControlling = !check.isControlling
      tieBreaker = draw()
      current.pairs[index].state = .waiting
      current.pairs[index].isTriggered = true
    } else {
      current.pairs[index].state = .failed(until: now.advanced(byMilliseconds: ICEFullAgent.retryDelay))
    }
  }

  private func select(_ index: Int, at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    if let present = current.selected, present != index,
      current.pairs[present].priority(isControlling: isControlling)
        > current.pairs[index].priority(isControlling: isControlling)
    {
      return
    }
    let last = selected
    current.selected = index
    current.pairs[index].isToBeNominated = false
    connectivityDeadline = nil
    lastConsent = now
    nextConsent = now.advanced(byMicroseconds: consentWait())
    silence.end(at: now)
    if let former {
      self.former = nil
      for address in Set(former.pairs.filter(\.isValid).map(\.way.address))
      where !current.isProved(address) { events.append(.addressDropped(address)) }
    }
    if let last, last != current.pairs[index].way { events.append(.moved(current.pairs[index].way.address)) }
  }

  private func consentWait() -> Int64 {
    let base = ICEFullAgent.consentInterval * 1000
    return base * 8 / 10 + Int64(draw() % UInt64(base * 4 / 10))
  }

  // MARK: Time

  /// Sends what is due, and ends what is over.
  package func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [TransportEvent]) {
    guard let nextDeadline, nextDeadline <= now else { return }
    work(at: now, outbox, &events)
  }

  /// Brings all up to date.
  package func work(at now: MonotonicInstant, _ outbox: PacketOutbox, _ events: inout [TransportEvent]) {
    guard failure == nil else { return }
    if let connectivityDeadline, connectivityDeadline <= now {
      self.connectivityDeadline = nil
      // A restart that came to nothing leaves the way that still works.
      guard former?.selected != nil else { return fail(.noConnectivity, &events) }
      current.pairs.removeAll()
    }
    if selected != nil, lastConsent.advanced(byMilliseconds: consentTimeout) <= now {
      if let lost = current.selected {
        guard leave(lost, at: now, &events) else { return fail(.consentLost, &events) }
      } else {
        guard connectivityDeadline != nil, former != nil else { return fail(.consentLost, &events) }
        // The new way may still be found.
        former = nil
      }
    }
    nominate(at: now, &events)
    repeatChecks(at: now, outbox)
    beginCheck(at: now, outbox)
    keepConsent(at: now, outbox)
    updateDeadline(now)
  }

  private func nominate(at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    guard isControlling else {
      for index in current.pairs.indices
      where current.pairs[index].isNominatedByPeer && current.pairs[index].state == .succeeded
        && current.selected != index
      {
        current.pairs[index].isNominatedByPeer = false
        select(index, at: now, &events)
      }
      return
    }
    guard current.selected == nil, let firstSuccess, !current.pairs.contains(where: \.isToBeNominated),
      let best = bestPair({ $0 == .succeeded })
    else { return }
    let rank = current.pairs[best].priority(isControlling: true)
    let isOutdone = current.pairs.contains { pair in
      switch pair.state {
      case .waiting, .inProgress: pair.priority(isControlling: true) > rank
      case .succeeded, .failed: false
      }
    }
    guard !isOutdone || firstSuccess.advanced(byMilliseconds: ICEFullAgent.nominationPatience) <= now else { return }
    let last = selected
    current.pairs[best].isToBeNominated = true
    if let last, let selected, selected != last { events.append(.moved(selected.address)) }
    current.pairs[best].isTriggered = true
    current.pairs[best].state = .waiting
    paced = now
  }

  private func bestPair(_ fits: (ICEPair.State) -> Bool) -> Int? {
    current.pairs.indices.filter { fits(current.pairs[$0].state) }.max {
      let (left, right) = (current.pairs[$0], current.pairs[$1])
      if left.isTriggered != right.isTriggered { return right.isTriggered }
      return left.priority(isControlling: isControlling) < right.priority(isControlling: isControlling)
    }
  }

  private func repeatChecks(at now: MonotonicInstant, _ outbox: PacketOutbox) {
    for index in current.pairs.indices {
      switch current.pairs[index].state {
      case .inProgress(var check) where check.due <= now:
        guard !check.isOver else {
          current.pairs[index].isToBeNominated = false
          current.pairs[index].state = .failed(until: now.advanced(byMilliseconds: ICEFullAgent.retryDelay))
          continue
        }
        check.transmit(at: now)
        current.pairs[index].state = .inProgress(check)
        send(check, current.pairs[index], outbox)
      case .failed(let until?) where until <= now && current.selected == nil: current.pairs[index].state = .waiting
      default: break
      }
    }
  }

  private func beginCheck(at now: MonotonicInstant, _ outbox: PacketOutbox) {
    guard paced <= now, current.remoteKey != nil, let index = nextWaiting else { return }
    let open = current.pairs.count { pair in
      switch pair.state {
      case .waiting, .inProgress: true
      case .succeeded, .failed: false
      }
    }
    // The only pair there is is nominated with its first check, a second one could not say more, unless media has a way.
    let isOnly = current.pairs.count == 1 && former == nil
    let nominates = isControlling && (current.pairs[index].isToBeNominated || isOnly)
    var check = ICECheck(
      transaction: transaction(), nominates: nominates, isControlling: isControlling,
      timeout: max(ICECheck.retransmission, ICEFullAgent.pacing * Int64(open)), due: now)
    check.transmit(at: now)
    current.pairs[index].state = .inProgress(check)
    current.pairs[index].isTriggered = false
    send(check, current.pairs[index], outbox)
    paced = now.advanced(byMilliseconds: ICEFullAgent.pacing)
  }

  /// The pair to be checked next. With a selected pair only what the peer asked for is checked.
  private var nextWaiting: Int? {
    guard let index = bestPair({ $0 == .waiting }) else { return nil }
    return current.selected == nil || current.pairs[index].isTriggered ? index : nil
  }

  private func transaction() -> STUNTransaction {
    STUNTransaction(high: UInt32(truncatingIfNeeded: draw()), low: draw())
  }

  private func send(_ check: ICECheck, _ pair: ICEPair, _ outbox: PacketOutbox) {
    request(
      check.transaction, current, pair, nominates: check.nominates, isControlling: check.isControlling, outbox)
  }

  private func request(
    _ transaction: STUNTransaction, _ list: ICECheckList, _ pair: ICEPair, nominates: Bool, isControlling: Bool,
    _ outbox: PacketOutbox
  ) {
    guard let key = list.remoteKey else { return }
    let writer = STUNWriter(outbox.next, .request, transaction: transaction)
    writer.append(.userName, list.userName)
    writer.append(.priority, integer: ICEPriority.of(.peerReflexive, localPreference: pair.localPreference))
    writer.append(isControlling ? .iceControlling : .iceControlled, integer: tieBreaker)
    if nominates { writer.append(.useCandidate, EmptyCollection()) }
    writer.appendIntegrity(key)
    writer.appendFingerprint()
    outbox.commit(on: pair.way.port, to: pair.way.address)
  }

  /// Every check of consent is another one (RFC 7675 section 5.1). It nominates again, so that a lite peer follows when
  /// a translator on the way gives us another address.
  private func keepConsent(at now: MonotonicInstant, _ outbox: PacketOutbox) {
    guard let consentDue, consentDue <= now else { return }
    let list = current.selected != nil ? current : former
    guard let list, let selected = list.selected else { return }
    let transaction = transaction()
    if consentChecks.count >= ICEFullAgent.openConsentChecks { consentChecks.removeFirst() }
    consentChecks.append(transaction)
    request(
      transaction, list, list.pairs[selected], nominates: isControlling, isControlling: isControlling, outbox)
    nextConsent = now.advanced(byMicroseconds: consentWait())
    lastAsked = now
  }

  /// After sound stopped, at once and every second until an answer comes: where our address changed on the way, the peer
  /// hears of the new one by that check.
  private var consentDue: MonotonicInstant? {
    guard asksWhenSilent, let nextConsent else { return nextConsent }
    return min(nextConsent, max(silence.heard, lastAsked).advanced(byMilliseconds: PairSilence.patience))
  }

  private func fail(_ failure: TransportFailure, _ events: inout [TransportEvent]) {
    let proved = (current.pairs + (former?.pairs ?? [])).filter(\.isValid).map(\.way.address)
    for address in Set(proved) { events.append(.addressDropped(address)) }
    current = ICECheckList(current.credentials, current.locals)
    former = nil
    connectivityDeadline = nil
    nextConsent = nil
    nextDeadline = nil
    self.failure = failure
    events.append(.failed(failure))
  }

  private func updateDeadline(_ now: MonotonicInstant) {
    var next = connectivityDeadline
    func consider(_ instant: MonotonicInstant) { next = next.map { min($0, instant) } ?? instant }
    if selected != nil {
      if let consentDue { consider(consentDue) }
      consider(lastConsent.advanced(byMilliseconds: consentTimeout))
    }
    if current.remoteKey != nil {
      if nextWaiting != nil { consider(max(now, paced)) }
      for pair in current.pairs {
        switch pair.state {
        case .inProgress(let check): consider(check.due)
        case .failed(let until?) where current.selected == nil: consider(until)
        default: break
        }
      }
      if current.selected == nil, isControlling, let firstSuccess {
        let patience = firstSuccess.advanced(byMilliseconds: ICEFullAgent.nominationPatience)
        if patience > now { consider(patience) }
      }
    }
    nextDeadline = next
  }
}

extension MediaPlan.RemoteICE {
  /// The peer's addresses with their priorities, as far as they are of use: numeric, over UDP, of the only component.
  package var addresses: [(MediaAddress, UInt32)] {
    candidates.compactMap { candidate in
      guard candidate.component == 1, candidate.transport.lowercased() == "udp",
        let host = try? SIPHost(unbracketed: candidate.address), let address = MediaAddress(host, port: candidate.port)
      else { return nil }
      return (address, UInt32(clamping: candidate.priority))
    }
  }
}
