public import AppProtocol
public import CallModel

/// A WebSocket connection, as the hub uses it. All methods may be called from any thread and never block.
public protocol AppConnection: AnyObject, Sendable {
  /// Sends messages, in order and in one piece.
  func send(_ texts: [[UInt8]])
  func ping()
  /// Sends a close frame after what was sent before, and ends the connection.
  func close(code: UInt16, reason: String)
}

/// Who takes connections: the hub. Called on the connection's event loop, in order.
public protocol AppConnectionAcceptor: Sendable {
  /// - Returns: `nil` when no more connections are taken: the upgrade is answered with 503.
  func opened(_ connection: any AppConnection, host: SIPHost) -> ConnectionID?
  /// - Returns: `false` when too many messages wait: the connection is to be closed.
  func received(_ text: [UInt8], on connection: ConnectionID) -> Bool
  func violated(_ connection: ConnectionID, closeCode: UInt16, _ problem: String)
  func ponged(_ connection: ConnectionID)
  func clogged(_ connection: ConnectionID)
  func closed(_ connection: ConnectionID)
}
