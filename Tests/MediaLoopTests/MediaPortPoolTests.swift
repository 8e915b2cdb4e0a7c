import CallModel
import Glibc
import LandlineWire
import SecureTransport
import Testing

@Suite struct MediaPortPoolTests {
  private let host = SIPHost.ownLoopback()
  private static let second: Int64 = 1_000_000

  private func pool(
    _ ports: ClosedRange<UInt16> = 20_000...20_007, _ change: (inout MediaLoopConfiguration) -> Void = { _ in }
  ) -> PortPool {
    let interface = MediaLoopConfiguration.TrunkInterface(bind: host, ports: ports)
    var configuration = MediaLoopConfiguration(app: [], trunk: [interface])
    change(&configuration)
    return PortPool(interface, configuration)
  }

  @Test func pairsAreEvenDifferentAndBounded() throws {
    var pool = pool(20_001...20_010)
    var random = SeededNumbers(1)
    var pairs: [PortPool.Pair] = []
    while case .success(let pair) = pool.reserve(control: true, using: &random) { pairs.append(pair) }
    #expect(Set(pairs.map(\.port)) == [20_002, 20_004, 20_006, 20_008])
    #expect(boundPorts(on: host) == Set(20_002...20_009))
    #expect(pool.reserve(control: true, using: &random) == .failure(.portsExhausted))
    #expect(pool.inUse == 4)
    for pair in pairs { pool.cancel(pair) }
    #expect(boundPorts(on: host).isEmpty)
    #expect(pool.freeCount == 4)
  }

  @Test(arguments: [(Int32(1024), Int32(960)), (160, 120), (8, 6), (Int32.max, Int32.max - 64)])
  func leavesTheLastDescriptorsAlone(limit: Int32, first: Int32) {
    #expect(DescriptorReserve.holds(first, of: limit))
    #expect(!DescriptorReserve.holds(first - 1, of: limit))
    #expect(!DescriptorReserve.isReached)
  }

  @Test func drawsAtRandom() throws {
    var orders: Set<[UInt16]> = []
    for seed in 1...8 {
      var pool = pool(20_000...20_063)
      var random = SeededNumbers(UInt64(seed))
      var ports: [UInt16] = []
      for _ in 0..<4 {
        let pair = try pool.reserve(control: false, using: &random).get()
        ports.append(pair.port)
        pool.cancel(pair)
      }
      orders.insert(ports)
    }
    #expect(orders.count == 8)
  }

  @Test func waitsUntilNobodySendsAnyMore() throws {
    var pool = pool(20_000...20_001)
    var random = SeededNumbers(1)
    let pair = try pool.reserve(control: true, using: &random).get()
    let peer = try MediaPeer(on: host)
    pool.release(pair, at: 0)
    #expect(pool.nextDeadline == 30 * Self.second)
    #expect(pool.reserve(control: true, using: &random) == .failure(.portsExhausted))
    #expect(boundPorts(on: host).isSuperset(of: [20_000, 20_001]))

    #expect(peer.send([9], to: MediaAddress(host, unchecked: 20_001)))
    pool.expire(at: 29 * Self.second)
    #expect(pool.quarantinedCount == 1)
    pool.expire(at: 30 * Self.second)
    #expect(pool.staleDatagrams == 1)
    #expect(pool.nextDeadline == 60 * Self.second)

    pool.expire(at: 60 * Self.second)
    #expect(pool.nextDeadline == .max)
    #expect(pool.quarantinedDescriptors == 0)
    #expect(!boundPorts(on: host).contains(20_000))
    let next = try pool.reserve(control: true, using: &random).get()
    #expect(next.port == 20_000)
    pool.cancel(next)
    pool.shutDown()
  }

  @Test func endsQuarantineInTheEnd() throws {
    var pool = pool(20_000...20_001)
    var random = SeededNumbers(1)
    pool.release(try pool.reserve(control: false, using: &random).get(), at: 0)
    let peer = try MediaPeer(on: host)
    for turn in 1...20 {
      peer.send([9], to: MediaAddress(host, unchecked: 20_000))
      pool.expire(at: Int64(turn) * 30 * Self.second)
    }
    #expect(pool.staleDatagrams == 20)
    #expect(pool.freeCount == 1)
    #expect(pool.quarantinedCount == 0)
  }

  /// Descriptors run out before ports do: the oldest are closed, but their ports are not used before their time.
  @Test func keepsFewDescriptors() throws {
    var pool = pool { $0.quarantinedDescriptors = 3 }
    var random = SeededNumbers(1)
    let pairs = try (0..<4).map { _ in try pool.reserve(control: true, using: &random).get() }
    for (second, pair) in pairs.enumerated() { pool.release(pair, at: Int64(second) * Self.second) }
    #expect(pool.quarantinedDescriptors == 2)
    #expect(boundPorts(on: host) == [pairs[3].port, pairs[3].port + 1])
    #expect(pool.reserve(control: true, using: &random) == .failure(.portsExhausted))
    pool.expire(at: 30 * Self.second)
    #expect(pool.freeCount == 1)
    let next = try pool.reserve(control: true, using: &random).get()
    #expect(next.port == pairs[0].port)
    pool.expire(at: 33 * Self.second)
    #expect(pool.quarantinedDescriptors == 0)
    #expect(pool.freeCount == 3)
    pool.cancel(next)
    #expect(boundPorts(on: host).isEmpty)
  }

  @Test func leavesTheirPortsToOthers() throws {
    let others = try [20_000, 20_003, 20_005].map { try MediaPeer(on: host, port: $0) }
    var pool = pool()
    var random = SeededNumbers(1)
    let pair = try pool.reserve(control: true, using: &random).get()
    #expect(pair.port == 20_006)
    #expect(pool.reserve(control: true, using: &random) == .failure(.portsTaken))
    #expect(pool.freeCount == 3)
    #expect(boundPorts(on: host) == [20_000, 20_003, 20_005, 20_006, 20_007])
    pool.cancel(pair)
    withExtendedLifetime(others) {}
  }

  @Test func saysThatTheAddressIsNotHere() {
    let interface = MediaLoopConfiguration.TrunkInterface(bind: .ipv4(0xC000_0201), ports: 20_000...20_001)
    var pool = PortPool(interface, MediaLoopConfiguration(app: [], trunk: [interface]))
    var random = SeededNumbers(1)
    #expect(pool.reserve(control: true, using: &random) == .failure(.address))
    #expect(pool.freeCount == 1)
  }

  @Test func shutDownClosesQuarantine() throws {
    var pool = pool()
    var random = SeededNumbers(1)
    for _ in 0..<3 { pool.release(try pool.reserve(control: true, using: &random).get(), at: 0) }
    #expect(boundPorts(on: host).count == 6)
    pool.shutDown()
    #expect(boundPorts(on: host).isEmpty)
    #expect(pool.freeCount == 4)
    #expect(pool.quarantinedDescriptors == 0)
  }

  @Test(
    arguments: [
      (16_384...32_767, 2, [16_384...24_575, 24_576...32_767]),
      (20_001...20_006, 2, [20_002...20_003, 20_004...20_005]),
      (20_000...20_001, 2, []), (20_000...20_010, 3, [20_000...20_001, 20_002...20_005, 20_006...20_009]),
      (20_000...20_009, 0, []),
    ] as [(ClosedRange<UInt16>, Int, [ClosedRange<UInt16>])])
  func loopsShareARange(_ ports: ClosedRange<UInt16>, _ count: Int, _ parts: [ClosedRange<UInt16>]) {
    #expect(MediaLoopConfiguration.TrunkInterface.parts(of: ports, into: count) == parts)
  }
}
