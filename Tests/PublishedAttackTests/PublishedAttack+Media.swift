import CallModel
import MediaCore
import SDPCore
import SecureTransport

/// Packets to the ports of media: STUN, DTLS, RTP, RTCP, SRTP, and a codec's payload.
extension PublishedAttack {
  private static let password = "gwPasswordgwPasswordgw00"
  private static let stranger = MediaAddress(ipv4: 0xC000_0263, port: 5000)

  /// `silent`, `refused 401 with less`, `accepted`.
  private static func ask(_ packet: PacketBuffer) throws -> String {
    guard let credentials = ICECredentials(userFragment: "gwUf", password: password) else { return "no credentials" }
    let agent = ICELiteAgent(credentials, connectivityTimeout: 30_000, consentTimeout: 30_000)
    agent.begin(at: .zero)
    let reply = PacketBuffer()
    reply.count = 0
    var events: [TransportEvent] = []
    switch agent.receive(packet, on: MediaPort(rawValue: 5), from: stranger, at: .zero, reply: reply, events: &events) {
    case .silent: return reply.count == 0 ? "silent" : "answered all the same"
    case .refused(let code): return reply.count <= packet.count ? "refused \(code)" : "refused with more than was asked"
    case .accepted: return agent.selected == nil ? "accepted" : "nominated"
    }
  }

  private static func request(
    user: String = "gwUf:peer", secret: String? = password, fingerprint: Bool = true,
    before: (STUNWriter) -> Void = { _ in }, behind: (STUNWriter) -> Void = { _ in }
  ) -> PacketBuffer {
    let packet = PacketBuffer()
    let writer = STUNWriter(packet, .request, transaction: STUNTransaction(high: 1, low: 2))
    writer.append(.userName, user.utf8)
    writer.append(.priority, integer: UInt32(1))
    before(writer)
    if let secret { writer.appendIntegrity(STUNIntegrity(secret)) }
    behind(writer)
    if fingerprint { writer.appendFingerprint() }
    return packet
  }

  private static func stun(_ attributes: [UInt8], length: UInt16? = nil) -> PacketBuffer {
    let count = length ?? UInt16(attributes.count)
    return PacketBuffer(
      [0, 1, UInt8(count >> 8), UInt8(count & 255), 0x21, 0x12, 0xA4, 0x42] + Array(repeating: 7, count: 12)
        + attributes)
  }

  static var connectivity: [PublishedAttack] {
    func check(_ source: String, _ title: String, _ outcomes: String..., packet: @escaping @Sendable () -> PacketBuffer)
      -> PublishedAttack
    {
      PublishedAttack(source, title, Set(outcomes)) { try ask(packet()) }
    }
    return [
      check("CVE-2023-22741", "an attribute longer than its packet", "silent") {
        stun([0, 6, 0xFF, 0xF0, 1, 2, 3, 4])
      },
      check("CVE-2023-32307", "an error code attribute of two bytes", "silent") { stun([0, 9, 0, 2, 1, 2, 0, 0]) },
      check("SIPSorcery ccb0b5a84", "a header and no more", "silent") { stun([]) },
      check("SIPSorcery ccb0b5a84", "a header cut off", "silent") { PacketBuffer([0, 1, 0, 0, 0x21, 0x12]) },
      check("mediasoup #244", "a length that is no multiple of four", "silent") { stun([0, 6, 0, 1, 65], length: 5) },
      check("mediasoup #244", "a length of less than there is", "silent") {
        stun([0, 6, 0, 4, 65, 65, 65, 65], length: 4)
      },
      check("FreeSWITCH 68ec688eb6", "a check without integrity", "silent", "refused 400") { request(secret: nil) },
      check("FreeSWITCH 68ec688eb6", "a check with another password", "refused 401", "silent") {
        request(secret: "notThePasswordAtAll00000")
      },
      check("RFC 8445 7.3", "a check without fingerprint", "silent", "refused 400", "accepted") {
        request(fingerprint: false)
      },
      check("GHSA-j29p-pvh2-pvqp", "a user name of 1,200 bytes", "silent", "refused 401") {
        request(user: "x".times(1200))
      },
      check("enumeration", "a user fragment that nobody has", "silent", "refused 401") {
        request(user: "none:peer", secret: "notThePasswordAtAll00000")
      },
      check("coturn ab762f33", "a nomination behind the integrity", "accepted") {
        request(behind: { $0.append(.useCandidate, []) })
      },
      check("RFC 3489 RESPONSE-ADDRESS", "an attribute that sends the answer elsewhere", "refused 420") {
        // 0x0002 was RESPONSE-ADDRESS: it told a server to answer somebody else.
        request(before: { $0.append(0x0002, [0, 1, 0, 53, 203, 0, 113, 9]) })
      },
    ]
  }

  private static func record(_ type: UInt8, epoch: UInt8 = 0, _ body: [UInt8], length: Int? = nil) -> [UInt8] {
    let count = length ?? body.count
    return [type, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 1, UInt8(count >> 8 & 255), UInt8(count & 255)] + body
  }

  private static func hello(length: Int, offset: Int = 0, fragment: Int, bytes: Int) -> [UInt8] {
    func uint24(_ value: Int) -> [UInt8] { [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)] }
    return [1] + uint24(length) + [0, 0] + uint24(offset) + uint24(fragment) + Array(repeating: 0, count: bytes)
  }

  private static func admitted(_ bytes: [UInt8]) -> String {
    var gate = DTLSRecordGate(role: .server)
    return gate.admit(PacketBuffer(bytes), isEstablished: false).count == 0 ? "stopped" : "admitted"
  }

  /// A leg whose caller has not proved any address yet.
  private static func strangersHello(_ bytes: [UInt8]) throws -> String {
    guard let credentials = ICECredentials(userFragment: "gwUf", password: password) else { return "no credentials" }
    let transport = AppTransport(
      AppTransport.Configuration(
        port: MediaPort(rawValue: 5), certificate: try DTLSCertificate(), credentials: credentials), at: .zero)
    let outbox = PacketOutbox()
    var events: [TransportEvent] = []
    let verdict = transport.receive(
      PacketBuffer(bytes), on: MediaPort(rawValue: 5), from: stranger, at: .zero, outbox: outbox, events: &events)
    guard case .dropped = verdict else { return "\(verdict)" }
    return "dropped, \(outbox.count) sent, \(events.count) events"
  }

  private static func opened(_ bytes: [UInt8], isControl: Bool = false) throws -> String {
    let line = "1 AES_CM_128_HMAC_SHA1_80 inline:" + "A".times(40)
    guard case .usable(_, _, let key) = CryptoAttribute(line).verdict else { return "no key" }
    let context = try SRTPContext(.aesCM128HMAC80, key, .receive)
    let packet = PacketBuffer(bytes)
    let verdict = isControl ? context.unprotectRTCP(packet) : context.unprotectRTP(packet)
    return verdict == .opened ? "opened" : "dropped"
  }

  private static func rtp(_ bytes: [UInt8]) -> String { RTPHeader(PacketBuffer(bytes)) == nil ? "dropped" : "read" }

  private static func rtcp(_ bytes: [UInt8]) -> String {
    let packet = PacketBuffer(bytes)
    guard let compound = try? RTCPCompound(packet) else { return "dropped" }
    for part in compound { _ = (compound.canonicalName(in: part), compound.report(on: 0, in: part)) }
    return "read"
  }

  private static func opus(_ bytes: [UInt8]) throws -> String {
    let decoder = try OpusDecoder(samplingRate: 48_000)
    let samples = SampleBuffer()
    let whole = bytes.withUnsafeBytes { decoder.decode($0, into: samples) }
    return whole ? "\(samples.count) samples" : "refused"
  }

  static var media: [PublishedAttack] {
    let header: [UInt8] = [0x80, 0, 0, 1, 0, 0, 0, 160, 0, 0, 0, 9]
    return [
      PublishedAttack("CVE-2023-49786", "a stranger's ClientHello before the caller's", "dropped, 0 sent, 0 events") {
        try strangersHello(record(22, hello(length: 60, fragment: 60, bytes: 60)))
      },
      PublishedAttack("CVE-2023-51443", "a ClientHello with the null cipher alone", "dropped, 0 sent, 0 events") {
        try strangersHello(record(22, hello(length: 42, fragment: 42, bytes: 42)))
      },
      PublishedAttack("CVE-2023-51275", "an alert from a stranger", "dropped, 0 sent, 0 events") {
        try strangersHello(record(21, [2, 40]))
      },
      PublishedAttack("CVE-2026-54874", "a record of a later epoch", "stopped") {
        admitted(record(22, epoch: 2, Array(repeating: 1, count: 60)))
      },
      PublishedAttack("CVE-2026-75806", "a record shorter than it says", "stopped") {
        admitted(record(22, [1, 0, 0], length: 60))
      },
      PublishedAttack("CVE-2026-75806", "an empty record", "stopped") { admitted(record(22, [])) },
      PublishedAttack("DTLS fragments", "a fragment that begins behind its message", "stopped") {
        admitted(record(22, hello(length: 20, offset: 30, fragment: 10, bytes: 10)))
      },
      PublishedAttack("DTLS fragments", "a message of sixteen megabytes", "stopped") {
        admitted(record(22, hello(length: 0xFF_FFFF, fragment: 20, bytes: 20)))
      },
      PublishedAttack("DTLS fragments", "two hundred fragments of nothing", "stopped") {
        admitted(record(22, (0..<100).flatMap { _ in hello(length: 20, fragment: 0, bytes: 0) }))
      },
      PublishedAttack("heartbeat", "a heartbeat record", "stopped") { admitted(record(24, [1, 0x40, 0])) },
      PublishedAttack("CVE-2019-3568", "RTCP of one word too few", "dropped") { rtcp([0x81, 200, 0, 6, 0, 0, 0, 1]) },
      PublishedAttack("AST-2017-008", "RTCP of four bytes", "dropped", "read") { rtcp([0x80, 201, 0, 0]) },
      PublishedAttack("FreeSWITCH e730a4e541", "a NACK longer than its packet", "dropped") {
        rtcp([0x81, 205, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 0])
      },
      PublishedAttack("RTCP SDES", "a name that ends outside its chunk", "dropped", "read") {
        rtcp([0x80, 201, 0, 1, 0, 0, 0, 1, 0x81, 202, 0, 2, 0, 0, 0, 1, 1, 200, 65, 65])
      },
      PublishedAttack("RTCP BYE", "a BYE of 31 sources in one word", "dropped", "read") {
        rtcp([0x80, 201, 0, 1, 0, 0, 0, 1, 0x9F, 203, 0, 1, 0, 0, 0, 1])
      },
      PublishedAttack("Janus b45efcbf", "RTP of four bytes", "dropped") { rtp([0x80, 0, 0, 1]) },
      PublishedAttack("Janus b45efcbf", "fifteen sources in a packet of none", "dropped") {
        rtp([0x8F] + header.dropFirst())
      },
      PublishedAttack("libsrtp extension", "an extension longer than its packet", "dropped") {
        rtp([0x90] + header.dropFirst() + [0xBE, 0xDE, 0xFF, 0xFF])
      },
      PublishedAttack("padding", "more padding than payload", "dropped") {
        rtp([0xA0] + header.dropFirst() + [1, 2, 200])
      },
      PublishedAttack("padding", "padding of nought", "dropped") { rtp([0xA0] + header.dropFirst() + [0]) },
      PublishedAttack("CVE-2021-41105", "a thousand packets with a wrong tag", "alive after 1000") {
        var dropped = 0
        for number in 0..<1000 {
          let bytes =
            [0x80, 0, UInt8(number >> 8), UInt8(number & 255)] + header.dropFirst(4) + Array(repeating: 5, count: 40)
          if try opened(bytes) == "dropped" { dropped += 1 }
        }
        return "alive after \(dropped)"
      },
      PublishedAttack("CVE-2015-6360", "SRTCP shorter than its trailer", "dropped") {
        try opened([0x80, 201, 0, 1, 0, 0, 0, 1, 1, 2], isControl: true)
      },
      PublishedAttack("CVE-2015-6360", "SRTP shorter than its tag", "dropped") { try opened(header + [1, 2, 3]) },
      PublishedAttack("CVE-2025-53399", "plain RTP where SRTP is agreed", "dropped") {
        try opened(header + Array(repeating: 0xFF, count: 160))
      },
      PublishedAttack("PJSIP 6c9024511", "more Opus frames than a packet may hold", "refused") {
        try opus([0x03, 0x3F] + Array(repeating: 1, count: 200))
      },
      PublishedAttack("RFC 8251", "an Opus packet whose sizes run past its end", "refused") {
        try opus([0x03, 0x82, 0xFF, 0xFF, 1])
      },
      PublishedAttack("RFC 8251", "an empty Opus packet", "refused") { try opus([]) },
    ]
  }

}
