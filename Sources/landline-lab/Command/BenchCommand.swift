import ArgumentParser
import Foundation
import LandlineBench
import LandlineConsole

struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "How fast this is on this machine, beside the least that could do the job.",
    subcommands: [
      LedgerPart.self, RatingPart.self, BalancePart.self, SIPPart.self, MediaPart.self, CallsPart.self,
      SoakPart.self, MediaGatewayPart.self,
    ])

  struct LedgerPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ledger",
      abstract: "Holds and settlements a second, beside a bare SQLite loop in the same run; delays at fixed rates.",
      discussion: "landline-lab bench ledger --dir /var/tmp")

    @Option(name: .customLong("dir"), help: "Folder on the disk to measure.", completion: .directory)
    var folder: String?

    @Option(help: "Seconds of each measurement.")
    var seconds = 2.0

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
      guard seconds > 0, seconds <= 3600 else { throw ValidationError("--seconds accepts more than 0, at most 3600") }
    }

    func run() async throws {
      var options = LedgerBench.Options()
      options.folder = folder
      options.seconds = seconds
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try await LedgerBench.run(chosen) }
    }
  }

  struct RatingPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rating", abstract: "Import, memory and lookups of a large deck.",
      discussion: "landline-lab bench rating")

    @Option(help: "Prefixes in the deck.")
    var prefixes = 1_000_000

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
      guard (1000...2_000_000).contains(prefixes) else { throw ValidationError("--prefixes accepts 1000 to 2000000") }
    }

    func run() async throws {
      var options = RatingBench.Options()
      options.prefixes = prefixes
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try RatingBench.run(chosen) }
    }
  }

  struct BalancePart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "balance", abstract: "landline balance as a whole process, on a large ledger.",
      discussion: "landline-lab bench balance --postings 100000")

    @Option(help: "Postings in the ledger.")
    var postings = 1_000_000

    @Option(name: .customLong("dir"), help: "Folder that keeps the ledger for the next time.", completion: .directory)
    var folder: String?

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
      guard (1000...10_000_000).contains(postings) else { throw ValidationError("--postings accepts 1000 to 10000000") }
    }

    func run() async throws {
      var options = BalanceBench.Options()
      options.postings = postings
      options.folder = folder
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try await BalanceBench.run(chosen) }
    }
  }

  struct SIPPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sip",
      abstract: "Signalling of outgoing calls towards SIPp, beside Kamailio relaying the same calls in the same run.",
      discussion: "landline-lab bench sip --rate 500")

    @Option(help: "Seconds of load at each rate.")
    var seconds = 10.0

    @Option(help: "Calls a second, one trial each; again for more.")
    var rate: [Int] = []

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
      guard seconds > 0, seconds <= 600 else { throw ValidationError("--seconds accepts more than 0, at most 600") }
      guard rate.allSatisfy({ (1...100_000).contains($0) }) else { throw ValidationError("--rate accepts 1 to 100000") }
    }

    func run() async throws {
      var options = SIPBench.Options()
      options.seconds = seconds
      if !rate.isEmpty { options.rates = rate }
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try await SIPBench.run(chosen) }
    }
  }

  struct MediaPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "media",
      abstract: "Media of calls: processor time, delay, memory and sound beside rtpengine and a bare C gateway.",
      discussion: """
        landline-lab bench media --rounds 1
        landline-lab bench media --only B11,B12

        Conferences are measured beside Janus: each row has its participants, whatever --calls says. Janus has fewer where
        it cannot carry as many; tones are listened to for six times the seconds.
        """)

    @Option(help: "Folder with the programs floor.c and rtpgen.c that are measured with.", completion: .directory)
    var perfTools = "../shared/perf-tools"

    @Option(help: "Calls through ours and the bare gateway; as each row says without it.")
    var calls: Int?

    @Option(help: "Seconds that are counted in each trial.")
    var seconds = 10.0

    @Option(help: "Times that ours, rtpengine and the bare gateway take turns.")
    var rounds = 3

    @Option(help: "Rows to measure, with commas between: \(MediaBench.Row.names).")
    var only: String?

    @Flag(help: "One JSON object.")
    var json = false

    private func rows() throws -> [MediaBench.Row] {
      guard let only else { return MediaBench.Row.allCases }
      return try only.split(separator: ",").map {
        guard let row = MediaBench.Row(rawValue: String($0)) else {
          throw ValidationError("--only accepts \(MediaBench.Row.names)")
        }
        return row
      }
    }

    func validate() throws {
      guard seconds >= 1, seconds <= 600 else { throw ValidationError("--seconds accepts 1 to 600") }
      guard (1...100).contains(rounds) else { throw ValidationError("--rounds accepts 1 to 100") }
      guard (1...400).contains(calls ?? 1) else { throw ValidationError("--calls accepts 1 to 400") }
      _ = try rows()
    }

    func run() async throws {
      var options = MediaBench.Options()
      options.perfTools = perfTools
      options.calls = calls
      options.seconds = seconds
      options.rounds = rounds
      options.rows = try rows()
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try MediaBench.run(chosen) }
    }
  }

  struct CallsPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "calls",
      abstract:
        "Whole calls through a whole gateway: processor time, delay, memory and start, beside Kamailio and Janus.",
      discussion: """
        landline-lab bench calls
        landline-lab bench calls --only B3,B4 --rounds 1 --seconds 5

        The gateway is a process of its own; apps and callees are not counted. Every call must be placed, answered, ended
        and settled, or its row says so.
        """)

    @Option(name: .customLong("dir"), help: "Folder on the disk that ledgers are made on.", completion: .directory)
    var folder: String?

    @Option(help: "Folder with janus_sip.py.", completion: .directory)
    var perfTools = "../shared/perf-tools"

    @Option(help: "The gateway to measure; without it, the landline beside this program.", completion: .file())
    var gateway: String?

    @Option(help: "Seconds of load in each trial.")
    var seconds = 10.0

    @Option(help: "Times that ours and the anchor take turns.")
    var rounds = 3

    @Option(help: "Calls a second of B3, one trial each in every round; again for more.")
    var rate: [Int] = []

    @Option(help: "Calls a second of B3d.")
    var handshakeRate: Int?

    @Option(help: "Rows to measure, with commas between: B3, B3u, B3d, B4, B6, B8.")
    var only: String?

    @Flag(help: "One JSON object.")
    var json = false

    private func rows() throws -> [CallsBench.Row] {
      guard let only else { return CallsBench.Row.allCases }
      return try only.split(separator: ",").map { text in
        guard let row = CallsBench.Row.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }) else {
          throw ValidationError("--only accepts \(CallsBench.Row.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return row
      }
    }

    func validate() throws {
      guard seconds > 0, seconds <= 600 else { throw ValidationError("--seconds accepts more than 0, at most 600") }
      guard (1...100).contains(rounds) else { throw ValidationError("--rounds accepts 1 to 100") }
      guard (rate + [handshakeRate ?? 1]).allSatisfy({ (1...100_000).contains($0) }) else {
        throw ValidationError("--rate and --handshake-rate accept 1 to 100000")
      }
      _ = try rows()
    }

    func run() async throws {
      var options = CallsBench.Options()
      options.folder = folder
      options.gateway = gateway
      options.perfTools = perfTools
      options.seconds = seconds
      options.rounds = rounds
      if !rate.isEmpty { options.rates = rate }
      if let handshakeRate { options.handshakeRate = handshakeRate }
      options.rows = try rows()
      options.progress = BenchCommand.progress
      let chosen = options
      try await BenchCommand.show(json: json) { try await CallsBench.run(chosen) }
    }
  }

  struct SoakPart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "soak",
      abstract:
        "Calls held for a long time with all that happens to calls, or what a hundred thousand calls leave behind.",
      discussion: """
        landline-lab bench soak --calls 500 --minutes 10 --gateway .build-asan/debug/landline
        landline-lab bench soak --total 100000 --rate 150

        The gateway is a process of its own. Each held call has a leg to an app, with ICE, DTLS and SRTP, and one to a
        trunk; both sides hold, resume, dial, restart ICE, cancel and hang up, also at the same time, and connections of
        apps are lost and taken up again. With --total: the slope of the gateway's memory over calls that are placed,
        answered, hung up and settled, and whether the ledger accounts for every one. Exit 1 when something is missed.
        """)

    @Option(help: "Bridged calls at a time, two legs each.")
    var calls = 500

    @Option(help: "Minutes that they are held.")
    var minutes = 10.0

    @Option(help: "Seconds between two packets of one leg.")
    var soundInterval = 1.0

    @Option(help: "Mean seconds between two operations of one call.")
    var operationInterval = 10.0

    @Option(help: "Mean seconds that an answered call goes on: from a third of them to five thirds.")
    var life = 45.0

    @Option(help: "Calls placed in a second, at most while they are held.")
    var rate: Int?

    @Option(help: "Measure memory over so many calls instead.")
    var total: Int?

    @Option(help: "Calls before them, which fill pools and caches.")
    var warmUp: Int?

    @Option(help: "The gateway's program; landline beside this one without it.", completion: .file())
    var gateway: String?

    @Option(name: .customLong("dir"), help: "Folder on the disk that the ledger is made on.", completion: .directory)
    var folder: String?

    @Option(help: "File that keeps what the gateway said.", completion: .file())
    var log: String?

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
      guard (1...10_000).contains(calls) else { throw ValidationError("--calls accepts 1 to 10000") }
      guard minutes > 0, minutes <= 10_080 else {
        throw ValidationError("--minutes accepts more than 0, at most 10080")
      }
      guard (0.02...60).contains(soundInterval), (0.1...3600).contains(operationInterval) else {
        throw ValidationError("--sound-interval accepts 0.02 to 60, --operation-interval 0.1 to 3600")
      }
      guard (3...3600).contains(life) else { throw ValidationError("--life accepts 3 to 3600") }
      guard (1...10_000).contains(rate ?? 1) else { throw ValidationError("--rate accepts 1 to 10000") }
      guard (100...10_000_000).contains(total ?? 100), (0...10_000_000).contains(warmUp ?? 0) else {
        throw ValidationError("--total accepts 100 to 10000000, --warm-up 0 to 10000000")
      }
    }

    func run() async throws {
      if let total {
        var options = MemorySlope.Options()
        options.calls = total
        if let warmUp { options.warmUpCalls = warmUp }
        if let rate { options.rate = rate }
        options.gateway = gateway
        options.folder = folder
        options.progress = BenchCommand.progress
        let chosen = options
        try await BenchCommand.show(json: json) {
          try await MemorySlope.run(chosen)
        } passes: {
          $0.hasPassed
        }
      } else {
        var options = SoakBench.Options()
        options.calls = calls
        options.seconds = minutes * 60
        options.soundInterval = soundInterval
        options.operationInterval = operationInterval
        options.life = life
        if let rate { options.rate = rate }
        options.gateway = gateway
        options.folder = folder
        options.log = log
        options.progress = BenchCommand.progress
        let chosen = options
        try await BenchCommand.show(json: json) {
          try await SoakBench.run(chosen)
        } passes: {
          $0.hasPassed
        }
      }
    }
  }

  /// What `bench media` starts as the process under test.
  struct MediaGatewayPart: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "media-gateway", abstract: "Bridges between ports of loopback, told by lines of text.",
      shouldDisplay: false)

    @Option(help: "Media threads that share the calls.")
    var threads = 1

    func run() throws { try MediaGatewayHost.run(threads: threads) }
  }

  private static func show<Report: BenchReport>(
    json: Bool, _ measure: () async throws -> Report, passes: (Report) -> Bool = { _ in true }
  ) async throws {
    let hasPassed: Bool
    do {
      let report = try await measure()
      FileHandle.standardOutput.write(Data(((json ? report.json : report.table) + "\n").utf8))
      hasPassed = passes(report)
    } catch {
      let failure = ConsoleError(any: error, path: "the benchmark's ledger")
      Console(settings: ConsoleSettings(format: json ? .json : .table), environment: .process()).report(failure)
      throw ExitCode(failure.status.rawValue)
    }
    if !hasPassed { throw ExitCode.failure }
  }

  @Sendable private static func progress(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
