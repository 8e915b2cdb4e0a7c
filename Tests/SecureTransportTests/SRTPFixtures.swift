import CallModel
import Foundation
import SDPCore
import SecureTransport

enum SRTPFixtures {
  /// xorshift64*: the same packets in every run.
  struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return state &* 0x2545_F491_4F6C_DD1D
    }
  }

  struct MissingFixture: Error {}

  /// Everything that is tested at length is tested so much longer when `LANDLINE_FULL` is set.
  static let isFull = ProcessInfo.processInfo.environment["LANDLINE_FULL"] != nil

  static func bytes(_ hex: String) -> [UInt8] {
    var result: [UInt8] = []
    var pending: UInt8?
    for digit in hex {
      guard let value = digit.hexDigitValue.map(UInt8.init) else { return [] }
      if let high = pending {
        result.append(high << 4 | value)
        pending = nil
      } else {
        pending = value
      }
    }
    return result
  }

  /// A key with `identifier` as its name, made by the reader of `crypto` attributes: nobody else makes names.
  static func key(
    _ suite: CryptoSuite, _ keyAndSalt: [UInt8], identifier: [UInt8] = [], lifetime: UInt64? = nil
  ) throws -> SRTPMasterKey {
    guard !identifier.isEmpty else { return SRTPMasterKey(keyAndSalt: keyAndSalt, lifetime: lifetime) }
    let value = identifier.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let line =
      "1 \(suite.rawValue) inline:\(Data(keyAndSalt).base64EncodedString())|\(value):\(identifier.count)"
    guard case .usable(_, _, let key) = CryptoAttribute(line).verdict else { throw MissingFixture() }
    return SRTPMasterKey(keyAndSalt: keyAndSalt, lifetime: lifetime, identifier: key.identifier)
  }

  static func randomKey(_ suite: CryptoSuite, _ random: inout Random) -> [UInt8] {
    (0..<(suite.keyLength + suite.saltLength)).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  static func rtp(sequence: UInt16, source: UInt32 = 0x1122_3344, payload: Int = 80) -> PacketBuffer {
    let packet = PacketBuffer([0x80, 0x00])
    packet.append(integer: sequence)
    packet.append(integer: UInt32(sequence) &* 160)
    packet.append(integer: source)
    for index in 0..<payload { packet.append(UInt8(truncatingIfNeeded: index &* 7 &+ Int(sequence))) }
    return packet
  }

  static func rtcp(source: UInt32 = 0x1122_3344, payload: Int = 20) -> PacketBuffer {
    let packet = PacketBuffer([0x80, 200])
    packet.append(integer: UInt16((payload + 8) / 4 - 1))
    packet.append(integer: source)
    for index in 0..<payload { packet.append(UInt8(truncatingIfNeeded: index)) }
    return packet
  }
}
