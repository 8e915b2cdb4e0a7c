import SecureTransport

/// A sound that is played to all who are in a room, together with what they say.
struct RoomVoice {
  private let sound: PlayableSound
  /// Frames of it that were heard.
  private var frames = 0

  init(_ sound: PlayableSound) { self.sound = sound }

  /// Makes its part of a frame; the room may change its rate between two.
  /// - Returns: `false`: it is over.
  mutating func fill(_ samples: SampleBuffer, count: Int, samplingRate: Int) -> Bool {
    let source = samplingRate == Room.wideRate ? sound.wide : sound.narrow
    let start = frames * count
    guard start < source.count else { return false }
    frames += 1
    samples.count = count
    for index in 0..<count { samples[index] = start + index < source.count ? source[start + index] : 0 }
    return true
  }
}
