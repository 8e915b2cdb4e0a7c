import CallModel
import SDPCore
import SecureTransport

/// Both transforms open the same bytes and must say and leave the same. The first byte chooses suite, kind and key name,
/// and whether the rest is a packet as it came, or one that a sender protects first and the second to fourth byte change.
enum SRTPDoor {
  static let door = FuzzDoor("srtp", "a protected packet", dictionary: "none", maximumBytes: 1600) {
    (input) throws(BrokenPromise) in try play(input)
  }
}

private func play(_ bytes: [UInt8]) throws(BrokenPromise) {
  guard bytes.count > 4, bytes.count <= PacketBuffer.maximumDatagram + 4 else { return }
  let choice = Int(bytes[0])
  let isControl = choice & 8 != 0
  let suite = suites[choice % 8 % suites.count]
  // libsrtp cannot find the key name of an RTCP packet of a suite with short tags.
  let isNamed = choice & 16 != 0 && !(isControl && suite.rawValue.hasSuffix("_32"))
  let packet = PacketBuffer(bytes.dropFirst(4))
  if choice & 32 == 0 {
    let receivers = kept[suites.count * (isNamed ? 1 : 0) + choice % 8 % suites.count]
    try open(packet, with: receivers, isControl: isControl)
  } else {
    let sender = contexts(suite, isNamed: isNamed, .send, [.libcrypto])[0]
    guard isControl ? sender.protectRTCP(packet) : sender.protectRTP(packet) else { return }
    let position = (Int(bytes[2]) << 8 | Int(bytes[3])) % packet.count
    let receivers = contexts(suite, isNamed: isNamed, .receive)
    let original = PacketBuffer(packet.bytes)
    switch bytes[1] & 3 {
    case 0: break
    case 1: packet[position] ^= bytes[1] | 1
    case 2: packet.count = position
    default: packet.append(bytes[1])
    }
    try open(packet, with: receivers, isControl: isControl)
    try open(original, with: receivers, isControl: isControl)
    try open(original, with: receivers, isControl: isControl)
  }
}

private let suites: [CryptoSuite] = [
  .aesCM128HMAC80, .aesCM128HMAC32, .aesCM256HMAC80, .aesCM256HMAC32, .aesGCM128, .aesGCM256,
]

// libsrtp takes milliseconds to make a context, so those for packets as they came are kept: forgeries leave them as they
// were, and inputs do not meet each other. The fuzzing runtime calls from one thread.
nonisolated(unsafe) private let kept: [[SRTPContext]] =
  suites.map { contexts($0, isNamed: false, .receive) } + suites.map { contexts($0, isNamed: true, .receive) }

/// One context of each transform, ours first.
private func contexts(
  _ suite: CryptoSuite, isNamed: Bool, _ direction: SRTPContext.Direction,
  _ transforms: [SRTPTransform] = SRTPTransform.allCases
) -> [SRTPContext] {
  let text = suite.keyLength == 16 ? (suite.saltLength == 12 ? 28 : 30) : (suite.saltLength == 12 ? 44 : 46)
  let line = "1 \(suite.rawValue) inline:\(encoded[text] ?? "")\(isNamed ? "|7:4" : "")"
  guard case .usable(_, _, let key) = CryptoAttribute(line).verdict else {
    preconditionFailure("no key from \(line)")
  }
  return transforms.map { transform in
    guard let context = try? SRTPContext(suite, key, direction, transform: transform) else {
      preconditionFailure("no context")
    }
    return context
  }
}

/// Bytes 0, 0, 0, … of each length a key with its salt can have.
private let encoded = [
  28: String(repeating: "AAAA", count: 9) + "AA==", 30: String(repeating: "AAAA", count: 10),
  44: String(repeating: "AAAA", count: 14) + "AAA=", 46: String(repeating: "AAAA", count: 15) + "AA==",
]

private func open(_ packet: PacketBuffer, with receivers: [SRTPContext], isControl: Bool) throws(BrokenPromise) {
  let copies = receivers.map { _ in PacketBuffer(packet.bytes) }
  let verdicts = zip(receivers, copies).map { receiver, copy in
    isControl ? receiver.unprotectRTCP(copy) : receiver.unprotectRTP(copy)
  }
  guard verdicts[0] == verdicts[1], copies[0].bytes == copies[1].bytes else {
    throw BrokenPromise(
      description: "\(verdicts[0]) and \(verdicts[1]) for \(packet.bytes)")
  }
  guard verdicts[0] == .opened || copies[0].bytes == packet.bytes else {
    throw BrokenPromise(description: "a refused packet was changed")
  }
}
