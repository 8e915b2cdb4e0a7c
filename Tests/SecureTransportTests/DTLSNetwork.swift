import CallModel
import SDPCore
import SecureTransport

/// A small generator whose seed makes a run repeatable (SplitMix64).
struct DTLSChance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// A certificate for each side, made once for all tests.
enum DTLSFixture {
  static let suites: [CryptoSuite] = [.aesGCM128, .aesGCM256, .aesCM128HMAC80]
  static let port = MediaPort(rawValue: 3)
  static let ours = MediaAddress(ipv4: 0x7F00_0001, port: 4000)
  static let certificate = Result { try DTLSCertificate() }
  static let peerCertificate = Result { try DTLSCertificate() }

  static func association(
    _ role: MediaPlan.DTLS.Role, certificate: DTLSCertificate? = nil, fingerprints: [CertificateFingerprint]? = nil,
    suites: [CryptoSuite] = suites, maximumDatagram: Int = DTLSAssociation.maximumDatagram
  ) throws -> DTLSAssociation {
    // The server side is "ours", the client side the peer's.
    let own = role == .server ? Self.certificate : peerCertificate
    let other = role == .server ? peerCertificate : Self.certificate
    return try DTLSAssociation(
      role: role, certificate: certificate ?? own.get(), fingerprints: fingerprints ?? [other.get().fingerprint],
      suites: suites, maximumDatagram: maximumDatagram)
  }
}

extension DTLSAssociation {
  var keys: DTLSKeys? {
    guard case .established(let keys) = state else { return nil }
    return keys
  }

  var isHandshaking: Bool { state == .handshaking }
}

/// A server and a client joined by a network in memory with a clock of its own, which does harm by chance.
final class DTLSNetwork {
  struct Harm {
    /// Never more than ``DTLSNetwork/mostLostInARow`` one after another, so that a handshake ends for certain.
    var lost = 0
    var doubled = 0
    var delayed = 0
    var corrupted = 0
  }

  private struct Flying {
    let due: MonotonicInstant
    let order: Int
    let toServer: Bool
    let bytes: [UInt8]
  }

  static let mostLostInARow = 3

  let server: DTLSAssociation
  let client: DTLSAssociation
  /// One way, in milliseconds.
  var delay: Int64 = 20
  var harm: Harm
  private(set) var now = MonotonicInstant(milliseconds: 5_000)
  /// Every datagram that was sent, harmed or not.
  private(set) var sent: [(at: MonotonicInstant, toServer: Bool, bytes: [UInt8])] = []
  private var flying: [Flying] = []
  private var chance: DTLSChance
  private var order = 0
  private var lostInARow = 0
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()

  init(server: DTLSAssociation, client: DTLSAssociation, harm: Harm = Harm(), seed: UInt64 = 1) {
    self.server = server
    self.client = client
    self.harm = harm
    chance = DTLSChance(seed: seed)
  }

  func start() {
    server.start(at: now, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    carry(toServer: false)
    client.start(at: now, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    carry(toServer: true)
  }

  /// Puts bytes that nobody sent before one side.
  func inject(_ bytes: [UInt8], toServer: Bool) {
    packet.replace(with: bytes.prefix(PacketBuffer.capacity))
    (toServer ? server : client)
      .receive(packet, at: now, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    carry(toServer: !toServer)
  }

  func close(server isServer: Bool) {
    (isServer ? server : client).close(outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
    carry(toServer: !isServer)
  }

  /// Loses everything that is under way.
  func loseAll() { flying.removeAll() }

  /// Lets time pass until nothing is left to happen, or until the limit.
  func run(for milliseconds: Int64 = 60_000, while goesOn: () -> Bool = { true }) {
    let limit = now.advanced(byMilliseconds: milliseconds)
    while goesOn(), step(before: limit) {}
  }

  /// Until both sides have an end.
  func runHandshake(for milliseconds: Int64 = 60_000) {
    run(for: milliseconds) { server.isHandshaking || client.isHandshaking }
  }

  /// Does the next thing that is due; false when there is none before the limit.
  func step(before limit: MonotonicInstant = MonotonicInstant(microseconds: .max)) -> Bool {
    let arrival = flying.indices.min { (flying[$0].due, flying[$0].order) < (flying[$1].due, flying[$1].order) }
    let times = [arrival.map { flying[$0].due }, server.nextDeadline, client.nextDeadline].compactMap { $0 }
    guard let next = times.min(), next <= limit else { return false }
    now = max(now, next)
    if let arrival, flying[arrival].due <= next {
      let one = flying.remove(at: arrival)
      inject(one.bytes, toServer: one.toServer)
      return true
    }
    if let due = server.nextDeadline, due <= now {
      server.advance(to: now, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
      carry(toServer: false)
    } else {
      client.advance(to: now, outbox: outbox, on: DTLSFixture.port, to: DTLSFixture.ours)
      carry(toServer: true)
    }
    return true
  }

  private func carry(toServer: Bool) {
    for index in 0..<outbox.count {
      var bytes = outbox.buffer(at: index).bytes
      sent.append((now, toServer, bytes))
      if chance.happens(percent: harm.lost), lostInARow < DTLSNetwork.mostLostInARow || harm.lost == 100 {
        lostInARow += 1
        continue
      }
      lostInARow = 0
      if chance.happens(percent: harm.corrupted), !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &chance)] ^= UInt8.random(in: 1...255, using: &chance)
      }
      for _ in 0..<(chance.happens(percent: harm.doubled) ? 2 : 1) {
        let extra = chance.happens(percent: harm.delayed) ? Int64.random(in: 0...200, using: &chance) : 0
        order += 1
        flying.append(
          Flying(due: now.advanced(byMilliseconds: delay + extra), order: order, toServer: toServer, bytes: bytes))
      }
    }
    outbox.removeAll()
  }
}

/// Records of a datagram, cut by their length fields.
func dtlsRecords(_ bytes: [UInt8]) -> [[UInt8]] {
  var records: [[UInt8]] = []
  var rest = bytes[...]
  while rest.count >= 13 {
    let start = rest.startIndex
    let length = 13 + Int(rest[start + 11]) << 8 + Int(rest[start + 12])
    records.append(Array(rest.prefix(length)))
    rest = rest.dropFirst(length)
  }
  return records
}
