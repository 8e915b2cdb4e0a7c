/// What a dialog needs to know of its call beyond the dialog's own state.
package struct DialogSettings: Sendable {
  /// Answers challenges, with the nonces that the INVITE left; `nil` leaves them unanswered.
  package var digest: DigestClient?
  package var sessionTimer: SessionTimerPolicy
  /// Whether REFER is reported; otherwise it gets 603.
  package var allowsTransfer: Bool
  /// Offer and answer as they stand when the dialog opens, the INVITE in it.
  package var offers: OfferAnswerState
  /// Our session description as it was last sent in an offer or answer that stands: a re-INVITE that only refreshes
  /// repeats it byte for byte.
  package var localDescription: MessageBody?

  package init(
    digest: DigestClient? = nil, sessionTimer: SessionTimerPolicy = .standard, allowsTransfer: Bool = false,
    offers: OfferAnswerState = OfferAnswerState(), localDescription: MessageBody? = nil
  ) {
    self.digest = digest
    self.sessionTimer = sessionTimer
    self.allowsTransfer = allowsTransfer
    self.offers = offers
    self.localDescription = localDescription
  }
}
