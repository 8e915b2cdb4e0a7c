package import SDPCore
import SecureTransport

/// What all bridges of one shard share: room while a packet is worked on, which holds nothing between packets, and the tones
/// that many of them play.
public final class MediaWorkspace {
  /// Sound as decoded, then at the rate of the other side.
  let decoded = SampleBuffer()
  let converted = SampleBuffer()
  /// A frame of the length the other side wants.
  let frame = SampleBuffer()
  /// A packet that came within another.
  let copy = PacketBuffer()
  /// The rooms that legs of these bridges are in.
  package let hall = RoomHall()
  var transportEvents: [TransportEvent] = []
  private var rounds: [ToneRound.Key: ToneRound] = [:]

  /// One for each thread that works on packets.
  public init() { transportEvents.reserveCapacity(16) }

  /// - Returns: `nil` for a tone that is made anew each time, see ``ToneRound/init(_:)``, and where the codec cannot be made.
  package func toneRound(_ tone: Tone, _ codec: AudioCodec) -> ToneRound? {
    let key = ToneRound.Key(tone: tone, codec: codec)
    if let known = rounds[key] { return known }
    guard let round = ToneRound(key) else { return nil }
    if rounds.count >= ToneRound.maximumKept { rounds.removeAll() }
    rounds[key] = round
    return round
  }
}
