public import AppProtocol
public import CallModel
public import LandlineConfiguration
public import LandlineWire
public import MediaCore
package import NodeCore
public import SIPCore
public import SecureTransport

/// What a running node is made of, once every file and secret has been read.
public struct HubConfiguration: Sendable {
  /// Of this node, in the ledger and in lists.
  public var node: NodeID
  /// Of the gateway's program, as the node's status tells it.
  public var version: String
  /// Every one has a ledger, accounts and applications of its own.
  public var environments: [HubEnvironment]
  /// What may change while calls are up.
  package var settings: NodeSettings
  /// Listeners, user agent and TLS of the node's SIP.
  public var sip: SIPNode.Configuration
  /// One for each media thread.
  public var media: [MediaLoopConfiguration]
  /// Shown in DTLS; its fingerprint stands in the session descriptions.
  public var certificate: DTLSCertificate
  /// What the node says to callers, ready in every codec; all media threads share it.
  public var prompts: PromptLibrary
  /// Connections, sessions and what they may ask.
  public var door: AppDoor.Configuration
  /// Trunks that the node registers with.
  public var registrations: [OutgoingRegistration] = []
  /// Numbers of the configuration, by environment; the stores may hold others.
  public var numbers: [String: [InboundNumber]] = [:]
  /// Desk phones of the configuration, by environment; the stores may hold others.
  public var deskPhones: [String: [DeskPhone]] = [:]
  /// Whether what was seen of each call is kept for its story.
  public var keepsTraces = true
  /// Where copies of messages go; `nil` for nowhere.
  public var hep: HEPConfiguration?
  /// The file of the legs that are up, which the next life ends where this one dies; `nil` for none.
  public var dialogJournal: String?
  /// A trunk inside this process, which dies with it.
  public var innerTrunk: String?

  package init(
    node: NodeID, version: String, environments: [HubEnvironment], settings: NodeSettings,
    sip: SIPNode.Configuration, media: [MediaLoopConfiguration], certificate: DTLSCertificate, prompts: PromptLibrary,
    door: AppDoor.Configuration
  ) {
    self.node = node
    self.version = version
    self.environments = environments
    self.settings = settings
    self.sip = sip
    self.media = media
    self.certificate = certificate
    self.prompts = prompts
    self.door = door
  }
}
