import CallModel
import MediaCore
import SecureTransport
import Testing

@Suite struct ReorderBufferTests {
  /// Shows packets to a buffer as a leg does, and writes down what comes out: numbers, and `-n` for n given up.
  final class Leg {
    let buffer: ReorderBuffer
    private let packet = PacketBuffer()
    var out: [Int] = []
    var copies = 0
    var waitsUntil: MonotonicInstant?

    init(_ buffer: ReorderBuffer = ReorderBuffer(maximumPackets: 16, maximumDelay: 30_000)) { self.buffer = buffer }

    func receive(_ sequence: Int, at milliseconds: Int64) {
      let number = UInt16(truncatingIfNeeded: sequence)
      if buffer.pass(number) {
        out.append(Int(number))
      } else {
        packet.replace(with: [UInt8(number >> 8), UInt8(number & 0xFF)])
        if buffer.insert(packet, number, at: MonotonicInstant(milliseconds: milliseconds)) == .held { copies += 1 }
        // The buffer has its own copy.
        packet.replace(with: [0xFF, 0xFF])
      }
      drain(at: milliseconds)
    }

    func drain(at milliseconds: Int64) {
      waitsUntil = nil
      while true {
        switch buffer.releaseNext(at: MonotonicInstant(milliseconds: milliseconds)) {
        case .packet(let held): out.append(Int(held.integer(at: 0, as: UInt16.self)))
        case .missing(let count): out.append(-count)
        case .wait(let until):
          waitsUntil = until
          return
        case .empty: return
        }
      }
    }
  }

  @Test func orderIsNotCopied() {
    let leg = Leg()
    for sequence in 65_000..<66_000 { leg.receive(sequence, at: Int64(sequence)) }
    #expect(leg.out == (65_000..<66_000).map { $0 & 0xFFFF })
    #expect(leg.copies == 0)
    #expect(leg.buffer.isEmpty)
    #expect(leg.buffer.nextDeadline == nil)
  }

  @Test func swappedPackets() {
    let leg = Leg()
    for (index, sequence) in [65_534, 0, 65_535, 1, 4, 3, 2, 5].enumerated() { leg.receive(sequence, at: Int64(index)) }
    #expect(leg.out == [65_534, 65_535, 0, 1, 2, 3, 4, 5])
    #expect(leg.copies == 3)
    // The last one came at 4 ms, and what it waited for at 6 ms.
    #expect(leg.buffer.lastWait == 2_000)
    #expect(leg.buffer.isEmpty)
  }

  @Test func gapIsGivenUpInTime() {
    let leg = Leg()
    leg.receive(1, at: 0)
    leg.receive(4, at: 60)
    #expect(leg.out == [1])
    #expect(leg.waitsUntil == MonotonicInstant(milliseconds: 90))
    #expect(leg.buffer.nextDeadline == MonotonicInstant(milliseconds: 90))
    leg.receive(5, at: 80)
    leg.drain(at: 89)
    #expect(leg.out == [1])
    leg.drain(at: 90)
    #expect(leg.out == [1, -2, 4, 5])
    leg.receive(2, at: 91)
    #expect(leg.out == [1, -2, 4, 5])
    #expect(leg.buffer.late == 1)
  }

  /// Two gaps: the second waits for its own time.
  @Test func gapsWaitApart() {
    let leg = Leg()
    for (sequence, time) in [(1, 0), (3, 20), (5, 40)] as [(Int, Int64)] { leg.receive(sequence, at: time) }
    leg.drain(at: 50)
    #expect(leg.out == [1, -1, 3])
    #expect(leg.waitsUntil == MonotonicInstant(milliseconds: 70))
    leg.receive(4, at: 60)
    #expect(leg.out == [1, -1, 3, 4, 5])
  }

  @Test func neverMoreThanItsRoom() {
    let leg = Leg(ReorderBuffer(maximumPackets: 4, maximumDelay: 1_000_000))
    leg.receive(1, at: 0)
    for sequence in 3...5 { leg.receive(sequence, at: 1) }
    #expect(leg.out == [1])
    leg.receive(6, at: 1)
    #expect(leg.out == [1, -1, 3, 4, 5, 6])
  }

  @Test func duplicatesAndTheTooLate() {
    let buffer = ReorderBuffer(maximumPackets: 4)
    let packet = PacketBuffer([1])
    #expect(buffer.pass(10))
    #expect(buffer.insert(packet, 12, at: .zero) == .held)
    #expect(buffer.insert(packet, 12, at: .zero) == .duplicate)
    #expect(buffer.insert(packet, 10, at: .zero) == .late)
    for sequence in 13...15 { #expect(buffer.insert(packet, UInt16(sequence), at: .zero) == .held) }
    #expect(buffer.insert(packet, 16, at: .zero) == .full)
    #expect(buffer.count == 4)
  }

  /// A jump is no loss: what was held goes out, nothing is concealed, the new run follows.
  @Test func jumpIsNoLoss() {
    let leg = Leg()
    for (sequence, time) in [(1, 0), (3, 20), (40_000, 21), (40_001, 40)] as [(Int, Int64)] {
      leg.receive(sequence, at: time)
    }
    #expect(leg.out == [1, -1, 3, 40_000, 40_001])
    leg.receive(5, at: 60)
    leg.receive(6, at: 80)
    #expect(leg.out == [1, -1, 3, 40_000, 40_001, 5, 6])
    leg.receive(6 + Int(ReorderBuffer.maximumMissing) + 1, at: 100)
    leg.drain(at: 200)
    #expect(leg.out.suffix(2) == [-50, 57])
    leg.receive(57 + 52, at: 220)
    #expect(leg.out.last == 109)
  }

  @Test func anotherSource() {
    let leg = Leg()
    leg.receive(1, at: 0)
    leg.receive(3, at: 20)
    leg.buffer.restart()
    leg.drain(at: 20)
    #expect(leg.out == [1, -1, 3])
    leg.receive(2, at: 40)
    leg.receive(3, at: 60)
    #expect(leg.out == [1, -1, 3, 2, 3])
    leg.buffer.restart()
    leg.receive(1, at: 80)
    #expect(leg.out == [1, -1, 3, 2, 3, 1])
  }

  /// Any order of packets: out comes each at most once, in order, and every number is either there or given up.
  @Test(arguments: 0..<200) func anyDisorder(seed: Int) {
    var generator = SeededNumbers(seed: UInt64(seed))
    let leg = Leg(ReorderBuffer(maximumPackets: 8, maximumDelay: 60_000))
    let first = 65_400
    var arrivals: [(time: Int64, sequence: Int)] = []
    for sequence in first..<first + 400 where Int.random(in: 0..<20, using: &generator) > 0 || sequence == first {
      let delay: Int64 = Int.random(in: 0..<8, using: &generator) == 0 ? .random(in: 0..<150, using: &generator) : 0
      arrivals.append((Int64(sequence - first) * 20 + (sequence == first ? 0 : delay), sequence))
    }
    arrivals.sort { $0.time < $1.time }
    for (time, sequence) in arrivals { leg.receive(sequence, at: time) }
    leg.drain(at: .max / 2000)
    var expected = first
    for item in leg.out {
      if item < 0 {
        expected -= item
      } else {
        #expect(item == expected & 0xFFFF)
        expected += 1
      }
    }
    #expect(leg.buffer.isEmpty)
    #expect(leg.out.filter { $0 >= 0 }.count + Int(leg.buffer.late) == arrivals.count)
  }

  @Test func everythingAnAttackerMaySend() {
    var generator = SeededNumbers(seed: 9)
    let leg = Leg()
    for step in 0..<50_000 as Range<Int64> {
      let near = Int.random(in: 0..<2, using: &generator) == 0
      leg.receive(near ? Int(step) : .random(in: 0...65_535, using: &generator), at: step / 8)
      #expect(leg.buffer.count < 16)
      leg.out.removeAll(keepingCapacity: true)
    }
  }
}
