/// Why a foreign peer, or a wait for it, did not do what a test needs. Its description is what the reader of a failed
/// test sees first.
public struct PeerFailure: Error, CustomStringConvertible, Sendable {
  public let description: String
  public init(_ description: String) { self.description = description }
}
