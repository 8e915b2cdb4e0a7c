import CallModel
import MediaCore
import SecureTransport

/// RTCP compounds as they come in. The first byte chooses whether a stream is heard; then the same datagram comes again
/// later, and our report between is read by a second session.
enum RTCPDoor {
  static let door = FuzzDoor("rtcp", "an RTCP compound", dictionary: "binary", maximumBytes: 1600) {
    (input) throws(BrokenPromise) in
    guard let first = input.first, input.count <= PacketBuffer.maximumDatagram else { return }
    try play(PacketBuffer(input.dropFirst()), heard: first & 1 == 0 ? nil : 1)
  }
}

private func play(_ packet: PacketBuffer, heard: UInt32?) throws(BrokenPromise) {
  if let compound = try? RTCPCompound(packet) {
    for part in compound { _ = (compound.canonicalName(in: part), compound.report(on: 0, in: part)) }
  }
  var reception = ReceptionStatistics(clockRate: 8000)
  for sequence in 0..<3 as Range<UInt16> {
    _ = reception.received(
      sequence: sequence, timestamp: UInt32(sequence) * 160, source: heard ?? 1, payloadCount: 160, arrival: .zero)
  }
  // The sources in the seeds, so that reports about us are found.
  let session = session(source: 0x1234_5678)
  let report = PacketBuffer()
  var goodbyes = 0
  for second in [1, 9, 17, 3600] as [Int64] {
    let now = MonotonicInstant(milliseconds: second * 1000)
    if session.receive(packet, heard: heard, at: now).bye { goodbyes += 1 }
    if session.advance(to: now, sent: SentCounters(), reception: &reception, into: report) {
      try promise(report.count <= RTCPWriter.maximumSize, "a report of \(report.count) bytes")
      try promise(Peer.receive(report, at: now), "our own report is not read")
    }
    if let trip = session.roundTrip {
      try promise(trip >= 0 && trip <= RTCPSession.maximumRoundTrip, "a round trip of \(trip)")
    }
  }
  try promise(goodbyes <= 1, "\(goodbyes) ends")
  if session.bye(
    at: MonotonicInstant(milliseconds: 3_601_000), sent: SentCounters(), reception: &reception, into: report)
  {
    try promise(Peer.receive(report, at: MonotonicInstant(milliseconds: 3_601_000)), "our own BYE is not read")
  }
}

private enum Peer {
  /// What we write must be read, by a session that never read anything else.
  static func receive(_ report: PacketBuffer, at now: MonotonicInstant) -> Bool {
    session(source: 9).receive(report, at: now).isWellFormed
  }
}

private func session(source: UInt32) -> RTCPSession {
  RTCPSession(
    source: source, canonicalName: "fuzz", clockRate: 8000, seed: 1, unixMicroseconds: 1_700_000_000_000_000,
    sendsExtendedReports: true, at: .zero)
}
