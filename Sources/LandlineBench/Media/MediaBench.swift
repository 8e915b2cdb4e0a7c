import Foundation

/// What a call's media costs, how long it takes and how it sounds, beside rtpengine doing the same work in the same run
/// and beside a bare C program that does the least anyone could; and what conferences cost, beside Janus.
///
/// Ours, the anchor and the floor take turns after a warm-up, each with calls of 50 packets a second each way; processor
/// time is that of the whole process of each gateway.
public enum MediaBench {
  /// The rows of the benchmark.
  public enum Row: String, CaseIterable, Sendable, Encodable {
    /// 100 calls of full-band Opus over SRTP to PCMU.
    case b1 = "B1"
    /// The same with narrow-band Opus from the app.
    case b1n = "B1n"
    /// 200 calls of Opus over SRTP to Opus over RTP.
    case b2 = "B2"
    /// The same in the shape of real calls: apps with ICE and DTLS, all at one port of the gateway, and what it delays them.
    case b2d = "B2d"
    /// 200 calls of SRTP to SRTP with other keys.
    case b2r = "B2r"
    /// Delay of a PCMU relay and of transcoding, 100 calls.
    case b5 = "B5"
    /// Memory of a call, relayed and transcoded.
    case b6 = "B6"
    /// What two threads of ours carry, each with the calls of B1, beside one.
    case b9 = "B9"
    /// A conference of 20, of whom three speak and the others send silence, beside Janus; and what the mixer delays.
    case b11 = "B11"
    /// The same where those who do not speak send next to nothing.
    case b11q = "B11q"
    /// One conference of 200, of whom three speak.
    case b11l = "B11l"
    /// 50 conferences of four, of whom two speak.
    case b11m = "B11m"
    /// Two tones of full scale in a conference of three: whether their sum wraps, and whether anything is missing.
    case b12 = "B12"

    /// All of them, as a sentence lists them.
    public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// What the conferences of the row are.
    var conference: ConferenceWorkload? {
      switch self {
      case .b11: .few
      case .b11q: .quiet
      case .b11l: .large
      case .b11m: .many
      case .b12: .tones
      default: nil
      }
    }

    var workload: MediaWorkload? {
      switch self {
      case .b1, .b9: .transcode
      case .b1n: .transcodeNarrow
      case .b2, .b2d: .passThrough
      case .b2r: .reencrypt
      case .b5, .b6, .b11, .b11q, .b11l, .b11m, .b12: nil
      }
    }
  }

  /// Which rows, and how much load.
  public struct Options: Sendable {
    /// Folder with the programs that are measured with.
    public var perfTools = "../shared/perf-tools"
    /// Calls through ours and the floor; `nil`: as each row says. Conferences are always as their row says.
    public var calls: Int?
    /// Seconds that are counted in each trial.
    public var seconds = 10.0
    /// Turns of ours, the anchor and the floor, 1 to 100; memory is measured once.
    public var rounds = 3
    /// Measured in this order.
    public var rows = Row.allCases
    /// Told before each measurement.
    public var progress: BenchProgress = { _ in }

    /// All rows, three rounds of 10 s each.
    public init() {}

    /// Calls that keep rtpengine, in user space, well under one core.
    func anchorCalls(_ workload: MediaWorkload) -> Int { min(ourCalls(workload), workload.isTranscoded ? 30 : 200) }
    func ourCalls(_ workload: MediaWorkload) -> Int {
      calls ?? (workload.isTranscoded || workload == .relay ? 100 : 200)
    }
  }

  /// rtpengine, Janus and the probe are left out with a note where they are absent.
  public static func run(_ options: Options) throws -> MediaBenchReport {
    guard options.seconds >= 1, (1...100).contains(options.rounds), (1...1000).contains(options.calls ?? 1) else {
      throw BenchProblem("at least 1 second, 1 to 100 rounds and 1 to 1000 calls")
    }
    let folder = try BenchFolder(in: FileManager.default.temporaryDirectory.path)
    options.progress("building the measuring programs")
    let run = MediaBenchRun(options, tools: try MediaTools(sources: options.perfTools, folder: folder.path)) {
      threads, environment throws(BenchProblem) in
      try LandlineMediaGateway(threads: threads, environment: environment)
    }
    return try run.report()
  }
}
