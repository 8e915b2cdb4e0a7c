import CallModel
import SIPCore
import Testing

/// One transaction layer on a clock that a test moves, with a peer whose messages the test writes. What the layer does
/// becomes lines with the millisecond in front: `500 send INVITE`, `32000 failed timeout`.
final class TransactionScene {
  static let listener = ListenerID(1)
  static let peer = SIPHost.ipv4(0xC000_0201)

  let layer: TransactionLayer
  let transport: SIPTransport
  private(set) var now: Int64 = 0
  private(set) var trace: [String] = []
  /// The last bytes of each kind that went out: `INVITE`, `ACK`, `200`.
  private(set) var sent: [String: [UInt8]] = [:]
  private(set) var sentPaths: [String: SIPPath] = [:]
  /// Of requests that came in, in order.
  private(set) var incoming: [TransactionID] = []

  init(
    _ transport: SIPTransport = .udp, maximumTransactions: Int = 1000, maximumBeginningPerHost: Int = 1000,
    seed: UInt64 = 7
  ) {
    self.transport = transport
    let draws = Draws(SeededBytes(state: seed))
    layer = TransactionLayer(
      identifiers: IdentifierSource { draws.next() }, maximumTransactions: maximumTransactions,
      maximumBeginningPerHost: maximumBeginningPerHost)
  }

  /// Where what comes in comes from.
  var source = TransactionScene.peer

  var path: SIPPath {
    SIPPath(
      listener: Self.listener, remote: TransportAddress(transport, source, port: 5099),
      connection: transport.isStream ? ConnectionID(1) : nil)
  }

  var address: AdvertisedAddress {
    AdvertisedAddress(
      listener: Self.listener, transport: transport, host: .ipv4(0xC633_6401),
      port: transport == .tls ? 5061 : 5060)
  }

  // MARK: Time

  /// Moves the clock to every deadline on the way, a millisecond earlier first: nothing may happen then.
  func run(until end: Int64) {
    while let next = layer.nextDeadline, next.milliseconds <= end {
      guard next.milliseconds >= now else {
        trace.append("\(now) deadline in the past: \(next.milliseconds)")
        return
      }
      if next.milliseconds - 1 > now {
        now = next.milliseconds - 1
        let before = trace.count
        advance()
        if trace.count != before { trace.append("\(now) too early") }
      }
      now = next.milliseconds
      advance()
    }
    now = end
  }

  func jump(to time: Int64) { now = time }

  func advance() {
    var effects: [TransactionEffect] = []
    layer.advance(to: MonotonicInstant(milliseconds: now), into: &effects)
    record(effects)
  }

  // MARK: Our side

  static func request(_ method: SIPMethod, callID: String = "c1", cseq: UInt32 = 1) -> OutgoingRequest {
    let peer = SIPURI(scheme: .sip, user: "b", host: TransactionScene.peer, port: 5099)
    let own = SIPURI(scheme: .sip, user: "a", host: .ipv4(0xC633_6401))
    return OutgoingRequest(
      method, uri: peer,
      routes: [NameAddress(SIPURI(scheme: .sip, user: nil, host: peer.host, parameters: [SIPParameter("lr")]))],
      from: NameAddress(own, parameters: [SIPParameter("tag", "f1")]), to: NameAddress(peer), callID: callID,
      cseq: cseq, contact: NameAddress(own))
  }

  @discardableResult
  func send(_ method: SIPMethod, callID: String = "c1", cseq: UInt32 = 1) -> TransactionID? {
    var effects: [TransactionEffect] = []
    defer { record(effects) }
    do {
      return try layer.send(
        Self.request(method, callID: callID, cseq: cseq), to: path, as: address,
        at: MonotonicInstant(milliseconds: now), into: &effects)
    } catch {
      trace.append("\(now) refused \(error.rule)")
      return nil
    }
  }

  func respond(_ status: Int, to id: TransactionID? = nil, tag: String = "t1") {
    guard let id = id ?? incoming.first else { return trace.append("\(now) nothing to answer") }
    var effects: [TransactionEffect] = []
    do {
      try layer.respond(
        id, OutgoingResponse(status, toTag: tag), at: MonotonicInstant(milliseconds: now), into: &effects)
    } catch {
      trace.append("\(now) refused \(error.rule)")
    }
    record(effects)
  }

  func cancel(_ id: TransactionID) {
    var effects: [TransactionEffect] = []
    layer.cancel(id, fields: [], at: MonotonicInstant(milliseconds: now), into: &effects)
    record(effects)
  }

  func transportFails(_ id: TransactionID) {
    var effects: [TransactionEffect] = []
    layer.transportFailed(id, at: MonotonicInstant(milliseconds: now), into: &effects)
    record(effects)
  }

  // MARK: The peer

  /// A response of the peer to what we sent last with this method.
  func receive(_ status: Int, to method: SIPMethod, changing change: (String) -> String = { $0 }) {
    let request = String(decoding: sent[method.rawValue] ?? [], as: UTF8.self)
    let copied = request.split(separator: "\r\n").filter { line in
      ["Via:", "From:", "Call-ID:", "CSeq:"].contains { line.hasPrefix($0) }
    }
    let to = request.split(separator: "\r\n").first { $0.hasPrefix("To:") }.map { "\($0);tag=remote" } ?? ""
    let lines = ["SIP/2.0 \(status) Text"] + copied.map(String.init) + [to, "Content-Length: 0"]
    receive(change(lines.joined(separator: "\r\n") + "\r\n\r\n"))
  }

  /// A request of the peer.
  func receive(
    _ method: SIPMethod, branch: String = "z9hG4bK1", cseq: String? = nil, toTag: String? = nil, callID: String = "in1",
    changing change: (String) -> String = { $0 }
  ) {
    let lines = [
      "\(method) sip:b@198.51.100.1 SIP/2.0",
      "Via: SIP/2.0/\(transport.rawValue.uppercased()) 192.0.2.1:5099;branch=\(branch)", "Max-Forwards: 70",
      "From: <sip:a@192.0.2.1>;tag=a1", "To: <sip:b@198.51.100.1>" + (toTag.map { ";tag=\($0)" } ?? ""),
      "Call-ID: \(callID)", "CSeq: \(cseq ?? "1") \(method)", "Contact: <sip:a@192.0.2.1:5099>", "Content-Length: 0",
    ]
    receive(change(lines.joined(separator: "\r\n") + "\r\n\r\n"))
  }

  func receive(_ text: String) {
    switch SIPGate.admit(Array(text.utf8), transport: transport) {
    case .success(let message):
      var effects: [TransactionEffect] = []
      layer.receive(message, from: path, at: MonotonicInstant(milliseconds: now), into: &effects)
      record(effects)
    case .failure(let refusal):
      trace.append("\(now) gate \(refusal)")
    }
  }

  // MARK: Trace

  private func record(_ effects: [TransactionEffect]) {
    for effect in effects { trace.append("\(now) \(describe(effect))") }
  }

  private func describe(_ effect: TransactionEffect) -> String {
    switch effect {
    case .send(let bytes, let path, _):
      let words = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: " ")
      let kind = words.first == "SIP/2.0" ? String(words[1]) : String(words.first ?? "nothing")
      sent[kind] = bytes
      sentPaths[kind] = path
      return "send \(kind)"
    case .request(let id, let message, _):
      incoming.append(id)
      return "request \(message.method?.rawValue ?? "")"
    case .acknowledgement: return "acknowledgement"
    case .response(_, let message, _): return "response \(message.status ?? 0)"
    case .unreadable(_, let response): return "unreadable \(response.status) \(response.rule.rawValue)"
    case .lateSuccess(let message, _): return "late \(message.status ?? 0)"
    case .cancelled: return "cancelled"
    case .failed(_, let failure): return "failed \(failure)"
    case .ended: return "ended"
    }
  }

  /// A header line of what was sent last.
  func sentLine(_ kind: String, _ name: String) -> String? {
    String(decoding: sent[kind] ?? [], as: UTF8.self).split(separator: "\r\n").first { $0.hasPrefix("\(name):") }
      .map(String.init)
  }
}

/// A seeded generator behind a reference: tests run one scene on one thread.
// Only ever used by the scene that owns it.
final class Draws: @unchecked Sendable {
  private var generator: SeededBytes
  init(_ generator: SeededBytes) { self.generator = generator }
  func next() -> UInt64 { generator.next() }
}
