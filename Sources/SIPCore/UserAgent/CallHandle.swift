/// A call of a ``UserAgent``: one INVITE and all dialogs that come of it. Unique in the life of the agent.
public struct CallHandle: Hashable, Sendable {
  /// Chosen by whoever places a call; calls that come in count down from 2⁶⁴ − 1.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// One offer that waits for its answer, unique in the life of the agent.
public struct ExchangeID: Hashable, Sendable {
  /// Chosen by whoever commands an offer; those that the agent opens by itself count up from 1.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// A request outside of calls whose answer is awaited: an OPTIONS, a REGISTER. Chosen by whoever asks.
public struct QueryID: Hashable, Sendable {
  /// Whoever asks must not use one twice at a time.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// A question where a URI lives (RFC 3263), unique in the life of the agent.
public struct LocationID: Hashable, Sendable {
  /// Counts up from 1.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}
