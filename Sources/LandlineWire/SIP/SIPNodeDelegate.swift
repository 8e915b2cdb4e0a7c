public import SIPCore

/// Who uses a node. Made and called on the node's loop only, so it may keep state without locks; what it asks of the
/// node with ``SIPNode/execute(_:)`` from there is done right after what is being done.
public protocol SIPNodeDelegate: AnyObject {
  func node(_ node: SIPNode, happened event: UserAgentEvent)
  /// For logs and counters.
  func node(_ node: SIPNode, met problem: TransportProblem)
  /// A stream of ours is open. For diagnosis; nothing need be done.
  func node(_ node: SIPNode, opened stream: StreamOpening)
  /// A message as it came, before anything judges it: for traces.
  func node(_ node: SIPNode, received message: [UInt8], from path: SIPPath)
  /// A message on its way out, repeats included: for traces.
  func node(_ node: SIPNode, sends message: [UInt8], on path: SIPPath)
}

extension SIPNodeDelegate {
  /// Ignores it: only delegates that diagnose want to know.
  public func node(_ node: SIPNode, opened stream: StreamOpening) {}
  /// Ignores it: only delegates that keep traces want messages.
  public func node(_ node: SIPNode, received message: [UInt8], from path: SIPPath) {}
  /// Ignores it: only delegates that keep traces want messages.
  public func node(_ node: SIPNode, sends message: [UInt8], on path: SIPPath) {}
}
