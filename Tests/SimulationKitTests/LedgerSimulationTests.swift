import Foundation
import PeerKit
import SimulationKit
import Testing

/// How much is simulated: less in debug builds, a million operations where `LANDLINE_FULL=1` asks for them. Continuous
/// integration runs a million of them by the command itself.
enum Amount {
  static let isFull = ProcessInfo.processInfo.environment["LANDLINE_FULL"] == "1"
  static let seeds: ClosedRange<UInt64> = isFull ? 1...100 : 1...8
  #if DEBUG
    static let operations = isFull ? 10_000 : 1000
  #else
    static let operations = 10_000
  #endif
}

@Suite("Ledger simulation", .serialized)
struct LedgerSimulationTests {
  @Test("random work, faults and crashes leave every answer and every balance right", arguments: Amount.seeds)
  func everySeedHolds(seed: UInt64) async throws {
    do {
      let report = try await LedgerSimulation.run(seed: seed, operations: Amount.operations)
      #expect(report.operations >= Amount.operations)
      #expect(report.fullVerifications >= 1 + report.crashes)
      let detail = "ledger alone: seed \(seed), \(report.operations) operations, \(report.crashes) crashes"
      // Every answer and balance was compared with a model, and the whole book verified after each crash.
      for row in ["M1", "M3"] { try Self.record(row, violations: 0, detail) }
    } catch {
      for row in ["M1", "M3"] { try Self.record(row, violations: 1, "ledger alone: seed \(seed): \(error)") }
      throw error
    }
  }

  private static func record(_ row: String, violations: Int, _ detail: String) throws {
    try ScoreboardRow(
      row, figure: "\(violations)", unit: row == "M1" ? "smallest units off" : "events", target: "= 0",
      passed: violations == 0, detail: detail, gate: true
    ).record()
  }

  @Test("the seeds together reach every kind of answer")
  func coverage() async throws {
    var options = SimulationOptions()
    options.faultsPerThousand = 100
    options.crashesPerThousand = 20
    var outcomes: [String: Int] = [:]
    var sum = SimulationReport(seed: 0)
    for seed: UInt64 in 1001...1010 {
      let report = try await LedgerSimulation.run(seed: seed, operations: 2000, options: options)
      outcomes.merge(report.outcomes, uniquingKeysWith: +)
      sum.add(report)
    }
    let expected = [
      "create changed", "create refused accountExists", "close changed", "lock changed", "unlock changed",
      "set-cap changed", "set-credit-limit changed", "set-zone changed", "topup posted", "topup replayed",
      "topup refused conflict", "topup refused amountOutOfRange", "opening posted", "refund posted", "adjust posted",
      "adjust refused insufficientCredit", "transfer posted", "transfer refused currencyMismatch", "chargeback posted",
      "authorise granted", "authorise replayed", "authorise refused accountLocked", "authorise refused accountClosed",
      "authorise refused callCap", "authorise refused concurrencyCap", "authorise refused conflict",
      "authorise refused countryNotAllowed", "authorise refused currencyMismatch", "authorise refused dailyCap",
      "authorise refused insufficientCredit", "authorise refused noRate", "authorise refused rateCap",
      "authorise refused rateTooHigh", "authorise refused staleEpoch", "answer answered", "answer replayed",
      "extend granted", "extend replayed", "extend refused durationCap", "extend refused insufficientCredit",
      "settle settled", "settle replayed", "settle refused notAnswered", "settle refused alreadyResolved",
      "settle refused conflict", "void voided", "void replayed", "recover settled", "recover voided",
    ]
    for outcome in expected { #expect(outcomes[outcome] != nil, "no seed led to \"\(outcome)\"") }
    #expect(sum.lostCommits > 0 && sum.lostAnswers > 0 && sum.crashes > 0 && sum.nodeDeaths > 0)
    #expect(sum.prunedRows > 0 && sum.recoveredCalls > 0)
    #expect(sum.rehearsals > 0 && sum.clockSteps > 0)
  }

  @Test("one seed is one sequence", arguments: [7, 4711, UInt64.max])
  func replay(seed: UInt64) async throws {
    let first = try await LedgerSimulation.run(seed: seed, operations: 3000)
    let second = try await LedgerSimulation.run(seed: seed, operations: 3000)
    #expect(first.withoutTimes == second.withoutTimes)
    let other = try await LedgerSimulation.run(seed: seed &+ 1, operations: 3000)
    #expect(first.digest != other.digest)
  }

  @Test("a planted fault is found within 100 seeds", arguments: PlantedFault.allCases)
  func canary(_ planted: PlantedFault) async throws {
    var options = SimulationOptions()
    options.planted = planted
    for seed: UInt64 in 1...100 {
      do {
        _ = try await LedgerSimulation.run(seed: seed, operations: 1000, options: options)
      } catch let violation as SimulationViolation {
        #expect(violation.seed == seed)
        #expect(!violation.trace.isEmpty)
        return
      }
    }
    Issue.record("\(planted) went unnoticed")
  }

  @Test("a violation names seed, step, account and what led there, and leaves the ledger where it was asked to")
  func violationText() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("violation-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = SimulationOptions(directory: folder.path)
    options.planted = .miscountingModel
    options.keepsBrokenLedger = true
    do {
      _ = try await LedgerSimulation.run(seed: 3, operations: 5000, options: options)
      Issue.record("the miscounting went unnoticed")
    } catch let violation as SimulationViolation {
      #expect(violation.description.hasPrefix("seed 3, step \(violation.step) of 5000: "))
      #expect(violation.trace.count <= SimulationViolation.traceLength)
      let ledger = try #require(violation.ledger)
      #expect(FileManager.default.fileExists(atPath: ledger))
    }
  }
}
