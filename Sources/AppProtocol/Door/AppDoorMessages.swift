public import CallModel

/// One WebSocket connection.
public struct ConnectionID: Hashable, Sendable {
  /// Counted up by whoever opens connections.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// One proof under examination.
public struct VerificationID: Hashable, Sendable {
  /// Counted up by the door, from 1.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// What the door is told.
public enum AppDoorInput: Sendable {
  /// A WebSocket with sub-protocol `landline.v1` was opened from this address.
  case opened(ConnectionID, host: SIPHost)
  /// A whole text message.
  case text(ConnectionID, [UInt8])
  /// Something that has no place in the protocol: a binary message, text that is no UTF-8, more than may be sent.
  case violation(ConnectionID, closeCode: UInt16, String)
  case pong(ConnectionID)
  /// What is to be sent has piled up beyond the limit: a reader that does not read.
  case clogged(ConnectionID)
  case closed(ConnectionID)
  case verified(VerificationID, RegistrationVerdict)
  /// Something to tell an app.
  case event(SessionID, AppEvent)
  /// No new sessions, no new calls; sessions close when their last call has ended.
  case drain
  /// Every session ends now.
  case shutDown
}

/// What the door wants done, in order.
public enum AppDoorEffect: Sendable {
  case send(ConnectionID, [UInt8])
  case ping(ConnectionID)
  /// A close frame with this code (RFC 6455 section 7.4), after all that was sent.
  case close(ConnectionID, code: UInt16, reason: String)
  indirect case verify(VerificationID, Registration, host: SIPHost)
  case opened(SessionID, AppIdentity, DeviceProfile)
  /// Whether calls for the user ring on the session's device from now on.
  case listening(SessionID, Bool)
  indirect case request(SessionID, RequestNumber, AppRequest)
  /// The connection is lost; the session waits to be resumed.
  case absent(SessionID)
  case resumed(SessionID)
  /// The session is over: its calls end.
  case ended(SessionID)
}
