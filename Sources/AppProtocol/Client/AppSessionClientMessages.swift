public import CallModel

/// What the client's end of a session is told.
public enum AppSessionClientInput: Sendable {
  /// Connect and register with this proof. From ``AppSessionClient/State/idle`` or ``AppSessionClient/State/ended(_:)``.
  case start(Registration)
  /// The WebSocket asked for with ``AppSessionClientEffect/connect(_:)`` is open.
  case opened(ConnectionID)
  /// A whole text message.
  case text(ConnectionID, [UInt8])
  /// The WebSocket closed or never opened; `code` of the peer's close frame, `nil` without one.
  case closed(ConnectionID, code: UInt16?)
  /// The proof that ``AppSessionClientEffect/signAgain(least:)`` asked for.
  case proof(Registration.Proof)
  /// Something that breaks WebSocket itself or a binary message came.
  case violation(ConnectionID)
  /// The device has another network: connect again at once rather than wait for a sign of loss.
  case networkChanged
  /// Say bye and end.
  case stop
}

/// What the client's end of a session wants done, in order.
public enum AppSessionClientEffect: Sendable {
  /// Open a WebSocket with sub-protocol ``AppMessageCoder/subprotocol``; the last asked for is the only one that counts.
  case connect(ConnectionID)
  case send(ConnectionID, [UInt8])
  case close(ConnectionID, code: UInt16)
  case state(AppSessionClient.State)
  /// Replies and events, in the gateway's order.
  case event(AppEvent)
  /// The call is over, because its session could not be taken up again; no ``AppEvent/ended(_:_:)`` follows.
  case lost(CallID, CallFailure)
  /// Sign again, with a sequence of at least `least`; told as ``AppSessionClientInput/proof(_:)``.
  case signAgain(least: UInt64)
  /// Keep for the next start, in place of the former.
  case keep(DeviceCredential)
  /// The gateway wants no new calls.
  case draining
}
