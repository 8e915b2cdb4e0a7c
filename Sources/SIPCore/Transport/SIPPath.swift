/// One of the places where this node listens, as the configuration numbers them.
public struct ListenerID: Hashable, Sendable {
  public let number: UInt16
  public init(_ number: UInt16) { self.number = number }
}

/// An open stream, unique in the life of a process.
public struct ConnectionID: Hashable, Sendable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// The way that bytes came or go: which of our listeners, which far address and, for a stream, which connection.
public struct SIPPath: Hashable, Sendable {
  /// Whose socket the bytes came over or leave by.
  public var listener: ListenerID
  /// Where the bytes came from or go to.
  public var remote: TransportAddress
  /// The stream to use while it is open. `nil`, or one that has closed, lets the shell reuse another one to the same
  /// address and server name, or open one.
  public var connection: ConnectionID?
  /// The name that the certificate of a TLS peer must carry (RFC 5922), and what SNI says.
  public var serverName: String?

  /// Without a connection the shell finds or opens one for a stream.
  public init(
    listener: ListenerID, remote: TransportAddress, connection: ConnectionID? = nil, serverName: String? = nil
  ) {
    self.listener = listener
    self.remote = remote
    self.connection = connection
    self.serverName = serverName
  }
}
