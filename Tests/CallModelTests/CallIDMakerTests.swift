import CallModel
import Foundation
import Testing

@Suite("Ids of calls")
struct CallIDMakerTests {
  /// All bits set, so that those that are not random are seen to be what they are.
  private static func ones() -> UInt64 { .max }

  private static func milliseconds(of id: CallID) -> Int64? {
    Int64(id.text.filter { $0 != "-" }.prefix(12), radix: 16)
  }

  @Test(
    "are laid out as RFC 9562 says",
    arguments: [
      // The time of the example of appendix A.6.
      (1_645_557_742_000, nil, .max, "017f22e2-79b0-77ff-bfff-ffffffffffff"),
      (1_645_557_742_000, nil, 0, "017f22e2-79b0-7000-8000-000000000000"),
      (0, nil, 0, "00000000-0000-7001-8000-000000000000"), (-1, nil, 0, "00000000-0000-7001-8000-000000000000"),
      (1_645_557_742_000, (node: 0, life: 0), .max, "017f22e2-79b0-77ff-8000-000000ffffff"),
      (1_645_557_742_000, (node: 1, life: 2), 0, "017f22e2-79b0-7000-8000-400002000000"),
      (1_645_557_742_000, (node: 65_535, life: 4_194_303), 0, "017f22e2-79b0-7000-bfff-ffffff000000"),
    ] as [(Int64, (node: Int, life: Int)?, UInt64, String)])
  func layout(_ milliseconds: Int64, _ origin: (node: Int, life: Int)?, _ draw: UInt64, _ text: String) throws {
    let given = try origin.map { try #require(CallIDMaker.Origin(node: $0.node, life: $0.life)) }
    var maker = CallIDMaker(origin: given)
    let id = maker.next(at: Instant(milliseconds: milliseconds)) { draw }
    #expect(id.text == text)
    #expect(try CallID(validating: id.text) == id)
    let uuid = try #require(UUID(uuidString: text))
    #expect(uuid.uuidString.lowercased() == text)
    if let given { #expect(id.origin == given) }
  }

  struct Clock: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let milliseconds: @Sendable (Int64) -> Int64

    init(_ name: String, _ milliseconds: @escaping @Sendable (Int64) -> Int64) {
      (testDescription, self.milliseconds) = (name, milliseconds)
    }
  }

  @Test(
    "rise whatever the clock does",
    arguments: [
      Clock("stands still") { _ in 1_795_000_000_000 }, Clock("goes on") { 1_795_000_000_000 + $0 / 3 },
      Clock("steps back by an hour") { 1_795_000_000_000 + $0 - ($0 > 5_000 ? 3_600_000 : 0) },
      Clock("runs backwards") { 1_795_000_000_000 - $0 }, Clock("is before 1970") { -$0 },
    ])
  func order(_ clock: Clock) {
    var random = SystemRandomNumberGenerator()
    var maker = CallIDMaker()
    // More than the counter of one millisecond counts, twice.
    let times = (0..<10_000).map { clock.milliseconds($0) }
    let ids = times.map { maker.next(at: Instant(milliseconds: $0)) { random.next() } }
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.text < $1.text })
    let latest = max(0, times.max() ?? 0)
    #expect(ids.last.flatMap(Self.milliseconds).map { (0...4).contains($0 - latest) } == true)
  }

  @Test("start to count in the lower half of the range, and go on in the next millisecond where it is used up")
  func counter() {
    var maker = CallIDMaker()
    let now = Instant(milliseconds: 1_795_000_000_000)
    let ids = (0...0x800).map { _ in maker.next(at: now, draw: Self.ones) }
    #expect(ids.first?.text.hasPrefix("01a1ee56-5e00-77ff-") == true)
    #expect(ids[0x7FF].text.hasPrefix("01a1ee56-5e00-7ffe-"))
    #expect(ids.last?.text.hasPrefix("01a1ee56-5e00-7fff-") == true)
    let after = maker.next(at: now, draw: Self.ones)
    #expect(Self.milliseconds(of: after) == now.milliseconds + 1)
    #expect(after.text.contains("-7000-"))
  }

  @Test("of one millisecond are the same in no two makers")
  func difference() throws {
    var random = SystemRandomNumberGenerator()
    let now = Instant(milliseconds: 1_795_000_000_000)
    var texts: Set<String> = []
    for node in 0..<100 {
      for life in 0..<10 {
        let origin = try #require(CallIDMaker.Origin(node: node, life: life))
        var maker = CallIDMaker(origin: origin)
        texts.insert(maker.next(at: now) { 0 }.text)
      }
      var alone = CallIDMaker()
      texts.insert(alone.next(at: now) { random.next() }.text)
    }
    #expect(texts.count == 1_100)
  }

  @Test(
    "have no room for larger numbers",
    arguments: [
      (0, 0, true), (65_535, 4_194_303, true), (65_536, 0, false), (0, 4_194_304, false), (-1, 0, false),
      (0, -1, false), (.max, .max, false),
    ])
  func room(_ node: Int, _ life: Int, _ hasRoom: Bool) {
    #expect((CallIDMaker.Origin(node: node, life: life) != nil) == hasRoom)
  }

  @Test(
    "of another form tell of no node",
    arguments: [
      "01JD4Y8PM2Q9V5R7T3W6X0Z1AB", "c-1", "017f22e2-79b0-4000-8000-400002000000",
      "017f22e2-79b0-7000-c000-400002000000", "017f22e2-79b0-7000-8000-400002000000-2",
      "017f22e2-79b0-7000-8000-40000200000g", "017f22e279b0-7000-8000-400002000000-",
      "017f22e2-79b0-7000-+800-40000200000",
    ])
  func otherForms(_ text: String) {
    #expect(CallID(unchecked: text).origin == nil)
  }

  @Test("are read in capitals too")
  func capitals() throws {
    let origin = try #require(CallIDMaker.Origin(node: 1, life: 2))
    #expect(CallID(unchecked: "017F22E2-79B0-7000-8000-400002000000").origin == origin)
  }
}
