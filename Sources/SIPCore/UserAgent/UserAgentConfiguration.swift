public import CallModel

/// How this node names itself.
public struct UserAgentConfiguration: Sendable {
  /// Whom requests outside of dialogs are taken from.
  public enum Acquaintance: Hashable, Sendable {
    case everybody
    /// Hosts that requests of ours went to, and these. Nobody else gets an answer, nor a transaction.
    case peers([SIPHost])
  }

  /// One for each listener.
  public var addresses: [AdvertisedAddress]
  /// Bounds of what peers can make the agent hold.
  public var limits: UserAgentLimits
  /// User-Agent and Server.
  public var productName: String
  /// Whether calls from outside are reported; otherwise an INVITE gets 404.
  public var acceptsCalls: Bool
  /// What session timers calls that came in get.
  public var sessionTimer: SessionTimerPolicy
  /// Whether 100rel is asked for in provisional responses of ours.
  public var reliability: OutgoingCall.Reliability
  /// Whether REFER inside calls that came in is reported; otherwise it gets 603.
  public var allowsTransfer: Bool
  /// Whether calls from outside come from our trust domain (RFC 3324): only then their P-Asserted-Identity, Diversion
  /// and History-Info are read.
  public var trustsCallers: Bool
  /// Whom requests outside of dialogs are taken from. Over UDP a source can be forged, and an answer would reach somebody
  /// else; over a stream it would tell whoever scans that there is something to attack.
  public var acquaintance = Acquaintance.everybody
  /// Bounds of telephones that register here. Without ``UserAgentCommand/phones(_:)`` nobody can: REGISTER gets 405, or nothing
  /// where it comes from a stranger.
  public var registrar = RegistrarLimits.standard

  /// By default calls from outside get 404, and nobody's P-Asserted-Identity is believed.
  public init(
    addresses: [AdvertisedAddress], limits: UserAgentLimits = .standard, productName: String = "Landline",
    acceptsCalls: Bool = false, sessionTimer: SessionTimerPolicy = .standard,
    reliability: OutgoingCall.Reliability = .supported, allowsTransfer: Bool = false,
    trustsCallers: Bool = false
  ) {
    self.addresses = addresses
    self.limits = limits
    self.productName = productName
    self.acceptsCalls = acceptsCalls
    self.sessionTimer = sessionTimer
    self.reliability = reliability
    self.allowsTransfer = allowsTransfer
    self.trustsCallers = trustsCallers
  }
}
