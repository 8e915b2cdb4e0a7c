/// Is told of calls for the user, on the client's event loop: what takes time belongs elsewhere.
public protocol CallClientDelegate: AnyObject, Sendable {
  /// Somebody calls: the moment for a notification of the system where the app is not in front.
  ///
  /// ``Call/hangUp()`` or ``Call/decline(reason:scope:)`` in here declines the call, and
  /// ``callClient(_:didReceiveIncomingCall:)`` is not called for it. ``Call/answer()`` in here takes it as soon as the app is
  /// in front.
  func callClient(_ calls: CallClient, willReceiveIncomingCall call: Call)
  /// Somebody calls, and the app is in front, at once or later: the moment for a ringtone and for setting
  /// ``Call/delegate``. The device counts as ringing when this returns.
  func callClient(_ calls: CallClient, didReceiveIncomingCall call: Call)
  /// A call is over that nobody took or declined, whether the app was told of it before or was away.
  func callClient(_ calls: CallClient, didMissCall call: MissedCall)
}

extension CallClientDelegate {
  /// Does nothing: a delegate may leave the method out.
  public func callClient(_ calls: CallClient, willReceiveIncomingCall call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callClient(_ calls: CallClient, didReceiveIncomingCall call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callClient(_ calls: CallClient, didMissCall call: MissedCall) {}
}

/// What happens to calls for the user.
public enum CallClientEvent: Sendable {
  /// Somebody calls; ``Call/answer()``, ``Call/decline(reason:scope:)`` or ``Call/hangUp()`` says what becomes of it.
  case incoming(Call)
  /// A call is over that nobody took or declined.
  case missed(MissedCall)
}
