public import CallModel

/// Is told what happens to a client, on the client's event loop: what takes time belongs elsewhere.
public protocol ClientDelegate: AnyObject, Sendable {
  func clientDidStart(_ client: Client)
  /// The start failed, or the session was lost for good.
  func client(_ client: Client, didFail failure: CallFailure)
  func clientDidStop(_ client: Client)
  /// The app's server is asked now, through the closure that the client was made with.
  func client(_ client: Client, requiresCredentialsFor user: String, device: String)
  func client(_ client: Client, didLog entry: LogEntry)
}

extension ClientDelegate {
  /// Does nothing: a delegate may leave the method out.
  public func clientDidStart(_ client: Client) {}
  /// Does nothing: a delegate may leave the method out.
  public func client(_ client: Client, didFail failure: CallFailure) {}
  /// Does nothing: a delegate may leave the method out.
  public func clientDidStop(_ client: Client) {}
  /// Does nothing: a delegate may leave the method out.
  public func client(_ client: Client, requiresCredentialsFor user: String, device: String) {}
  /// Does nothing: a delegate may leave the method out.
  public func client(_ client: Client, didLog entry: LogEntry) {}
}
