import CallModel
import Foundation
import PeerKit
import Testing

/// Every ordered pair of what may happen to a call, at many timings, over real agents and a real ledger: how it ends and
/// what it costs.
///
/// `LANDLINE_GLARE` replays one timing: the text that a failure prints.
@Suite("Glare: any two events, at any time", .serialized)
struct GlareMatrixTests {
  /// Timings of each pair in the full size, at least.
  static let fullTimings = 1_000

  /// Timings of each pair in this run.
  static let timings: Int = {
    #if DEBUG
      let few = 4
    #else
      let few = 30
    #endif
    return ProcessInfo.processInfo.environment["LANDLINE_GLARE_TIMINGS"].flatMap { Int($0) }
      ?? (ScoreboardRow.isFull ? fullTimings : few)
  }()

  /// Most failures that are printed.
  static let maximumPrinted = 40

  @Test("the whole matrix", .enabled(if: ProcessInfo.processInfo.environment["LANDLINE_GLARE"] == nil))
  func matrix() async throws {
    var wrong = 0
    var printed: [String] = []
    for (first, second) in GlareCase.pairs {
      let ledger = try await GlareLedger()
      for number in 0..<GlareMatrixTests.timings {
        let it = GlareCase(first, second, number: number)
        let problems = try await GlareMatrixTests.problems(of: it, ledger)
        guard !problems.isEmpty else { continue }
        wrong += 1
        if printed.count < GlareMatrixTests.maximumPrinted {
          printed.append("\(it)\n    " + problems.joined(separator: "\n    "))
        }
      }
      let books = try await ledger.close()
      if !books.isEmpty {
        wrong += 1
        printed.append("\(first.rawValue)/\(second.rawValue): the books: \(books.prefix(3))")
      }
    }
    let pairs = GlareCase.pairs.count
    var row = ScoreboardRow(
      "E7", figure: "\(wrong)", unit: "wrong end states or charges", target: "0", passed: wrong == 0,
      detail: "\(pairs) ordered pairs × \(GlareMatrixTests.timings) timings, two agents and a ledger", gate: true)
    row.size = GlareMatrixTests.timings >= GlareMatrixTests.fullTimings ? "full" : "ci"
    try row.record()
    #expect(wrong == 0, "\(wrong) of \(pairs * GlareMatrixTests.timings):\n\(printed.joined(separator: "\n"))")
  }

  @Test(
    "one timing again", .enabled(if: ProcessInfo.processInfo.environment["LANDLINE_GLARE"] != nil))
  func replay() async throws {
    let it = try #require(GlareCase(ProcessInfo.processInfo.environment["LANDLINE_GLARE"] ?? ""))
    let ledger = try await GlareLedger()
    let run = try await GlareRun(it, ledger)
    try await run.run()
    for line in run.transcript { print(line) }
    let verdict = GlareVerdict(run)
    ledger.charged(run.account, max(0, verdict.cost))
    #expect(verdict.problems.isEmpty, "\(it)\n    \(verdict.problems.joined(separator: "\n    "))")
    let books = try await ledger.close()
    #expect(books.isEmpty)
  }

  @Test("the same case runs the same way, and its text says all of it")
  func determinism() async throws {
    for (first, second) in GlareCase.pairs.shuffled().prefix(6) {
      let it = GlareCase(first, second, number: 7)
      let again = try #require(GlareCase(it.description))
      #expect(again == it)
      let ledger = try await GlareLedger()
      var transcripts: [[String]] = []
      for repetition in [it, again] {
        let run = try await GlareRun(repetition, ledger)
        try await run.run()
        transcripts.append(run.transcript)
        ledger.charged(run.account, max(0, GlareVerdict(run).cost))
      }
      #expect(transcripts[0] == transcripts[1], "\(it)")
      #expect(try await ledger.close().isEmpty)
    }
  }

  static func problems(of it: GlareCase, _ ledger: GlareLedger) async throws -> [String] {
    let run = try await GlareRun(it, ledger)
    try await run.run()
    let verdict = GlareVerdict(run)
    ledger.charged(run.account, max(0, verdict.cost))
    return verdict.problems
  }
}

extension GlareRun {
  /// What passed the gateway and what it said, for people.
  var transcript: [String] {
    entries.map { entry in
      let time = entry.time - Bench.firstInstant.microseconds
      switch entry.kind {
      case .hangUp: return "\(time) app: hang up"
      case .sessionEnded: return "\(time) app: session over"
      case .incoming(let line): return "\(time) <- \(line.status.map { "\($0) " } ?? "")\(line.method) \(line.sequence)"
      case .outgoing(let line): return "\(time) -> \(line.status.map { "\($0) " } ?? "")\(line.method) \(line.sequence)"
      }
    } + bench.ladder()
  }
}
