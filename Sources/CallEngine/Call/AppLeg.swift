package import AppProtocol
import CallModel
package import SDPCore

/// The port of a leg that is an app: its session, and how far app and gateway have come with each other. An app that calls
/// brings an offer with its request, one that is called while it rings or when it accepts: either way the app offers and the
/// gateway answers.
///
/// ```
/// it calls      asking ─────────────────answered─────────────────▶ joined ──┐
///                                                                    ▲      │
///                  ┌────────────────accept, with an offer────────────┤      │
/// it is called  invited ──alert──▶ alerting ──accept, with an offer──┤      │ leave,
///                  │                  │                              │      │ from each
///                  │                an offer                       accept   │
///                  │                  ▼                              │      │
///                  └─alert, offer─▶ alertingEarly ───────────────────┘      ▼
///                                                                         gone
/// ```
package struct AppLeg {
  package indirect enum State {
    /// It asks for a call, which has no media yet.
    case asking(Asking)
    /// It was told of a call, and has not said anything to it.
    case invited(Way)
    /// It rings.
    case alerting(Way)
    /// It rings, and its offer is answered: ICE and DTLS finish before somebody accepts.
    case alertingEarly(Agreement)
    /// Somebody is there.
    case joined(Agreement)
    /// The call is over for it.
    case gone
  }

  /// What an app that calls has brought.
  package struct Asking {
    /// The request that asked for the call, until it has its reply.
    package let request: RequestNumber
    package let offer: SessionDescription
    package let negotiation: OfferAnswer

    package init(request: RequestNumber, offer: SessionDescription, negotiation: OfferAnswer) {
      self.request = request
      self.offer = offer
      self.negotiation = negotiation
    }
  }

  /// What the first offer will be answered with.
  package struct Way {
    package let negotiation: OfferAnswer
    package let media: LocalMedia

    package init(negotiation: OfferAnswer, media: LocalMedia) {
      self.negotiation = negotiation
      self.media = media
    }

    func answer(_ offer: SessionDescription) throws(NegotiationRefusal) -> (agreement: Agreement, answer: Answer) {
      var negotiation = negotiation
      let (description, plan) = try negotiation.answer(offer, from: media)
      return (
        Agreement(negotiation: negotiation, media: media, plan: plan),
        Answer(text: description.text, plan: plan, restart: nil)
      )
    }
  }

  /// What app and gateway agreed on.
  package struct Agreement {
    package private(set) var negotiation: OfferAnswer
    package private(set) var media: LocalMedia
    package private(set) var plan: MediaPlan

    /// Answers a later offer; an ICE restart gets new credentials of ours. A refusal changes nothing.
    mutating func answer(
      _ offer: SessionDescription, draw: () -> UInt64
    ) throws(NegotiationRefusal) -> Answer {
      var media = media
      var restart: ICECredentials?
      if negotiation.restartsICE(offer) {
        let fresh = ICECredentials(draw: draw)
        media.iceCredentials = fresh
        restart = fresh
      }
      let (description, plan) = try negotiation.answer(offer, from: media)
      self.media = media
      self.plan = plan
      return Answer(text: description.text, plan: plan, restart: restart)
    }
  }

  /// What becomes of an offer.
  package struct Answer {
    package let text: String
    package let plan: MediaPlan
    /// Our new credentials, where the offer restarts ICE.
    package let restart: ICECredentials?
  }

  /// What a word of the app leads to.
  package enum Step {
    /// It is further than before; with an answer where it brought an offer.
    case moved(Answer?)
    /// It is where it was: the same word again, or another offer.
    case stayed(Answer?)
    /// An offer is missing; nothing has changed.
    case lacksOffer
    /// It has no part in the call, or none that it could say this in.
    case tooLate
  }

  package let session: SessionID
  package let identity: AppIdentity
  /// What the device calls itself; empty for none.
  package let name: String
  /// What it is told of a conference.
  package var watch: RoomWatch
  package private(set) var state: State
  package var isAbsent = false
  package var isMuted = false

  /// An app that calls.
  package init(
    session: SessionID, identity: AppIdentity, name: String = "", watch: RoomWatch = .none, _ asking: Asking
  ) {
    self.session = session
    self.identity = identity
    self.name = name
    self.watch = watch
    state = .asking(asking)
  }

  /// An app that is told of a call.
  package init(session: SessionID, identity: AppIdentity, name: String = "", watch: RoomWatch = .none, _ way: Way) {
    self.session = session
    self.identity = identity
    self.name = name
    self.watch = watch
    state = .invited(way)
  }

  // MARK: Looking

  /// The request for a call that has no reply yet.
  package var openRequest: RequestNumber? {
    switch state {
    case .asking(let asking): asking.request
    case .invited, .alerting, .alertingEarly, .joined, .gone: nil
    }
  }

  /// What was agreed on; `nil` before it and after the end.
  package var plan: MediaPlan? {
    switch state {
    case .alertingEarly(let agreement), .joined(let agreement): agreement.plan
    case .asking, .invited, .alerting, .gone: nil
    }
  }

  /// Whether somebody is there.
  package var isJoined: Bool {
    switch state {
    case .joined: true
    case .asking, .invited, .alerting, .alertingEarly, .gone: false
    }
  }

  // MARK: What the call does

  /// Answers the offer that came with the request.
  /// - Returns: `nil` where none is open.
  package mutating func join(from media: LocalMedia) throws(NegotiationRefusal) -> Answer? {
    switch state {
    case .asking(let asking):
      let way = Way(negotiation: asking.negotiation, media: media)
      let (agreement, answer) = try way.answer(asking.offer)
      state = .joined(agreement)
      return answer
    case .invited, .alerting, .alertingEarly, .joined, .gone: return nil
    }
  }

  /// The call is over for it, whoever ended it.
  package mutating func leave() { state = .gone }

  // MARK: What the app says

  /// It rings; a first offer may come with it or after it.
  package mutating func alert(_ offer: SessionDescription?, draw: () -> UInt64) throws(NegotiationRefusal) -> Step {
    switch state {
    case .invited(let way), .alerting(let way):
      guard let offer else {
        if case .alerting = state { return .stayed(nil) }
        state = .alerting(way)
        return .moved(nil)
      }
      let (agreement, answer) = try way.answer(offer)
      state = .alertingEarly(agreement)
      return .moved(answer)
    case .alertingEarly: return try self.offer(offer, draw: draw)
    // It crossed what was said since, by the app itself or by others.
    case .asking, .joined, .gone: return .tooLate
    }
  }

  /// Somebody takes the call. An offer replaces one that came before.
  package mutating func accept(_ offer: SessionDescription?, draw: () -> UInt64) throws(NegotiationRefusal) -> Step {
    switch state {
    case .invited(let way), .alerting(let way):
      guard let offer else { return .lacksOffer }
      let (agreement, answer) = try way.answer(offer)
      state = .joined(agreement)
      return .moved(answer)
    case .alertingEarly(var agreement):
      var answer: Answer?
      if let offer { answer = try agreement.answer(offer, draw: draw) }
      state = .joined(agreement)
      return .moved(answer)
    // Said twice, because the first reply was lost: the same offer has the same answer.
    case .joined: return try self.offer(offer, draw: draw)
    case .asking, .gone: return .tooLate
    }
  }

  /// Another offer of an app that has had an answer: hold, another codec, an ICE restart.
  package mutating func offer(_ offer: SessionDescription?, draw: () -> UInt64) throws(NegotiationRefusal) -> Step {
    switch state {
    case .alertingEarly(var agreement):
      guard let offer else { return .stayed(nil) }
      let answer = try agreement.answer(offer, draw: draw)
      state = .alertingEarly(agreement)
      return .stayed(answer)
    case .joined(var agreement):
      guard let offer else { return .stayed(nil) }
      let answer = try agreement.answer(offer, draw: draw)
      state = .joined(agreement)
      return .stayed(answer)
    // The first offer goes with the request, with `alert` or with `accept`.
    case .asking, .invited, .alerting: return .lacksOffer
    case .gone: return .tooLate
    }
  }
}
