import Foundation
import SimulationKit
import Synchronization
import Testing

@Suite("simulate")
struct SimulationCommandTests {
  private final class Texts: Sendable {
    let texts = Mutex("")
    func add(_ text: String) { texts.withLock { $0 += text } }
    var text: String { texts.withLock { $0 } }
  }

  @Test("a table on one side, progress on the other")
  func table() async {
    let (output, errors) = (Texts(), Texts())
    let status = await SimulationCommand.run(
      operations: 1500, seed: 1, chunk: 500, output: { output.add($0) }, errors: { errors.add($0) })
    #expect(status == 0)
    #expect(output.text.contains("books             sound\n"))
    #expect(output.text.contains("seed              1\n"))
    #expect(errors.text.contains("1500 of 1500 operations"))
  }

  @Test("one JSON object, the same digest every time")
  func json() async throws {
    var digests: Set<String> = []
    for _ in 0..<2 {
      let output = Texts()
      let status = await SimulationCommand.run(
        operations: 1000, seed: 9, chunk: 500, json: true, output: { output.add($0) }, errors: { _ in })
      #expect(status == 0)
      let object = try #require(try JSONSerialization.jsonObject(with: Data(output.text.utf8)) as? [String: Any])
      #expect(object["sound"] as? Bool == true)
      #expect((object["operations"] as? Int ?? 0) >= 1000)
      #expect((object["outcomes"] as? [String: Int])?["authorise granted"] != nil)
      digests.insert(try #require(object["digest"] as? String))
    }
    #expect(digests.count == 1)
  }

  @Test("the command that repeats a run")
  func repeating() {
    #expect(
      SimulationCommand.replayCommand(seed: 12, operations: 500)
        == "landline-lab simulate --ops 500 --seed 12 --chunk 500")
  }

  @Test("a folder that is not there is an error, not a broken ledger")
  func noFolder() async {
    let errors = Texts()
    let status = await SimulationCommand.run(
      operations: 10, seed: 1, directory: "/nonexistent/folder", output: { _ in }, errors: { errors.add($0) })
    #expect(status == SimulationCommand.Status.internalError)
    #expect(errors.text.contains("nonexistent"))
  }
}
