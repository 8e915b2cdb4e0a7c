public import CallModel

/// Everything an INVITE of ours is made of.
public struct OutgoingCall: Sendable {
  /// How provisional responses are made reliable (RFC 3262).
  public enum Reliability: Hashable, Sendable {
    case off, supported, required
  }

  /// SIP's Call-ID; `nil` lets the agent draw one. Never that of another call.
  public var callID: String?
  /// Request-URI and To.
  public var target: SIPURI
  /// A route set known beforehand, such as an outbound proxy; top first.
  public var routes: [SIPURI]
  /// Where to send it, in the order to try (RFC 3263 section 4.3): the next one after a transport failure, a timeout or
  /// a 503. Empty: the agent asks where the next hop lives.
  public var paths: [SIPPath]
  /// From, and the fields that assert or hide the number.
  public var identity: OutgoingIdentity
  /// Sent in the INVITE.
  public var headers: CustomHeaders
  /// Values of Identity fields (RFC 8224) of a call that is passed on, sent as they came. One that a field cannot hold is
  /// left out.
  public var identities: [String] = []
  /// `nil` asks the peer for an offer, which is answered in the ACK.
  public var offer: MessageBody?
  /// `nil` leaves challenges unanswered.
  public var account: DigestAccount?
  /// By default 1800 seconds are asked for.
  public var sessionTimer: SessionTimerPolicy
  /// By default offered, not required: a peer without it takes the call all the same.
  public var reliability: Reliability
  /// Whether REFER from the peer is reported; otherwise it gets 603.
  public var allowsTransfer: Bool
  /// Redirections followed in one call; 0 reports 3xx as a failure.
  public var maximumRedirections: Int
  /// Whether a destination that a redirection names may be called; asked of each before anything is sent there.
  public var allowsRedirection: @Sendable (SIPURI) -> Bool = { _ in true }
  /// Without a final response this long after the first 180, or after the first provisional one where none follows, the
  /// call is cancelled. Before any response nothing rings: an INVITE without one has reached nobody after 64 × T1.
  public var ringTimeoutMilliseconds: Int64
  /// Servers that may pass the INVITE on (RFC 3261 section 20.22): less for a call that has come a way already.
  public var maximumForwards: UInt8 = 70
  /// The value of Replaces: the dialog that the call takes the place of (RFC 3891); `nil` for none.
  public var replaces: String?
  /// Whether whoever is called is a peer from then on, whose own calls are taken without a proof: trunks are, telephones not.
  public var makesAcquaintance = true
  /// Whether the call may go to an address that is ``SIPHost/isInternal``; not so for targets that others choose.
  public var reachesInternalHosts = true
  /// Without any response this long after the INVITE was sent, the call has reached nobody; `nil` leaves it to
  /// ``UserAgentLimits/firstResponseMilliseconds`` and to the transaction. For whoever has another peer to ask: a peer that
  /// answers after all is hung up on.
  public var firstResponseMilliseconds: Int64?

  /// Times in milliseconds. By default challenges stay unanswered, redirections fail, and a call rings three minutes.
  public init(
    target: SIPURI, routes: [SIPURI] = [], paths: [SIPPath] = [], identity: OutgoingIdentity,
    headers: CustomHeaders = CustomHeaders(), offer: MessageBody?, account: DigestAccount? = nil,
    sessionTimer: SessionTimerPolicy = .standard, reliability: Reliability = .supported, allowsTransfer: Bool = false,
    maximumRedirections: Int = 0, ringTimeoutMilliseconds: Int64 = 180_000
  ) {
    self.target = target
    self.routes = routes
    self.paths = paths
    self.identity = identity
    self.headers = headers
    self.offer = offer
    self.account = account
    self.sessionTimer = sessionTimer
    self.reliability = reliability
    self.allowsTransfer = allowsTransfer
    self.maximumRedirections = maximumRedirections
    self.ringTimeoutMilliseconds = ringTimeoutMilliseconds
  }
}

/// Who calls, as the INVITE says it: the result of a trunk's ``CallerIdentityPolicy``.
public struct OutgoingIdentity: Hashable, Sendable {
  /// From, without tag.
  public var from: NameAddress
  /// P-Asserted-Identity (RFC 3325), at most one sip(s) and one tel URI.
  public var asserted: [NameAddress]
  /// P-Preferred-Identity (RFC 3325).
  public var preferred: NameAddress?
  /// The values of Privacy (RFC 3323); empty for no header.
  public var privacy: [String]
  /// Who diverted the call (RFC 5806); `nil` for a call that was not diverted.
  public var diversion: NameAddress?

  /// By default nothing is asserted and nothing hidden.
  public init(
    from: NameAddress, asserted: [NameAddress] = [], preferred: NameAddress? = nil, privacy: [String] = []
  ) {
    self.from = from
    self.asserted = asserted
    self.preferred = preferred
    self.privacy = privacy
  }
}

/// What is wanted of session timers (RFC 4028).
public struct SessionTimerPolicy: Hashable, Sendable {
  /// Seconds asked for; `nil` for no timer of ours.
  public var interval: UInt32?
  /// Least seconds agreed to; never under 90 (RFC 4028 section 4).
  public var minimum: UInt32

  /// Raises a `minimum` under 90 to 90.
  public init(interval: UInt32?, minimum: UInt32 = 90) {
    self.interval = interval
    self.minimum = max(90, minimum)
  }

  /// 1800 seconds, at least 90.
  public static let standard = SessionTimerPolicy(interval: 1800)
}

/// A request outside of calls.
public struct OutgoingQuery: Sendable {
  /// Request-URI and To.
  public var target: SIPURI
  /// Top first; where ``paths`` is empty, the first one is looked for in place of the target.
  public var routes: [SIPURI]
  /// As in ``OutgoingCall/paths``.
  public var paths: [SIPPath]
  /// Gets a tag of our own, whatever tag it has; its user part stands in Contact too.
  public var from: NameAddress
  /// `nil` leaves challenges unanswered.
  public var account: DigestAccount?

  /// Empty `paths` let the agent ask where the first route, or else the target, lives.
  public init(
    target: SIPURI, routes: [SIPURI] = [], paths: [SIPPath] = [], from: NameAddress, account: DigestAccount? = nil
  ) {
    self.target = target
    self.routes = routes
    self.paths = paths
    self.from = from
    self.account = account
  }
}
