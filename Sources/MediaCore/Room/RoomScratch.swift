import SecureTransport

/// Room while the rooms of one thread are worked on, which holds nothing between two frames, and what they cost.
final class RoomScratch {
  /// What one who speaks hears, and who does not.
  let own = SampleBuffer()
  let mixed = SampleBuffer()
  /// Noise, in place of silence.
  let noise = SampleBuffer()
  let chime = SampleBuffer()
  let voice = SampleBuffer()
  /// Sound at the encoder's rate, and of the length of its packets.
  let converted = SampleBuffer()
  let packet = SampleBuffer()
  let playout = StreamPlayout.Scratch()
  /// Payloads that were encoded since the start.
  var encodes: UInt64 = 0
}
