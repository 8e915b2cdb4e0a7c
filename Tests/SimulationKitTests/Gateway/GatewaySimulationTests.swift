import SimulationKit
import Synchronization
import Testing

@Suite("The whole gateway in virtual time", .serialized)
struct GatewaySimulationTests {

  #if DEBUG
    static let seeds: UInt64 = Amount.isFull ? 200 : 10
  #else
    static let seeds: UInt64 = Amount.isFull ? 2000 : 100
  #endif

  @Test("every rule holds, whatever the seed decides")
  func everySeedHolds() throws {
    var sum = GatewayReport(seed: 1)
    for seed in 1...Self.seeds { sum.add(try GatewaySimulation.run(seed: seed, hours: 1)) }
    #expect(sum.calls > 0)
    #expect(sum.answered > 0)
    #expect(sum.callHours > 0)
  }

  @Test("seeds that once found something", arguments: RegressionSeeds.all)
  func regression(_ seed: UInt64, _ hours: Int) throws {
    _ = try GatewaySimulation.run(seed: seed, hours: hours)
  }

  @Test("a seed repeats bit for bit")
  func repeats() throws {
    for seed: UInt64 in [3, 8] {
      let first = try GatewaySimulation.run(seed: seed, hours: 1)
      #expect(try GatewaySimulation.run(seed: seed, hours: 1).withoutTimes == first.withoutTimes)
      #expect(!first.digest.isEmpty)
    }
  }

  @Test("a planted bug is found within a hundred seeds, and again by its command", arguments: GatewayCanary.allCases)
  func canary(_ canary: GatewayCanary) throws {
    for seed: UInt64 in 1...100 {
      do throws(GatewayViolation) {
        _ = try GatewaySimulation.run(seed: seed, hours: 1, canary: canary)
      } catch {
        #expect(!error.trace.isEmpty)
        #expect(error.replay == "landline-lab simulate calls --seed \(seed) --hours 1 --canary \(canary.rawValue)")
        do throws(GatewayViolation) {
          _ = try GatewaySimulation.run(seed: seed, hours: 1, canary: canary)
          Issue.record("it was not found again")
        } catch let again {
          #expect(again.description == error.description)
        }
        return
      }
    }
    Issue.record("not found in a hundred seeds")
  }

  @Test("the command tells what it ran, and the status is 1 where a rule is broken")
  func command() throws {
    let output = Mutex("")
    let errors = Mutex("")
    func run(_ canary: GatewayCanary?, json: Bool) -> Int32 {
      GatewayCommand.run(
        seed: 1, seeds: canary == nil ? 2 : 100, hours: 1, canary: canary, json: json,
        output: { text in output.withLock { $0 += text } }, errors: { text in errors.withLock { $0 += text } })
    }
    #expect(run(nil, json: false) == 0)
    #expect(output.withLock { $0 }.contains("call-hours/s"))
    output.withLock { $0 = "" }
    #expect(run(nil, json: true) == 0)
    #expect(output.withLock { $0 }.contains("\"violations\":0"))
    #expect(run(.secretInLog, json: true) == GatewayCommand.violated)
    #expect(errors.withLock { $0 }.contains("repeat: landline-lab simulate calls --seed"))
    #expect(output.withLock { $0 }.contains("\"rule\":\"secrets\""))
  }
}
