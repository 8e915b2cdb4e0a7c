import CallModel
import SDPCore
import SecureTransport

/// A leg as its room sees it.
protocol RoomMember: PlayoutSource {
  var id: LegID { get }
  /// What was agreed on; `nil`: nothing yet.
  var audio: MediaPlan.Stream? { get }
  /// Nobody is to hear it.
  var isMuted: Bool { get }
  /// It is to hear nobody.
  var isDeaf: Bool { get }
  /// Sound that comes in is wanted.
  var mayReceive: Bool { get }
  /// Sound of the room may go out: nothing else is being played.
  var mayPlay: Bool { get }

  /// Sends a payload in a packet of its own. `timestamp` and `duration` are in ticks of the codec's clock, `timestamp` since
  /// the room's beginning; `repeating`: with the sound of the packet before, where the peer takes that.
  func sendRoomSound(
    _ payload: PacketBuffer, timestamp: UInt32, duration: Int, marker: Bool, repeating: Bool, at now: MonotonicInstant,
    outbox: PacketOutbox)
}
