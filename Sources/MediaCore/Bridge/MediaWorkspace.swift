import SecureTransport

/// Room that all bridges of one shard share while a packet is worked on: it holds nothing between packets.
public final class MediaWorkspace {
  /// Sound as decoded, then at the rate of the other side.
  let decoded = SampleBuffer()
  let converted = SampleBuffer()
  /// A frame of the length the other side wants.
  let frame = SampleBuffer()
  var transportEvents: [TransportEvent] = []

  /// One for each thread that works on packets.
  public init() { transportEvents.reserveCapacity(16) }
}
