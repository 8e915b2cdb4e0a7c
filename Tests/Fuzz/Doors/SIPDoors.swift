import CallModel
import SIPCore

/// The gate, the framer and the parser.
enum SIPDoors {
  static let all = [
    FuzzDoor("sip-gate", "a datagram or a stream's message", dictionary: "sip", maximumBytes: 70_000, gate),
    FuzzDoor("sip-stream", "role and cuts, then a stream's bytes", dictionary: "sip", maximumBytes: 16_384, stream),
    FuzzDoor("sip-message", "a message that is built again", dictionary: "sip", maximumBytes: 16_384, message),
    FuzzDoor("sip-response", "a request that is answered", dictionary: "sip", maximumBytes: 16_384, response),
  ]

  static let host = SIPHost.ipv4(0x7F00_0001)

  static func path(_ transport: SIPTransport, port: UInt16 = 5080) -> SIPPath {
    SIPPath(listener: ListenerID(1), remote: TransportAddress(transport, host, port: port))
  }

  // MARK: Gate

  /// What passes stays within the limits and passes again unchanged; a refusal's answer is not much more than was asked.
  private static func gate(_ input: [UInt8]) throws(BrokenPromise) {
    let limits = GateLimits.standard
    for transport in [SIPTransport.udp, .tcp] {
      let pointed = input.withUnsafeBytes { SIPGate.inspect($0, transport: transport) }
      switch SIPGate.admit(input, transport: transport) {
      case .success(let message):
        guard case .success(let seen) = pointed else { throw BrokenPromise(description: "two doors, two verdicts") }
        try promise(seen.bytes == message.bytes, "two doors, two readings")
        try promise(message.bytes.count <= limits.messageBytes(transport), "a message above the limit")
        try promise(message.body.count <= limits.bodyBytes, "a body above the limit")
        try promise(message.vias.count <= limits.vias, "more Via elements than the limit")
        guard case .success(let again) = SIPGate.admit(message.bytes, transport: transport) else {
          throw BrokenPromise(description: "what passed does not pass again")
        }
        try promise(again.bytes == message.bytes && again.headers.count == message.headers.count, "it changed again")
        if case .success(let values) = MessageParser.values(of: message) {
          try promise(values.vias.count == message.vias.count, "two counts of Via elements")
        }
      case .failure(let refusal): try refuse(refusal, input.count)
      }
    }
  }

  private static func refuse(_ refusal: GateRefusal, _ count: Int) throws(BrokenPromise) {
    guard case .answer(let status, let reason) = refusal.action, let message = refusal.message,
      let answer = ErrorResponse.bytes(
        to: message, status: status, reason: reason, tag: "0123456789abcdef0123456789abcdef",
        source: PacketSource(host: host, port: 5060))
    else { return }
    try promise(answer.count <= count + 512, "\(answer.count) bytes answer \(count)")
    var lines = answer.split(separator: 0x0A, omittingEmptySubsequences: false)
    try promise(lines.removeLast().isEmpty, "the answer does not end with its last line")
    for line in lines {
      try promise(line.last == 0x0D && !line.dropLast().contains(0x0D), "a bare line end in the answer")
    }
  }

  // MARK: Stream

  /// Whatever the pieces, the events are the same, and no more is held than one message.
  private static func stream(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count > 3 else { return }
    let role: StreamFramer.Role = input[0] & 1 == 0 ? .accepted : .opened
    let bytes = Array(input.dropFirst(3))
    let whole = try events(role, [bytes])
    let steps = [Int(input[1]) % 97 + 1, Int(input[2]) % 13 + 1]
    var pieces: [[UInt8]] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + steps[pieces.count % 2])
      pieces.append(Array(bytes[start..<end]))
      start = end
    }
    try promise(try events(role, pieces) == whole, "pieces of \(steps) make another stream")
    let cut = (Int(input[1]) << 8 | Int(input[2])) % (bytes.count + 1)
    try promise(
      try events(role, [Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "a cut at \(cut) makes another stream")
  }

  private static func events(_ role: StreamFramer.Role, _ pieces: [[UInt8]]) throws(BrokenPromise) -> [String] {
    var framer = StreamFramer(role: role)
    var events: [StreamFramer.Event] = []
    for piece in pieces {
      framer.receive(piece, into: &events)
      try promise(framer.bufferedBytes <= GateLimits.standard.streamBytes, "\(framer.bufferedBytes) bytes are held")
    }
    var told: [String] = []
    for (index, event) in events.enumerated() {
      switch event {
      case .message(let bytes): told.append("message \(bytes)")
      case .ping: told.append("ping")
      case .pong: told.append("pong")
      case .refusal(let refusal):
        told.append("refusal \(refusal)")
        try promise(index == events.count - 1 && framer.isClosed, "something follows a refusal")
      }
    }
    return told
  }

  // MARK: Messages

  static func parsed(_ bytes: [UInt8], _ transport: SIPTransport = .udp) -> SIPMessage? {
    guard case .success(let message) = SIPGate.admit(bytes, transport: transport),
      case .success(let values) = MessageParser.values(of: message)
    else { return nil }
    return values
  }

  /// A request that is written from what was read says the same to the next reader.
  private static func message(_ input: [UInt8]) throws(BrokenPromise) {
    guard let read = parsed(input) else { return }
    guard case .request(let method, let uri) = read.startLine, let via = read.vias.first else { return }
    let request = OutgoingRequest(
      method, uri: uri, routes: read.routes, from: read.from, to: read.to, callID: read.callID, cseq: read.cseq.number,
      contact: read.contacts.first, fields: read.fields.compactMap { try? OutgoingField($0.name, $0.value) },
      body: read.body)
    guard let written = try? request.encoded(via: via) else { return }
    let again = try promised(parsed(written), "what was written is refused: \(text(written))")
    try promise(again.method == method, "another method")
    guard case .request(_, let target) = again.startLine else { throw BrokenPromise(description: "no request") }
    // What had to be escaped and was not is escaped now: the same in other words.
    try promise((try? target.encoded()) == (try? uri.encoded()), "another URI: \(target) for \(uri)")
    try promise(again.vias.first == via, "another Via")
    try promise(isSame(again.from, read.from) && isSame(again.to, read.to), "another From or To")
    try promise(again.callID == read.callID && again.cseq == read.cseq, "another Call-ID or CSeq")
    try promise(
      again.routes.count == read.routes.count && zip(again.routes, read.routes).allSatisfy(isSame), "another route")
    try promise(isSame(again.contacts.first, read.contacts.first), "another Contact")
    try promise(again.body == read.body, "another body")
    let kept = Set(request.fields.map { "\($0.name): \($0.value)" })
    for field in again.fields where !["Max-Forwards", "Content-Length"].contains(field.name) {
      try promise(kept.contains("\(field.name): \(field.value)"), "a field that nobody wrote: \(field)")
    }
  }

  private static func isSame(_ one: NameAddress?, _ other: NameAddress?) -> Bool {
    (try? one?.encoded()) == (try? other?.encoded())
  }

  /// The answer to a request is one that the asker can read and match.
  private static func response(_ input: [UInt8]) throws(BrokenPromise) {
    guard let read = parsed(input), read.method != nil else { return }
    for status in [100, 200, 486] {
      let answer = OutgoingResponse(
        status, toTag: status == 100 ? nil : "tag", contact: status == 200 ? NameAddress(own) : nil,
        body: status == 200 ? MessageBody(sessionDescription: Array("v=0\r\n".utf8)) : nil)
      guard let written = try? answer.encoded(to: read, receivedFrom: path(.udp)) else { continue }
      let again = try promised(parsed(written), "the answer is refused: \(text(written))")
      try promise(again.status == status, "another status")
      try promise(again.vias.count == read.vias.count, "another count of Via elements")
      try promise(again.vias.first?.branch == read.vias.first?.branch, "another branch")
      try promise(
        isSame(again.from, read.from) && again.callID == read.callID && again.cseq == read.cseq, "another dialog")
      try promise((try? again.to.uri.encoded()) == (try? read.to.uri.encoded()), "another To")
      if let tag = read.to.tag { try promise(again.to.tag == tag, "another tag") }
    }
  }

  static let own = SIPURI(scheme: .sip, user: "gw", host: host)

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(600), as: UTF8.self) }
}
