public import CallModel

/// What the agent wants done or known, in order.
public enum UserAgentEffect: Sendable {
  /// Bytes for the shell. What cannot be sent is reported with the message's transaction, where there is one.
  case send([UInt8], SIPPath, SentMessage)
  /// A question for RFC 3263: answered with ``UserAgentCommand/located(_:_:)``.
  case locate(LocationID, SIPURI)
  case event(UserAgentEvent)
}

/// What was read of a message that came, for those who keep it.
public struct ReceivedMessage: Hashable, Sendable {
  /// SIP's Call-ID; `nil` where none can be read.
  public let callID: String?
  /// Whether it is a 2xx to an INVITE.
  public let acceptsInvite: Bool
  /// Whether it was ignored: see ``UserAgentConfiguration/acquaintance``.
  public internal(set) var isOfStranger = false

  init(_ message: ScannedMessage?) {
    let value = message?.callID
    // A message that is refused may have one that goes over lines (RFC 3261 section 7.3.1): that names no dialog of ours.
    let isName = value.map { !$0.isEmpty && !$0.utf8.contains { $0 == 0x0A || $0 == 0x0D } } ?? false
    callID = isName ? value : nil
    acceptsInvite =
      message?.status.map { (200..<300).contains($0) } ?? false
      && message?.cseq?.method == SIPMethod.invite.rawValue
  }
}

/// What happened to a call, a query or a registration.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
public enum UserAgentEvent: Sendable {
  /// The peer answers at all: 100 or any other response.
  case trying(CallHandle)
  /// A provisional response of 180 to 199. Its session description, when there is one, is an answer to be used for early
  /// media; the last one counts until the call is answered.
  indirect case progress(CallHandle, Progress)
  /// The call is up; `answer` is the session description of the dialog that won, where it was not given before or is not
  /// the same. An offer in the 200 comes as ``offered(_:_:_:)`` after this.
  indirect case established(CallHandle, Answer)
  /// The call is over. The last event of its handle, told when we hang up, not when the peer has answered the BYE.
  indirect case ended(CallHandle, CallEnd)

  /// A call came in; wants ring, accept or reject.
  indirect case incoming(CallHandle, IncomingCall)

  /// The peer offers inside a call, by re-INVITE, UPDATE or PRACK, or in the 200 to an INVITE without offer: wants answer or
  /// refuse. A body of `nil` means that the peer asks for an offer: answer with one.
  case offered(CallHandle, ExchangeID, MessageBody?)
  /// The peer answered an offer of ours. An exchange that nobody above has opened is that of a refresh, or of a call that
  /// came in without an offer: what counts is the answer.
  case answered(CallHandle, ExchangeID, MessageBody)
  /// The peer refused an offer of ours, or took its own back before it was answered (487); 500 for one of the peer's that
  /// was not answered here in time. The session is as it was. 491 right after ``offered(_:_:_:)``: an offer of ours that
  /// still waited has given way to that one.
  case offerRefused(CallHandle, ExchangeID, status: Int)

  case info(CallHandle, MessageBody)
  /// The peer asks us to call somebody else: wants acceptTransfer or refuseTransfer.
  indirect case transferRequested(CallHandle, to: NameAddress, replaces: TransferReplaces?)
  /// How a transfer that we asked for goes on, from 202 and the NOTIFYs; a status of 200 or more is the last.
  case transferProgress(CallHandle, status: Int)

  indirect case queryAnswered(QueryID, QueryOutcome)
  indirect case registration(QueryID, RegistrationState)
  /// Where a telephone can be reached from now on: all its bindings, the one that was refreshed last stands last.
  indirect case phoneBindings(String, [PhoneBinding])
}

/// A provisional response.
public struct Progress: Hashable, Sendable {
  /// 101 to 198: a 100 comes as ``UserAgentEvent/trying(_:)``, and a 199 is not reported.
  public var status: Int
  /// As the peer wrote it; may be empty.
  public var phrase: String
  /// The session description that answers our offer; `nil` without one, or where the INVITE had no offer.
  public var body: MessageBody?
  /// The peer's `x-` fields.
  public var headers: CustomHeaders
  /// Whether the peer repeats it until a PRACK comes (RFC 3262).
  public var isReliable: Bool

  public init(status: Int, phrase: String, body: MessageBody?, headers: CustomHeaders, isReliable: Bool) {
    self.status = status
    self.phrase = phrase
    self.body = body
    self.headers = headers
    self.isReliable = isReliable
  }
}

/// A 2xx to an INVITE of ours, or the moment our own was acknowledged: a call that came in is up when the ACK comes.
public struct Answer: Hashable, Sendable {
  /// Answers the offer of our INVITE; `nil` where that had none, and in a call that came in.
  public var body: MessageBody?
  /// `x-` fields of the 2xx, or of the ACK in a call that came in.
  public var headers: CustomHeaders
  /// The network's own idea of the connected party: the first P-Asserted-Identity.
  public var connectedIdentity: NameAddress?

  public init(body: MessageBody?, headers: CustomHeaders, connectedIdentity: NameAddress? = nil) {
    self.body = body
    self.headers = headers
    self.connectedIdentity = connectedIdentity
  }
}

/// How a call ended.
public struct CallEnd: Sendable {
  /// Whose doing the end was.
  public enum Cause: Hashable, Sendable {
    /// We hung up.
    case local
    /// The peer hung up: BYE, or CANCEL before the answer.
    case remote
    /// The call never came up, or broke.
    case failed
  }

  /// `failed` comes with a ``failure``, the others without.
  public var cause: Cause
  /// Set where the cause is `failed`.
  public var failure: CallFailure?
  /// Reason headers that came with the end.
  public var reasons: [CallFailure.Reason]
  /// Custom headers that came with the end: of BYE, or of the failure response.
  public var headers: CustomHeaders
  /// Whether it had been established.
  public var wasEstablished: Bool
  /// Whether the peer answered while our CANCEL was on its way: its 2xx was acknowledged and ended by a BYE
  /// (RFC 3261 section 9.1, RFC 5407 section 3.1.2).
  public var crossedAnswer: Bool

  /// By default nothing came with the end.
  public init(
    cause: Cause, failure: CallFailure? = nil, reasons: [CallFailure.Reason] = [],
    headers: CustomHeaders = CustomHeaders(), wasEstablished: Bool, crossedAnswer: Bool = false
  ) {
    self.cause = cause
    self.failure = failure
    self.reasons = reasons
    self.headers = headers
    self.wasEstablished = wasEstablished
    self.crossedAnswer = crossedAnswer
  }
}

/// An INVITE that came in and starts a call.
public struct IncomingCall: Sendable {
  /// The URI of To, not the Request-URI.
  public var target: SIPURI
  /// The Request-URI: where the peer sent the call; `nil` where it is not known.
  public var requestURI: SIPURI?
  /// As in the INVITE, without a tag of ours.
  public var to: NameAddress
  /// ``UserAgentConfiguration/trustsCallers`` decides how much of the INVITE is believed.
  public var caller: PresentedCaller
  /// From as in the INVITE, whatever Privacy says: what a signature is compared with, and never shown.
  public var from: NameAddress?
  /// The values of its Identity fields as they came (RFC 8224), one more than ``IdentityExamination/maximumFields`` at most.
  public var identities: [String] = []
  /// The telephone of ours that calls, by the name that it proved; `nil` for a call of a trunk.
  public var phone: String?
  /// Names of peers that are known to live at the address that it came from; added by whoever resolves names.
  public var peerNames: [SIPHost] = []
  /// Its Max-Forwards: how many more servers may pass it on.
  public var maximumForwards: UInt8 = 70
  /// How often it has been diverted, as its Diversion or History-Info fields say, whoever wrote them.
  public var diversions = 0
  /// The `x-` fields of the INVITE.
  public var headers: CustomHeaders
  /// `nil` when the peer wants our offer.
  public var offer: MessageBody?
  /// Where the INVITE came from.
  public var path: SIPPath
  /// SIP's Call-ID, as the caller chose it.
  public var callID: String

  public init(
    target: SIPURI, to: NameAddress, caller: PresentedCaller, headers: CustomHeaders, offer: MessageBody?,
    path: SIPPath,
    callID: String
  ) {
    self.target = target
    self.to = to
    self.caller = caller
    self.headers = headers
    self.offer = offer
    self.path = path
    self.callID = callID
  }
}

/// Who an incoming call says it is from, after the trunk's identity rules.
public struct PresentedCaller: Hashable, Sendable {
  /// What the callee may see; `nil` for anonymous.
  public var presented: NameAddress?
  /// What the network vouches for, kept for records and the trunk even when the caller is anonymous.
  public var network: NameAddress?
  /// Where the call was redirected from, by Diversion or History-Info.
  public var redirectedFrom: NameAddress?
  /// Whether Privacy or From asks that the callee does not learn who calls.
  public var isAnonymous: Bool

  /// Only a trusted peer is believed about `network` and `redirectedFrom`; leave them `nil` for any other.
  public init(
    presented: NameAddress?, network: NameAddress? = nil, redirectedFrom: NameAddress? = nil, isAnonymous: Bool
  ) {
    self.presented = presented
    self.network = network
    self.redirectedFrom = redirectedFrom
    self.isAnonymous = isAnonymous
  }
}

/// What became of a request outside of calls.
public struct QueryOutcome: Sendable {
  /// `nil` when nothing answered.
  public var status: Int?
  /// As the peer wrote it; empty when nothing answered.
  public var phrase: String
  /// Methods of Allow, where there is one.
  public var allow: [String]
  /// Set where nothing answered; `transport` also where no path was found.
  public var failure: TransactionFailure?
  /// From sending to the final response.
  public var roundTripMilliseconds: Int64
  /// The path that answered, or the last one tried.
  public var path: SIPPath?
  /// Whether credentials were asked for and sent.
  public var wasChallenged: Bool

  public init(
    status: Int?, phrase: String, allow: [String], failure: TransactionFailure?, roundTripMilliseconds: Int64,
    path: SIPPath?, wasChallenged: Bool
  ) {
    self.status = status
    self.phrase = phrase
    self.allow = allow
    self.failure = failure
    self.roundTripMilliseconds = roundTripMilliseconds
    self.path = path
    self.wasChallenged = wasChallenged
  }
}
