import CallModel
import Testing

@Suite("Random numbers in blocks")
struct SecureRandomNumberGeneratorTests {
  @Test("no number comes twice, whoever draws it")
  func different() async {
    let draws = 10_000
    let numbers = await withTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<4 {
        group.addTask {
          let generator = SecureRandomNumberGenerator()
          return (0..<draws).map { _ in generator.next() }
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    // Two equal ones among 40,000 of 64 bits: once in 20 billion runs.
    #expect(Set(numbers).count == 4 * draws)
    // What was blotted out is never handed out.
    #expect(!numbers.contains(0))
  }

  @Test("each bit is set as often as not")
  func balanced() {
    var generator = SecureRandomNumberGenerator()
    let draws = 20_000
    var counts = [Int](repeating: 0, count: 64)
    for _ in 0..<draws {
      let number = UInt64.random(in: .min ... .max, using: &generator)
      for bit in 0..<64 where number >> UInt64(bit) & 1 == 1 { counts[bit] += 1 }
    }
    // Seven standard deviations of 70.7.
    for count in counts { #expect(abs(count - draws / 2) < 500) }
  }
}
