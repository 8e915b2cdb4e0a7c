import AppProtocol
import CallModel
import SDPCore

// MARK: What the media say

extension CallMachine {
  func noticed(_ notice: MediaNotice) {
    if let leg = notice.leg, !has(leg) { return note("media of a leg that the call has not: \(leg)") }
    switch notice {
    case .secured(let leg): ready(leg)
    case .firstMedia(let leg):
      self[leg].sound.hasCome = true
      ready(leg)
    case .failed(let leg, let reason): failed(leg, reason)
    case .digit(let leg, let digit, let milliseconds): pressed(leg, digit, milliseconds)
    case .silence(let leg):
      silent(leg, since: context.now.advanced(byMilliseconds: -context.limits.silenceMilliseconds))
    case .soundAgain(let leg):
      self[leg].sound.hasCome = true
      soundAgain(leg)
    case .quality(let leg, let direction, let roundTrip): measured(leg, direction, roundTrip)
    case .playEnded(let leg, _): playEnded(leg)
    case .closed: break
    }
  }

  private func ready(_ leg: LegID) {
    switch state {
    case .preparing: break
    case .reaching, .up:
      if !self[leg].sound.isReady { note("\(leg) side has its keys") }
      self[leg].sound.isReady = true
      soundAgain(leg)
      establishWhenReady()
    case .ending, .over: break
    }
  }

  private func failed(_ leg: LegID, _ reason: String) {
    switch state {
    case .reaching, .up:
      note("media of the \(leg) side failed: \(reason)")
      guard self[leg].sound.isReady else { return end(.error, CallMachine.neverReady(leg, reason)) }
      // The leg may come back, by another path or an ICE restart.
      silent(leg, since: context.now)
    case .preparing, .ending, .over: break
    }
  }

  /// Media that was never set up. Between app and gateway that is the app's own way, and nothing that the other side
  /// has a part in.
  /// - Parameter reason: the packet side's word for it; `nil`: nothing came until the time was over.
  static func neverReady(_ leg: LegID, _ reason: String?) -> CallFailure {
    guard leg == .near else { return CallFailure(.mediaLost, phrase: reason, leg: .trunk) }
    let phrase =
      switch reason {
      case nil, "noConnectivity": "no ICE check of the app reached the gateway's media port"
      case "handshake", "handshakeTimeout": "the DTLS handshake with the app did not end"
      case "fingerprint": "the app's certificate has not the fingerprint that its offer names"
      case .some(let other): other
      }
    return CallFailure(.networkMedia, phrase: phrase, leg: .app)
  }

  /// - Parameter since: When the last packet came.
  private func silent(_ leg: LegID, since: MonotonicInstant) {
    switch state {
    case .reaching, .up:
      guard self[leg].sound.lastSound == nil else { return }
      self[leg].sound.lastSound = since
      guard case .up = state, self[leg].mustSend else { return }
      addToStory(.noSound(leg))
      if leg == .near { warn(.noSound, true) }
    case .preparing, .ending, .over: break
    }
  }

  private func soundAgain(_ leg: LegID) {
    switch state {
    case .reaching, .up:
      guard self[leg].sound.lastSound != nil else { return }
      self[leg].sound.lastSound = nil
      if leg == .near { warn(.noSound, false) }
    case .preparing, .ending, .over: break
    }
  }

  func warn(_ warning: QualityWarning, _ isBroken: Bool) {
    guard let change = monitor.set(warning, isBroken) else { return }
    tell(.warning(id, warning, isRaised: change))
  }

  private func pressed(_ leg: LegID, _ digit: Character, _ milliseconds: Int) {
    switch state {
    case .reaching, .up:
      note("key from the \(leg) side")
      if leg == .near {
        pressedAtPrompt(digit)
      } else {
        tell(.digit(id, digit, milliseconds: milliseconds))
      }
    case .preparing, .ending, .over: break
    }
  }

  /// A key that a test number may wait for.
  func pressedAtPrompt(_ digit: Character) {
    guard case .up(let up) = state, up.isEstablished, self[.far].prompt?.endsCall(digit) ?? false else { return }
    order(.stopPlaying(.near))
    end(.hungUp)
  }

  private func playEnded(_ leg: LegID) {
    switch state {
    case .up(let up):
      guard leg == .near, up.isEstablished, self[.far].prompt != nil else { return }
      guard let words = self[.far].prompt?.next(at: context.now) else { return end(.hungUp) }
      order(.say(.near, words))
    // The ringing tone was stopped, or the announcement crossed the end.
    case .preparing, .reaching, .ending, .over: break
    }
  }

  /// Nothing in a whole second of a call that stands is told at once, not only when it lasts.
  private func noticeNothing(from app: CallQuality.Direction) {
    guard case .up(let up) = state, up.isEstablished, self[.near].mustSend else { return }
    let isWhole = summary.establishedAt.map { context.clock.milliseconds - $0.milliseconds >= 1000 } ?? false
    if app.isHeard || isWhole { warn(.noSound, !app.isHeard) }
  }

  private func measured(_ leg: LegID, _ direction: CallQuality.Direction, _ roundTrip: Double?) {
    switch state {
    case .reaching, .up:
      if direction.packets > 0 { self[leg].sound.hasCome = true }
      self[leg].quality = direction
      guard leg == .near else { return }
      noticeNothing(from: direction)
      // The gateway's own voice comes to it over no network: nothing is measured.
      let own = CallQuality.Direction.nothing(packets: 0)
      // Both sides are told each second; before the other one's first, nothing is known of it.
      guard let received = self[.far].needs == nil ? own : self[.far].quality else { return }
      let quality = CallQuality(sent: direction, received: received, roundTrip: roundTrip)
      snapshot.quality = quality
      tell(.quality(id, quality))
      for (warning, isRaised) in monitor.evaluate(quality) { tell(.warning(id, warning, isRaised: isRaised)) }
      changed()
    case .preparing, .ending, .over: break
    }
  }
}
