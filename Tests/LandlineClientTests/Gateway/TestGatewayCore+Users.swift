import AppProtocol
import CallModel
import NIOCore

/// Calls for the users of a test: the words of a gateway, without its judgement.
extension TestGatewayCore {
  struct Guest {
    let device: String
    var isListening: Bool
  }

  /// A call that rings.
  struct InvitedCall {
    var sessions: [SessionID]
    /// Of devices whose offers were answered.
    var media: [SessionID: GatewayMedia] = [:]
    /// Offers that come before somebody answers are passed over.
    let passesOffersOver: Bool
  }

  /// A call of carol's.
  struct Invited: Sendable {
    var headers: [String: String] = [:]
    var wantsVideo = false
    var isWaiting = false
    var passesOffersOver = false
  }

  /// Calls every session that listens.
  func invite(_ call: Invited = Invited()) throws -> CallID {
    lastCall += 1
    let id = CallID(unchecked: "call-\(lastCall)")
    try invite(
      id,
      Invitation(
        from: .init(kind: .user, value: "carol", name: "Carol's phone"), to: try UserID("alice"),
        headers: try CustomHeaders(call.headers.map { (name: $0.key, value: $0.value) }, names: .tokens),
        wantsVideo: call.wantsVideo, isWaiting: call.isWaiting, expiresAt: clock.advanced(byMilliseconds: 45_000)),
      call.passesOffersOver)
    return id
  }

  private func invite(_ id: CallID, _ invitation: Invitation, _ passesOffersOver: Bool) throws {
    let sessions = guests.filter(\.value.isListening).map(\.key)
    invited[id] = InvitedCall(sessions: sessions, passesOffersOver: passesOffersOver)
    for session in sessions { feed(.event(session, .incoming(id, invitation))) }
  }

  var ringing: Int { invited.values.reduce(0) { $0 + $1.sessions.count } }

  /// The caller gives up, or it has rung for as long as it may.
  func giveUp(_ id: CallID, _ cause: CallEndCause = .canceled) {
    for session in invited[id]?.sessions ?? [] { leave(id, session, cause, isMissed: true) }
  }

  /// The caller is gone, which no device was told yet.
  func giveUpSilently(_ id: CallID) { invited[id]?.sessions = [] }

  /// Tells every session the end of a call of which it was never told.
  func tellMissed(_ id: CallID) {
    for session in guests.keys { feed(.event(session, .ended(id, summary(.canceled, isMissed: true, by: nil)))) }
  }

  private func summary(_ cause: CallEndCause, isMissed: Bool, by device: String?) -> CallSummary {
    CallSummary(
      startedAt: clock, endedAt: clock, cause: cause, currency: "EUR", isMissed: isMissed, device: device)
  }

  private func leave(
    _ id: CallID, _ session: SessionID, _ cause: CallEndCause, isMissed: Bool = false, by device: String? = nil
  ) {
    guard let index = invited[id]?.sessions.firstIndex(of: session) else { return }
    invited[id]?.sessions.remove(at: index)
    invited[id]?.media.removeValue(forKey: session)?.close()
    feed(.event(session, .ended(id, summary(cause, isMissed: isMissed, by: device))))
  }

  // MARK: What devices say

  func alert(_ id: CallID, _ offer: String?, _ number: RequestNumber, _ session: SessionID) {
    guard let call = invited[id], call.sessions.contains(session) else {
      return feed(.event(session, .refused(number, CallFailure(.tooLate))))
    }
    guard let offer, !call.passesOffersOver else { return feed(.event(session, .done(number))) }
    answer(id, offer, number, session) {}
  }

  func accept(_ id: CallID, _ offer: String?, _ number: RequestNumber, _ session: SessionID) {
    guard let call = invited[id], call.sessions.contains(session) else {
      return feed(.event(session, .refused(number, CallFailure(.tooLate))))
    }
    if let offer { return answer(id, offer, number, session) { self.join(id, session) } }
    guard call.media[session] != nil else {
      return feed(.event(session, .refused(number, CallFailure(.message))))
    }
    feed(.event(session, .done(number)))
    join(id, session)
  }

  private func answer(
    _ id: CallID, _ offer: String, _ number: RequestNumber, _ session: SessionID, _ next: @escaping () -> Void
  ) {
    GatewayMedia.open(on: eventLoop).assumeIsolated().whenSuccess { media in
      let media = media.value
      guard let answer = try? media.answer(offer) else {
        return self.feed(.event(session, .refused(number, CallFailure(.media))))
      }
      self.invited[id]?.media[session]?.close()
      self.invited[id]?.media[session] = media
      self.feed(.event(session, .answered(number, id, answer)))
      next()
    }
  }

  private func join(_ id: CallID, _ session: SessionID) {
    guard var call = invited[id], let index = call.sessions.firstIndex(of: session) else { return }
    call.sessions.remove(at: index)
    calls[id] = ScriptedCall(
      session: session, startedAt: clock, media: call.media.removeValue(forKey: session), isAnswered: true)
    invited[id] = call
    for other in call.sessions { leave(id, other, .otherDeviceAnswered, by: guests[session]?.device) }
    feed(.event(session, .established(id)))
  }

  func decline(_ id: CallID, _ scope: DeclineScope, _ session: SessionID) {
    let name = guests[session]?.device
    let sessions = scope == .device ? [session] : invited[id]?.sessions ?? []
    for session in sessions { leave(id, session, .denied, by: name) }
  }

  // MARK: Calls that cross

  /// The called user calls at the same moment: the one of `carol` is told before her own is refused, that of others after
  /// it, and that of `nobody` never.
  func cross(_ placing: PlaceCall, _ number: RequestNumber, _ session: SessionID) {
    lastCall += 1
    let id = CallID(unchecked: "call-\(lastCall)")
    let refusal = AppEvent.refused(number, CallFailure(.crossed, leg: .app, correlationID: id.text))
    guard placing.target != "nobody", let user = try? UserID("alice") else { return feed(.event(session, refusal)) }
    let invitation = Invitation(
      from: .init(kind: .user, value: placing.target, name: ""), to: user,
      expiresAt: clock.advanced(byMilliseconds: 45_000))
    invited[id] = InvitedCall(sessions: [session], passesOffersOver: false)
    let events: [AppEvent] = [.incoming(id, invitation), refusal]
    for event in placing.target == "carol" ? events : events.reversed() { feed(.event(session, event)) }
  }
}
