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
    var written = contentType.utf8.prefix { $0 != MessageCharacter.semicolon }
    while let last = written.last, MessageCharacter.isBlank(last) { written.removeLast() }
    return written.elementsEqual(type.utf8) { MessageCharacter.lowercase($0) == $1 }
  }
}
