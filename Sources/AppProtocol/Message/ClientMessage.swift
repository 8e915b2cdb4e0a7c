/// What an app sends to the gateway.
public enum ClientMessage: Hashable, Sendable {
  /// The first message of a new session; `client` names the app's software and its version, for records.
  case register(RequestNumber, Registration, client: String)
  /// The first message of a connection that takes a session up again.
  case resume(RequestNumber, Resumption)
  /// A request inside the session.
  case request(RequestNumber, AppRequest)
  /// Answered with ``ServerMessage/pong(_:)``: a sign of life for clients that cannot send WebSocket pings.
  case ping(RequestNumber)
  /// The session ends, and its calls with it.
  case bye

  /// The number the reply will carry.
  public var number: RequestNumber? {
    switch self {
    case .register(let number, _, _), .resume(let number, _), .request(let number, _), .ping(let number): number
    case .bye: nil
    }
  }
}

/// What takes a session up again after its connection was lost.
public struct Resumption: Hashable, Sendable {
  /// The session's public name.
  public var session: String
  /// The token of the last ``Registered`` or ``Resumed``; each can be used once.
  public var token: String
  /// The highest sequence number of the events that arrived; 0 for none.
  public var lastEvent: UInt64

  /// Takes up events after `lastEvent`; 0 for all that are kept.
  public init(session: String, token: String, lastEvent: UInt64) {
    self.session = session
    self.token = token
    self.lastEvent = lastEvent
  }
}
