public import MediaCore

/// What a bridge tells, with its name.
public struct MediaLoopEvent: Hashable, Sendable {
  /// The bridge that tells it: one for each call.
  public let bridge: MediaBridge.Identifier
  /// After ``MediaEvent/closed`` no other comes from this bridge.
  public let event: MediaEvent

  public init(bridge: MediaBridge.Identifier, event: MediaEvent) {
    self.bridge = bridge
    self.event = event
  }
}
