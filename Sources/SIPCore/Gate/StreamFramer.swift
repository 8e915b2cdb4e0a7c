/// Cuts the messages of one TCP or TLS connection out of its bytes (RFC 3261 section 18.3, RFC 5626 section 3.5.1).
///
/// Fed with any pieces of the same bytes it gives the same events. It holds at most one unfinished message, never more
/// than ``GateLimits/streamBytes``, and looks at every byte of a head once or twice, whatever the pieces.
///
///     between ──bytes──▶ head ──empty line──▶ body ──all there──▶ between
///        └── CRLF CRLF: ping                    any fault ──▶ closed
public struct StreamFramer: Sendable {
  /// Which end opened the connection: the opener sends pings, the other end answers them.
  public enum Role: Hashable, Sendable { case accepted, opened }

  /// What the bytes of the stream completed, in their order.
  public enum Event: Sendable {
    /// The bytes of one message, for ``SIPGate/inspect(_:transport:limits:)-([UInt8],_,_)``.
    case message([UInt8])
    /// The peer wants one CRLF back.
    case ping
    /// The peer answered our ping.
    case pong
    /// Nothing behind this can be framed: answer if the action says so, then close. The last event.
    case refusal(GateRefusal)
  }

  private enum Phase {
    case between, head
    case body(total: Int)
    case closed
  }

  /// Decides what CRLFs between messages are: pings of a peer that connected, pongs of one that we connected to.
  public let role: Role
  private let transport: SIPTransport
  private let limits: GateLimits
  private var phase = Phase.between
  private var buffer: [UInt8] = []
  /// How much of the CRLF CRLF that ends a head was just seen.
  private var matched = 0
  /// CRLF pairs seen between messages that are no whole ping yet.
  private var pendingPairs = 0

  /// One framer for each connection; `limits` bound what it holds back.
  public init(role: Role, transport: SIPTransport = .tcp, limits: GateLimits = .standard) {
    self.role = role
    self.transport = transport
    self.limits = limits
  }

  /// Bytes of the unfinished message.
  public var bufferedBytes: Int { buffer.count }
  /// Whether a refusal ended the stream; further bytes are ignored.
  public var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// Takes the bytes as they were read and appends what they complete.
  public mutating func receive(_ bytes: [UInt8], into events: inout [Event]) {
    var index = 0
    while index < bytes.count {
      switch phase {
      case .closed: return
      case .between:
        let byte = bytes[index]
        if consumeKeepAlive(byte, into: &events) { index += 1 }
      case .head:
        index = scanHead(bytes, from: index, into: &events)
      case .body(let total):
        let end = min(bytes.count, index + total - buffer.count)
        buffer += bytes[index..<end]
        index = end
        finish(total, into: &events)
      }
    }
  }

  /// - Returns: Whether the byte belongs to the empty lines between messages.
  private mutating func consumeKeepAlive(_ byte: UInt8, into events: inout [Event]) -> Bool {
    switch (matched, byte) {
    case (0, MessageCharacter.cr):
      matched = 1
      return true
    case (1, MessageCharacter.lf):
      matched = 0
      pendingPairs += 1
      if role == .opened {
        events.append(.pong)
        pendingPairs = 0
      } else if pendingPairs == 2 {
        events.append(.ping)
        pendingPairs = 0
      }
      return true
    case (1, _):
      close(.bareCarriageReturn, at: 0, into: &events)
      return true
    default:
      pendingPairs = 0
      phase = .head
      return false
    }
  }

  private mutating func scanHead(_ bytes: [UInt8], from start: Int, into events: inout [Event]) -> Int {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      let offset = buffer.count + index - start
      guard offset < limits.streamBytes else { return refuse(.messageBytes) }
      switch (byte, matched) {
      case (MessageCharacter.cr, 0), (MessageCharacter.cr, 2): matched += 1
      case (MessageCharacter.lf, 1), (MessageCharacter.lf, 3): matched += 1
      case (MessageCharacter.lf, _): return refuse(.bareLineFeed)
      case (_, 1), (_, 3): return refuse(.bareCarriageReturn)
      default: matched = 0
      }
      index += 1
      guard matched == 4 else { continue }
      buffer += bytes[start..<index]
      matched = 0
      measure(into: &events)
      return index
    }
    buffer += bytes[start..<index]
    return index

    func refuse(_ rule: GateRule) -> Int {
      buffer += bytes[start..<index]
      close(rule, at: buffer.count, into: &events)
      return bytes.count
    }
  }

  /// Reads the length out of a complete head, by the same scanner that judges it later.
  private mutating func measure(into events: inout [Event]) {
    var scanner = HeadScanner(buffer, limits: limits)
    scanner.scan()
    guard scanner.startLine != nil else { return close(.notSIP, at: 0, into: &events) }
    // Any other fault leaves the length readable: the gate refuses that message alone, and the connection lives on.
    if !scanner.isComplete || scanner.hasUnreadableName {
      return close(scanner.firstFault?.rule ?? .headerName, at: scanner.firstFault?.offset, into: &events)
    }
    guard let (field, repeated) = scanner.contentLengths else {
      return close(.contentLengthMissing, at: nil, into: &events)
    }
    if let repeated { return close(.contentLengthRepeated, at: repeated.value.lowerBound, into: &events) }
    switch ScannedNumber(scanner.bytes[field.value]) {
    case .malformed: close(.contentLength, at: field.value.lowerBound, into: &events)
    case .tooLarge: close(.bodyBytes, at: field.value.lowerBound, into: &events)
    case .value(let length):
      guard length <= limits.bodyBytes else { return close(.bodyBytes, at: field.value.lowerBound, into: &events) }
      let total = buffer.count + Int(length)
      guard total <= limits.streamBytes else { return close(.messageBytes, at: nil, into: &events) }
      phase = .body(total: total)
      finish(total, into: &events)
    }
  }

  private mutating func finish(_ total: Int, into events: inout [Event]) {
    guard buffer.count == total else { return }
    events.append(.message(buffer))
    buffer = []
    phase = .between
  }

  private mutating func close(_ rule: GateRule, at offset: Int?, into events: inout [Event]) {
    phase = .closed
    var scanner = HeadScanner(buffer, limits: limits)
    scanner.scan()
    let end = scanner.position
    let message = scanner.startLine.map {
      ScannedMessage(
        bytes: scanner.bytes, startLine: $0, version: scanner.version, headers: scanner.headers, body: end..<end,
        trailingBytes: 0, maximumVias: limits.vias)
    }
    buffer = []
    events.append(.refusal(GateRefusal(rule, at: offset, in: message)))
  }
}
