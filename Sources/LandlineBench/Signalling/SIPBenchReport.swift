/// What ``SIPBench`` found.
public struct SIPBenchReport: BenchReport {
  /// One rate of calls.
  public struct Load: Sendable, Encodable {
    /// Calls a second that were to be placed, whether or not earlier ones had ended.
    public var rate: Int
    /// Calls of the whole trial: the rate times its seconds.
    public var calls: Int
    /// Calls that were not established, or not over some time after the load; for Kamailio, those that SIPp counts.
    public var failed: Int
    /// Processor time of this process, which is the caller; for Kamailio, of all its processes.
    public var cpuMicrosecondsPerCall: Double
    /// What one core could do at this cost.
    public var callsPerSecondAndCore: Double
  }

  /// One number of live transactions.
  public struct Scaling: Sendable, Encodable {
    /// Other transactions that waited for their answer meanwhile.
    public var live: Int
    /// A request sent and its final response found and handled.
    public var exchangeMicroseconds: Double
    /// Heap in use for one transaction that waits for its answer.
    public var bytesPerTransaction: Double
  }

  /// What established calls keep on the heap: two agents joined directly, without sockets.
  public struct Memory: Sendable, Encodable {
    /// Calls open at the same time. Each is two dialogs here, one on each side.
    public var dialogs: Int
    /// Heap in use for one dialog of an established call.
    public var bytesPerDialog: Double
    /// What was left of each when all calls were over.
    public var bytesLeftPerDialog: Double
  }

  /// A message made to cost as much as possible, through gate, parser, transactions and answer.
  public struct Shape: Sendable, Encodable {
    /// What it has too much of. Each name stands twice: as large as UDP carries, and as large as TCP does.
    public var name: String
    /// Of the whole message, body included.
    public var bytes: Int
    /// Processor time to take it in and answer it, of the fastest round.
    public var milliseconds: Double
  }

  /// Of this gateway's signalling as the caller, one for each rate that went well; empty without SIPp.
  public var calls: [Load] = []
  /// Of Kamailio as a relay between two SIPp, one for each rate that went well; empty without SIPp or Kamailio.
  public var kamailio: [Load] = []
  /// In the order that was asked for.
  public var transactions: [Scaling] = []
  /// `nil` where it was not measured.
  public var dialog: Memory?
  /// The slowest first.
  public var hostile: [Shape] = []
  /// What was left out and why, a line each.
  public var notes: [String] = []

  /// Our CPU a call as a share of Kamailio's, medians of all rates.
  public var ratioToKamailio: Double? {
    guard !calls.isEmpty, !kamailio.isEmpty else { return nil }
    let own = Spread(calls.map(\.cpuMicrosecondsPerCall)).median
    let relay = Spread(kamailio.map(\.cpuMicrosecondsPerCall)).median
    return relay > 0 ? own / relay : nil
  }

  enum CodingKeys: CodingKey { case calls, kamailio, transactions, dialog, hostile, notes }

  /// Calls, transactions, dialogs, the eight slowest hostile messages, then the notes.
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
