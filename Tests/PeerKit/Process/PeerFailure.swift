/// Why a foreign peer, or a wait for it, did not do what a test needs. Its description is what the reader of a failed
/// test sees first.
public struct PeerFailure: Error, CustomStringConvertible, Sendable {
  public let description: String
  /// Whether a message had to be sent twice meanwhile, or came late enough for a 100: on a busy machine either side may
  /// be late by more than T1, and not every peer keeps track of its scenario then.
  public let wasLate: Bool

  public init(_ description: String, wasLate: Bool = false) {
    self.description = description
    self.wasLate = wasLate
  }
}
