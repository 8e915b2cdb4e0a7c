import CallModel
import SecureTransport

/// Bytes of a TURN server, or of whoever stands in for it, to the client of one. Each record is two bytes, a kind above a
/// length, and its bytes: as they are, or as attributes of an answer to the last request, with or without its proof, which
/// chance never finds.
enum TURNDoor {
  static let door = FuzzDoor("turn", "a TURN server's bytes to a client", dictionary: "stun", maximumBytes: 8192) {
    (input) throws(BrokenPromise) in
    let bench = Bench()
    var rest = input[...]
    for _ in 0..<64 where rest.count > 2 {
      let word = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      rest = rest.dropFirst(2)
      let bytes = rest.prefix(word & 0x1FFF)
      switch word >> 13 {
      case 0, 1: try bench.give(Array(bytes))
      case 2: try bench.answer(.success, bytes, isSigned: true)
      case 3: try bench.answer(.failure, bytes, isSigned: false)
      case 4: try bench.answer(.success, bytes, isSigned: false)
      case 5: try bench.send(bytes)
      default:
        try bench.advance(milliseconds: Int64(word & 0x1FFF) * 64)
        continue
      }
      rest = rest.dropFirst(bytes.count)
    }
    try bench.end()
  }
}

private final class Bench {
  private static let peers = [
    MediaAddress(ipv4: 0xC000_0263, port: 5000), MediaAddress(ipv4: 0xC633_640A, port: 6000),
  ]
  /// MD5 of `1:u:r:p`, the key where the server names the realm `r`.
  private static let key: [UInt8] = [
    0xE8, 0x68, 0x16, 0x93, 0x9C, 0x37, 0xAF, 0x94, 0x11, 0xF3, 0x73, 0x87, 0x26, 0x5D, 0xCA, 0xDA,
  ]

  private let client: TURNClient
  private let packet = PacketBuffer()
  private var now = MonotonicInstant.zero
  private var events: [TURNClient.Event] = []
  private var last: (method: UInt16, transaction: STUNTransaction)?
  private var hasSigned = false
  private var isOver: Bool { events.contains { if case .failed = $0 { true } else { false } } }

  init() {
    let drawn = DrawnNumbers()
    client = TURNClient(
      TURNClient.Configuration(
        username: "1:u", password: Redacted("p"), peers: Bench.peers, draw: { drawn.next() }))
    client.start(at: now, events: &events)
    note(client.drainOutput())
  }

  /// Keeps what the last request that went out needs in its answer.
  private func note(_ output: [UInt8]) {
    var rest = output[...]
    while rest.count >= 4 {
      let length = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
      guard rest[rest.startIndex] < 0x40 else {
        rest = rest.dropFirst(4 + (length + 3) & ~3)
        continue
      }
      packet.replace(with: rest.prefix(20 + length))
      if let message = STUNMessage(packet) { last = (message.method, message.transaction) }
      rest = rest.dropFirst(20 + length)
    }
  }

  func give(_ bytes: [UInt8]) throws(BrokenPromise) {
    let was = events
    let wasOver = isOver
    var delivered = 0
    client.receive(bytes, at: now, events: &events) { packet, source in
      delivered += packet.count
      if !Bench.peers.contains(source) { delivered = .max }
    }
    try promise(delivered <= bytes.count + PacketBuffer.maximumDatagram, "data of nobody, or more than came")
    try promise(!wasOver || (events == was && delivered == 0), "something is told after the end")
    let isReady = events.contains { if case .ready = $0 { true } else { false } }
    try promise(!isReady || hasSigned, "ready without a proof")
    let output = client.drainOutput()
    // An answer leads to one request, and the allocation to one for each peer.
    try promise(output.count <= (1 + bytes.count / 20) * 2 * PacketBuffer.maximumDatagram, "answers that grow")
    note(output)
  }

  /// An answer to the last request that is right but for what the bytes say.
  func answer(_ kind: STUNMessage.Kind, _ attributes: ArraySlice<UInt8>, isSigned: Bool) throws(BrokenPromise) {
    guard let last else { return }
    let writer = STUNWriter(packet, kind, method: last.method, transaction: last.transaction)
    for byte in attributes.prefix(min(attributes.count & ~3, 1200)) { packet.append(byte) }
    packet.store(UInt16(packet.count - STUNMessage.headerCount), at: 2)
    if isSigned {
      writer.appendIntegrity(STUNIntegrity(Bench.key))
      hasSigned = true
    }
    try give(packet.bytes)
  }

  func send(_ bytes: ArraySlice<UInt8>) throws(BrokenPromise) {
    packet.replace(with: bytes.prefix(PacketBuffer.capacity))
    let went = client.send(packet, to: Bench.peers[bytes.count & 1])
    let output = client.drainOutput()
    try promise(output.isEmpty != went && output.count & 3 == 0, "data that is none")
    try promise(!went || hasSigned, "data without a channel")
  }

  func advance(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    for _ in 0..<4096 {
      guard let next = client.nextDeadline, next <= end else { break }
      now = max(now, next)
      client.advance(to: now, events: &events)
      note(client.drainOutput())
      if let following = client.nextDeadline { try promise(following > now, "a deadline stayed behind") }
    }
    now = end
  }

  func end() throws(BrokenPromise) {
    // Nobody answers any more.
    try advance(milliseconds: 3_600_000)
    try promise(isOver && client.nextDeadline == nil, "it waits for ever")
    client.close()
    try promise(client.drainOutput().isEmpty, "a word after the end")
    try promise(events.count <= 2, "an end that is told again")
  }
}
