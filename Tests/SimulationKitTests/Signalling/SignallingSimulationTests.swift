import Foundation
import SimulationKit
import Testing

@Suite("Signalling simulation")
struct SignallingSimulationTests {
  struct Weather: Sendable, CustomTestStringConvertible {
    let name: String
    let options: SignallingOptions
    /// Of a hundred calls, at least so many come up.
    let established: Int
    var testDescription: String { name }

    init(_ name: String, established: Int, _ change: (inout SignallingOptions) -> Void) {
      self.name = name
      self.established = established
      var options = SignallingOptions()
      change(&options)
      self.options = options
    }

    static let all = [
      Weather("calm", established: 20) { _ in },
      Weather("a tenth is lost", established: 20) { $0.lostPerThousand = 100 },
      Weather("three tenths are lost, and the network is cut", established: 10) {
        $0.lostPerThousand = 300
        $0.cuts = 3
      },
      Weather("repeated and overtaken", established: 15) {
        $0.duplicatedPerThousand = 300
        $0.reorderedPerThousand = 300
      },
      Weather("damaged", established: 15) { $0.damagedPerThousand = 100 },
      Weather("some of everything", established: 15) { $0 = .rough },
      Weather("storm", established: 10) { $0 = .storm },
    ]
  }

  #if DEBUG
    static let calls = Amount.isFull ? 1000 : 100
  #else
    static let calls = Amount.isFull ? 20_000 : 1000
  #endif

  @Test("both sides of every call tell the same story, and nothing is left", arguments: Weather.all)
  func everySeedHolds(_ weather: Weather) throws {
    let report = try SignallingSimulation.run(
      seed: 1, calls: Self.calls, chunk: SignallingOptions.defaultChunk, options: weather.options)
    #expect(report.calls == Self.calls)
    #expect(report.established * 100 >= weather.established * report.calls, "\(report.established) came up")
    #expect((report.lost > 0) == (weather.options.lostPerThousand > 0 || weather.options.cuts > 0))
    #expect((report.duplicated > 0) == (weather.options.duplicatedPerThousand > 0))
    #expect((report.reordered > 0) == (weather.options.reorderedPerThousand > 0))
    #expect((report.damaged > 0) == (weather.options.damagedPerThousand > 0))
  }

  @Test("the scripts together reach every kind of event and message")
  func coverage() throws {
    let report = try SignallingSimulation.run(seed: 101, calls: 600, chunk: 10, options: .rough)
    for event in [
      "trying", "progress", "established", "ended", "incoming", "offered", "answered", "offer refused", "information",
      "transfer requested", "transfer progress",
    ] {
      #expect(report.events[event] != nil, "no seed led to \"\(event)\"")
    }
    for message in [
      "INVITE", "ACK", "BYE", "CANCEL", "PRACK", "UPDATE", "INFO", "REFER", "NOTIFY", "100", "180", "183", "200", "202",
      "302", "400", "421", "422", "481", "486", "487", "488", "491", "500", "603",
    ] {
      #expect(report.messages[message] != nil, "no seed led to \(message)")
    }
    for end in ["up, local / up, remote", "up, remote / up, local", "up, local / up, local"] {
      #expect(report.outcomes[end] != nil, "no seed led to \"\(end)\"")
    }
  }

  @Test("one seed is one run", arguments: [3, 4711, UInt64.max])
  func replay(seed: UInt64) throws {
    let first = try SignallingSimulation.run(seed: seed, calls: 20, options: .rough)
    let second = try SignallingSimulation.run(seed: seed, calls: 20, options: .rough)
    #expect(first.withoutTimes == second.withoutTimes)
    let other = try SignallingSimulation.run(seed: seed &+ 1, calls: 20, options: .rough)
    #expect(first.digest != other.digest)
  }

  @Test("a planted fault is found within 100 seeds, and found again", arguments: PlantedSignallingFault.allCases)
  func canary(_ planted: PlantedSignallingFault) throws {
    var options = SignallingOptions()
    options.planted = planted
    for seed: UInt64 in 1...100 {
      do throws(SignallingViolation) {
        _ = try SignallingSimulation.run(seed: seed, options: options)
      } catch {
        #expect(error.seed == seed)
        #expect(!error.trace.isEmpty)
        let again = #expect(throws: SignallingViolation.self) {
          try SignallingSimulation.run(seed: seed, options: options)
        }
        #expect(again?.description == error.description)
        return
      }
    }
    Issue.record("\(planted) went unnoticed")
  }
}

@Suite("simulate sip")
struct SignallingCommandTests {
  @Test("a table, and progress on the other side")
  func table() {
    var (output, errors) = ("", "")
    let status = SignallingCommand.run(calls: 30, seed: 1, output: { output += $0 }, errors: { errors += $0 })
    #expect(status == 0)
    #expect(output.contains("agents        agree\n"))
    #expect(output.contains("calls         30\n"))
    #expect(errors.contains("30 of 30 calls"))
  }

  @Test("one JSON object")
  func json() throws {
    var output = ""
    let status = SignallingCommand.run(
      calls: 30, seed: 1, options: .rough, json: true, output: { output += $0 }, errors: { _ in })
    #expect(status == 0)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    #expect(object["sound"] as? Bool == true)
    #expect(object["calls"] as? Int == 30)
  }

  @Test("a broken rule: status 6, the trace and the command that repeats it")
  func violation() throws {
    var options = SignallingOptions.rough
    options.planted = .repeatedEnd
    var (output, errors) = ("", "")
    let status = SignallingCommand.run(
      calls: 200, seed: 1, options: options, json: true, output: { output += $0 }, errors: { errors += $0 })
    #expect(status == 6)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    #expect(object["sound"] as? Bool == false)
    #expect((object["trace"] as? [String])?.isEmpty == false)
    let seed = try #require(object["seed"] as? UInt64)
    #expect(
      errors.contains(
        "repeat: landline-lab simulate sip --calls 10 --chunk 10 --seed \(seed) --loss 10.0 --duplicate 5.0 --reorder 10.0 "
          + "--damage 1.0 --cuts 1\n"))
  }
}
