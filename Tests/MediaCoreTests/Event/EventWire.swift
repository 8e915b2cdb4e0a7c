import CallModel
import MediaCore

/// Numbers that a seed decides (xorshift64*).
struct EventChance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// An event packet on its way.
struct WirePacket {
  var packet: TelephoneEventPacket
  var sequence: UInt16
  var at: MonotonicInstant
}

/// A network that loses, doubles and delays.
struct EventWire {
  var loss = 0
  var duplicate = 0
  /// Most milliseconds a packet is late.
  var jitter: Int64 = 0

  func carry(_ packets: [WirePacket], using chance: inout EventChance) -> [WirePacket] {
    var arrivals: [WirePacket] = []
    for packet in packets {
      for _ in 0..<(chance.chance(duplicate) ? 2 : 1) where !chance.chance(loss) {
        var arrival = packet
        arrival.at = packet.at.advanced(byMilliseconds: 10 + Int64.random(in: 0...jitter, using: &chance))
        arrivals.append(arrival)
      }
    }
    return arrivals.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }
}

/// Sends keys and notes the packets, while sound runs between them and takes sequence numbers of its own.
struct EventStream {
  var sender: TelephoneEventSender
  let clockRate: Int
  var sequence: UInt16 = 65_500
  var timestampOffset: UInt32 = 0xFFFF_0000

  init(clockRate: Int, packetTime: Int = 20) {
    self.clockRate = clockRate
    sender = TelephoneEventSender(clockRate: clockRate, packetTime: packetTime)
  }

  func timestamp(at now: MonotonicInstant) -> UInt32 {
    timestampOffset &+ UInt32(truncatingIfNeeded: now.milliseconds * Int64(clockRate) / 1000)
  }

  mutating func packets(of codes: [Int], milliseconds: Int, pause: Int, from start: MonotonicInstant) -> [WirePacket] {
    var packets: [WirePacket] = []
    var waiting = codes[...]
    var now = start
    // An hour is more than any test presses.
    for tick in 0..<Int64(3_600_000) {
      now = start.advanced(byMilliseconds: tick)
      while let code = waiting.first, sender.send(code, milliseconds: milliseconds, pause: pause, at: now) {
        waiting.removeFirst()
      }
      if tick % 20 == 0, !sender.isPressing { sequence &+= 1 }
      while let packet = sender.next(at: now, timestamp: timestamp(at: now)) {
        packets.append(WirePacket(packet: packet, sequence: sequence, at: now))
        sequence &+= 1
      }
      if waiting.isEmpty, sender.nextDeadline == nil { break }
    }
    return packets
  }
}

extension TelephoneEventReceiver {
  /// Plays arrivals, with every deadline kept, until nothing more is due.
  mutating func hear(_ arrivals: [WirePacket]) -> [DigitPressed] {
    var digits: [DigitPressed] = []
    for arrival in arrivals {
      while let deadline = nextDeadline, deadline < arrival.at { advance(to: deadline, digits: &digits) }
      receive(
        arrival.packet.payload, marker: arrival.packet.marker, sequence: arrival.sequence,
        timestamp: arrival.packet.timestamp, at: arrival.at, digits: &digits)
    }
    if let deadline = nextDeadline { advance(to: deadline, digits: &digits) }
    return digits
  }
}
