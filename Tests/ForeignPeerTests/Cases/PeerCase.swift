import Foundation
import PeerKit
import Testing

/// One thing that a foreign peer and our node do together, and what must come of it.
struct PeerCase: Sendable, CustomTestStringConvertible {
  let peer: String
  let transport: String
  let name: String
  let expected: String
  /// Takes more than ten seconds: only with `LANDLINE_FULL=1`.
  let isLong: Bool
  /// What happened, in a few words.
  let run: @Sendable () async throws -> String

  init(
    peer: String, transport: String, _ name: String, expected: String, isLong: Bool = false,
    run: @escaping @Sendable () async throws -> String
  ) {
    self.peer = peer
    self.transport = transport
    self.name = name
    self.expected = expected
    self.isLong = isLong
    self.run = run
  }

  var testDescription: String { "\(name) [\(transport)]" }

  static let includesLong = ProcessInfo.processInfo.environment["LANDLINE_FULL"] == "1"

  static func chosen(_ cases: [PeerCase]) -> [PeerCase] { cases.filter { includesLong || !$0.isLong } }

  private func outcome() async -> Result<String, any Error> {
    do { return .success(try await ListeningCase.run(testDescription, run)) } catch { return .failure(error) }
  }

  /// Runs it, writes it into the table of results, and records an issue when it failed. What is judged in real time is
  /// repeated where ``ListeningJudge`` says so.
  func perform() async {
    await Lanes.shared.enter()
    let outcome = await outcome()
    await Lanes.shared.leave()
    var result = PeerResult(
      peer: peer, transport: transport, name: name, expected: expected, happened: "", isGood: true)
    switch outcome {
    case .success(let text): result.happened = text
    case .failure(let error):
      result.happened = String("\(error)".prefix(300))
      result.isGood = false
      PeerResults.keep("\(error)", of: testDescription)
      Issue.record("\(peer), \(transport), \(name): expected: \(expected); got: \(error)")
    }
    PeerResults.append(result)
  }
}

/// How many cases run at a time: each has programs of its own.
private actor Lanes {
  static let shared = Lanes(12)
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func enter() async {
    if free > 0 {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
