/// The gate before the parser: one linear walk over the bytes of a message, which lets through only what the parser
/// reads in one way, in bounded time and without losing a byte.
///
/// No state, no clock, no socket. ``SemanticCheck`` judges what the fields mean.
public enum SIPGate {
  /// Judges the bytes of one datagram, or of one message cut out of a stream by ``StreamFramer``.
  /// - Returns: What was read; its ``ScannedMessage/bytes`` are what the parser may see.
  public static func inspect(
    _ bytes: UnsafeRawBufferPointer, transport: SIPTransport, limits: GateLimits = .standard
  ) -> Result<ScannedMessage, GateRefusal> {
    let most = limits.messageBytes(transport)
    return inspect(Array(bytes.prefix(most)), of: bytes.count, transport, limits)
  }

  /// Judges the bytes of one datagram, or of one message cut out of a stream by ``StreamFramer``.
  /// - Returns: What was read; its ``ScannedMessage/bytes`` are what the parser may see.
  public static func inspect(
    _ bytes: [UInt8], transport: SIPTransport, limits: GateLimits = .standard
  ) -> Result<ScannedMessage, GateRefusal> {
    let most = limits.messageBytes(transport)
    return inspect(bytes.count > most ? Array(bytes.prefix(most)) : bytes, of: bytes.count, transport, limits)
  }

  /// Judges bytes and meaning: what passes may go to the parser.
  public static func admit(
    _ bytes: [UInt8], transport: SIPTransport, limits: GateLimits = .standard
  ) -> Result<ScannedMessage, GateRefusal> {
    switch inspect(bytes, transport: transport, limits: limits) {
    case .failure(let refusal): .failure(refusal)
    case .success(let message): SemanticCheck.refusal(of: message).map(Result.failure) ?? .success(message)
    }
  }

  private static func inspect(
    _ received: [UInt8], of count: Int, _ transport: SIPTransport, _ limits: GateLimits
  ) -> Result<ScannedMessage, GateRefusal> {
    guard !received.isEmpty else { return .failure(GateRefusal(.empty, at: nil, in: nil)) }
    // Empty lines before the start line are ignored (RFC 3261 section 7.5).
    var first = 0
    while first + 1 < received.count, received[first] == MessageCharacter.cr,
      received[first + 1] == MessageCharacter.lf
    {
      first += 2
    }
    guard first < received.count else { return .failure(GateRefusal(.keepAlive, at: nil, in: nil)) }
    var scanner = HeadScanner(first == 0 ? received : Array(received[first...]), limits: limits)
    if count > received.count { scanner.note(.messageBytes, limits.messageBytes(transport)) }
    scanner.scan()
    if !transport.isStream { scanner.completeHead() }
    let (body, trailing) = delimitBody(&scanner, transport, limits)
    guard let startLine = scanner.startLine else {
      return .failure(GateRefusal(.notSIP, at: 0, in: nil))
    }
    let whole = scanner.bytes
    let message = ScannedMessage(
      bytes: trailing == 0 ? whole : Array(whole[..<body.upperBound]), startLine: startLine, version: scanner.version,
      headers: scanner.headers, body: body, trailingBytes: trailing,
      maximumVias: limits.vias)
    if let fault = scanner.firstFault { return .failure(GateRefusal(fault.rule, at: fault.offset, in: message)) }
    return .success(message)
  }

  /// Content-Length against the bytes that are there (RFC 3261 sections 18.3 and 20.14).
  private static func delimitBody(
    _ scanner: inout HeadScanner, _ transport: SIPTransport, _ limits: GateLimits
  ) -> (body: Range<Int>, trailing: Int) {
    let start = scanner.position
    let rest = scanner.bytes.count - start
    let everything = start..<scanner.bytes.count
    guard let (length, repeated) = scanner.contentLengths else {
      if transport.isStream { scanner.note(.contentLengthMissing, nil) }
      // Empty lines behind a message without a length are no body.
      if !transport.isStream,
        scanner.bytes[everything].allSatisfy({ $0 == MessageCharacter.cr || $0 == MessageCharacter.lf })
      {
        return (start..<start, rest)
      }
      if rest > limits.bodyBytes { scanner.note(.bodyBytes, start + limits.bodyBytes) }
      return (everything, 0)
    }
    if let repeated { scanner.note(.contentLengthRepeated, repeated.value.lowerBound) }
    switch ScannedNumber(scanner.bytes[length.value]) {
    case .malformed: scanner.note(.contentLength, length.value.lowerBound)
    case .tooLarge: scanner.note(.bodyShort, length.value.lowerBound)
    case .value(let number):
      if number > rest { scanner.note(.bodyShort, length.value.lowerBound) }
      if number > limits.bodyBytes { scanner.note(.bodyBytes, length.value.lowerBound) }
      guard number < rest else { break }
      if transport.isStream { scanner.note(.bytesBehind, start + Int(number)) }
      return (start..<start + Int(number), rest - Int(number))
    }
    return (everything, 0)
  }
}
