public import CallModel

/// A message that is none of the protocol, or breaks its form.
public struct ProtocolViolation: Error, Hashable, Sendable {
  /// The message's number, where it could be read.
  public var number: RequestNumber?
  /// What is wrong, with the path of the part in ``CallFailure/invalidValue``.
  public var failure: CallFailure
  /// The code to close the connection with; `nil` where the next message can be understood all the same.
  public var closeCode: CloseCode?

  /// Without a close code the connection stays.
  public init(number: RequestNumber? = nil, failure: CallFailure, closeCode: CloseCode? = nil) {
    self.number = number
    self.failure = failure
    self.closeCode = closeCode
  }
}

/// Why a WebSocket is closed (RFC 6455 section 7.4; 4000 and up are this protocol's own).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
  /// The number in the close frame; one that is not named here stays what it is.
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The session ended as both wanted.
  public static let normal = CloseCode(rawValue: 1000)
  /// The gateway stops.
  public static let goingAway = CloseCode(rawValue: 1001)
  /// Not a JSON object, nested too deep, or with a member twice.
  public static let protocolError = CloseCode(rawValue: 1002)
  /// A binary message.
  public static let unsupportedData = CloseCode(rawValue: 1003)
  /// Text that is not UTF-8.
  public static let invalidData = CloseCode(rawValue: 1007)
  /// A well-formed message where it may not stand, or a reader that does not read.
  public static let policyViolation = CloseCode(rawValue: 1008)
  /// A message larger than the limit.
  public static let messageTooBig = CloseCode(rawValue: 1009)
  /// The gateway drains: connect again, to another node or a moment later.
  public static let serviceRestart = CloseCode(rawValue: 1012)
  /// Too many connections, sessions or registrations, or a store that does not answer: try again later.
  public static let tryAgainLater = CloseCode(rawValue: 1013)
  /// The registration was refused: the same proof will not do.
  public static let unauthenticated = CloseCode(rawValue: 4401)
  /// The session to resume is over: register anew.
  public static let sessionOver = CloseCode(rawValue: 4404)
  /// Nothing came in time: no first message, or no answer to a ping.
  public static let silent = CloseCode(rawValue: 4408)
  /// Another connection took the session up.
  public static let takenOver = CloseCode(rawValue: 4409)
}
