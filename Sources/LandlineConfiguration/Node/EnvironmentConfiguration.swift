public import AppProtocol
public import CallEngine
public import CallModel

/// One entry of `environments`: a ledger of its own, the trunks it may use, and who may use it.
public struct EnvironmentConfiguration: Hashable, Sendable {
  /// Most environments of one file.
  public static let maximumEnvironments = 16
  /// Most entries of `applications` in one environment.
  public static let maximumApplications = 1024
  /// Most entries of `operators` in one environment.
  public static let maximumOperators = 256
  /// Most entries of `owners` in one environment.
  public static let maximumOwners = 10_000
  /// Most entries of `sip-hosts` in one environment.
  public static let maximumSIPHosts = 256
  /// Most trunks that one environment, or its emergency calls, may name.
  public static let maximumTrunks = 1024
  /// Most codes that one environment may name as its emergency numbers.
  public static let maximumEmergencyNumbers = 64
  /// What ``emergencyCalls`` may be.
  public static let emergencyCallsRange = 1...1024
  /// Most numbers that one application may show.
  public static let maximumCallerNumbers = 10_000
  /// Most entries of `countries` in one environment.
  public static let maximumCountries = 300
  /// Most entries of `velocity` in one environment.
  public static let maximumVelocityRules = 64
  /// Calls in an hour.
  public static let velocityCallsRange = 1...1_000_000
  /// ``ledgerCacheMebibytes`` where the file says nothing.
  public static let standardLedgerCacheMebibytes = 64
  /// What ``ledgerCacheMebibytes`` may be: a mebibyte to 16 gibibytes.
  public static let ledgerCacheRange = 1...16_384
  /// Ten gibibytes.
  public static let standardRecordingMebibytes = 10_240
  /// What ``recordingMebibytes`` may be: a mebibyte to 16 tebibytes.
  public static let recordingSpaceRange = 1...16_777_216
  /// A thousand million of whatever the currency counts.
  public static let standardLargestAmountMicros: MicroUnits = 1_000_000_000_000_000

  /// `production`, `sandbox` or a name of the operator's: lower-case letters, digits and `-`.
  public var name: String
  /// Path of the ledger's file.
  public var ledger: String
  /// Mebibytes of the ledger's pages that are kept in memory. The process grows by as much while they fill.
  public var ledgerCacheMebibytes: Int
  /// Micro-units that one top-up or correction over REST may book.
  public var largestAmountMicros: MicroUnits
  /// Folder of recordings; `nil` for one beside the ledger.
  public var recordings: String?
  /// File with the keys that recordings are encrypted with; `nil` for one that is made in their folder.
  public var recordingKeyFile: String?
  /// Mebibytes that all recordings take at most.
  public var recordingMebibytes = standardRecordingMebibytes
  /// Folder of sounds that can be played in calls; `nil`: none.
  public var sounds: String?
  /// Whether texts are spoken where an engine is installed.
  public var speaks = true
  /// Names of trunks, as listed; the trunks' own priorities decide their order.
  public var trunks: [String]
  /// Whether the numbers of ``SandboxNumber`` are answered by the built-in far end.
  public var hasSandboxNumbers: Bool
  /// Hosts that calls to SIP addresses may reach.
  public var sipHosts: EngineConfiguration.SIPHosts
  /// Nano-units of the payer's currency for a minute of a call to a SIP address.
  public var sipRatePerMinute: NanoUnits
  /// Countries that accounts without a list of their own may call.
  public var countries: EngineConfiguration.Countries
  /// What accounts and users may do within an hour.
  public var velocity: [VelocityRule]
  /// Emergency codes of its callers; `nil` for those of the country of the caller's number.
  public var emergencyNumbers: Set<String>?
  /// Emergency calls of one account at a time.
  public var emergencyCalls: Int
  /// Names of the trunks that carry emergency calls, in their order; empty for ``trunks``.
  public var emergencyTrunks: [String]
  /// Most characters of a user's id.
  public var usersMaximumLength: Int
  /// How apps may prove for whom they register; never empty.
  public var registration: Set<RegistrationScheme>
  /// In the order of the file.
  public var applications: [ApplicationConfiguration]
  /// In the order of the file.
  public var operators: [OperatorConfiguration]
  /// In the order of the file.
  public var owners: [OwnerConfiguration]
  /// Numbers that trunks bring calls to, in the order of the file; operators may add others.
  public var numbers: [InboundNumber]

  /// Telephones that register here, in the order of the file; operators may add others.
  public var deskPhones: [DeskPhone]

  /// Everything else holds as where the file says nothing: no trunk, and nobody who may use it.
  public init(name: String, ledger: String) {
    self.name = name
    self.ledger = ledger
    ledgerCacheMebibytes = EnvironmentConfiguration.standardLedgerCacheMebibytes
    largestAmountMicros = EnvironmentConfiguration.standardLargestAmountMicros
    trunks = []
    hasSandboxNumbers = false
    sipHosts = EngineConfiguration.SIPHosts()
    sipRatePerMinute = .zero
    countries = .ofCallerNumbers
    velocity = VelocityRule.standard
    emergencyNumbers = nil
    emergencyCalls = EngineConfiguration.Environment.standardEmergencyCalls
    emergencyTrunks = []
    usersMaximumLength = UserID.Rules.standard.maximumLength
    registration = Set(RegistrationScheme.allCases)
    applications = []
    operators = []
    owners = []
    numbers = []
    deskPhones = []
  }

  /// Country calling codes of the numbers that the calls of each account may show, ascending.
  public var callerCountries: [AccountName: [Int]] {
    applications.filter { !$0.callerNumbers.isEmpty }.reduce(into: [:]) { countries, application in
      let codes = application.callerNumbers.map(\.country)
      countries[application.account] = Set((countries[application.account] ?? []) + codes).sorted()
    }
  }
}

/// One entry of `applications`: what an app proves itself with, and who pays for its calls.
public struct ApplicationConfiguration: Hashable, Sendable {
  /// Bytes of a secret.
  public static let secretBytes = 16

  /// The entry's key in the file, for people; apps prove themselves with ``key``.
  public var name: String
  /// A GUID in lower-case.
  public var key: String
  /// Base64 of ``secretBytes`` bytes.
  public var secret: Redacted<String>
  /// Path of the file that the secret was read from; `nil` where it stands in the configuration.
  public var secretFile: String?
  /// Pays for its calls; the ledger of the environment must have it.
  public var account: AccountName
  /// Numbers that its calls may show; the first one where a call names none.
  public var callerNumbers: [E164Number]
  /// What a call for a user does where a device of the user is in a call; a device may have a rule of its own.
  public var busyRule: BusyRule
  /// How its apps have their calls recorded; `nil`: they may not.
  public var recording: RecordingOptions?

  /// - Parameter secret: Base64 of ``secretBytes`` bytes; not checked here.
  public init(
    name: String, key: String, secret: Redacted<String>, account: AccountName, callerNumbers: [E164Number] = [],
    busyRule: BusyRule = .device
  ) {
    self.name = name
    self.key = key
    self.secret = secret
    self.account = account
    self.callerNumbers = callerNumbers
    self.busyRule = busyRule
  }
}

/// One entry of `operators`: somebody who may use the whole interface of an environment.
public struct OperatorConfiguration: Hashable, Sendable {
  /// Characters of a key.
  public static let keyLength = 20...512

  /// Stands in the ledger's record of what the operator did, as `rest:NAME`.
  public var name: String
  /// Printable ASCII, sent as a bearer token (RFC 6750).
  public var key: Redacted<String>

  /// - Parameter key: Not checked here: ``keyLength`` printable ASCII characters.
  public init(name: String, key: Redacted<String>) {
    self.name = name
    self.key = key
  }
}

/// One entry of `owners`: somebody who sees one account, and may call with it.
public struct OwnerConfiguration: Hashable, Sendable {
  /// Stands in the ledger's record of what the owner did, as `owner:NAME`.
  public var name: String
  /// As an operator's: ``OperatorConfiguration/keyLength`` printable ASCII characters.
  public var key: Redacted<String>
  /// The only one that the owner sees; the ledger of the environment must have it.
  public var account: AccountName

  /// - Parameter key: Not checked here: ``OperatorConfiguration/keyLength`` printable ASCII characters.
  public init(name: String, key: Redacted<String>, account: AccountName) {
    self.name = name
    self.key = key
    self.account = account
  }
}
