import Foundation
import FuzzDoors
import Testing

/// Every door with its committed inputs, as the fuzzer feeds it, without a sanitizer. The doors share buffers of one
/// thread, so all of it runs in a row.
@Suite(.serialized)
struct FuzzDoorTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz")

  private static func inputs(_ kind: String, _ door: String) -> [URL] {
    let folder = folder.appendingPathComponent(kind).appendingPathComponent(door)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0) }
  }

  @Test func everyDoorHasNameCorpusAndDictionary() {
    #expect(FuzzDoors.all.count >= 40)
    #expect(
      Set((FuzzDoors.all + FuzzDoors.canaries).map(\.name)).count == FuzzDoors.all.count + FuzzDoors.canaries.count)
    for door in FuzzDoors.all {
      #expect(FuzzDoorTests.inputs("Corpus", door.name).count >= 3, "\(door.name) has no corpus")
      let dictionary = FuzzDoorTests.folder.appendingPathComponent("Dictionaries/\(door.dictionary).dict")
      #expect(FileManager.default.fileExists(atPath: dictionary.path), "\(door.name) has no dictionary")
    }
    for kind in ["Corpus", "Regressions"] {
      let folder = FuzzDoorTests.folder.appendingPathComponent(kind).path
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        #expect(FuzzDoors.all.contains { $0.name == name }, "\(kind)/\(name) is of no door")
      }
    }
  }

  @Test func committedInputsKeepEveryPromise() throws {
    for door in FuzzDoors.all {
      for file in FuzzDoorTests.inputs("Corpus", door.name) + FuzzDoorTests.inputs("Regressions", door.name) {
        let input = Array(try Data(contentsOf: file))
        #expect(input.count <= door.maximumBytes, "\(file.path) is longer than its door takes")
        check(door, input, file.lastPathComponent)
      }
    }
  }

  /// A few changes of each committed input, the same at every run.
  @Test func changedInputsKeepEveryPromise() throws {
    var generator = Changes(state: 1)
    for door in FuzzDoors.all {
      for file in FuzzDoorTests.inputs("Corpus", door.name) {
        let input = Array(try Data(contentsOf: file))
        for _ in 0..<8 { check(door, changed(input, &generator), "\(file.lastPathComponent), changed") }
      }
    }
  }

  @Test func plantedFaultsAreFound() throws {
    let promise = try #require(FuzzDoors.named("canary-promise"))
    #expect(throws: BrokenPromise.self) { try promise.run(Array("PROMISE".utf8)) }
    #expect(throws: Never.self) { try promise.run(Array("PRAY".utf8)) }
    let slow = try #require(FuzzDoors.named("canary-slow"))
    #expect(throws: BrokenPromise.self) { try slow.runWithinBound(Array("SLOW".utf8)) }
    #expect(throws: Never.self) { try slow.run(Array("SWIFT".utf8)) }
  }

  private func check(_ door: FuzzDoor, _ input: [UInt8], _ name: String) {
    do throws(BrokenPromise) {
      try door.run(input)
    } catch {
      Issue.record("\(door.name), \(name): \(error) for \(Data(input).base64EncodedString())")
    }
  }

  private func changed(_ input: [UInt8], _ generator: inout Changes) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let place = Int.random(in: 0...bytes.count, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &generator)
      case 1 where place < bytes.count: bytes.remove(at: place)
      case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
      default:
        let end = min(bytes.count, place + Int.random(in: 0...32, using: &generator))
        bytes.insert(contentsOf: bytes[place..<end], at: place)
      }
    }
    return bytes
  }
}

/// A generator with a seed (SplitMix64).
private struct Changes: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
