import CallModel
import SecureTransport
import Synchronization
import Testing

/// A client and what stands for a server at the other end of its stream: it reads requests and answers as it is told.
final class TURNScene {
  static let user = "1795043200:foo"
  static let password = "secret"
  static let realm = "landline.test"
  static let gateway = MediaAddress(ipv4: 0xC633_6401, port: 10_000)
  static let other = MediaAddress(ipv4: 0xC633_6407, port: 10_000)
  static let relayed = MediaAddress(ipv4: 0xC633_6402, port: 50_000)
  static let allocate: UInt16 = 0x003
  static let refresh: UInt16 = 0x004
  static let bind: UInt16 = 0x009

  /// A request of the client, copied out of its stream.
  struct Request {
    let packet: PacketBuffer
    let message: STUNMessage

    func bytes(_ type: UInt16) -> [UInt8]? { message.value(type).map { $0.map { packet[$0] } } }
    func text(_ type: STUNAttribute) -> String? {
      bytes(type.rawValue).map { String(decoding: $0, as: UTF8.self) }
    }
    func number(_ type: UInt16) -> UInt32? {
      message.value(type).map { packet.integer(at: $0.lowerBound, as: UInt32.self) }
    }
  }

  let client: TURNClient
  var now = MonotonicInstant(milliseconds: 1_000)
  var events: [TURNClient.Event] = []
  /// Datagrams that were delivered, with whom they are from.
  var delivered: [(bytes: [UInt8], from: MediaAddress)] = []
  /// Data that the client sent, by channel.
  private(set) var sent: [(channel: UInt16, bytes: [UInt8])] = []
  /// MD5 of `user:realm:password`, as RFC 8489 section 9.2.2 has it: computed with md5sum.
  let key = STUNIntegrity(TURNScene.keyBytes)
  private static let keyBytes: [UInt8] = [
    0x6B, 0xB1, 0xB6, 0xAC, 0x91, 0x47, 0x4A, 0x16, 0x82, 0x40, 0x53, 0x8B, 0x27, 0x7A, 0x1E, 0x84,
  ]

  init(peers: [MediaAddress] = [TURNScene.gateway], user: String = TURNScene.user) {
    let draws = Mutex(DTLSChance(seed: 7))
    client = TURNClient(
      TURNClient.Configuration(
        username: user, password: Redacted(TURNScene.password), peers: peers,
        draw: { draws.withLock { $0.next() } }))
  }

  /// The requests since the last time; data goes to ``sent``.
  func requests() throws -> [Request] {
    var rest = client.drainOutput()[...]
    var found: [Request] = []
    while rest.count >= 4 {
      let word = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
      let length = Int(rest[rest.startIndex + 2]) << 8 | Int(rest[rest.startIndex + 3])
      if word < 0x4000 {
        let packet = PacketBuffer(rest.prefix(20 + length))
        rest = rest.dropFirst(20 + length)
        found.append(Request(packet: packet, message: try #require(STUNMessage(packet))))
      } else {
        sent.append((UInt16(word), Array(rest.dropFirst(4).prefix(length))))
        rest = rest.dropFirst(4 + (length + 3) & ~3)
      }
    }
    #expect(rest.isEmpty)
    return found
  }

  func start() throws -> Request {
    client.start(at: now, events: &events)
    return try #require(try requests().first)
  }

  /// What a server says to a request.
  func answer(
    _ request: Request, _ kind: STUNMessage.Kind = .success, signedBy key: STUNIntegrity? = nil,
    _ write: (STUNWriter) -> Void = { _ in }
  ) -> [UInt8] {
    let packet = PacketBuffer()
    let writer = STUNWriter(
      packet, kind, method: request.message.method, transaction: request.message.transaction)
    write(writer)
    if let key { writer.appendIntegrity(key) }
    return packet.bytes
  }

  func refusal(_ request: Request, _ code: Int, nonce: String? = nil, realm: String? = nil) -> [UInt8] {
    answer(request, .failure) { writer in
      writer.append(.errorCode, [0, 0, UInt8(code / 100), UInt8(code % 100)])
      if let realm { writer.append(.realm, realm.utf8) }
      if let nonce { writer.append(.nonce, nonce.utf8) }
    }
  }

  func allocation(_ request: Request, lifetime: UInt32 = 600, address: MediaAddress = TURNScene.relayed) -> [UInt8] {
    answer(request, signedBy: key) { writer in
      writer.append(0x0016, xored: address)
      writer.append(UInt16(0x000D), integer: lifetime)
    }
  }

  func give(_ bytes: [UInt8]) {
    client.receive(bytes, at: now, events: &events) { [self] packet, source in
      delivered.append((packet.bytes, source))
    }
  }

  /// Up to the signed request for an allocation.
  func challenged(_ nonce: String = "n1") throws -> Request {
    give(refusal(try start(), 401, nonce: nonce, realm: TURNScene.realm))
    return try #require(try requests().first)
  }

  /// Up to the first channel.
  func ready() throws {
    give(allocation(try challenged()))
    for request in try requests() { give(answer(request, signedBy: key)) }
    try #require(events == [.ready(relayed: TURNScene.relayed)])
  }

  /// Lets time pass, each deadline at its moment.
  func wait(_ milliseconds: Int64) {
    let end = now.advanced(byMilliseconds: milliseconds)
    while let next = client.nextDeadline, next <= end {
      now = max(now, next)
      client.advance(to: now, events: &events)
      if let following = client.nextDeadline, following <= now {
        Issue.record("a deadline stayed behind")
        return
      }
    }
    now = end
  }
}
