import SimulationKit
import Testing

@Suite("Ledger simulation")
struct LedgerSimulationTests {
  @Test("x") func x() async throws {
    for seed in 1...20 { print(try await LedgerSimulation.run(seed: UInt64(seed), operations: 10000)) }
  }
}
