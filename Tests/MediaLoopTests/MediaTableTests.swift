import CallModel
import LandlineWire
import MediaCore
import SecureTransport
import Testing

@Suite struct MediaTableTests {
  /// Against a dictionary: few enough addresses that they meet, collide and leave gaps.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func addressesStayWithTheirCalls(_ seed: UInt64) {
    var random = SeededNumbers(seed)
    var table = AddressTable(seed: random.next())
    var model: [MediaAddress: LegNumber] = [:]
    for _ in 0..<60_000 {
      let address = MediaAddress(
        high: random.next() % 2, low: 0xFFFF_7F00_0000 + random.next() % 4, port: UInt16(random.next() % 500))
      switch random.next() % 5 {
      case 0, 1:
        let leg = LegNumber(Int32(random.next() % 1000), random.next() % 2 == 0 ? .near : .far)
        table.insert(address, leg: leg)
        model[address] = leg
      case 2, 3:
        table.remove(address)
        model[address] = nil
      default: #expect(table.leg(of: address) == model[address] ?? .none)
      }
    }
    #expect(table.count == model.count)
    for (address, leg) in model { #expect(table.leg(of: address) == leg) }
  }

  @Test func legsHaveNumbers() {
    for slot in [0, 1, 999_999] as [Int32] {
      for id in [LegID.near, .far, LegID(2), LegID(255)] {
        let leg = LegNumber(slot, id)
        #expect(leg.slot == slot && leg.id == id && leg != .none)
      }
    }
  }

  @Test func growsWithItsAddresses() {
    var table = AddressTable(seed: 7)
    let addresses = (0..<20_000).map { MediaAddress(ipv4: 0x0A00_0000 + UInt32($0), port: 4000) }
    for (slot, address) in addresses.enumerated() { table.insert(address, leg: LegNumber(Int32(slot), .far)) }
    #expect(table.count == 20_000)
    #expect(addresses.enumerated().allSatisfy { table.leg(of: $0.element) == LegNumber(Int32($0.offset), .far) })
    for address in addresses { table.remove(address) }
    #expect(table.count == 0)
    #expect(addresses.allSatisfy { table.leg(of: $0) == .none })
  }

  /// Against a plain list.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func deadlinesComeInOrder(_ seed: UInt64) {
    var random = SeededNumbers(seed)
    let size = 50
    var deadlines = SlotDeadlines(capacity: size)
    var model = [Int64](repeating: .max, count: size)
    var now: Int64 = 0
    for _ in 0..<20_000 {
      let slot = Int(random.next() % UInt64(size))
      let deadline = random.next() % 4 == 0 ? Int64.max : now + Int64(random.next() % 100)
      deadlines.set(Int32(slot), deadline)
      model[slot] = deadline
      #expect(deadlines.next == model.min())
      now += Int64(random.next() % 3)
      let due = deadlines.due(at: now)
      #expect((due >= 0) == model.contains { $0 <= now })
      if due >= 0 {
        #expect(model[Int(due)] == model.min())
        #expect(deadlines.deadline(of: due) == model[Int(due)])
        deadlines.set(due, .max)
        model[Int(due)] = .max
      }
      #expect(deadlines.count == model.count { $0 != .max })
    }
  }

  @Test(
    arguments: [
      (0.0, 0), (0.029, 0), (0.03, 500), (0.49, 500), (0.5, 500), (0.7, 2750), (0.9, 5000), (1.0, 5000),
    ] as [(Double, Int64)])
  func gathersLongerTheMoreThereIsToDo(_ load: Double, _ tick: Int64) {
    #expect(abs(LoopPace.tick(at: load, maximum: 5_000) - tick) <= 1)
  }

  @Test func followsTheLoad() {
    var pace = LoopPace(maximumTick: 5_000, at: 1_000_000, processor: 100)
    #expect(pace.tick == 0)
    #expect(!pace.isDue(at: 1_000_000 + LoopPace.window - 1))
    #expect(pace.isDue(at: 1_000_000 + LoopPace.window))
    pace.measure(at: 1_100_000, processor: 100_100)
    #expect(pace.load == 1)
    #expect(pace.tick == 5_000)
    for second in 1...10 { pace.measure(at: 1_100_000 + Int64(second) * 100_000, processor: 100_100) }
    #expect(pace.load < LoopPace.quiet)
    #expect(pace.tick == 0)
  }

  @Test func isFullWhereTheLoadStands() {
    var pace = LoopPace(maximumTick: 5_000, at: 0, processor: 0)
    var (now, processor): (Int64, Int64) = (0, 0)
    func pass(_ windows: Int, percent: Int64) {
      for _ in 0..<windows {
        now += LoopPace.window
        processor += LoopPace.window * percent / 100
        pace.measure(at: now, processor: processor)
      }
    }
    pass(9, percent: 100)
    #expect(!pace.isFull, "a burst")
    pass(1, percent: 95)
    #expect(pace.isFull)
    pass(1, percent: 80)
    #expect(!pace.isFull)
    pass(9, percent: 95)
    #expect(!pace.isFull)
  }

  /// A loop that had too much to do, and then nothing, says no more.
  @Test func theGaugeForgets() {
    let gauge = LoopGauge()
    #expect(!gauge.isFull(at: 5_000_000))
    gauge.update(isFull: true, at: 5_000_000)
    #expect(gauge.isFull(at: 5_900_000))
    #expect(!gauge.isFull(at: 6_100_000))
    gauge.update(isFull: true, at: 7_000_000)
    gauge.update(isFull: false, at: 7_050_000)
    #expect(!gauge.isFull(at: 7_100_000))
  }

  @Test func neverGathersWhereItMayNot() {
    var pace = LoopPace(maximumTick: 0, at: 0, processor: 0)
    pace.measure(at: 100_000, processor: 100_000)
    #expect(pace.load == 1)
    #expect(pace.tick == 0)
  }

  @Test func mailboxHasABound() throws {
    let mailbox = try LoopMailbox<Int>(capacity: 3)
    #expect((1...4).map { mailbox.post($0) } == [true, true, true, false])
    #expect(mailbox.post(5, isAlwaysTaken: true))
    #expect(mailbox.refused == 1)
    var commands: [Int] = []
    mailbox.drain(into: &commands)
    #expect(commands == [1, 2, 3, 5])
    #expect(mailbox.post(6))
    #expect(mailbox.close() == [6])
    #expect(!mailbox.post(7, isAlwaysTaken: true))
    #expect(mailbox.close() == [])
  }
}
