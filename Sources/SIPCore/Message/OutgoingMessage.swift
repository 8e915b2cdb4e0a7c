import CallModel

/// A request to be sent, without its Via: the transaction adds that, with a fresh branch for every attempt.
public struct OutgoingRequest: Hashable, Sendable {
  /// Goes into CSeq too.
  public var method: SIPMethod
  /// The Request-URI, without header fields.
  public var uri: SIPURI
  /// Route, top first, at most ``GateLimits/routes``.
  public var routes: [NameAddress]
  /// With our tag.
  public var from: NameAddress
  /// With the peer's tag inside a dialog, without one outside.
  public var to: NameAddress
  /// The same in every request of a dialog or a registration.
  public var callID: String
  /// Number of CSeq, below 2³¹.
  public var cseq: UInt32
  /// `nil` for no Contact.
  public var contact: NameAddress?
  /// How many more hops may pass it on; 70 as RFC 3261 section 8.1.1.6 says.
  public var maxForwards: UInt8
  /// Everything that has no place above, in the order to write it.
  public var fields: [OutgoingField]
  /// `nil` or empty for `Content-Length: 0`.
  public var body: MessageBody?

  /// Checks nothing: ``encoded(via:)`` does.
  public init(
    _ method: SIPMethod, uri: SIPURI, routes: [NameAddress] = [], from: NameAddress, to: NameAddress, callID: String,
    cseq: UInt32, contact: NameAddress? = nil, maxForwards: UInt8 = 70, fields: [OutgoingField] = [],
    body: MessageBody? = nil
  ) {
    self.method = method
    self.uri = uri
    self.routes = routes
    self.from = from
    self.to = to
    self.callID = callID
    self.cseq = cseq
    self.contact = contact
    self.maxForwards = maxForwards
    self.fields = fields
    self.body = body
  }
}

/// A response to be sent: Via, From, To, Call-ID, CSeq and, where RFC 3261 section 12.1.1 asks for it, Record-Route are
/// copied from the request.
public struct OutgoingResponse: Hashable, Sendable {
  /// 100 to 699.
  public var status: Int
  /// `nil` for the registered phrase.
  public var phrase: String?
  /// Added to To where it has none; a 100 never gets one.
  public var toTag: String?
  /// In a redirection, the first target; `nil` for no Contact.
  public var contact: NameAddress?
  /// More targets of a redirection.
  public var otherContacts: [NameAddress]
  /// Everything that has no place above, in the order to write it.
  public var fields: [OutgoingField]
  /// `nil` or empty for `Content-Length: 0`.
  public var body: MessageBody?

  /// Checks nothing: ``encoded(to:receivedFrom:)`` does.
  public init(
    _ status: Int, phrase: String? = nil, toTag: String? = nil, contact: NameAddress? = nil,
    otherContacts: [NameAddress] = [], fields: [OutgoingField] = [], body: MessageBody? = nil
  ) {
    self.status = status
    self.phrase = phrase
    self.toTag = toTag
    self.contact = contact
    self.otherContacts = otherContacts
    self.fields = fields
    self.body = body
  }
}
