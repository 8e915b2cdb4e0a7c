package import AppProtocol
package import CallEngine
package import CallModel
package import SIPCore

/// What a node decides by.
package struct NodeConfiguration: Sendable {
  /// Of this node, in ledgers and lists.
  package var node: NodeID
  package var environments: [NodeEnvironment]
  /// What may change while calls are up.
  package var settings: NodeSettings
  package var agent: UserAgentConfiguration
  package var door: AppDoor.Configuration
  /// Trunks that the node registers with.
  package var registrations: [OutgoingRegistration]
  /// Whether what was seen of each call is told with ``NodeEffect/trace(_:)``.
  package var tracesCalls = true
  /// Whether legs are told with ``NodeEffect/journal(_:)``.
  package var keepsJournal = true
  /// What an earlier life left at the trunks.
  package var leftOver: [JournaledLeg] = []
  /// A trunk inside this process, which dies with it.
  package var innerTrunk: String?

  package init(
    node: NodeID, environments: [NodeEnvironment], settings: NodeSettings, agent: UserAgentConfiguration,
    door: AppDoor.Configuration, registrations: [OutgoingRegistration] = []
  ) {
    self.node = node
    self.environments = environments
    self.settings = settings
    self.agent = agent
    self.door = door
    self.registrations = registrations
  }
}

/// What may change while calls are up.
package struct NodeSettings: Sendable {
  /// Who signs the ledger's operations is decided at the start of a life: an origin in here counts for nothing.
  package var engine: EngineConfiguration
  /// By application key.
  package var applications: [String: NodeApplication]
  /// Whether what apps measured is kept.
  package var keepsClientStatistics = true
  /// Where certificates of signed callers may be fetched.
  package var certificateFetches = WebFetchPolicy()
  /// Relays for the sound of apps.
  package var turn: TURNService?

  package init(engine: EngineConfiguration, applications: [String: NodeApplication]) {
    self.engine = engine
    self.applications = applications
  }
}

/// Who pays for the calls of an application, and what it may show.
package struct NodeApplication: Sendable {
  package var environment: String
  package var account: AccountName
  package var callerNumbers: [E164Number]
  /// What a call for one of its users does where a device is in a call, unless the device has a rule of its own.
  package var busyRule: BusyRule
  /// How its apps have their calls recorded; `nil`: they may not.
  package var recording: RecordingOptions?

  package init(
    environment: String, account: AccountName, callerNumbers: [E164Number], busyRule: BusyRule = .device,
    recording: RecordingOptions? = nil
  ) {
    self.environment = environment
    self.account = account
    self.callerNumbers = callerNumbers
    self.busyRule = busyRule
    self.recording = recording
  }
}

/// One environment: a ledger and what is kept beside it.
package struct NodeEnvironment: Sendable {
  package var name: String
  /// Where the ledger is, for people.
  package var ledger: String
  package var retention: Retention

  package init(name: String, ledger: String, retention: Retention = Retention()) {
    self.name = name
    self.ledger = ledger
    self.retention = retention
  }
}
