public import CallModel
public import LedgerSpool

/// What the hub needs of one environment.
public struct HubEnvironment: Sendable {
  public var name: String
  public var node: NodeID
  public var stores: EnvironmentStores
  public var payers: PayerDirectory
  public var spool: LedgerSpool
  /// By application key.
  public var applications: [String: Application]
  /// How long records of calls are kept.
  public var recordMilliseconds: Int64?
  /// How long what apps measured is kept, where that is shorter.
  public var statisticsMilliseconds: Int64?
  /// How long traces of calls are kept.
  public var traceMilliseconds: Int64?

  public struct Application: Sendable {
    public var account: AccountName
    public var callerNumbers: [E164Number]

    public init(account: AccountName, callerNumbers: [E164Number]) {
      self.account = account
      self.callerNumbers = callerNumbers
    }
  }

  public init(
    name: String, node: NodeID, stores: EnvironmentStores, payers: PayerDirectory, spool: LedgerSpool,
    applications: [String: Application], recordMilliseconds: Int64? = nil, statisticsMilliseconds: Int64? = nil
  ) {
    self.name = name
    self.node = node
    self.stores = stores
    self.payers = payers
    self.spool = spool
    self.applications = applications
    self.recordMilliseconds = recordMilliseconds
    self.statisticsMilliseconds = statisticsMilliseconds
  }
}
