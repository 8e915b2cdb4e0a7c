import CallModel
import LandlineResolver
import SIPCore
import Testing

@Suite("Answers kept")
struct DNSCacheTests {
  static let question = DNSQuestion(.a, "h.example.com")
  static let address = DNSAnswer.addresses([.ipv4(0xC000_0201)])

  static func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: seconds * 1000) }

  @Test(
    "How long an answer is kept",
    arguments: [
      (address, 60, 60), (address, 1, 5), (address, 0, 5), (address, nil, 5), (address, 1_000_000, 3600),
      (address, -9, 5), (address, .max, 3600),
      (.notFound, 30, 30), (.notFound, 0, 5), (.notFound, nil, 60), (.notFound, 86_400, 60),
      (.serverFailure, 1000, 2), (.timedOut, nil, 2),
    ] as [(DNSAnswer, Int64?, Int64)])
  func times(answer: DNSAnswer, seconds: Int64?, expected: Int64) {
    var cache = DNSCache(.standard)
    let remembered = cache.remember(answer, to: DNSCacheTests.question, seconds: seconds, at: .zero)
    #expect(remembered == answer)
    let end = expected * 1000
    #expect(
      cache.answer(to: DNSCacheTests.question, at: MonotonicInstant(milliseconds: end - 1)) == answer)
    #expect(cache.answer(to: DNSCacheTests.question, at: MonotonicInstant(milliseconds: end)) == nil)
  }

  @Test("Servers that went away leave the last answer standing, for a day")
  func stale() {
    var cache = DNSCache(.standard)
    _ = cache.remember(DNSCacheTests.address, to: DNSCacheTests.question, seconds: 60, at: .zero)
    #expect(cache.answer(to: DNSCacheTests.question, at: DNSCacheTests.at(61)) == nil)
    for failure in [DNSAnswer.timedOut, .serverFailure] {
      let answer = cache.remember(failure, to: DNSCacheTests.question, seconds: nil, at: DNSCacheTests.at(61))
      #expect(answer == DNSCacheTests.address)
    }
    // It is used for half a minute before the servers are asked again.
    #expect(cache.answer(to: DNSCacheTests.question, at: DNSCacheTests.at(90)) == DNSCacheTests.address)
    #expect(cache.answer(to: DNSCacheTests.question, at: DNSCacheTests.at(91)) == nil)
    let late = DNSCacheTests.at(60 + 86_400)
    let remembered = cache.remember(.timedOut, to: DNSCacheTests.question, seconds: nil, at: late)
    #expect(remembered == .timedOut)
  }

  @Test("That a name is gone is believed")
  func gone() {
    var cache = DNSCache(.standard)
    _ = cache.remember(DNSCacheTests.address, to: DNSCacheTests.question, seconds: 60, at: .zero)
    let now = DNSCacheTests.at(61)
    let remembered = cache.remember(.notFound, to: DNSCacheTests.question, seconds: 10, at: now)
    #expect(remembered == .notFound)
    let failed = cache.remember(.timedOut, to: DNSCacheTests.question, seconds: nil, at: now)
    #expect(failed == .timedOut)
  }

  @Test("No more answers are kept than named, and the freshest of them")
  func bound() {
    var configuration = ResolverConfiguration()
    configuration.cachedAnswers = 16
    var cache = DNSCache(configuration)
    for number in 0..<1000 {
      let question = DNSQuestion(.a, "h\(number).example.com")
      _ = cache.remember(DNSCacheTests.address, to: question, seconds: 60, at: DNSCacheTests.at(Int64(number) / 100))
      #expect(cache.count <= 16)
      #expect(cache.answer(to: question, at: DNSCacheTests.at(Int64(number) / 100)) != nil)
    }
    configuration.cachedAnswers = 0
    cache = DNSCache(configuration)
    #expect(
      cache.remember(DNSCacheTests.address, to: DNSCacheTests.question, seconds: 60, at: .zero) == DNSCacheTests.address
    )
    #expect(cache.count == 0)
  }
}
