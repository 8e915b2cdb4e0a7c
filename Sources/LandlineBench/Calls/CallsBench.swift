import Foundation

/// Whole calls through a whole gateway: WebSocket in, SIP out, authorised and settled in a ledger on disk.
///
/// The gateway is a process of its own, and only its processor time and memory count. Apps are in this process: few
/// connections, the offer of a browser for every call. Kamailio relaying the same rate between two SIPp takes turns with
/// it, and for calls with ICE and DTLS Janus.
public enum CallsBench {
  /// The rows of the benchmark.
  public enum Row: String, CaseIterable, Sendable, Encodable {
    /// Processor time of a call without media.
    case b3 = "B3"
    /// The same with a handshake of ICE and DTLS.
    case b3d = "B3d"
    /// Processor time of a call from user to user, beside one to a telephone of the same gateway.
    case b3u = "B3u"
    /// What the gateway adds to the set-up of a call.
    case b4 = "B4"
    /// Memory of sessions and calls, and what is left of calls that are over.
    case b6 = "B6"
    /// From the start of the process to the first call it takes.
    case b8 = "B8"
  }

  /// Which rows, under which loads, and with which programs.
  public struct Options: Sendable {
    /// Measured in this order.
    public var rows = Row.allCases
    /// Times that ours and the anchor take turns.
    public var rounds = 3
    /// Seconds of load in each trial.
    public var seconds = 10.0
    /// Calls a second of B3, one trial each in every round.
    public var rates = [100, 200, 400]
    /// Calls a second of B3d.
    public var handshakeRate = 50
    /// Calls a second of B3u, and at which the delay is measured beside an idle gateway.
    public var delayRate = 200
    /// App connections that calls are shared among: a session has at most 64 calls at a time.
    public var apps = 16
    /// Sessions and calls at both ends of the memory's slope.
    public var memoryCounts = (few: 100, many: 500)
    /// Calls of B6 whose remains in memory are measured, after as many to warm up; 0 leaves that out.
    public var finishedCalls = 10_000
    /// Entries of the large ledger that a gateway is started on.
    public var ledgerEntries = 1_000_000
    /// Folder with `janus_sip.py`.
    public var perfTools = "../shared/perf-tools"
    /// Folder on the disk that ledgers are made on; `nil` for one of the system's.
    public var folder: String?
    /// The gateway's program; `nil` for `landline` beside this one.
    public var gateway: String?
    /// The program that plays the callee of B3 and B3d: a path, or a name that is looked for in `PATH` and `/usr/sbin`.
    public var sipp = "sipp"
    /// The relay that B3 compares with and cannot do without, found as ``sipp`` is.
    public var kamailio = "kamailio"
    /// Told before each measurement.
    public var progress: BenchProgress = { _ in }

    /// All rows, with the gateway beside this program.
    public init() {}
  }

  /// - Throws: ``BenchProblem`` when the gateway does not start or a program is missing that no row can do without.
  public static func run(_ options: Options) async throws -> CallsBenchReport {
    guard options.rounds > 0, options.seconds > 0, options.apps > 0, options.finishedCalls >= 0,
      options.memoryCounts.few > 0, options.memoryCounts.many > options.memoryCounts.few,
      (options.rates + [options.handshakeRate, options.delayRate]).allSatisfy({ (1...100_000).contains($0) }),
      !options.rates.isEmpty
    else { throw BenchProblem("rounds, seconds, rates, apps and numbers of calls are above 0") }
    if options.rows.contains(where: { [.b3, .b3u, .b3d].contains($0) }) {
      try need(options.sipp, "sip-tester")
    }
    if options.rows.contains(.b3) { try need(options.kamailio, "kamailio") }
    let folder = try BenchFolder(in: options.folder ?? BenchPlaces.diskFolder)
    return try await CallsBenchRun(options, folder: folder.path).report()
  }

  private static func need(_ program: String, _ package: String) throws(BenchProblem) {
    guard PeerProgram.exists(program) else {
      throw BenchProblem("\(program) is not installed: apt-get install \(package)")
    }
  }
}
