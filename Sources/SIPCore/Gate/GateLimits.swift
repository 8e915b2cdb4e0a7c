/// The largest message that reaches the parser, in every direction it could grow.
///
/// The parser behind the gate takes time with the square of some of these counts; within the standard limits a
/// message costs it less than a millisecond.
public struct GateLimits: Hashable, Sendable {
  /// Bytes of a datagram.
  public var datagramBytes = 16_384
  /// Bytes of a message on a stream.
  public var streamBytes = 65_536
  /// Bytes of a body.
  public var bodyBytes = 32_768
  /// Header fields, folded ones counted once.
  public var headerCount = 128
  /// Lines of the head, each folded one counted.
  public var lineCount = 256
  /// Bytes of one header field with its folds, and of the start line.
  public var lineBytes = 4096
  /// Bytes of a method; RFC 4475 section 3.1.1.2 has one of 45.
  public var methodBytes = 64
  /// Bytes of a Request-URI.
  public var requestURIBytes = 2048
  /// Semicolons in the Request-URI and in one element of a comma-separated header.
  public var semicolons = 32
  /// Commas in one header field.
  public var commas = 32
  /// Via elements in all; RFC 4475 section 3.3.7 has 34.
  public var vias = 40
  /// Route elements in all, and Record-Route elements in all.
  public var routes = 20
  /// Contact elements in all.
  public var contacts = 32

  /// Each limit at the value written above.
  public init() {}

  /// The values written above. Messages of ours keep to them too.
  public static let standard = GateLimits()

  /// Bytes of a whole message.
  public func messageBytes(_ transport: SIPTransport) -> Int { transport.isStream ? streamBytes : datagramBytes }
}
