public import CallModel
public import LedgerCore
public import RoutingCore
public import SDPCore
public import SIPCore

/// What rules the calls of an engine.
public struct EngineConfiguration: Sendable {
  /// How long a key sounds that an app asks for.
  public static let keyMilliseconds = 100

  /// One environment: production, sandbox.
  public struct Environment: Sendable {
    /// As ``Payer/environment`` names it: `production`, `sandbox`.
    public var name: String
    /// Who signs the ledger's operations.
    public var origin: CallOperation.Origin
    /// Names of the trunks that carry its calls.
    public var trunks: [String]
    /// Whether the numbers of ``SandboxNumber`` are answered by the built-in far end.
    public var hasSandboxNumbers: Bool
    /// Hosts that app-to-sip calls may reach.
    public var sipHosts: SIPHosts
    /// What a minute of a call to a SIP address costs, in nano-units of the payer's currency.
    public var sipRatePerMinute: NanoUnits = 0
    /// Countries that accounts without a list of their own may call.
    public var countries = Countries.any
    /// ``E164Number/country`` of the numbers that the calls of each account may show, ascending.
    public var callerCountries: [AccountName: [Int]] = [:]
    /// What accounts and users may do within an hour.
    public var velocity: [VelocityRule] = []
    /// Emergency codes of its callers; `nil` for those of the country of the caller's number.
    public var emergencyNumbers: Set<String>?
    /// Emergency calls of one account at a time.
    public var emergencyCalls = standardEmergencyCalls
    /// Where the configuration names no other number.
    public static let standardEmergencyCalls = 8
    /// Names of the trunks that carry emergency calls, in their order; empty for those of other calls.
    public var emergencyTrunks: [String] = []
    /// Most characters of a user's id in calls to users, 1 to 255.
    public var usersMaximumLength: Int

    /// By default users' ids have at most 40 characters, and no SIP address can be called.
    public init(
      name: String, origin: CallOperation.Origin, trunks: [String], hasSandboxNumbers: Bool = false,
      sipHosts: SIPHosts = SIPHosts(), usersMaximumLength: Int = 40
    ) {
      self.name = name
      self.origin = origin
      self.trunks = trunks
      self.hasSandboxNumbers = hasSandboxNumbers
      self.sipHosts = sipHosts
      self.usersMaximumLength = usersMaximumLength
    }

    /// ``E164Number/country`` of what an account without a list of its own may call; `nil` for every one.
    public func defaultCountries(of account: AccountName) -> [Int]? {
      switch countries {
      case .any: nil
      case .listed(let codes): codes
      case .ofCallerNumbers: callerCountries[account]
      }
    }

    /// Whether numbers of a country are ``VelocityRule/Destinations/domestic`` to an account.
    func isDomestic(_ country: Int, to account: AccountName) -> Bool {
      if let own = callerCountries[account] { return own.contains(country) }
      guard case .listed(let codes) = countries else { return false }
      return codes.contains(country)
    }
  }

  /// Countries that may be called.
  public enum Countries: Hashable, Sendable {
    case any
    /// ``E164Number/country`` of each, ascending.
    case listed([Int])
    /// Those of an account's own numbers; every one for an account without numbers.
    case ofCallerNumbers
  }

  /// Hosts that calls to SIP addresses may reach.
  public struct SIPHosts: Hashable, Sendable {
    /// These, private ones too.
    public var listed: [String]
    /// Every host that is not private as well.
    public var reachesAny: Bool

    /// Without arguments no host can be reached.
    public init(listed: [String] = [], reachesAny: Bool = false) {
      self.listed = listed
      self.reachesAny = reachesAny
    }

    func lists(_ host: SIPHost) -> Bool {
      let name = host.description.lowercased()
      return listed.contains { $0.lowercased() == name }
    }

    func allows(_ host: SIPHost) -> Bool { lists(host) || reachesAny && !host.isInternal }
  }

  /// A call whose payer belongs to none of them is refused.
  public var environments: [Environment]
  /// Of all environments; each environment names those that carry its calls.
  public var trunks: [CallTrunk]
  /// Session descriptions towards apps.
  public var appPolicy: MediaPolicy
  /// Host of our session descriptions' origin lines.
  public var host: SIPHost
  /// Who may sign certificates of callers.
  public var identityAuthorities = IdentityAuthorities()
  /// Times of a call that run already, and the length of its grants, stay as they were when these change.
  public var limits: Limits
  /// Which life of which node of a cluster this is, for the ids of its calls; read at the start alone.
  package var callOrigin: CallIDMaker.Origin?

  /// Every limit of a call; milliseconds and seconds as named.
  public struct Limits: Hashable, Sendable {
    /// Calls of the whole engine, those that are ending included; emergency calls are let in beyond it.
    public var calls = 10_000
    /// Transfers of one call; the next is refused with `gw.limit`.
    public var transfersPerCall = 8
    /// Calls of one app's session, those that are ending included; emergency calls are let in beyond it.
    public var callsPerSession = 16
    /// Seconds of talk that credit is held for before anything is dialled.
    public var firstGrantSeconds: Int64 = 60
    /// Seconds of talk that each later extension of the hold buys.
    public var grantSeconds: Int64 = 60
    /// Ask for the next grant when this is left of the last.
    public var guardMilliseconds: Int64 = 5_000
    /// How long an answer of the ledger is waited for.
    public var ledgerMilliseconds: Int64 = 2_000
    /// Longest call in seconds, 4 hours; the built-in test numbers have limits of their own.
    public var maximumCallSeconds: Int64 = 14_400
    /// How long an app that is called may ring.
    public var ringMilliseconds: Int64 = 45_000
    /// A device that joins a ring late rings at least this long from its `alert`.
    public var lateRingMilliseconds: Int64 = 15_000
    /// A ring is over after this long, whoever joined it.
    public var longestRingMilliseconds: Int64 = 75_000
    /// Devices of one user that ring for one call.
    public var ringingDevices = 16
    /// Devices of one call that shake hands before anybody accepts; more get their answer when they accept.
    public var earlyOffers = 4
    /// Sound before the answer.
    public var earlyMediaMilliseconds: Int64 = 90_000
    /// No packet from a side that is not on hold, or no way to an app, on hold and muted too: the call is dead.
    public var deadMediaMilliseconds: Int64 = 30_000
    /// How long keys may take after both sides agreed.
    public var mediaSetUpMilliseconds: Int64 = 15_000
    /// How long ports and keys for the media may take; the call is refused with 503 after that.
    public var preparationMilliseconds: Int64 = 2_000
    /// How long a trunk may say nothing at all to an INVITE, which UDP has repeated twice by then, where another trunk can
    /// take the call.
    public var firstResponseMilliseconds: Int64 = 1_700
    /// How long a side sends nothing before ``MediaNotice/silence(_:)`` is told: its last packet came so much earlier.
    public var silenceMilliseconds: Int64 = 5_000
    /// How long the answer to an authorisation that nobody waits for is still watched, to give its hold back.
    public var lateLedgerMilliseconds: Int64 = 60_000
    /// Most keys of one request.
    public var digitsPerRequest = 64
    /// Calls that are over and whose app may still report what it measured.
    public var recentCalls = 1_024
    /// What ``rooms`` and ``participantsPerRoom`` may be at most; the mixer takes no more.
    public static let maximumRooms = 1_000
    public static let maximumParticipants = 1_000
    /// Conferences that somebody is in, and participants of one.
    public var rooms = 1_000
    public var participantsPerRoom = 200
    /// Others that are brought in to one call of two.
    public var guestsPerCall = 8
    /// How long somebody may be alone in a conference.
    public var aloneMilliseconds: Int64 = 900_000

    public init() {}
  }

  /// Takes the standard ``Limits``.
  public init(environments: [Environment], trunks: [CallTrunk], host: SIPHost, appPolicy: MediaPolicy = .app) {
    self.environments = environments
    self.trunks = trunks
    self.host = host
    self.appPolicy = appPolicy
    limits = Limits()
  }
}

/// A trunk as calls use it. One object for all of them: each call, and each notice of one, would otherwise carry a copy of a
/// kilobyte.
public final class CallTrunk: Sendable {
  /// Name, order, caps, health and failover.
  public let trunk: Trunk
  /// Where calls go: host, port and transport of every Request-URI.
  public let uri: SIPURI
  /// Routes before it, such as outbound proxies, top first.
  public let proxies: [SIPURI]
  /// Credentials for its challenges; `nil` leaves challenges unanswered.
  public let account: DigestAccount?
  /// Which caller the INVITE names, and how numbers are written.
  public let identity: CallerIdentityPolicy
  /// Codecs in the order of offers, packet time, SRTP.
  public let media: MediaPolicy
  /// How it is noticed that the other end of a call is gone (RFC 4028).
  public let sessionTimer: SessionTimerPolicy
  /// Whether provisional responses are acknowledged (RFC 3262).
  public let reliability: OutgoingCall.Reliability
  /// Redirections (3xx) that are followed in one call; 0 takes each one as a failure.
  public let maximumRedirections: Int
  /// How long a call may ring: from the first 180, or without one from the first provisional response.
  public let ringTimeoutMilliseconds: Int64
  /// Where it is known already, for the built-in far end.
  public let paths: [SIPPath]
  /// What is believed of the calls that it sends us.
  public let inbound: InboundTrunkPolicy
  /// Whether calls over it are recorded; `nil`: they are not.
  public let recording: RecordingOptions?
  /// Whether it is a telephone of a user, and no trunk.
  let isTelephone: Bool

  /// Without `paths`, DNS says where the trunk is (RFC 3263); a call may ring for three minutes.
  public init(
    trunk: Trunk, uri: SIPURI, proxies: [SIPURI] = [], account: DigestAccount? = nil, identity: CallerIdentityPolicy,
    media: MediaPolicy, sessionTimer: SessionTimerPolicy = .standard,
    reliability: OutgoingCall.Reliability = .supported, maximumRedirections: Int = 0,
    ringTimeoutMilliseconds: Int64 = 180_000, paths: [SIPPath] = [],
    inbound: InboundTrunkPolicy = InboundTrunkPolicy(), recording: RecordingOptions? = nil
  ) {
    isTelephone = false
    self.recording = recording
    self.trunk = trunk
    self.uri = uri
    self.proxies = proxies
    self.account = account
    self.identity = identity
    self.media = media
    self.sessionTimer = sessionTimer
    self.reliability = reliability
    self.maximumRedirections = maximumRedirections
    self.ringTimeoutMilliseconds = ringTimeoutMilliseconds
    self.paths = paths
    self.inbound = inbound
  }

  /// A telephone of a user.
  /// - Parameter host: how the gateway names itself.
  init(telephone name: String, uri: SIPURI, path: SIPPath, host: SIPHost) {
    isTelephone = true
    recording = nil
    trunk = Trunk(peer: name)
    self.uri = uri
    proxies = []
    account = nil
    identity = CallerIdentityPolicy(domain: host, assertion: .none)
    // What it offers is taken either way; what it is offered is plain, which every telephone takes, unless keys travel
    // protected.
    media = .trunk(path.remote.transport == .tls ? [.none, .sdes] : .none)
    sessionTimer = .standard
    reliability = .supported
    maximumRedirections = 0
    ringTimeoutMilliseconds = 180_000
    paths = [path]
    inbound = InboundTrunkPolicy()
  }
}

extension EngineConfiguration.Environment {
  /// The price of an address that no deck knows; `nil` where the payer's currency or the rate allow none.
  func addressRate(for payer: Payer) -> RateSnapshot? {
    try? RateSnapshot(
      deck: "sip", prefix: "", destination: "SIP address", currency: payer.currency,
      tariff: try Tariff(ratePerMinute: sipRatePerMinute, initial: 1, increment: 1))
  }
}

extension CallTrunk {
  /// The name of the trunk that carries the numbers of ``SandboxNumber``.
  public static let farEnd = "far-end"
}
