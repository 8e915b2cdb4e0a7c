package import AppProtocol
public import CallModel

/// An app that a call is for: over which session it hears of it, and who it is.
package struct CalledApp: Sendable {
  package var session: SessionID
  package var identity: AppIdentity
  /// What the caller pays; `nil` for a call that is free, of which no ledger hears.
  package var price: RateSnapshot?

  package init(session: SessionID, identity: AppIdentity, price: RateSnapshot? = nil) {
    self.session = session
    self.identity = identity
    self.price = price
  }
}

/// Calls from app to app, as the engine carries them. No message of the app protocol leads here yet.
package enum CalleeInput: Sendable {
  /// An app calls another one.
  case call(SessionID, RequestNumber, PlaceCall, AppCaller, CalledApp)
  /// An app that is called says something to it.
  case request(SessionID, RequestNumber, CallID, CalleeRequest)
}

/// What an app says to a call for it, before it is one of the two that talk. Each gets exactly one reply.
package enum CalleeRequest: Sendable {
  /// It rings. With an offer, ICE and DTLS finish before somebody accepts.
  case alert(offer: String?)
  /// Somebody takes the call; with an offer, unless `alert` had one.
  case accept(offer: String?, headers: CustomHeaders)
  case decline(Reason)

  package enum Reason: Sendable {
    case declined, busy
  }
}

/// What an app is told of a call for it.
public struct Invitation: Hashable, Sendable {
  /// Whoever calls: `nil` for a call that was asked for over REST.
  public var caller: UserID?
  /// As the caller gave them.
  public var headers: CustomHeaders
  /// When it rings no longer.
  public var expiresAt: Instant

  /// A call whose caller is `nil` comes from no user.
  public init(caller: UserID?, headers: CustomHeaders, expiresAt: Instant) {
    self.caller = caller
    self.headers = headers
    self.expiresAt = expiresAt
  }
}
