import CallEngine
import CallModel
import PeerKit
import SimulationKit
import Testing

@Suite("A stolen key", .serialized)
struct FraudDrillTests {
  @Test("ten thousand numbers of forty countries in an hour cost no more than the configuration states")
  func shipped() throws {
    let report = try FraudDrill().run(seed: 1)
    #expect(report.calls > 9_000 && report.answered > 0)
    #expect(report.countries == [46], "no other country was allowed")
    #expect(report.isWithinBound)
    let bound = try #require(report.boundMicro)
    try ScoreboardRow(
      "X9", figure: "\(report.lossMicro.count * 100 / bound.count) %", unit: "of the loss that is stated",
      target: "<= 100 %",
      passed: report.isWithinBound,
      detail: "\(report.calls) calls, \(report.answered) answered, \(bound.count / 1_000_000) stated", gate: true
    ).record()
  }

  @Test("the same where every country may be called: the rule for abroad locks the account", arguments: [1, 2, 3])
  func anyCountry(seed: UInt64) throws {
    let report = try FraudDrill(countries: .any).run(seed: seed)
    #expect(report.countries.count > 5)
    #expect(report.isWithinBound)
    #expect(report.foreignLossMicro <= 50_000_000)
    #expect(report.lockReason?.contains("foreign numbers") == true)
    #expect(try #require(report.lockedAfterMilliseconds) < 600_000)
  }

  @Test("without rules nothing is stated, and the loss is many times as much: the drill does find it")
  func unruled() throws {
    let alarm = [VelocityRule(.account, to: .any, spendMicro: 1, then: .alarm)]
    let report = try FraudDrill(calls: 2_000, countries: .any, velocity: alarm).run(seed: 1)
    #expect(report.boundMicro == nil && !report.isWithinBound)
    #expect(report.lossMicro > 1_000_000_000)
    #expect(report.lockReason == nil)
  }

  @Test("a seed repeats")
  func repeats() throws {
    let drill = FraudDrill(calls: 500, countries: .any)
    #expect(try drill.run(seed: 7) == drill.run(seed: 7))
  }
}
