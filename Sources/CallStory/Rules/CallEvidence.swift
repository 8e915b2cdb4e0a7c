/// What rules look at: a call's sources, read once.
public struct CallEvidence: Sendable {
  public let sources: CallStorySources

  public init(_ sources: CallStorySources) { self.sources = sources }
}
