/// What ``SIPBench`` found.
public struct SIPBenchReport: BenchReport {
  /// One rate of calls.
  public struct Load: Sendable, Encodable {
    public var rate: Int
    public var calls: Int
    public var failed: Int
    public var cpuMicrosecondsPerCall: Double
    /// What one core could do at this cost.
    public var callsPerSecondAndCore: Double
  }

  /// One number of live transactions.
  public struct Scaling: Sendable, Encodable {
    public var live: Int
    /// A request sent and its final response found and handled.
    public var exchangeMicroseconds: Double
    public var bytesPerTransaction: Double
  }

  public struct Memory: Sendable, Encodable {
    public var dialogs: Int
    /// Heap in use for one dialog of an established call.
    public var bytesPerDialog: Double
    /// What was left of each when all calls were over.
    public var bytesLeftPerDialog: Double
  }

  public struct Shape: Sendable, Encodable {
    public var name: String
    public var bytes: Int
    public var milliseconds: Double
  }

  public var calls: [Load] = []
  public var kamailio: [Load] = []
  public var transactions: [Scaling] = []
  public var dialog: Memory?
  /// The slowest first.
  public var hostile: [Shape] = []
  public var notes: [String] = []

  /// Our CPU a call as a share of Kamailio's, medians of all rates.
  public var ratioToKamailio: Double? {
    guard !calls.isEmpty, !kamailio.isEmpty else { return nil }
    let own = Spread(calls.map(\.cpuMicrosecondsPerCall)).median
    let relay = Spread(kamailio.map(\.cpuMicrosecondsPerCall)).median
    return relay > 0 ? own / relay : nil
  }

  enum CodingKeys: CodingKey { case calls, kamailio, transactions, dialog, hostile, notes }

  public var table: String {
    var parts: [String] = []
    var loads = BenchTable(["calls", "rate/s", "placed", "failed", "CPU us/call", "calls/s and core"])
    for (name, rows) in [("landline as caller", calls), ("kamailio as relay", kamailio)] {
      for row in rows {
        loads.append([
          name, "\(row.rate)", "\(row.calls)", "\(row.failed)",
          BenchTable.number(row.cpuMicrosecondsPerCall, decimals: 0),
          BenchTable.number(row.callsPerSecondAndCore, decimals: 0),
        ])
      }
    }
    if !calls.isEmpty { parts.append(loads.text) }
    if let ratioToKamailio {
      parts.append("CPU of a call, landline / kamailio: \(BenchTable.number(ratioToKamailio, decimals: 2))")
    }
    var scaling = BenchTable(["live transactions", "request and response us", "bytes each"])
    for row in transactions {
      scaling.append([
        "\(row.live)", BenchTable.number(row.exchangeMicroseconds, decimals: 1),
        BenchTable.number(row.bytesPerTransaction, decimals: 0),
      ])
    }
    parts.append(scaling.text)
    if let dialog {
      var memory = BenchTable(["open dialogs", "bytes each", "left of each afterwards"])
      memory.append([
        "\(dialog.dialogs)", BenchTable.number(dialog.bytesPerDialog, decimals: 0),
        BenchTable.number(dialog.bytesLeftPerDialog, decimals: 1),
      ])
      parts.append(memory.text)
    }
    var shapes = BenchTable(["hostile message", "bytes", "ms"])
    for shape in hostile.prefix(8) {
      shapes.append([shape.name, "\(shape.bytes)", BenchTable.number(shape.milliseconds, decimals: 3)])
    }
    parts.append(shapes.text)
    return (parts + notes).joined(separator: "\n\n")
  }
}
