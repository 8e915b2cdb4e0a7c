/// Is told what happens to a call, on the client's event loop: what takes time belongs elsewhere.
public protocol CallDelegate: AnyObject, Sendable {
  func callDidProgress(_ call: Call)
  func callDidRing(_ call: Call)
  func callDidAnswer(_ call: Call)
  func callDidEstablish(_ call: Call)
  func callDidEnd(_ call: Call)
  /// Every event, those above included, before its own method.
  func call(_ call: Call, didReceive event: CallEvent)
}

extension CallDelegate {
  /// Does nothing: a delegate may leave the method out.
  public func callDidProgress(_ call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callDidRing(_ call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callDidAnswer(_ call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callDidEstablish(_ call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func callDidEnd(_ call: Call) {}
  /// Does nothing: a delegate may leave the method out.
  public func call(_ call: Call, didReceive event: CallEvent) {}
}
