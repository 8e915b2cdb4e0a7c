package import LandlineRecording
public import LedgerSpool
public import NodeCore

/// What the hub needs of one environment.
public struct HubEnvironment: Sendable {
  /// As configured: `production`, `sandbox` or a name of the operator's.
  public var name: String
  /// The ledger, and the gateway's own store beside it.
  public var stores: EnvironmentStores
  /// Reads accounts and prices from the same ledger.
  public var payers: PayerDirectory
  /// Keeps what calls owe the ledger while it cannot be reached.
  public var spool: LedgerSpool
  package var retention: Retention
  /// What can be played and said in calls.
  package var sounds = SoundShelf(folder: nil, speech: nil)
  /// Where calls and conferences are recorded to; `nil`: nowhere.
  package var recordings: RecordingArchive?

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
