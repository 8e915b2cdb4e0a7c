import CallModel
import SimulationKit
import Testing

@Suite("A bad network")
struct ImpairedPathTests {
  private struct Arrival: Hashable {
    let number: Int
    let at: Int64
    let bytes: [UInt8]
  }

  /// Datagrams that carry their number, one each `interval` microseconds; what came of them.
  private func run(
    _ options: ImpairmentOptions, seed: UInt64 = 1, count: Int = 20_000, interval: Int64 = 20_000, size: Int = 8
  ) -> (arrivals: [Arrival], counts: ImpairmentCounts) {
    var path = ImpairedPath(options, seed: seed)
    var arrivals: [Arrival] = []
    func collectArrivals(until now: MonotonicInstant) {
      while let deadline = path.nextDeadline, deadline <= now {
        guard let bytes = path.next(at: deadline) else { break }
        let number = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        arrivals.append(Arrival(number: number, at: deadline.microseconds, bytes: bytes))
      }
    }
    for number in 0..<count {
      let now = MonotonicInstant(microseconds: Int64(number) * interval)
      collectArrivals(until: now)
      let header = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      path.offer(header + [UInt8](repeating: 0, count: size - 4), at: now)
    }
    collectArrivals(until: MonotonicInstant(microseconds: .max))
    #expect(path.inFlight == 0)
    return (arrivals, path.counts)
  }

  private func options(_ change: (inout ImpairmentOptions) -> Void) -> ImpairmentOptions {
    var options = ImpairmentOptions()
    change(&options)
    return options
  }

  @Test("a perfect path hands out everything at once, in order")
  func perfect() {
    let (arrivals, counts) = run(.perfect, count: 1_000)
    #expect(arrivals.map(\.number) == Array(0..<1_000))
    #expect(arrivals.allSatisfy { $0.at == Int64($0.number) * 20_000 })
    #expect(counts.offered == 1_000 && counts.delivered == 1_000 && counts.bytes == 8_000)
  }

  @Test("loss is what was asked for, by itself and in runs", arguments: [0.0, 0.01, 0.05, 0.3, 0.9, 1.0])
  func loss(rate: Double) {
    for length in [1.0, 3, 10] {
      let loss = ImpairmentOptions.Loss.bursts(rate: rate, length: length)
      #expect(abs(loss.rate - rate) < 1e-9)
      let (arrivals, counts) = run(options { $0.loss = loss })
      let measured = Double(counts.lost) / 20_000
      // Five standard deviations; runs make the mean vary more.
      let bound = 5 * (rate * (1 - rate) * (2 * length) / 20_000).squareRoot()
      #expect(abs(measured - rate) <= bound, "\(measured) of \(rate), runs of \(length)")
      #expect(UInt64(arrivals.count) == counts.delivered && counts.delivered + counts.lost == 20_000)
    }
  }

  @Test("runs of losses have the length that was asked for", arguments: [1.5, 3.0, 5.0, 20.0])
  func burstLength(length: Double) {
    let (arrivals, counts) = run(options { $0.loss = .bursts(rate: 0.1, length: length) }, count: 60_000)
    let runs = zip(arrivals, arrivals.dropFirst()).count { $1.number - $0.number > 1 }
    let mean = Double(counts.lost) / Double(runs)
    #expect(abs(mean - length) < length * 0.15, "\(mean)")
  }

  @Test("both states of the chain can lose")
  func chain() {
    let chain = ImpairmentOptions.GilbertElliott(toBad: 0.02, toGood: 0.18, lossInGood: 0.01, lossInBad: 0.5)
    let (_, counts) = run(options { $0.loss = .gilbertElliott(chain) }, count: 60_000)
    let expected = 0.1 * 0.5 + 0.9 * 0.01
    #expect(abs(ImpairmentOptions.Loss.gilbertElliott(chain).rate - expected) < 1e-9)
    #expect(abs(Double(counts.lost) / 60_000 - expected) < 0.01)
  }

  @Test("delay and jitter stay in their bounds, have their mean, and keep the order")
  func delay() {
    let (uniform, _) = run(
      options {
        $0.delay = 40_000
        $0.jitter = 20_000
      })
    let late = uniform.map { $0.at - Int64($0.number) * 20_000 }
    #expect(late.allSatisfy { (40_000...60_000).contains($0) })
    #expect(abs(Double(late.reduce(0, +)) / Double(late.count) - 50_000) < 500)
    let (normal, _) = run(
      options {
        $0.delay = 100_000
        $0.jitter = 3_000
        $0.distribution = .normal
      })
    let spread = normal.map { Double($0.at - Int64($0.number) * 20_000 - 100_000) }
    let variance = spread.reduce(0) { $0 + $1 * $1 } / Double(spread.count)
    #expect(abs(variance.squareRoot() - 3_000) < 100)
    let (wild, _) = run(options { $0.jitter = 500_000 })
    #expect(wild.map(\.number) == wild.map(\.number).sorted())
  }

  @Test("the reordered part is overtaken, the rest is not")
  func reorder() {
    let (arrivals, counts) = run(options { $0.reorder = 0.05 })
    var newest = -1
    var overtaken = 0
    for arrival in arrivals {
      if arrival.number < newest { overtaken += 1 }
      newest = max(newest, arrival.number)
    }
    #expect(UInt64(overtaken) <= counts.reordered)
    #expect(abs(Double(overtaken) / 20_000 - 0.05) < 0.008)
    #expect(Set(arrivals.map(\.number)).count == 20_000)
  }

  @Test("doubles are copies")
  func duplicate() {
    let (arrivals, counts) = run(options { $0.duplicate = 0.1 })
    #expect(abs(Double(counts.duplicated) / 20_000 - 0.1) < 0.012)
    #expect(arrivals.count == 20_000 + Int(counts.duplicated))
    let copies = Dictionary(grouping: arrivals, by: \.number).values
    #expect(copies.allSatisfy { $0.count <= 2 && Set($0.map(\.bytes)).count == 1 })
  }

  @Test("damage turns one to three bits of the part that was asked for")
  func corrupt() {
    var path = ImpairedPath(options { $0.corrupt = 0.1 }, seed: 4)
    let clean = [UInt8](repeating: 0xA5, count: 60)
    var damaged = 0
    var most = 0
    for number in 0..<20_000 {
      let now = MonotonicInstant(microseconds: Int64(number))
      path.offer(clean, at: now)
      guard let bytes = path.next(at: now) else {
        Issue.record("nothing came")
        return
      }
      let bits = zip(bytes, clean).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
      most = max(most, bits)
      if bits > 0 { damaged += 1 }
    }
    #expect(most == 3)
    // Two flips of one bit undo each other, which is rare.
    #expect(UInt64(damaged) <= path.counts.corrupted)
    #expect(abs(Double(damaged) / 20_000 - 0.1) < 0.012)
  }

  @Test("a limited link sends no faster, and drops what finds no room")
  func rateLimit() throws {
    // 1000 bytes a millisecond are offered to a link of 4,000,000 bit/s: half gets through.
    let (arrivals, counts) = run(
      options {
        $0.bitRate = 4_000_000
        $0.queue = 10
      }, count: 10_000, interval: 1_000, size: 1_000)
    #expect(counts.overflowed + counts.delivered == 10_000)
    #expect(abs(Double(counts.delivered) - 5_000) < 20)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $1.at - $0.at >= 2_000 })
    // The one that is sent and ten that wait.
    #expect(arrivals.allSatisfy { $0.at - Int64($0.number) * 1_000 <= 22_000 })
  }

  @Test("headers count on a limited link")
  func headers() {
    // 100 + 28 bytes at 50 a second are 51.2 kb/s.
    for (bitRate, isEnough) in [(51_300, true), (51_000, false)] {
      let arrivals = run(
        options {
          $0.bitRate = Int64(bitRate)
          $0.headers = 28
        }, count: 1_000, size: 100
      ).arrivals
      let waits = arrivals.map { $0.at - Int64($0.number) * 20_000 }
      #expect((waits.max() ?? 0 < 20_100) == isEnough, "\(bitRate)")
    }
  }

  @Test("a network that changes treats what sets out later otherwise")
  func changes() {
    var network = ImpairedNetwork(forth: .perfect, back: .perfect, seed: 1)
    let gone = options { $0.loss = .independent(1) }
    var now = MonotonicInstant.zero
    func count() -> [ImpairedNetwork.Direction] {
      for direction in ImpairedNetwork.Direction.allCases { network.offer([1], direction, at: now) }
      now = now.advanced(byMicroseconds: 1)
      var directions: [ImpairedNetwork.Direction] = []
      while let delivery = network.next(at: now) { directions.append(delivery.direction) }
      return directions
    }
    #expect(Set(count()) == [.forth, .back])
    network.change(forth: gone, back: .perfect)
    #expect(count() == [.back])
    network.change(forth: .perfect, back: gone)
    #expect(count() == [.forth])
  }

  @Test("the same seed gives the same outcome, another seed another")
  func determinism() {
    let storm = options {
      $0.delay = 30_000
      $0.jitter = 40_000
      $0.loss = .bursts(rate: 0.2, length: 4)
      $0.reorder = 0.1
      $0.duplicate = 0.1
      $0.corrupt = 0.05
      $0.bitRate = 64_000
    }
    let first = run(storm, seed: 7, count: 5_000)
    let second = run(storm, seed: 7, count: 5_000)
    #expect(first.arrivals == second.arrivals && first.counts == second.counts)
    #expect(run(storm, seed: 8, count: 5_000).arrivals != first.arrivals)
    // Another loss leaves the damage to those that both let through.
    var calmer = storm
    calmer.loss = .none
    let calm = Dictionary(grouping: run(calmer, seed: 7, count: 5_000).arrivals, by: \.bytes)
    #expect(first.arrivals.allSatisfy { calm[$0.bytes] != nil })
  }

  @Test("no more than the limit is on its way, and odd parameters do no harm")
  func bounds() {
    var path = ImpairedPath(options { $0.delay = .max }, seed: 1)
    for _ in 0..<ImpairedPath.maximumInFlight + 10 { path.offer([1], at: .zero) }
    #expect(path.inFlight == ImpairedPath.maximumInFlight)
    #expect(path.counts.overflowed == 10)
    var odd = ImpairedPath(
      options {
        $0.delay = .min
        $0.jitter = -5
        $0.loss = .bursts(rate: -.infinity, length: .nan)
        $0.duplicate = .infinity
        $0.reorder = 9
        $0.reorderDelay = .min
        $0.corrupt = 2
        $0.flips = .min
        $0.bitRate = .min
        $0.queue = .min
      }, seed: 1)
    for _ in 0..<100 { odd.offer([], at: .zero) }
    while let deadline = odd.nextDeadline {
      let bytes = odd.next(at: deadline)
      #expect(bytes != nil)
    }
    #expect(odd.counts.offered == 100)
  }

  @Test("the directions of a network are independent, and come in the order of time")
  func network() {
    var network = ImpairedNetwork(
      forth: options { $0.delay = 10_000 }, back: options { $0.loss = .independent(1) }, seed: 3)
    network.offer([1], .forth, at: .zero)
    network.offer([2], .back, at: .zero)
    let early = network.next(at: .zero)
    #expect(early == nil)
    #expect(network.nextDeadline == MonotonicInstant(milliseconds: 10))
    let delivery = network.next(at: MonotonicInstant(milliseconds: 10))
    #expect(delivery?.direction == .forth && delivery?.bytes == [1])
    #expect(network.inFlight == 0 && network.back.counts.lost == 1)
    var even = ImpairedNetwork(forth: options { $0.delay = 5_000 }, back: .perfect, seed: 3)
    even.offer([1], .forth, at: .zero)
    even.offer([2], .back, at: MonotonicInstant(milliseconds: 1))
    let later = MonotonicInstant(milliseconds: 9)
    let order = [even.next(at: later), even.next(at: later), even.next(at: later)].map { $0?.bytes }
    #expect(order == [[2], [1], nil])
  }
}
