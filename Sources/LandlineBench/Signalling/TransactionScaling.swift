import CLandlineLedgerFloor
import CallModel
import SIPCore

/// What one exchange costs while many other transactions live.
enum TransactionScaling {
  static let exchanges = 2_000

  static func measure(live: Int) throws -> SIPBenchReport.Scaling {
    let layer = TransactionLayer(identifiers: .system, maximumTransactions: live + exchanges)
    var effects: [TransactionEffect] = []
    let now = MonotonicInstant.zero
    let before = landline_heap_bytes()
    for number in 0..<live { _ = try send(number, layer, now, &effects) }
    effects.removeAll()
    let held = Double(landline_heap_bytes() &- before)
    let start = ProcessClock.now()
    for number in 0..<exchanges {
      effects.removeAll(keepingCapacity: true)
      let request = try send(live + number, layer, now, &effects)
      guard case .success(let message) = SIPGate.admit(response(to: request), transport: .udp) else {
        throw BenchProblem("the answer to a request of ours does not pass the gate")
      }
      layer.receive(message, from: path, at: now, into: &effects)
      let isAnswered = effects.contains { if case .response = $0 { true } else { false } }
      guard isAnswered else { throw BenchProblem("an answer found no transaction") }
    }
    let end = ProcessClock.now()
    return SIPBenchReport.Scaling(
      live: live, exchangeMicroseconds: (end.cpu - start.cpu) * 1e6 / Double(exchanges),
      bytesPerTransaction: held / Double(live))
  }

  private static let host = SIPHost.ipv4(0x7F00_0001)
  private static let path = SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, host, port: 5080))
  private static let own = AdvertisedAddress(listener: ListenerID(1), transport: .udp, host: host, port: 5060)

  private static func send(
    _ number: Int, _ layer: TransactionLayer, _ now: MonotonicInstant, _ effects: inout [TransactionEffect]
  ) throws -> [UInt8] {
    let request = OutgoingRequest(
      .options, uri: SIPURI(scheme: .sip, user: nil, host: host, port: 5080),
      from: NameAddress(SIPURI(scheme: .sip, user: "a", host: host), parameters: [SIPParameter("tag", "t\(number)")]),
      to: NameAddress(SIPURI(scheme: .sip, user: nil, host: host, port: 5080)), callID: "call-\(number)", cseq: 1)
    let mark = effects.count
    _ = try layer.send(request, to: path, as: own, at: now, into: &effects)
    for effect in effects[mark...] {
      if case .send(let bytes, _, _) = effect { return bytes }
    }
    throw BenchProblem("a request of ours was not sent")
  }

  /// 200 with the fields of the request, as a peer makes it.
  private static func response(to request: [UInt8]) -> [UInt8] {
    let lines = String(decoding: request, as: UTF8.self).split(separator: "\r\n")
    let copied = lines.filter { line in
      ["Via:", "From:", "To:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
    }
    let fields = copied.map { $0.hasPrefix("To:") ? "\($0);tag=peer" : String($0) }
    return Array((["SIP/2.0 200 OK"] + fields + ["Content-Length: 0", "", ""]).joined(separator: "\r\n").utf8)
  }
}
