import CallModel

/// The wire form of `landline.v1`: one JSON object in one WebSocket text message, both ways.
public enum AppMessageCoder {
  /// The WebSocket sub-protocol (RFC 6455 section 1.9); the version is part of it.
  public static let subprotocol = "landline.v1"
  /// Most bytes of a message.
  public static let maximumMessageBytes = 262_144
  /// Deepest nesting of objects and arrays.
  public static let maximumDepth = 32
  /// Largest number of a request: 2⁵³ − 1.
  public static let maximumRequestNumber = UInt64(MessageLimit.integer)

  /// Reads an app's message.
  /// - Throws: What to answer, and whether the connection can go on.
  public static func decodeRequest(_ bytes: [UInt8]) throws(ProtocolViolation) -> ClientMessage {
    let object = try AppMessageCoder.object(bytes)
    let number = AppMessageCoder.number(object)
    do {
      return try clientMessage(object)
    } catch {
      throw ProtocolViolation(number: number, failure: error.failure)
    }
  }

  /// Reads a gateway's message; `nil` for a type that this version does not know, which a client passes over.
  /// - Throws: What is wrong; a client goes on only where no close code is given.
  public static func decodeServer(_ bytes: [UInt8]) throws(ProtocolViolation) -> ServerMessage? {
    let object = try AppMessageCoder.object(bytes)
    do {
      return try serverMessage(object)
    } catch {
      throw ProtocolViolation(number: AppMessageCoder.number(object), failure: error.failure)
    }
  }

  private static func object(_ bytes: [UInt8]) throws(ProtocolViolation) -> JSONObject {
    let value: JSONValue
    do {
      value = try JSONReader.read(bytes, JSONReader.Limits(bytes: maximumMessageBytes, depth: maximumDepth))
    } catch {
      let code: CloseCode =
        switch error.kind {
        case .tooLong: .messageTooBig
        case .notUTF8: .invalidData
        case .syntax, .tooDeep, .duplicate, .tooMany: .protocolError
        }
      throw violation(error.offset, error.problem, code)
    }
    guard case .object(let object) = value else { throw violation(0, "found \(value.kind)", .protocolError) }
    return object
  }

  private static func violation(_ offset: Int, _ problem: String, _ code: CloseCode) -> ProtocolViolation {
    ProtocolViolation(
      failure: CallFailure(
        .message,
        invalidValue: InvalidValue(
          kind: "message", rule: "message.json", offset: offset, problem: problem,
          accepted: "one JSON object of at most \(maximumMessageBytes) bytes in UTF-8, each name once in its object")),
      closeCode: code)
  }

  private static func number(_ object: JSONObject) -> RequestNumber? {
    guard case .integer(let number)? = object["id"], (1...MessageLimit.integer).contains(number) else { return nil }
    return RequestNumber(UInt64(number))
  }
}

extension MessageReader {
  /// The message's `id`.
  func requestNumber() throws(MessageProblem) -> RequestNumber {
    RequestNumber(UInt64(try integer("id", in: 1...MessageLimit.integer)))
  }

  /// `seq`, where the message has one.
  func sequence() throws(MessageProblem) -> UInt64? {
    try optionalInteger("seq", in: 1...MessageLimit.integer).map(UInt64.init)
  }

  /// The type of a whole message, and the reader named after it.
  static func message<Kind: RawRepresentable & CaseIterable>(
    _ object: JSONObject, _ type: Kind.Type
  ) throws(MessageProblem) -> (Kind, MessageReader) where Kind.RawValue == String {
    let kind: Kind = try MessageReader(object: object, path: "message").choice("type")
    return (kind, MessageReader(object: object, path: kind.rawValue))
  }
}
