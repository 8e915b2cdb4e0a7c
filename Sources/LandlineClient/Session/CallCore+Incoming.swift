import AppProtocol
import CallModel
import NIOCore
import SecureTransport

// A call that comes in: from the first word to the app until the gateway has given it to this device.
//
// ```
// told ─▶ alert with an offer ─▶ rings, ICE and DTLS finish ─▶ accept ─▶ answered
//              └─ passed over by the gateway, or not open yet ─▶ accept with an offer
// ```

extension CallCore {
  /// How far a call is that comes in.
  struct Incoming {
    enum Sockets {
      case closed, opening, open
      /// None could be opened: the next attempt is at the answer.
      case failed
    }

    var sockets = Sockets.closed
    /// ``AppRequest/alert(_:offer:)`` waits for its reply.
    var isAlerting = false
    /// ``AppRequest/accept(_:offer:headers:)`` waits for its reply; with or without an offer.
    var accepting: (number: RequestNumber, hasOffer: Bool)?
    /// The headers that go with the answer, once somebody has taken the call.
    var answer: [PlaceCall.Header]?
    /// The gateway gave the call to this device.
    var isAccepted = false
  }

  /// Nobody has taken the call, as far as the gateway was told.
  var isRinging: Bool { call.direction == .incoming && !incoming.isAccepted && incoming.accepting == nil }

  /// The app was told: the device rings.
  func ring(from host: MediaAddress?) {
    guard !isOver, !wantsHangUp, incoming.sockets == .closed else { return }
    call.note({ $0.rungAt = $0.rungAt ?? Clock.wall }, state: .ringing)
    open(from: host) { $0.alert() }
  }

  private func open(from host: MediaAddress?, _ next: @escaping (CallCore) -> Void) {
    guard let host else {
      incoming.sockets = .failed
      return next(self)
    }
    incoming.sockets = .opening
    media.open(from: host).assumeIsolated().whenComplete { result in
      guard !self.isOver else { return }
      if case .success = result { self.incoming.sockets = .open } else { self.incoming.sockets = .failed }
      next(self)
    }
  }

  /// Brings an offer early, so that the sound is there as soon as somebody answers.
  private func alert() {
    guard let id, !wantsHangUp else { return }
    // Who answers before the device rings needs no alert.
    if incoming.answer != nil, client.isInFront { return acceptWhenReady() }
    let offer = incoming.sockets == .open ? try? media.offer() : nil
    incoming.isAlerting = client.send(.alert(id, offer: offer), for: self, .alert) != nil
    if !incoming.isAlerting { media.withdrawOffer() }
  }

  func alerted(_ reply: AppEvent) {
    incoming.isAlerting = false
    if case .answered(_, _, let answer) = reply, media.isOfferPending {
      use(answer)
    } else if incoming.accepting?.hasOffer != true {
      // The gateway passed the offer over: the answer brings another.
      media.withdrawOffer()
    }
    acceptWhenReady()
  }

  /// - Returns: whether the gateway's answer can be used.
  @discardableResult private func use(_ answer: String) -> Bool {
    do {
      try media.accept(answer)
    } catch {
      media.withdrawOffer()
      tell(.refused(CallFailure(.media, phrase: "the gateway's answer cannot be used: \(error)")))
      return false
    }
    isPlaced = true
    watchMediaPath(answer)
    return true
  }

  // MARK: Somebody answers

  func answer(headers: [PlaceCall.Header]) {
    guard !isOver, !wantsHangUp, !incoming.isAccepted, incoming.answer == nil else { return }
    incoming.answer = headers
    acceptWhenReady()
  }

  /// Takes the call that somebody has answered, unless something has to come first: the app in front, the sockets.
  func acceptWhenReady() {
    guard !isOver, !wantsHangUp, isRinging, incoming.answer != nil, client.isInFront else { return }
    switch incoming.sockets {
    case .closed, .opening: return
    case .open: accept()
    case .failed: open(from: client.localHost) { $0.accept() }
    }
  }

  private func accept() {
    guard let id, let headers = incoming.answer, isRinging else { return }
    // One that is on its way with the alert will do, where the gateway takes it.
    let hasOffer = !isPlaced && !media.isOfferPending
    var offer: String?
    do {
      if hasOffer { offer = try media.offer() }
    } catch {
      _ = client.send(.decline(id, .device, .declined), for: self, .decline)
      return finish(.error, CallFailure(.internal, phrase: "no offer of media could be made: \(error)"))
    }
    guard let number = client.send(.accept(id, offer: offer, headers: headers), for: self, .accept) else {
      return finish(.error, CallFailure(.networkLost))
    }
    incoming.accepting = (number, hasOffer)
  }

  func accepted(_ reply: AppEvent) {
    guard let accepting = incoming.accepting else { return }
    incoming.accepting = nil
    switch reply {
    case .answered(_, let id, let answer):
      guard use(answer) else {
        _ = client.send(.hangUp(id), for: self, .hangUp)
        return finish(.error, CallFailure(.media, phrase: "the gateway's answer cannot be used"))
      }
      begins()
    case .done: begins()
    case .refused(_, let failure): refusedAnswer(failure, hadOffer: accepting.hasOffer)
    default: break
    }
  }

  /// The call is this device's.
  private func begins() {
    incoming.isAccepted = true
    call.note({ $0.answeredAt = $0.answeredAt ?? Clock.wall }, state: .answered)
    media.startSource()
    tell(.answered)
    if !wantsHangUp { negotiate() }
  }

  private func refusedAnswer(_ failure: CallFailure, hadOffer: Bool) {
    if wantsHangUp { return }
    switch failure.code {
    case .message where !hadOffer:
      // The alert's offer was passed over after all.
      media.withdrawOffer()
      isPlaced = false
      accept()
    case .tooLate:
      // The end that says why is on its way.
      wantsHangUp = true
      tell(.refused(failure))
      awaitEnd(failure)
    case .networkTimeout, .media: finish(.error, failure)
    default:
      // It rings on: the app may answer again, or decline.
      incoming.answer = nil
      tell(.refused(failure))
    }
  }

  // MARK: Nobody answers

  func decline(_ scope: DeclineScope, _ reason: DeclineReason) {
    guard isRinging else { return hangUp() }
    guard !isOver, !wantsHangUp else { return }
    wantsHangUp = true
    guard let id, client.send(.decline(id, scope, reason), for: self, .decline) != nil else {
      return finish(.denied, nil)
    }
    awaitEnd()
  }
}
