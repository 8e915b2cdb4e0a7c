import CallModel
import NodeCore
import SIPCore
import Testing

/// Certificates of signed callers: who fetches, who waits, what is remembered.
@Suite("A certificate is fetched once for all who want it, and kept within bounds")
struct CertificateShelfTests {
  private let start = MonotonicInstant(milliseconds: 1_000_000)

  private func address(_ number: Int = 0) throws -> WebAddress {
    try WebAddress("https://cert.example.org/\(number).pem")
  }

  private func later(_ milliseconds: Int64) -> MonotonicInstant { start.advanced(byMilliseconds: milliseconds) }

  @Test("calls that want the same address wait for one fetch")
  func oneFetch() throws {
    var shelf = CertificateShelf()
    let address = try address()
    let first = shelf.find([address], for: CallHandle(1), at: start)
    let id = try #require(first.fetches.first?.id)
    #expect(first.found == nil && first.fetches.count == 1)
    for number in 2...50 as ClosedRange<UInt64> {
      let search = shelf.find([address], for: CallHandle(number), at: later(Int64(number)))
      #expect(search.found == nil && search.fetches.isEmpty)
    }
    let told = shelf.end(id, .fetched([1], seconds: nil), at: later(100))
    #expect(told.map(\.handle) == (1...50).map { CallHandle($0) })
    #expect(told.allSatisfy { $0.found == [address: .fetched([1])] })
    #expect(shelf.end(id, .failed("again"), at: later(101)).isEmpty, "it ended before")
    #expect(shelf.find([address], for: CallHandle(99), at: later(200)).found == [address: .fetched([1])])
    #expect(shelf.waiterCount == 0 && shelf.fetchCount == 0)
  }

  @Test(
    "kept as long as its server says, a day at most, a minute where it failed",
    arguments: [
      (CertificateFetchResult.fetched([1], seconds: nil), Int64(86_400_000)),
      (.fetched([1], seconds: 30), 30_000), (.fetched([1], seconds: .max), 86_400_000),
      (.fetched([1], seconds: 0), 0), (.failed("404"), 60_000), (.late, 60_000),
    ])
  func kept(_ result: CertificateFetchResult, _ milliseconds: Int64) throws {
    var shelf = CertificateShelf()
    let address = try address()
    let id = try #require(shelf.find([address], for: CallHandle(1), at: start).fetches.first?.id)
    #expect(shelf.end(id, result, at: start).count == 1, "who waited hears it all the same")
    if milliseconds > 0 {
      #expect(shelf.find([address], for: CallHandle(2), at: later(milliseconds - 1)).found != nil)
    }
    #expect(shelf.find([address], for: CallHandle(3), at: later(milliseconds)).fetches.count == 1)
  }

  @Test("a call that wants two certificates hears of both at once")
  func two() throws {
    var shelf = CertificateShelf()
    let search = shelf.find([try address(1), try address(2)], for: CallHandle(1), at: start)
    #expect(search.fetches.count == 2)
    #expect(shelf.end(search.fetches[0].id, .fetched([1], seconds: nil), at: start).isEmpty)
    let told = shelf.end(search.fetches[1].id, .late, at: later(1000))
    #expect(told.first?.found == [try address(1): .fetched([1]), try address(2): .late])
  }

  @Test("no more fetches at a time than there may be: what is beyond is late at once, and not remembered as such")
  func fetchBound() throws {
    var shelf = CertificateShelf()
    for number in 0..<CertificateShelf.maximumFetches {
      #expect(shelf.find([try address(number)], for: CallHandle(UInt64(number)), at: start).found == nil)
    }
    let beyond = try address(9999)
    #expect(shelf.find([beyond], for: CallHandle(9999), at: start).found == [beyond: .late])
    #expect(shelf.fetchCount == CertificateShelf.maximumFetches)
    _ = shelf.end(CertificateFetchID(1), .late, at: later(1000))
    #expect(shelf.find([beyond], for: CallHandle(10_000), at: later(1000)).fetches.count == 1)
  }

  @Test("neither addresses nor bytes grow without end; the ones that end first go")
  func keptBound() throws {
    var shelf = CertificateShelf()
    func fetch(_ number: Int, _ bytes: Int, seconds: Int64) throws {
      let search = shelf.find([try address(number)], for: CallHandle(1), at: start)
      let id = try #require(search.fetches.first?.id)
      _ = shelf.end(id, .fetched(Array(repeating: 1, count: bytes), seconds: seconds), at: start)
    }
    for number in 0...CertificateShelf.maximumEntries { try fetch(number, 1, seconds: Int64(number) + 1) }
    #expect(shelf.entryCount == CertificateShelf.maximumEntries)
    #expect(shelf.find([try address(0)], for: CallHandle(1), at: start).found == nil, "the first one went")
    for number in 5000..<5200 { try fetch(number, CertificateShelf.maximumCertificateBytes, seconds: 80_000) }
    #expect(shelf.keptBytes <= CertificateShelf.maximumBytes && shelf.entryCount > 100)
    let search = shelf.find([try address(7000)], for: CallHandle(1), at: start)
    let large = Array(repeating: UInt8(1), count: CertificateShelf.maximumCertificateBytes + 1)
    let told = shelf.end(try #require(search.fetches.first?.id), .fetched(large, seconds: nil), at: start)
    guard case .unreachable? = told.first?.found.values.first else {
      Issue.record("too many bytes are taken")
      return
    }
  }
}
