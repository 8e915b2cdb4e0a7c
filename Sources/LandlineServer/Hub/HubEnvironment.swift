public import LedgerSpool
public import NodeCore

/// What the hub needs of one environment.
public struct HubEnvironment: Sendable {
  public var name: String
  public var stores: EnvironmentStores
  public var payers: PayerDirectory
  public var spool: LedgerSpool
  package var retention: Retention

  package init(
    name: String, stores: EnvironmentStores, payers: PayerDirectory, spool: LedgerSpool,
    retention: Retention = Retention()
  ) {
    self.name = name
    self.stores = stores
    self.payers = payers
    self.spool = spool
    self.retention = retention
  }
}
