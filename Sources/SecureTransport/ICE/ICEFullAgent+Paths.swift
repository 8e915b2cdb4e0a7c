package import CallModel

// MARK: Media that comes by another pair than the selected one

extension ICEFullAgent {
  /// Media of the peer came, authentic and no replay.
  package func heard(_ way: ICEWay, isSound: Bool, at now: MonotonicInstant, events: inout [TransportEvent]) {
    guard way == selected else { return heardElsewhere(way, at: now, &events) }
    silence.end(at: now)
    guard isSound, !asksWhenSilent else { return }
    asksWhenSilent = true
    wake(at: now.advanced(byMilliseconds: PairSilence.patience))
  }

  /// A pair that passed no check says nothing here, whatever it sends.
  private func heardElsewhere(_ way: ICEWay, at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    guard current.selected != nil, let index = current.pairs.firstIndex(where: { $0.way == way && $0.isValid }),
      silence.gives(wayTo: &current.pairs[index].speaksAlone, at: now)
    else { return }
    if hasConsent(index, at: now) {
      move(to: index, at: now, &events)
    } else {
      ask(index)
      wake(at: now)
    }
  }

  /// The selected pair has lost its consent: the one that answered last goes on in its place. `false`: there is none.
  func leave(_ lost: Int, at now: MonotonicInstant, _ events: inout [TransportEvent]) -> Bool {
    let others = current.pairs.indices.filter { $0 != lost && current.pairs[$0].isValid && hasConsent($0, at: now) }
    guard let next = others.max(by: { current.pairs[$0].isOlder(than: current.pairs[$1]) }) else { return false }
    current.pairs[lost].isValid = false
    current.pairs[lost].state = .failed(until: nil)
    let address = current.pairs[lost].way.address
    if !current.isProved(address) { events.append(.addressDropped(address)) }
    move(to: next, at: now, &events)
    return true
  }

  /// Its own check follows at once; as controlling agent we nominate the pair by it.
  private func move(to index: Int, at now: MonotonicInstant, _ events: inout [TransportEvent]) {
    current.selected = index
    current.pairs[index].isNominatedByPeer = false
    consentChecks.removeAll()
    lastConsent = current.pairs[index].lastAnswer ?? now
    nextConsent = now
    silence.end(at: now)
    wake(at: now)
    events.append(.moved(current.pairs[index].way.address))
  }

  private func hasConsent(_ index: Int, at now: MonotonicInstant) -> Bool {
    current.pairs[index].lastAnswer.map { $0.advanced(byMilliseconds: consentTimeout) > now } ?? false
  }

  /// Its last answer is as old as one of the selected pair may get.
  func wantsAnswer(_ index: Int, at now: MonotonicInstant) -> Bool {
    current.pairs[index].lastAnswer.map { now.milliseconds(since: $0) >= ICEFullAgent.consentInterval } ?? true
  }

  /// Another check of a pair of the present generation that passed one.
  func ask(_ index: Int) {
    if case .inProgress = current.pairs[index].state { return }
    current.pairs[index].state = .waiting
    current.pairs[index].isTriggered = true
  }

  private func wake(at instant: MonotonicInstant) { nextDeadline = nextDeadline.map { min($0, instant) } ?? instant }
}

extension ICEPair {
  fileprivate func isOlder(than other: ICEPair) -> Bool {
    guard let lastAnswer, let theirs = other.lastAnswer else { return lastAnswer == nil }
    return lastAnswer < theirs
  }
}
