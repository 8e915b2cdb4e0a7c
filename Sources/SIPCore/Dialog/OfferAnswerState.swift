/// Which message of a dialog carries an offer or an answer, and which must wait (RFC 3264, 3261 section 14, 3262
/// section 5, 3311 section 5, 6337).
///
///     idle ──offer sent──▶ local offer pending ──answer received──▶ idle
///      └──offer received──▶ remote offer pending ──answer sent──▶ idle
///
/// A failure response to the request that carried an offer takes the offer back. Bodies of other types count as no
/// session description.
package struct OfferAnswerState: Hashable, Sendable {
  /// Requests that can carry a session description.
  package enum Request: Hashable, Sendable {
    case invite, update, prack, acknowledgement
  }

  package enum Response: Hashable, Sendable {
    /// Not reliable: never an offer, at most a preview of an answer.
    case provisional
    case reliableProvisional
    case success
    case failure
  }

  /// What a message means for the session.
  package enum Meaning: Hashable, Sendable {
    case nothing
    case offer
    case answer
    /// An INVITE without an offer: its receiver makes one.
    case offerWanted
    /// An answer to be used for early media that the reliable answer will repeat, or such a repetition (RFC 6337
    /// section 3.1.1).
    case preview
    /// A session description that has no place here: ignored.
    case misplaced
    /// The offer or answer that this message had to carry is not there.
    case missing
  }

  package enum Verdict: Hashable, Sendable {
    case proceed(Meaning)
    /// Answer so; a Retry-After of these seconds goes with 500.
    case refuse(status: Int, retryAfterSeconds: Int?)
  }

  private enum Phase: Hashable, Sendable {
    case idle
    /// Our offer, by the transaction that carried it.
    case local(Request)
    case remote(Request)
  }

  /// Where the one INVITE transaction that can be open stands.
  private enum Invite: Hashable, Sendable {
    case none
    case open(isLocal: Bool, Exchange)
  }

  private enum Exchange: Hashable, Sendable {
    /// The INVITE had no offer: the answering side owes it.
    case awaitingOffer
    case offered
    case answered
  }

  private var phase = Phase.idle
  private var invite = Invite.none
  private var hasLocalUpdate = false
  private var hasRemoteUpdate = false

  package init() {}

  package var isLocalOfferPending: Bool {
    if case .local = phase { true } else { false }
  }
  package var isRemoteOfferPending: Bool {
    if case .remote = phase { true } else { false }
  }
  /// Whether nothing stands against a new offer in this request.
  package func mayOffer(in request: Request) -> Bool { meaning(ofSending: request, description: true) == .offer }
  /// Whether a re-INVITE or INVITE may be sent now (RFC 3261 section 14.1).
  package var maySendInvite: Bool { invite == .none && phase == .idle }

  /// A request of ours goes out.
  /// - Returns: What its description is; `nil` where it must not be sent so now, and nothing changed.
  package mutating func send(_ request: Request, description: Bool) -> Meaning? {
    guard let meaning = meaning(ofSending: request, description: description) else { return nil }
    switch request {
    case .invite: invite = .open(isLocal: true, description ? .offered : .awaitingOffer)
    case .update: hasLocalUpdate = true
    case .prack: break
    case .acknowledgement: invite = .none
    }
    switch meaning {
    case .offer: phase = .local(request)
    case .answer: completeExchange()
    case .missing: if phase == .remote(.invite) { phase = .idle }
    case .nothing, .offerWanted, .preview, .misplaced: break
    }
    return meaning
  }

  /// A request of the peer's came in; an ACK is never refused.
  package mutating func receive(_ request: Request, description: Bool, _ identifiers: IdentifierSource) -> Verdict {
    switch request {
    case .invite:
      if case .open(let isLocal, _) = invite { return isLocal ? .glare : .busy(identifiers) }
      if let refusal = refusal(identifiers) { return refusal }
      invite = .open(isLocal: false, description ? .offered : .awaitingOffer)
      guard description else { return .proceed(.offerWanted) }
      phase = .remote(.invite)
      return .proceed(.offer)
    case .update:
      if hasRemoteUpdate { return .busy(identifiers) }
      if description {
        if let refusal = refusal(identifiers) { return refusal }
        // An INVITE without offer waits for one, and that comes first.
        if case .open(let isLocal, .awaitingOffer) = invite { return isLocal ? .busy(identifiers) : .glare }
        phase = .remote(.update)
      }
      hasRemoteUpdate = true
      return .proceed(description ? .offer : .nothing)
    case .prack:
      guard description else { return .proceed(.nothing) }
      if case .open(false, _) = invite, phase == .local(.invite) {
        completeExchange()
        return .proceed(.answer)
      }
      if let refusal = refusal(identifiers) { return refusal }
      phase = .remote(.prack)
      return .proceed(.offer)
    case .acknowledgement:
      guard case .local(.invite) = phase else { return .proceed(description ? .misplaced : .nothing) }
      completeExchange()
      return .proceed(description ? .answer : .missing)
    }
  }

  /// A response of ours goes out.
  package mutating func send(_ response: Response, to request: Request, description: Bool) -> Meaning {
    respond(response, to: request, description: description, isLocal: false)
  }

  /// A response to a request of ours came in.
  package mutating func receive(_ response: Response, to request: Request, description: Bool) -> Meaning {
    respond(response, to: request, description: description, isLocal: true)
  }

  private func meaning(ofSending request: Request, description: Bool) -> Meaning? {
    switch request {
    case .invite:
      guard maySendInvite else { return nil }
      return description ? .offer : .offerWanted
    case .update:
      guard !hasLocalUpdate else { return nil }
      guard description else { return .nothing }
      if case .open(_, .awaitingOffer) = invite { return nil }
      return phase == .idle ? .offer : nil
    case .prack:
      if phase == .remote(.invite), case .open(true, _) = invite { return description ? .answer : .missing }
      guard description else { return .nothing }
      return phase == .idle ? .offer : nil
    case .acknowledgement:
      if phase == .remote(.invite) { return description ? .answer : .missing }
      return description ? nil : .nothing
    }
  }

  /// - Parameter isLocal: Whether the request was ours.
  private mutating func respond(
    _ response: Response, to request: Request, description: Bool, isLocal: Bool
  ) -> Meaning {
    guard request != .acknowledgement else { return .misplaced }
    let meaning =
      request == .invite
      ? inviteMeaning(response, description, isLocal) : otherMeaning(response, to: request, description, isLocal)
    guard response == .success || response == .failure else { return meaning }
    switch request {
    case .invite: closeInvite(response, isLocal: isLocal)
    case .update: if isLocal { hasLocalUpdate = false } else { hasRemoteUpdate = false }
    case .prack, .acknowledgement: break
    }
    return meaning
  }

  private mutating func otherMeaning(
    _ response: Response, to request: Request, _ description: Bool, _ isLocal: Bool
  ) -> Meaning {
    guard phase == (isLocal ? .local(request) : .remote(request)) else { return description ? .misplaced : .nothing }
    switch response {
    case .provisional, .reliableProvisional: return description ? .misplaced : .nothing
    case .success:
      phase = .idle
      return description ? .answer : .missing
    case .failure:
      phase = .idle
      return .nothing
    }
  }

  private mutating func inviteMeaning(_ response: Response, _ description: Bool, _ isLocal: Bool) -> Meaning {
    guard case .open(isLocal, let exchange) = invite, response != .failure else {
      return description ? .misplaced : .nothing
    }
    switch exchange {
    case .answered: return description ? .preview : .nothing
    case .offered where phase == (isLocal ? .local(.invite) : .remote(.invite)):
      guard description else { return response == .success ? .missing : .nothing }
      guard response != .provisional else { return .preview }
      completeExchange()
      return .answer
    // The offer of a reliable response that is not answered yet.
    case .offered: return description ? .preview : .nothing
    case .awaitingOffer:
      guard description else { return response == .success ? .missing : .nothing }
      guard response != .provisional else { return .misplaced }
      invite = .open(isLocal: isLocal, .offered)
      phase = isLocal ? .remote(.invite) : .local(.invite)
      return .offer
    }
  }

  /// An INVITE of ours stays open for its ACK only where that owes an answer.
  private mutating func closeInvite(_ response: Response, isLocal: Bool) {
    guard case .open(isLocal, let exchange) = invite else { return }
    let offeredByInvite = isLocal ? Phase.local(.invite) : .remote(.invite)
    if response == .failure, phase == .local(.invite) || phase == .remote(.invite) { phase = .idle }
    if response == .success, phase == offeredByInvite, exchange == .offered { phase = .idle }
    invite = .none
  }

  private mutating func completeExchange() {
    if case .open(let isLocal, .offered) = invite, phase == .local(.invite) || phase == .remote(.invite) {
      invite = .open(isLocal: isLocal, .answered)
    }
    phase = .idle
  }

  private func refusal(_ identifiers: IdentifierSource) -> Verdict? {
    switch phase {
    case .idle: nil
    case .local: .glare
    case .remote: .busy(identifiers)
    }
  }
}

extension OfferAnswerState.Verdict {
  fileprivate static let glare = OfferAnswerState.Verdict.refuse(status: 491, retryAfterSeconds: nil)

  /// RFC 3261 section 14.2 and RFC 3311 section 5.2: 500 with 0 to 10 seconds at random.
  fileprivate static func busy(_ identifiers: IdentifierSource) -> OfferAnswerState.Verdict {
    .refuse(status: 500, retryAfterSeconds: Int(identifiers.number() % 11))
  }
}
