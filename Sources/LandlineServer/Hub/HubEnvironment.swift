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
  /// Days that records of calls are kept.
  public var recordDays: Int64

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
    applications: [String: Application], recordDays: Int64 = 90
  ) {
    self.name = name
    self.node = node
    self.stores = stores
    self.payers = payers
    self.spool = spool
    self.applications = applications
    self.recordDays = recordDays
  }
}
