import CallModel
import SDPCore
import SecureTransport
import Testing

/// What one context does over many packets.
@Suite struct SRTPContextTests {
  struct Setup: Sendable, CustomTestStringConvertible {
    let suite: CryptoSuite
    let transform: SRTPTransform
    var testDescription: String { "\(suite.rawValue) \(transform)" }

    func contexts(lifetime: UInt64? = nil) throws -> (send: SRTPContext, receive: SRTPContext) {
      var random = SRTPFixtures.Random(seed: 4)
      let key = SRTPMasterKey(keyAndSalt: SRTPFixtures.randomKey(suite, &random), lifetime: lifetime)
      return (
        try SRTPContext(suite, key, .send, transform: transform),
        try SRTPContext(suite, key, .receive, transform: transform)
      )
    }
  }

  static let setups = CryptoSuite.allCases.flatMap { suite in
    SRTPTransform.allCases.filter { $0 == .libcrypto || suite.keyLength != 24 }.map {
      Setup(suite: suite, transform: $0)
    }
  }
  static let few = setups.filter { $0.suite == .aesCM128HMAC80 || $0.suite == .aesGCM128 }

  @Test(arguments: setups) func whatIsProtectedOpensOnceAndIsUnreadable(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    let overhead = setup.suite.saltLength == 12 ? 16 : setup.suite.rawValue.hasSuffix("_32") ? 4 : 10
    for payload in [0, 1, 15, 16, 17, 160, 1400] {
      let packet = SRTPFixtures.rtp(sequence: UInt16(payload), payload: payload)
      let plain = packet.bytes
      #expect(send.protectRTP(packet))
      #expect(packet.count == plain.count + overhead)
      #expect(packet.bytes.prefix(12) == plain.prefix(12))
      if payload >= 15 { #expect(!packet.bytes.dropFirst(12).starts(with: plain.dropFirst(12))) }
      let copy = PacketBuffer(packet.bytes)
      #expect(receive.unprotectRTP(packet) == .opened)
      #expect(packet.bytes == plain)
      #expect(receive.unprotectRTP(copy) == .replay)
      let control = SRTPFixtures.rtcp(payload: payload)
      let report = control.bytes
      #expect(send.protectRTCP(control))
      #expect(control.count == report.count + max(overhead, 10) + 4)
      let again = PacketBuffer(control.bytes)
      #expect(receive.unprotectRTCP(control) == .opened)
      #expect(control.bytes == report)
      #expect(receive.unprotectRTCP(again) == .replay)
    }
  }

  @Test(arguments: setups) func everyChangedBitIsSeenAndChangesNothing(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    let packet = SRTPFixtures.rtp(sequence: 100, payload: 20)
    let control = SRTPFixtures.rtcp()
    #expect(send.protectRTP(packet) && send.protectRTCP(control))
    let sealed = packet.bytes
    let sealedControl = control.bytes
    for bit in 0..<(sealed.count * 8) {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      packet.replace(with: changed)
      #expect(receive.unprotectRTP(packet) != .opened, "bit \(bit)")
      #expect(packet.bytes == changed)
    }
    for bit in 0..<(sealedControl.count * 8) {
      var changed = sealedControl
      changed[bit / 8] ^= 1 << (bit % 8)
      control.replace(with: changed)
      #expect(receive.unprotectRTCP(control) != .opened, "bit \(bit)")
      #expect(control.bytes == changed)
    }
    packet.replace(with: sealed)
    control.replace(with: sealedControl)
    #expect(receive.unprotectRTP(packet) == .opened)
    #expect(receive.unprotectRTCP(control) == .opened)
  }

  @Test(arguments: few) func aFloodOfForgeriesLeavesTheStreamAlone(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    let first = SRTPFixtures.rtp(sequence: 65_530)
    #expect(send.protectRTP(first))
    #expect(receive.unprotectRTP(first) == .opened)
    var random = SRTPFixtures.Random(seed: 9)
    let forged = SRTPFixtures.rtp(sequence: 0, payload: 90)
    var refused = 0
    let flood = SRTPFixtures.isFull ? 1_000_000 : setup.transform == .libcrypto ? 100_000 : 20_000
    for number in 0..<flood {
      forged.store(UInt16(truncatingIfNeeded: number), at: 2)
      forged.store(number & 1 == 0 ? 0x1122_3344 : UInt32(truncatingIfNeeded: random.next()), at: 8)
      forged.store(random.next(), at: 60)
      switch receive.unprotectRTP(forged) {
      case .authentication, .replay: refused += 1
      case .opened, .length, .exhausted: break
      }
    }
    #expect(refused == flood)
    // On the other side of the wrap: neither counter nor window was moved.
    let next = SRTPFixtures.rtp(sequence: 3)
    #expect(send.protectRTP(next))
    #expect(receive.unprotectRTP(next) == .opened)
  }

  @Test(arguments: few) func sequenceNumbersWrapManyTimesInAnyOrder(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    var waiting: [PacketBuffer] = []
    for number in 0..<3_000 {
      // Sixty steps a turn, so that fifty turns pass; each pair comes in the wrong order.
      let packet = SRTPFixtures.rtp(sequence: UInt16(truncatingIfNeeded: number * 1_092), payload: 16)
      #expect(send.protectRTP(packet))
      waiting.append(packet)
      if waiting.count == 2 {
        let late = waiting.removeFirst()
        #expect(receive.unprotectRTP(waiting.removeFirst()) == .opened)
        // More than the window behind: old, not another turn's.
        #expect(receive.unprotectRTP(late) == .replay)
      }
    }
    let (near, far) = try setup.contexts()
    for base in stride(from: 65_500, to: 65_500 + 400, by: 2) {
      let odd = SRTPFixtures.rtp(sequence: UInt16(truncatingIfNeeded: base), payload: 16)
      let even = SRTPFixtures.rtp(sequence: UInt16(truncatingIfNeeded: base + 1), payload: 16)
      #expect(near.protectRTP(odd) && near.protectRTP(even))
      #expect(far.unprotectRTP(even) == .opened)
      #expect(far.unprotectRTP(odd) == .opened, "\(base)")
    }
  }

  @Test(arguments: few) func theWindowIs128Wide(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    let packets = (0..<300).map { SRTPFixtures.rtp(sequence: UInt16($0), payload: 4) }
    for packet in packets { #expect(send.protectRTP(packet)) }
    #expect(receive.unprotectRTP(packets[200]) == .opened)
    #expect(receive.unprotectRTP(packets[73]) == .opened)
    #expect(receive.unprotectRTP(packets[72]) == .replay)
    #expect(receive.unprotectRTP(packets[137]) == .opened)
    #expect(receive.unprotectRTP(packets[136]) == .opened)
    #expect(receive.unprotectRTP(packets[299]) == .opened)
    #expect(receive.unprotectRTP(packets[199]) == .opened)
    #expect(receive.unprotectRTP(packets[171]) == .replay)
  }

  @Test(arguments: few) func aNumberIsNeverSentTwice(_ setup: Setup) throws {
    let (send, _) = try setup.contexts()
    #expect(send.protectRTP(SRTPFixtures.rtp(sequence: 7)))
    let again = SRTPFixtures.rtp(sequence: 7)
    let before = again.bytes
    #expect(!send.protectRTP(again))
    #expect(again.bytes == before)
  }

  @Test(arguments: few) func aKeyServesItsLifetimeAndNoLonger(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts(lifetime: 5)
    for sequence in 0..<5 as Range<UInt16> {
      #expect(!send.isExhausted && !receive.isExhausted)
      let packet = SRTPFixtures.rtp(sequence: sequence)
      #expect(send.protectRTP(packet))
      #expect(receive.unprotectRTP(packet) == .opened)
    }
    #expect(send.isExhausted && receive.isExhausted)
    let packet = SRTPFixtures.rtp(sequence: 9)
    #expect(!send.protectRTP(packet))
    #expect(!send.protectRTCP(SRTPFixtures.rtcp()))
    #expect(receive.unprotectRTP(SRTPFixtures.rtp(sequence: 9)) == .exhausted)
    #expect(receive.unprotectRTCP(SRTPFixtures.rtcp()) == .exhausted)
  }

  @Test func theLastNumbersOfAKeyAreUsedAndNoneAfter() throws {
    let (send, receive) = try Setup(suite: .aesGCM128, transform: .libcrypto).contexts()
    let source: UInt32 = 0x1122_3344
    for context in [send, receive] {
      #expect(context.resume(source, rollover: .max, sequence: 65_534, controlIndex: 0x7FFF_FFFE))
    }
    let last = SRTPFixtures.rtp(sequence: 65_535)
    #expect(send.protectRTP(last))
    #expect(receive.unprotectRTP(last) == .opened)
    #expect(!send.protectRTP(SRTPFixtures.rtp(sequence: 0)))
    #expect(receive.unprotectRTP(SRTPFixtures.rtp(sequence: 0, payload: 40)) == .exhausted)
    let control = SRTPFixtures.rtcp()
    #expect(send.protectRTCP(control))
    #expect(receive.unprotectRTCP(control) == .opened)
    #expect(!send.protectRTCP(SRTPFixtures.rtcp()))
  }

  @Test(arguments: few) func noSourceIsForgottenSoThatAnOldPacketPasses(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    var first: PacketBuffer?
    for source in 0..<UInt32(SRTPContext.maximumSources) {
      let packet = SRTPFixtures.rtp(sequence: 1, source: source, payload: 4)
      #expect(send.protectRTP(packet))
      if source == 0 { first = PacketBuffer(packet.bytes) }
      #expect(receive.unprotectRTP(packet) == .opened)
    }
    // One source too many: sent by nobody, heard from nobody, and no reason to end a call when it is forged.
    let tooMany = SRTPFixtures.rtp(sequence: 1, source: .max, payload: 4)
    #expect(!send.protectRTP(tooMany))
    let (other, _) = try setup.contexts()
    #expect(other.protectRTP(tooMany))
    #expect(receive.unprotectRTP(tooMany) == .exhausted)
    #expect(receive.unprotectRTP(SRTPFixtures.rtp(sequence: 1, source: .max)) == .authentication)
    #expect(receive.unprotectRTP(try #require(first)) == .replay)
    #expect(!receive.isExhausted)
    let next = SRTPFixtures.rtp(sequence: 2, source: 0)
    #expect(send.protectRTP(next))
    #expect(receive.unprotectRTP(next) == .opened)
  }

  @Test(arguments: few) func onlyRTPOfVersion2Passes(_ setup: Setup) throws {
    let (send, receive) = try setup.contexts()
    for bytes in [[], [0x80], [UInt8](repeating: 0x80, count: 11), [0x40] + [UInt8](repeating: 0, count: 40)] {
      #expect(!send.protectRTP(PacketBuffer(bytes)))
      #expect(receive.unprotectRTP(PacketBuffer(bytes)) == .length)
      if bytes.count < 8 { #expect(!send.protectRTCP(PacketBuffer(bytes))) }
      #expect(receive.unprotectRTCP(PacketBuffer(bytes)) == .length)
    }
    // Fifteen contributing sources, or an extension of 65,535 words, in a packet that does not hold them.
    for first: UInt8 in [0x8F, 0x90] {
      let packet = PacketBuffer([first, 0] + [UInt8](repeating: 0xFF, count: 50))
      #expect(!send.protectRTP(packet))
      #expect(receive.unprotectRTP(packet) == .length)
    }
    let full = PacketBuffer([0x80] + [UInt8](repeating: 0, count: PacketBuffer.capacity - 1))
    #expect(!send.protectRTP(full) && !send.protectRTCP(full))
  }

  @Test func aKeyOfTheWrongLengthIsRefused() throws {
    for suite in CryptoSuite.allCases {
      for length in [0, 16, suite.keyLength + suite.saltLength - 1, suite.keyLength + suite.saltLength + 1] {
        let key = SRTPMasterKey(keyAndSalt: [UInt8](repeating: 1, count: length))
        for transform in SRTPTransform.allCases {
          #expect(throws: TransportFailure.key) { try SRTPContext(suite, key, .send, transform: transform) }
        }
      }
    }
    let key = SRTPMasterKey(keyAndSalt: [UInt8](repeating: 1, count: 38))
    #expect(throws: TransportFailure.key) {
      try SRTPContext(.aesCM192HMAC80, key, .send, transform: .libsrtp)
    }
  }

  @Test func aContextWorksInItsOwnDirectionOnly() throws {
    let (send, receive) = try Setup(suite: .aesCM128HMAC80, transform: .libcrypto).contexts()
    let packet = SRTPFixtures.rtp(sequence: 1)
    #expect(!receive.protectRTP(packet))
    #expect(!receive.protectRTCP(SRTPFixtures.rtcp()))
    #expect(send.protectRTP(packet))
    #expect(send.unprotectRTP(packet) == .exhausted)
  }

  @Test func theKeyNameMustBeTheAgreedOne() throws {
    var random = SRTPFixtures.Random(seed: 11)
    for suite in CryptoSuite.allCases {
      let bytes = SRTPFixtures.randomKey(suite, &random)
      let named = try SRTPFixtures.key(suite, bytes, identifier: [0, 0, 1])
      let other = try SRTPFixtures.key(suite, bytes, identifier: [0, 0, 2])
      let send = try SRTPContext(suite, named, .send)
      let receive = try SRTPContext(suite, named, .receive)
      let stranger = try SRTPContext(suite, other, .receive)
      let packet = SRTPFixtures.rtp(sequence: 1)
      #expect(send.protectRTP(packet))
      #expect(stranger.unprotectRTP(packet) == .authentication)
      #expect(receive.unprotectRTP(packet) == .opened)
      let control = SRTPFixtures.rtcp()
      #expect(send.protectRTCP(control))
      #expect(stranger.unprotectRTCP(control) == .authentication)
      #expect(receive.unprotectRTCP(control) == .opened)
    }
  }
}
