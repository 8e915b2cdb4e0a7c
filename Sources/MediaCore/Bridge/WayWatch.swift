import CallModel
import SecureTransport

/// Whether the way between an app and us is open. Sound need not come over it: a muted app's checks and reports prove it.
struct WayWatch {
  private enum State {
    /// Media was never possible: what fails before that is told as the leg's failure alone.
    case unopened
    case open
    case lost
  }

  private var state = State.unopened
  /// When the last packet of any kind that authenticates came: a check, a report, or sound.
  private var lastPacket = MonotonicInstant.zero

  /// A packet that authenticates came.
  /// - Returns: Whether the way is back with it; `isReady`: media can go both ways.
  mutating func heard(at now: MonotonicInstant, isReady: @autoclosure () -> Bool) -> Bool {
    lastPacket = now
    guard state != .open, isReady() else { return false }
    let isBack = state == .lost
    state = .open
    return isBack
  }

  /// The packet side has given up.
  /// - Returns: Milliseconds since the last packet; `nil` where there was no way that could be lost.
  mutating func failed(at now: MonotonicInstant) -> Int64? {
    guard state == .open else { return nil }
    state = .lost
    return max(0, now.milliseconds(since: lastPacket))
  }
}

extension MediaLeg {
  /// A packet that authenticates came from an app, or by DTLS the keys for it.
  func proved(at now: MonotonicInstant, events: inout [MediaEvent]) {
    guard case .app = transport, way.heard(at: now, isReady: transport.isReady) else { return }
    waitForSound(from: now)
    events.append(.wayBack(id))
  }

  /// What became of the way, by what its packet side tells.
  func followWay(_ event: TransportEvent, at now: MonotonicInstant, events: inout [MediaEvent]) {
    switch event {
    case .secured: proved(at: now, events: &events)
    case .failed, .closedByPeer:
      if let milliseconds = way.failed(at: now) { events.append(.wayLost(id, milliseconds: milliseconds)) }
    case .addressProved, .addressDropped, .moved: break
    }
  }
}
