/// A body with its type.
public struct MessageBody: Hashable, Sendable {
  /// Most bytes of a body that is sent.
  public static let maximumBytes = 32_768

  /// As in Content-Type, parameters included: `application/sdp`.
  public let contentType: String
  /// When sent, at most ``maximumBytes``; an empty body goes out without Content-Type.
  public let bytes: [UInt8]

  /// Checks neither; a message with a type that is no `type/subtype`, or with too many bytes, cannot be built.
  public init(contentType: String, bytes: [UInt8]) {
    self.contentType = contentType
    self.bytes = bytes
  }

  /// A body of type `application/sdp`.
  public init(sessionDescription bytes: [UInt8]) { self.init(contentType: "application/sdp", bytes: bytes) }

  /// Whether the media type, without parameters and case, is this one: `application/sdp`.
  public func isType(_ type: String) -> Bool {
    let written = contentType.prefix { $0 != ";" }
    var bytes = Array(written.utf8.map(MessageCharacter.lowercase))
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes.elementsEqual(type.utf8)
  }
}
