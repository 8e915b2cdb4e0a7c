import CallModel

/// A request of ours inside a dialog that awaits its final response.
struct DialogRequest: Sendable {
  enum Purpose: Sendable {
    case bye
    case change
    /// PRACK.
    case acknowledgeProvisional
    case information
    case transfer
    /// NOTIFY, by the number of its REFER.
    case transferReport(UInt32)
  }

  /// As given, without credentials: what is sent again after a challenge.
  var request: OutgoingRequest
  var purpose: Purpose
  var authorization: DigestAuthorization?
}

/// A change or refresh of the session that we ask for.
struct SessionChange: Sendable {
  enum Purpose: Hashable, Sendable {
    case offer(ExchangeID)
    /// Nothing but the session timer (RFC 4028 section 7.4).
    case refresh
  }

  var purpose: Purpose
  /// The offer; `nil` for an UPDATE that only refreshes.
  var body: MessageBody?
  /// Times it was put off by the peer: 491, or 500 with Retry-After.
  var backoff: GlareBackoff
  /// Times it was sent again for a 422.
  var intervalRaises = 0

  init(_ purpose: Purpose, body: MessageBody?, backoff: GlareBackoff) {
    self.purpose = purpose
    self.body = body
    self.backoff = backoff
  }
}

/// Where a change of ours stands. One at a time: the peer may refuse two open ones (RFC 3261 section 14.1).
enum OwnChange: Sendable {
  struct Sent: Sendable {
    var change: SessionChange
    var kind: OfferAnswerState.Request
    var transaction: TransactionID
    /// When a re-INVITE is cancelled, and when it is given up after that.
    var deadline: MonotonicInstant?
    var isCancelled = false
  }

  case none
  /// Not sent: something else is open, or the peer asked for patience until this time.
  case waiting(SessionChange, until: MonotonicInstant?)
  case sent(Sent)

  var sent: Sent? {
    if case .sent(let sent) = self { return sent }
    return nil
  }
}

/// An offer of the peer, or his wish for one, that waits for the layer above.
struct PeerOffer: Sendable {
  var transaction: TransactionID
  var exchange: ExchangeID
  /// The re-INVITE, UPDATE or PRACK that carried it.
  var request: SIPMessage
  var kind: OfferAnswerState.Request
  /// When it is refused for want of an answer.
  var deadline: MonotonicInstant
}

/// An offer of ours in a response, which the peer answers in the ACK or PRACK.
struct ResponseOffer: Sendable {
  var exchange: ExchangeID
  var body: MessageBody
}

/// A 2xx of ours to an INVITE, repeated until its ACK comes (RFC 3261 section 13.3.1.4).
struct UnacknowledgedSuccess: Sendable {
  /// Of the INVITE, which is that of its ACK.
  var sequence: UInt32
  var repeater: SuccessRepeater
  var response: RepeatableResponse?
  /// Our offer in it, whose answer comes with the ACK.
  var offer: ResponseOffer?
  /// Whether the call comes up with this ACK.
  var isFirst: Bool
}

/// A REFER of the peer that waits for the layer above.
struct TransferOffer: Sendable {
  var transaction: TransactionID
  var number: UInt32
  /// When it is refused for want of an answer.
  var deadline: MonotonicInstant
}
