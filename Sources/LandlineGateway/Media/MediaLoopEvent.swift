public import MediaCore

/// What a bridge tells, with its name.
public struct MediaLoopEvent: Hashable, Sendable {
  public let bridge: MediaBridge.Identifier
  public let event: MediaEvent

  public init(bridge: MediaBridge.Identifier, event: MediaEvent) {
    self.bridge = bridge
    self.event = event
  }
}
