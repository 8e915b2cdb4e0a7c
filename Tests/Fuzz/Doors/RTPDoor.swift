import CallModel
import MediaCore
import SecureTransport

/// A leg's way from datagram to datagram without keys and codecs: header, statistics, order, our own stream. The input
/// is a row of packets, each behind two bytes: its length, and how many milliseconds later it came.
enum RTPDoor {
  static let door = FuzzDoor("rtp", "a row of RTP packets", dictionary: "binary", maximumBytes: 16_384) {
    (input) throws(BrokenPromise) in try play(input)
  }
}

private func play(_ bytes: [UInt8]) throws(BrokenPromise) {
  let packet = PacketBuffer()
  let reorder = ReorderBuffer()
  var statistics = ReceptionStatistics(clockRate: 48_000)
  var stream = OutgoingStream(source: 7, clockRate: 8000, sequence: 0x7FFF, timestamp: .max)
  var now = MonotonicInstant.zero
  var previous: UInt16?
  var position = 0
  while position + 2 <= bytes.count {
    let length = min(Int(bytes[position]) * 6, bytes.count - position - 2, PacketBuffer.maximumDatagram)
    now = now.advanced(byMilliseconds: Int64(bytes[position + 1]))
    packet.replace(with: bytes[position + 2..<position + 2 + length])
    position += 2 + length
    guard let header = RTPHeader(packet) else { continue }
    try promise(header.payloadOffset + header.payloadCount <= packet.count, "a payload behind the end")
    let arrival = statistics.received(
      sequence: header.sequence, timestamp: header.timestamp, source: header.source, payloadCount: header.payloadCount,
      arrival: now)
    if arrival == .stray { continue }
    if arrival == .restarted {
      stream.changeSource()
      reorder.restart()
      try drain(reorder, &stream, &previous, at: now)
    }
    if reorder.pass(header.sequence) {
      try relay(packet, &stream, &previous, at: now)
    } else {
      _ = reorder.insert(packet, header.sequence, at: now)
    }
    try drain(reorder, &stream, &previous, at: now)
  }
  let rate = statistics.nextLossRate()
  try promise(
    rate >= 0 && rate <= 1 && statistics.jitterMilliseconds >= 0 && statistics.burstRatio >= 1, "impossible figures")
  try drain(reorder, &stream, &previous, at: MonotonicInstant(microseconds: .max))
  try promise(reorder.isEmpty, "packets stay behind")
}

private func drain(
  _ reorder: ReorderBuffer, _ stream: inout OutgoingStream, _ previous: inout UInt16?, at now: MonotonicInstant
) throws(BrokenPromise) {
  while true {
    switch reorder.releaseNext(at: now) {
    case .packet(let held): try relay(held, &stream, &previous, at: now)
    case .missing(let count):
      try promise(count >= 1 && count <= Int(ReorderBuffer.maximumMissing), "\(count) packets are missing at once")
    case .wait, .empty: return
    }
  }
}

/// Sequence numbers that leave must grow, whatever came in.
private func relay(
  _ packet: PacketBuffer, _ stream: inout OutgoingStream, _ previous: inout UInt16?, at now: MonotonicInstant
) throws(BrokenPromise) {
  guard let header = RTPHeader(packet), let stamp = stream.relay(header, clockRate: 48_000, duration: 160, at: now)
  else {
    return
  }
  if let previous {
    try promise(stamp.sequence &- previous >= 1 && stamp.sequence &- previous < 0x8000, "a number does not grow")
  }
  previous = stamp.sequence
  packet.rewriteRTPHeader(
    header, marker: stamp.marker, payloadType: 0, sequence: stamp.sequence, timestamp: stamp.timestamp,
    source: stream.source)
  guard let sent = RTPHeader(packet), sent.payloadCount == header.payloadCount else {
    throw BrokenPromise(description: "our own header is not read")
  }
  stream.sent(payloadCount: sent.payloadCount)
}
