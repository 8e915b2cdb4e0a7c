/// A packet for a capture server such as HOMER (HEP, version 3): a message with where it went, when, and of which call.
public struct HEP3Packet: Hashable, Sendable {
  /// What the payload is, by the numbers of HEP.
  public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    case sip = 1
    /// Figures of RTCP as a JSON object.
    case rtcpReport = 5
    case log = 100
  }

  /// Bytes of a payload; a longer one is cut off. What stands around it fits in a datagram with it.
  public static let maximumPayloadBytes = 60_000
  /// Bytes of each name; the rest is cut off.
  public static let maximumNameBytes = 255

  /// Tells the collector how to read ``payload``.
  public var kind: Kind
  /// `udp`, `tcp`, `tls`, as ``CallTrace/Message/transport``.
  public var transport: String
  /// Numeric with a port, `192.0.2.1:5060`, as ``CallTrace/Message/local``.
  public var source: String
  /// As ``source``. Where the two are not addresses of one family, both are sent as made-up ones (RFC 5737).
  public var destination: String
  /// Unix time in microseconds.
  public var at: Int64
  /// The number of this gateway at the collector.
  public var agent: UInt32
  /// What the collector asks for; `nil` for none.
  public var password: String?
  /// Name of this gateway; `nil` for none.
  public var node: String?
  /// What all packets of a call have in common: the SIP Call-ID of its trunk leg, or the call's id.
  public var correlationID: String
  /// Kept whole here; ``bytes`` cuts it at ``maximumPayloadBytes``.
  public var payload: [UInt8]

  /// Nothing is checked or cut here; ``bytes`` cuts names and payload.
  public init(
    _ kind: Kind, transport: String, source: String, destination: String, at: Int64, agent: UInt32,
    password: String? = nil, node: String? = nil, correlationID: String, payload: [UInt8]
  ) {
    self.kind = kind
    self.transport = transport
    self.source = source
    self.destination = destination
    self.at = at
    self.agent = agent
    self.password = password
    self.node = node
    self.correlationID = correlationID
    self.payload = payload
  }

  /// A message of a trace: secrets are blotted out in it.
  /// - Parameter startedAt: of the trace.
  public init(
    _ message: CallTrace.Message, startedAt: Int64, agent: UInt32, password: String? = nil, node: String? = nil,
    correlationID: String
  ) {
    let (time, isTooLarge) = startedAt.addingReportingOverflow(message.at)
    self.init(
      .sip, transport: message.transport, source: message.isSent ? message.local : message.remote,
      destination: message.isSent ? message.remote : message.local, at: isTooLarge ? startedAt : time, agent: agent,
      password: password, node: node, correlationID: correlationID, payload: Array(message.text.utf8))
  }

  // MARK: Bytes

  private enum Chunk {
    static let family: UInt16 = 1
    static let transport: UInt16 = 2
    static let source4: UInt16 = 3
    static let destination4: UInt16 = 4
    static let source6: UInt16 = 5
    static let destination6: UInt16 = 6
    static let sourcePort: UInt16 = 7
    static let destinationPort: UInt16 = 8
    static let seconds: UInt16 = 9
    static let microseconds: UInt16 = 10
    static let kind: UInt16 = 11
    static let agent: UInt16 = 12
    static let password: UInt16 = 14
    static let payload: UInt16 = 15
    static let correlation: UInt16 = 17
    static let node: UInt16 = 19
  }

  /// The packet as it goes into one datagram, or one after the other into a stream.
  public var bytes: [UInt8] {
    let ends = CapturedAddress.pair(source, destination)
    var body = CaptureBytes()
    func add(_ chunk: UInt16, _ value: [UInt8]) {
      // No vendor: the general chunks.
      body.big(UInt16(0))
      body.big(chunk)
      // The longest value is the payload, which is cut below; names are cut too.
      body.big(UInt16(6 + value.count))
      body.append(value)
    }
    func number<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      var bytes = CaptureBytes()
      bytes.big(value)
      return bytes.bytes
    }
    let time = max(0, at)
    add(Chunk.family, [ends.local.isIPv6 ? 10 : 2])
    add(Chunk.transport, [transport == "udp" ? 17 : 6])
    add(ends.local.isIPv6 ? Chunk.source6 : Chunk.source4, ends.local.bytes)
    add(ends.local.isIPv6 ? Chunk.destination6 : Chunk.destination4, ends.remote.bytes)
    add(Chunk.sourcePort, number(ends.local.port))
    add(Chunk.destinationPort, number(ends.remote.port))
    add(Chunk.seconds, number(UInt32(truncatingIfNeeded: time / 1_000_000)))
    add(Chunk.microseconds, number(UInt32(time % 1_000_000)))
    add(Chunk.kind, [kind.rawValue])
    add(Chunk.agent, number(agent))
    if let password { add(Chunk.password, HEP3Packet.name(password)) }
    if !correlationID.isEmpty { add(Chunk.correlation, HEP3Packet.name(correlationID)) }
    if let node { add(Chunk.node, HEP3Packet.name(node)) }
    add(Chunk.payload, Array(payload.prefix(HEP3Packet.maximumPayloadBytes)))
    var packet = CaptureBytes()
    packet.append("HEP3".utf8)
    packet.big(UInt16(6 + body.bytes.count))
    packet.append(body.bytes)
    return packet.bytes
  }

  private static func name(_ text: String) -> [UInt8] { Array(TraceRedaction.cut(text, to: maximumNameBytes).utf8) }
}
