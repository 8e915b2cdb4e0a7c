/// The wire form of `landline.v1`: one JSON object in one WebSocket text message, both ways.
public enum AppMessageCoder {
  /// The WebSocket sub-protocol (RFC 6455 section 1.9); the version is part of it.
  public static let subprotocol = "landline.v1"
  /// Most bytes of a message.
  public static let maximumMessageBytes = 262_144
  /// Deepest nesting of objects and arrays.
  public static let maximumDepth = 32
}

extension AppMessageCoder {
  /// Reads an app's message.
  public static func decodeRequest(_ bytes: [UInt8]) throws(ProtocolViolation) -> ClientMessage { .bye }
  public static func encode(_ message: ClientMessage) -> [UInt8] { [] }
  /// Reads a gateway's message; `nil` for a type this version does not know, which a client passes over.
  public static func decodeServer(_ bytes: [UInt8]) throws(ProtocolViolation) -> ServerMessage? { nil }
  public static func encode(_ message: ServerMessage) -> [UInt8] { [] }
}
