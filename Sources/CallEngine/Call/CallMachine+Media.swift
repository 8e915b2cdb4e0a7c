import AppProtocol
import CallModel
import SDPCore

// MARK: What the media say

extension CallMachine {
  func noticed(_ notice: MediaNotice) {
    if let leg = notice.leg, let ring = self[ringLeg].ring, ring[leg] != nil { return ringing(leg, notices: notice) }
    guard let notice = ofLeg(notice) else { return }
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
    case .wayLost(let leg, let milliseconds):
      wayLost(leg, lastPacket: context.now.advanced(byMilliseconds: -milliseconds))
    case .wayBack(let leg): wayBack(leg)
    case .moved(let leg): moved(leg)
    case .thinLink(let leg, let isThin): linkChanged(leg, isThin)
    case .quality(let leg, let direction, let sentLoss, let roundTrip, let level):
      measured(leg, direction, sentLoss, roundTrip)
      if leg == roomMember { heardInRoom(direction, roundTrip, level) }
    case .playEnded(let leg, _): playEnded(leg)
    case .speaking(_, let isSpeaking): spoke(isSpeaking)
    case .leadsTalk: leadsTalk()
    case .recordingEnded(let recording, let state): recordingEnded(recording, state)
    case .closed: break
    }
  }

  /// A notice by the leg that its media belong to; `nil` for those of a device that has left the call.
  private func ofLeg(_ notice: MediaNotice) -> MediaNotice? {
    guard let media = notice.leg else { return notice }
    // Where nobody has answered yet, the device does not ring any more: its last word crossed our order to detach it.
    guard let leg = legs.first(where: { $0.media == media && $0.ring == nil }) else { return nil }
    return notice.about(leg.id)
  }

  /// Media of a device that rings: what is known of them counts when somebody accepts there.
  private func ringing(_ leg: LegID, notices notice: MediaNotice) {
    switch notice {
    case .secured: self[ringLeg].ring?[leg]?.sound.isReady = true
    case .firstMedia, .soundAgain:
      self[ringLeg].ring?[leg]?.sound.isReady = true
      self[ringLeg].ring?[leg]?.sound.hasCome = true
      self[ringLeg].ring?[leg]?.sound.lastSound = nil
    case .failed: self[ringLeg].ring?[leg]?.sound.isReady = false
    case .silence:
      self[ringLeg].ring?[leg]?.sound.lastSound = context.now.advanced(
        byMilliseconds: -context.limits.silenceMilliseconds)
    case .wayLost(_, let milliseconds):
      self[ringLeg].ring?[leg]?.sound.lostWay = Leg.LostWay(
        lastPacket: context.now.advanced(byMilliseconds: -milliseconds), noticedAt: context.now)
    case .wayBack: self[ringLeg].ring?[leg]?.sound.lostWay = nil
    case .digit, .moved, .thinLink, .quality, .playEnded, .speaking, .leadsTalk, .recordingEnded, .closed: break
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
      announceSound(leg)
    case .ending, .over: break
    }
  }

  private func failed(_ leg: LegID, _ reason: String) {
    switch state {
    case .reaching, .up:
      note("media of the \(leg) side failed: \(reason)")
      guard self[leg].sound.isReady else { return end(.error, neverReady(leg, reason)) }
      // The leg may come back, by another path or an ICE restart.
      silent(leg, since: context.now)
    case .preparing, .ending, .over: break
    }
  }

  /// Media that was never set up. Between app and gateway that is the app's own way, and nothing that the other side
  /// has a part in.
  /// - Parameter reason: the packet side's word for it; `nil`: nothing came until the time was over.
  func neverReady(_ leg: LegID, _ reason: String?) -> CallFailure {
    guard self[leg].app != nil else { return CallFailure(.mediaLost, phrase: reason, leg: .trunk) }
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
      guard case .up = state, mustSend(leg) else { return }
      addToStory(.noSound(leg))
      warn(.noSound, true, leg)
    case .preparing, .ending, .over: break
    }
  }

  private func soundAgain(_ leg: LegID) {
    switch state {
    case .reaching, .up:
      guard self[leg].sound.lastSound != nil else { return }
      self[leg].sound.lastSound = nil
      warn(.noSound, false, leg)
    case .preparing, .ending, .over: break
    }
  }

  private func wayLost(_ leg: LegID, lastPacket: MonotonicInstant) {
    switch state {
    case .reaching, .up:
      guard self[leg].app != nil, self[leg].sound.lostWay == nil else { return }
      self[leg].sound.lostWay = Leg.LostWay(lastPacket: lastPacket, noticedAt: context.now)
      addToStory(.wayLost(leg))
    case .preparing, .ending, .over: break
    }
  }

  private func wayBack(_ leg: LegID) {
    switch state {
    case .reaching, .up:
      guard self[leg].sound.lostWay != nil else { return }
      self[leg].sound.lostWay = nil
      // If sound stays away from here on, that is told anew.
      self[leg].sound.lastSound = nil
      addToStory(.wayBack(leg))
    case .preparing, .ending, .over: break
    }
  }

  private func moved(_ leg: LegID) {
    switch state {
    case .reaching, .up: addToStory(.moved(leg))
    case .preparing, .ending, .over: break
    }
  }

  /// Of what comes from a leg; an app is warned of its own.
  func warn(_ warning: QualityWarning, _ isBroken: Bool, _ leg: LegID) {
    guard self[leg].app != nil, let change = self[leg].monitor.set(warning, isBroken) else { return }
    tell(.warning(id, warning, isRaised: change), leg)
  }

  private func pressed(_ leg: LegID, _ digit: Character, _ milliseconds: Int) {
    switch state {
    case .reaching, .up:
      // Before an app accepts, it says nothing to the other side.
      guard self[leg].app?.isJoined ?? true else { return }
      note("key from the \(leg) side")
      if let other = partner(of: leg), self[other].prompt != nil {
        pressedAtPrompt(digit)
      } else if leg == roomMember {
        pressedInRoom(digit)
      } else {
        passKey(digit, milliseconds: milliseconds, from: leg)
      }
    case .preparing, .ending, .over: break
    }
  }

  /// Tells an app that has joined of a key of the other side.
  func passKey(_ key: Character, milliseconds: Int, from leg: LegID) {
    guard let other = partner(of: leg) else { return }
    if self[other].app?.isJoined ?? false { tell(.digit(id, key, milliseconds: milliseconds), other) }
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
  private func noticeNothing(from leg: LegID, _ app: CallQuality.Direction) {
    guard case .up(let up) = state, up.isEstablished, mustSend(leg) else { return }
    let isWhole = summary.establishedAt.map { context.clock.milliseconds - $0.milliseconds >= 1000 } ?? false
    if app.isHeard || isWhole { warn(.noSound, !app.isHeard, leg) }
  }

  private func linkChanged(_ leg: LegID, _ isThin: Bool) {
    switch state {
    case .reaching, .up:
      note(isThin ? "\(leg) side's link is thin: less is sent" : "\(leg) side's link is wide again")
      warn(.thinLink, isThin, leg)
    case .preparing, .ending, .over: break
    }
  }

  private func measured(
    _ leg: LegID, _ direction: CallQuality.Direction, _ sentLoss: Double?, _ roundTrip: Double?
  ) {
    switch state {
    case .reaching, .up:
      if direction.packets > 0 { self[leg].sound.hasCome = true }
      self[leg].quality = direction
      // The calling side's is the call's, also where no app calls.
      guard leg == observed || self[leg].app?.isJoined ?? false else { return }
      noticeNothing(from: leg, direction)
      // The gateway's own voice comes to it over no network: nothing is measured.
      let own = CallQuality.Direction.nothing(packets: 0)
      // Both sides are told each second; before the other one's first, nothing is known of it.
      let other = partner(of: leg).map { self[$0] }
      guard let received = other?.needs == nil ? own : other?.quality else { return }
      let quality = CallQuality(sent: direction, received: received, roundTrip: roundTrip)
      if leg == observed { snapshot.quality = quality }
      tell(.quality(id, quality), leg)
      for (warning, isRaised) in self[leg].monitor.evaluate(quality, sentLoss: sentLoss) {
        tell(.warning(id, warning, isRaised: isRaised), leg)
      }
      if leg == observed { changed() }
    case .preparing, .ending, .over: break
    }
  }
}
