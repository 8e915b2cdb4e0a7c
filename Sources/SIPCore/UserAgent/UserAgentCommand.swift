public import CallModel

/// What the layer above wants of the agent. A command about a call that is over, or in a state that has no use for it,
/// changes nothing: it crossed the end of the call.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
public enum UserAgentCommand: Sendable {
  /// Places a call; the handle is chosen by whoever asks and never used again.
  indirect case placeCall(CallHandle, OutgoingCall)
  /// Ends a leg that a process left behind when it died. Its end is told like that of a call.
  indirect case release(CallHandle, AbandonedLeg)
  /// Ends a call in any state: CANCEL, BYE, or a failure response to a call that came in.
  indirect case hangUp(CallHandle, HangUp)

  /// A provisional response to a call that came in: 180, 183 with or without a session description.
  case ring(CallHandle, status: Int, body: MessageBody?, headers: CustomHeaders)
  /// 200. With a body it is the answer, or the offer where the INVITE had none.
  case accept(CallHandle, body: MessageBody?, headers: CustomHeaders)
  /// A failure response, 300 to 699; contacts only with 3xx.
  indirect case reject(CallHandle, Rejection)

  /// Answers an offer that was reported.
  case answer(ExchangeID, MessageBody)
  /// Refuses an offer that was reported: 488 and the like. The session stays as it was.
  case refuse(ExchangeID, status: Int, warning: String?)
  /// Makes an offer inside a call: hold, resume, another codec. UPDATE before the answer, re-INVITE after.
  case offer(CallHandle, ExchangeID, MessageBody)

  case sendInfo(CallHandle, MessageBody)
  /// From now on a call that came in takes REFER of its peer, and says so in Allow.
  case allowTransfers(CallHandle)
  /// Asks the peer to call somebody else (RFC 3515).
  indirect case transfer(CallHandle, to: NameAddress)
  /// Accepts a REFER that was reported: 202, then a NOTIFY for each report until a final status.
  case acceptTransfer(CallHandle)
  case refuseTransfer(CallHandle, status: Int)
  /// How the transfer that was asked of us goes on: a status of 100 to 699.
  case reportTransfer(CallHandle, status: Int)

  /// OPTIONS to a peer, outside of calls.
  indirect case ping(QueryID, OutgoingQuery)
  /// Registers and keeps registered until ``unregister(_:)``.
  indirect case register(QueryID, OutgoingRegistration)
  case unregister(QueryID)
  /// Telephones that may register and call, in place of those before.
  case phones([PhoneCredential])

  /// Where a URI lives, in the order to try; empty where it could not be found.
  case located(LocationID, [SIPPath])
}

/// What goes with the end of a call.
public struct HangUp: Hashable, Sendable {
  /// Goes out as Reason headers of CANCEL and BYE.
  public var reasons: [CallFailure.Reason]
  /// Go out with BYE and with a failure response; CANCEL carries none (RFC 3261 section 9.1).
  public var headers: CustomHeaders

  /// Without a Reason of protocol `SIP`, a call that came in and was not answered is refused with 480.
  public init(reasons: [CallFailure.Reason] = [], headers: CustomHeaders = CustomHeaders()) {
    self.reasons = reasons
    self.headers = headers
  }
}

/// A failure response to a call that came in.
public struct Rejection: Hashable, Sendable {
  /// 300 to 699.
  public var status: Int
  /// `nil` for the registered phrase.
  public var phrase: String?
  /// New targets, the first one to try in front; sent with 3xx alone.
  public var contacts: [NameAddress]
  /// Go out as Reason headers.
  public var reasons: [CallFailure.Reason]
  /// Text of a Warning header; `nil` for none.
  public var warning: String?
  /// Of the warning (RFC 3261 section 20.43), 300 to 399.
  public var warningCode = 399
  /// `nil` for no Retry-After.
  public var retryAfterSeconds: Int?
  /// Of the application; none goes out where one of them cannot be sent.
  public var headers: CustomHeaders

  /// A status outside of 300 to 699 goes out as 500.
  public init(
    _ status: Int, phrase: String? = nil, contacts: [NameAddress] = [], reasons: [CallFailure.Reason] = [],
    warning: String? = nil, retryAfterSeconds: Int? = nil, headers: CustomHeaders = CustomHeaders()
  ) {
    self.status = status
    self.phrase = phrase
    self.contacts = contacts
    self.reasons = reasons
    self.warning = warning
    self.retryAfterSeconds = retryAfterSeconds
    self.headers = headers
  }
}
