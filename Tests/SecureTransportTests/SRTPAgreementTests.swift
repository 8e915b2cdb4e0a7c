import CallModel
import Glibc
import SDPCore
import SecureTransport
import Testing

/// Both transforms see the same packets and must give the same bytes and the same verdicts: sealing, replays, reordering,
/// wraps of the sequence number, wrong tags, cut packets, junk, new sources.
@Suite struct SRTPAgreementTests {
  typealias Random = SRTPFixtures.Random

  /// Packets for each suite and kind of key.
  static let packets = SRTPFixtures.isFull ? 340_000 : 17_000

  /// The suites that both have: libsrtp, as Debian builds it, makes nothing of AES-192.
  static let cases = CryptoSuite.allCases.filter { $0.keyLength != 24 }.flatMap { suite in
    [Case(suite: suite, identifier: []), Case(suite: suite, identifier: [0xE1, 0xF9, 0x7A, 0x0D])]
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let suite: CryptoSuite
    let identifier: [UInt8]
    /// libsrtp looks for the key name of an RTCP packet before a tag as short as RTP's, and refuses its own packets.
    var isMisreadByLibsrtp: Bool { suite.rawValue.hasSuffix("_32") && !identifier.isEmpty }
    var testDescription: String { suite.rawValue + (identifier.isEmpty ? "" : " with MKI") }
  }

  /// One context of each transform.
  struct Pair {
    let ours: SRTPContext
    let theirs: SRTPContext
    let left = PacketBuffer()
    let right = PacketBuffer()

    init(_ suite: CryptoSuite, _ key: SRTPMasterKey, _ direction: SRTPContext.Direction) throws {
      ours = try SRTPContext(suite, key, direction)
      theirs = try SRTPContext(suite, key, direction, transform: .libsrtp)
    }

    /// `nil` when they differ; else whether it may be sent.
    func protect(_ packet: PacketBuffer, isControl: Bool) -> Bool? {
      load(packet)
      let mine = isControl ? ours.protectRTCP(left) : ours.protectRTP(left)
      let other = isControl ? theirs.protectRTCP(right) : theirs.protectRTP(right)
      return mine == other && isSame ? mine : nil
    }

    func unprotect(_ packet: PacketBuffer, isControl: Bool) -> SRTPVerdict? {
      load(packet)
      let mine = isControl ? ours.unprotectRTCP(left) : ours.unprotectRTP(left)
      let other = isControl ? theirs.unprotectRTCP(right) : theirs.unprotectRTP(right)
      return mine == other && isSame ? mine : nil
    }

    private func load(_ packet: PacketBuffer) {
      for buffer in [left, right] {
        buffer.count = packet.count
        buffer.copy(packet, from: 0, count: packet.count, to: 0)
      }
    }

    private var isSame: Bool {
      left.count == right.count
        && left.withUnsafeMutableRoom { mine in
          right.withUnsafeMutableRoom { other in
            guard let mine = mine.baseAddress, let other = other.baseAddress else { return false }
            return memcmp(mine, other, left.count) == 0
          }
        }
    }
  }

  struct Source {
    let number: UInt32
    var sequence: UInt16
  }

  @Test(arguments: cases) func bytesAndVerdictsAreTheSame(_ these: Case) throws {
    var random = Random(seed: these.testDescription.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
    let keyAndSalt = SRTPFixtures.randomKey(these.suite, &random)
    let key = try SRTPFixtures.key(these.suite, keyAndSalt, identifier: these.identifier)
    let senders = try Pair(these.suite, key, .send)
    let receivers = try Pair(these.suite, key, .receive)
    var sources = (0..<3).map { _ in
      Source(number: .random(in: 0...(.max), using: &random), sequence: .random(in: 0...(.max), using: &random))
    }
    let recent = (0..<256).map { _ in PacketBuffer() }
    var isControl = [Bool](repeating: false, count: recent.count)
    var verdicts: [SRTPVerdict: Int] = [:]
    var refused = 0
    let plain = PacketBuffer()
    let wire = PacketBuffer()
    for number in 0..<SRTPAgreementTests.packets {
      if number % 500 == 499 {
        sources[Int.random(in: 0..<3, using: &random)] = Source(
          number: .random(in: 0...(.max), using: &random), sequence: .random(in: 0...(.max), using: &random))
      }
      let slot = number % recent.count
      isControl[slot] = UInt8.random(in: 0..<10, using: &random) == 0 && !these.isMisreadByLibsrtp
      write(plain, &sources[Int.random(in: 0..<3, using: &random)], isControl: isControl[slot], &random)
      let sent = senders.protect(plain, isControl: isControl[slot])
      guard let sent else {
        Issue.record("packet \(number) is protected otherwise: \(plain.bytes)")
        return
      }
      if !sent { refused += 1 }
      recent[slot].count = senders.left.count
      recent[slot].copy(senders.left, from: 0, count: senders.left.count, to: 0)

      let chosen = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0..<256, using: &random) : slot
      let original = recent[chosen]
      wire.count = original.count
      wire.copy(original, from: 0, count: original.count, to: 0)
      disturb(wire, &random)
      guard let verdict = receivers.unprotect(wire, isControl: isControl[chosen]) else {
        Issue.record("packet \(number) is opened otherwise: control \(isControl[chosen]), \(wire.bytes)")
        return
      }
      verdicts[verdict, default: 0] += 1
      if verdict != .opened, receivers.left.bytes != wire.bytes {
        Issue.record("packet \(number) was refused and changed")
        return
      }
    }
    #expect(refused > SRTPAgreementTests.packets / 100)
    for verdict in [SRTPVerdict.opened, .length, .authentication, .replay] {
      #expect(verdicts[verdict, default: 0] > SRTPAgreementTests.packets / 100, "\(verdict)")
    }
  }

  /// An RTCP packet that says it is not encrypted, fresh and as a copy of one that came.
  @Test(arguments: cases) func theEncryptionFlagIsMissedAlike(_ these: Case) throws {
    var random = Random(seed: 3)
    let keyAndSalt = SRTPFixtures.randomKey(these.suite, &random)
    let key = try SRTPFixtures.key(these.suite, keyAndSalt, identifier: these.identifier)
    let senders = try Pair(these.suite, key, .send)
    let receivers = try Pair(these.suite, key, .receive)
    guard !these.isMisreadByLibsrtp else { return }
    #expect(senders.protect(SRTPFixtures.rtcp(), isControl: true) == true)
    let sealed = PacketBuffer(senders.left.bytes)
    let flagged = PacketBuffer(sealed.bytes)
    let isGCM = these.suite.saltLength == 12
    flagged[sealed.count - these.identifier.count - (isGCM ? 4 : 14)] ^= 0x80
    #expect(receivers.unprotect(flagged, isControl: true) == .authentication)
    #expect(receivers.unprotect(sealed, isControl: true) == .opened)
    #expect(receivers.unprotect(sealed, isControl: true) == .replay)
    #expect(receivers.unprotect(flagged, isControl: true) == (isGCM ? .replay : .authentication))
  }

  /// A packet with contributing sources, extension and payload by chance, one step ahead, far ahead, or behind.
  private func write(_ packet: PacketBuffer, _ source: inout Source, isControl: Bool, _ random: inout Random) {
    packet.count = 0
    if isControl {
      packet.append(0x80 as UInt8)
      packet.append(200 as UInt8)
      packet.append(integer: UInt16(6))
      packet.append(integer: source.number)
      fill(packet, 4 * Int.random(in: 0..<20, using: &random), &random)
      return
    }
    var sequence = source.sequence
    switch UInt8.random(in: 0..<100, using: &random) {
    case 0..<70: sequence &+= 1
    case 70..<90: sequence &+= UInt16.random(in: 2..<600, using: &random)
    case 90..<93: sequence &+= UInt16.random(in: 600..<33_000, using: &random)
    default: sequence &-= UInt16.random(in: 0..<200, using: &random)
    }
    source.sequence = sequence
    let contributors = UInt8.random(in: 0..<4, using: &random) == 0 ? UInt8.random(in: 0...15, using: &random) : 0
    let isExtended = UInt8.random(in: 0..<4, using: &random) == 0
    packet.append(0x80 | (isExtended ? 0x10 : 0) | contributors)
    packet.append(UInt8.random(in: 0...255, using: &random))
    packet.append(integer: sequence)
    packet.append(integer: UInt32.random(in: 0...(.max), using: &random))
    packet.append(integer: source.number)
    fill(packet, Int(contributors) * 4, &random)
    if isExtended {
      let words = UInt16.random(in: 0..<5, using: &random)
      packet.append(integer: UInt16(0xBEDE))
      packet.append(integer: words)
      fill(packet, Int(words) * 4, &random)
    }
    fill(packet, Int.random(in: 0..<240, using: &random), &random)
  }

  private func fill(_ packet: PacketBuffer, _ count: Int, _ random: inout Random) {
    for _ in 0..<(count / 8) { packet.append(integer: random.next()) }
    for _ in 0..<(count % 8) { packet.append(UInt8(truncatingIfNeeded: random.next())) }
  }

  /// One packet in five is changed, cut, made longer, or replaced.
  private func disturb(_ packet: PacketBuffer, _ random: inout Random) {
    guard packet.count > 0 else { return }
    switch UInt8.random(in: 0..<50, using: &random) {
    case 0..<4: packet[Int.random(in: 0..<packet.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 4: packet.count = Int.random(in: 0..<packet.count, using: &random)
    case 5: packet.count = Int.random(in: 0..<min(40, packet.count), using: &random)
    case 6: fill(packet, Int.random(in: 1..<30, using: &random), &random)
    case 7:
      packet.count = 0
      fill(packet, Int.random(in: 0..<200, using: &random), &random)
    case 8:
      packet.count = 0
      packet.append(0x80 as UInt8)
      fill(packet, Int.random(in: 0..<200, using: &random), &random)
    default: break
    }
  }
}
