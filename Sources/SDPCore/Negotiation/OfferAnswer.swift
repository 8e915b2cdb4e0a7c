public import CallModel

/// One end of the offer/answer exchange of one leg (RFC 3264, RFC 8829): a value that remembers the session.
///
/// ```
///            offer(from:)                         accept(_:) → plan
///   stable ───────────────▶ our offer pending ─────────────────────▶ stable
///     ▲  │ answer(_:from:) → answer, plan             │ withdrawOffer()
///     └──┴────────────────────────────────────────────┘
/// ```
/// The leg has one audio stream; every other stream of a peer is refused. A refusal changes nothing.
public struct OfferAnswer: Hashable, Sendable {
  /// May change between exchanges; an answer is judged by the policy that its offer was made with.
  public var policy: MediaPolicy
  /// What we want of the stream, whatever the peer wants: `sendOnly` or `inactive` puts the peer on hold with the next
  /// offer or answer.
  public var direction: MediaDirection = .sendAndReceive
  /// The last agreement.
  public private(set) var plan: MediaPlan?
  /// The last description of ours, offer or answer.
  public private(set) var localDescription: SessionDescription?

  private let origin: SessionOrigin
  private var version: UInt64 = 1
  private var numbers = PayloadNumbers()
  private var pending: AudioOffer?
  /// Our last offer that was answered: a 183 and a 200 may both carry the answer.
  private var completed: AudioOffer?

  /// - Parameters:
  ///   - sessionID: Random; its lower 62 bits are used, for readers with signed numbers.
  ///   - host: Stands in the origin for the whole session.
  public init(sessionID: UInt64, host: SIPHost, policy: MediaPolicy) {
    let connection = ConnectionData(host)
    origin = SessionOrigin(
      sessionID: String(sessionID & (1 << 62 - 1)), sessionVersion: "1", addressType: connection.addressType,
      address: connection.address)
    self.policy = policy
  }

  /// Our offer waits for its answer: until then no other can be made or answered.
  public var isOfferPending: Bool { pending != nil }

  /// Answers an offer: each media section in its place, the first usable audio stream taken, the others refused.
  /// - Throws: ``NegotiationRefusal``; its ``NegotiationRefusal/sipStatus`` refuses the offer.
  public mutating func answer(
    _ offer: SessionDescription, from local: LocalMedia
  ) throws(NegotiationRefusal) -> (description: SessionDescription, plan: MediaPlan) {
    guard pending == nil else { throw .offerPending }
    let sections = offer.sections
    var refusal = NegotiationRefusal.noAudio
    for section in sections where section.isAudio && (section.port != 0 || section.isBundleOnly && section.isBundled) {
      let terms = AudioStreamTerms(section, in: offer, sections: sections, policy: policy)
      do throws(NegotiationRefusal) {
        let answer = try AudioAnswer(terms, profile: offer.media[section.index].profile, direction, local, former: plan)
        return (stamped(described(answer, among: offer.media, terms, local)), conclude(answer.plan, terms))
      } catch {
        if case .localMedia = error { throw error }
        if refusal == .noAudio { refusal = error }
      }
    }
    throw refusal
  }

  /// Makes an offer: the first one, or a later one that keeps sections, payload types and protection of the session.
  /// - Throws: `offerPending`, or `localMedia` when the media side did not bring what the policy needs.
  public mutating func offer(from local: LocalMedia) throws(NegotiationRefusal) -> SessionDescription {
    guard pending == nil else { throw .offerPending }
    let index = plan?.audio.index ?? 0
    var numbers = self.numbers
    let offer = try AudioOffer(
      policy: policy, direction: direction, local: local, plan: plan, former: localDescription?.media[safe: index],
      index: index, numbers: &numbers)
    guard !offer.codecs.isEmpty else { throw .codec }
    self.numbers = numbers
    var description = SessionDescription(origin: origin, connection: ConnectionData(local.host))
    if offer.usesICE, policy.ice.isLite { description.attributes.append(SessionAttribute("ice-lite")) }
    // Streams in a bundle share one port with RTCP (RFC 9143 section 9.3).
    if policy.multiplexesRTCP,
      let mid = offer.media.attributes.first(where: { $0.name == "mid" })?.value
    {
      description.attributes.append(SessionAttribute("group", "BUNDLE \(mid)"))
    }
    description.media = localDescription?.media.map(AudioSectionText.refusal) ?? [offer.media]
    if description.media.indices.contains(index) { description.media[index] = offer.media }
    pending = offer
    completed = nil
    return stamped(description)
  }

  /// Takes the answer to our offer. A second answer to the same offer is read again in full.
  /// - Throws: ``NegotiationRefusal``. The offer is over then, and the former agreement stands.
  public mutating func accept(_ answer: SessionDescription) throws(NegotiationRefusal) -> MediaPlan {
    guard let offer = pending ?? completed else { throw .noOffer }
    pending = nil
    guard answer.media.count == localDescription?.media.count else { throw .answerShape }
    let sections = answer.sections
    guard let section = sections[safe: offer.index], section.isAudio else { throw .answerShape }
    let terms = AudioStreamTerms(section, in: answer, sections: sections, policy: offer.policy)
    let plan = try offer.plan(answeredBy: terms)
    completed = offer
    numbers.use(section.formats)
    self.plan = plan
    return plan
  }

  /// The peer refused our offer: the former agreement stands.
  public mutating func withdrawOffer() { pending = nil }

  /// The peer's offer starts ICE anew, so our answer needs new credentials (RFC 8445 section 9).
  public func restartsICE(_ offer: SessionDescription) -> Bool {
    guard let plan, let former = plan.ice?.credentials else { return false }
    let sections = offer.sections
    guard let section = sections[safe: plan.audio.index] else { return false }
    let terms = AudioStreamTerms(section, in: offer, sections: sections, policy: policy)
    return terms.transport.iceCredentials.map { $0 != former } ?? false
  }

  private func described(
    _ answer: AudioAnswer, among offered: [MediaDescription], _ terms: AudioStreamTerms, _ local: LocalMedia
  ) -> SessionDescription {
    var description = SessionDescription(origin: origin, connection: ConnectionData(local.host))
    if answer.plan.ice != nil, policy.ice.isLite { description.attributes.append(SessionAttribute("ice-lite")) }
    if terms.section.isBundled, let mid = terms.section.mid {
      description.attributes.append(SessionAttribute("group", "BUNDLE \(mid)"))
    }
    description.media = offered.enumerated().map { index, media in
      index == terms.section.index ? answer.media : AudioSectionText.refusal(of: media)
    }
    return description
  }

  private mutating func conclude(_ plan: MediaPlan, _ terms: AudioStreamTerms) -> MediaPlan {
    numbers.use(terms.section.formats)
    numbers.assign(plan.audio.send.payloadType, to: plan.audio.send.codec)
    if let events = plan.audio.events { numbers.assign(events.receivePayloadType, toEventsAt: events.clockRate) }
    completed = nil
    self.plan = plan
    return plan
  }

  /// Gives a description its version: one more than the last one's if anything else differs, else the same.
  private mutating func stamped(_ description: SessionDescription) -> SessionDescription {
    var description = description
    if let last = localDescription {
      description.origin = last.origin
      if description == last { return last }
      version &+= 1
    }
    description.origin.sessionVersion = String(version)
    localDescription = description
    return description
  }
}

extension OfferAnswer: CustomStringConvertible {
  /// Where the exchange stands, without the descriptions and their keys.
  public var description: String {
    "session \(origin.sessionID) version \(version), \(isOfferPending ? "offer pending" : "stable")"
  }
}

extension Array {
  /// `nil` outside the array.
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
