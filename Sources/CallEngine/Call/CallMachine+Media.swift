import AppProtocol
import CallModel
import SDPCore

// MARK: What the media say

extension CallMachine {
  func noticed(_ notice: MediaNotice) {
    switch notice {
    case .secured(let side): ready(side)
    case .firstMedia(let side):
      changeSound(side) { $0.hasCome = true }
      ready(side)
    case .failed(let side, let reason): failed(side, reason)
    case .digit(let side, let digit, let milliseconds): pressed(side, digit, milliseconds)
    case .silence(let side):
      silent(side, since: context.now.advanced(byMilliseconds: -context.limits.silenceMilliseconds))
    case .soundAgain(let side):
      changeSound(side) { $0.hasCome = true }
      soundAgain(side)
    case .quality(let side, let direction, let roundTrip): measured(side, direction, roundTrip)
    case .playEnded(let side, _): playEnded(side)
    case .closed: break
    }
  }

  private func ready(_ side: CallSide) {
    switch state {
    case .preparing: break
    case .reaching, .up:
      if !sound(side).isReady { note("\(side.rawValue) side has its keys") }
      changeSound(side) { $0.isReady = true }
      soundAgain(side)
      establishWhenReady()
    case .ending, .over: break
    }
  }

  private func failed(_ side: CallSide, _ reason: String) {
    switch state {
    case .reaching, .up:
      note("media of the \(side.rawValue) side failed: \(reason)")
      guard sound(side).isReady else { return end(.error, CallMachine.neverReady(side, reason)) }
      // The side may come back, by another path or an ICE restart.
      silent(side, since: context.now)
    case .preparing, .ending, .over: break
    }
  }

  /// Media that was never set up. Between app and gateway that is the app's own way, and nothing that the other side
  /// has a part in.
  /// - Parameter reason: the packet side's word for it; `nil`: nothing came until the time was over.
  static func neverReady(_ side: CallSide, _ reason: String?) -> CallFailure {
    guard side == .near else { return CallFailure(.mediaLost, phrase: reason, leg: .trunk) }
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
  private func silent(_ side: CallSide, since: MonotonicInstant) {
    switch state {
    case .reaching, .up:
      guard sound(side).lastSound == nil else { return }
      changeSound(side) { $0.lastSound = since }
      guard case .up = state, mustSend(side) else { return }
      addToStory(.noSound(side))
      if side == .near { warn(.noSound, true) }
    case .preparing, .ending, .over: break
    }
  }

  private func soundAgain(_ side: CallSide) {
    switch state {
    case .reaching, .up:
      guard sound(side).lastSound != nil else { return }
      changeSound(side) { $0.lastSound = nil }
      if side == .near { warn(.noSound, false) }
    case .preparing, .ending, .over: break
    }
  }

  func warn(_ warning: QualityWarning, _ isBroken: Bool) {
    guard let change = monitor.set(warning, isBroken) else { return }
    tell(.warning(id, warning, isRaised: change))
  }

  private func pressed(_ side: CallSide, _ digit: Character, _ milliseconds: Int) {
    switch state {
    case .reaching, .up:
      note("key from the \(side.rawValue) side")
      switch side {
      case .near: pressedLocally(digit)
      case .far: tell(.digit(id, digit, milliseconds: milliseconds))
      }
    case .preparing, .ending, .over: break
    }
  }

  /// A key that a test number may wait for.
  func pressedLocally(_ digit: Character) {
    guard case .up(let up) = state, up.isEstablished, local?.endsCall(digit) ?? false else { return }
    order(.stopPlaying(.near))
    end(.hungUp)
  }

  private func playEnded(_ side: CallSide) {
    switch state {
    case .up(let up):
      guard side == .near, up.isEstablished, local != nil else { return }
      guard let words = local?.next(at: context.now) else { return end(.hungUp) }
      order(.say(.near, words))
    // The ringing tone was stopped, or the announcement crossed the end.
    case .preparing, .reaching, .ending, .over: break
    }
  }

  /// Nothing in a whole second of a call that stands is told at once, not only when it lasts.
  private func noticeNothing(from app: CallQuality.Direction) {
    guard case .up(let up) = state, up.isEstablished, mustSend(.near) else { return }
    let isWhole = summary.establishedAt.map { context.clock.milliseconds - $0.milliseconds >= 1000 } ?? false
    if app.isHeard || isWhole { warn(.noSound, !app.isHeard) }
  }

  private func measured(_ side: CallSide, _ direction: CallQuality.Direction, _ roundTrip: Double?) {
    switch state {
    case .reaching, .up:
      if direction.packets > 0 { changeSound(side) { $0.hasCome = true } }
      guard side == .near else {
        farQuality = direction
        return
      }
      nearQuality = direction
      noticeNothing(from: direction)
      // The gateway's own voice comes to it over no network: nothing is measured.
      let own = CallQuality.Direction.nothing(packets: 0)
      // Both sides are told each second; before the other one's first, nothing is known of it.
      guard let received = local == nil ? farQuality : own else { return }
      let quality = CallQuality(sent: direction, received: received, roundTrip: roundTrip)
      snapshot.quality = quality
      tell(.quality(id, quality))
      for (warning, isRaised) in monitor.take(quality) { tell(.warning(id, warning, isRaised: isRaised)) }
      changed()
    case .preparing, .ending, .over: break
    }
  }
}
