import Foundation

/// How loud a participant of a room is, frame by frame, and whether it speaks.
///
/// ```
///   quiet ──3 frames above -45 dBov──▶ speaking ──400 ms below──▶ quiet
/// ```
package struct SpeechLevel: Sendable {
  /// dB below the loudest square wave (ITU-T G.711's 0 dBov) from which on a frame may be speech.
  package static let speech: Float = -45
  /// Frames above it that begin speech, and below it that end it: 60 and 400 ms.
  package static let beginningFrames = 3
  package static let endingFrames = 20
  /// What a frame of digital silence has.
  package static let floor: Float = -96
  /// Weight of the frames before in ``smoothed``.
  static let memory: Float = 0.8

  /// dBov of the last frame.
  package private(set) var level = SpeechLevel.floor
  /// dBov, evened out over some frames: whoever is loudest by it is heard first.
  package private(set) var smoothed = SpeechLevel.floor
  package private(set) var isSpeaking = false
  /// Frames in a row that contradict ``isSpeaking``.
  private var contrary = 0

  package init() {}

  /// A frame of the participant, or none where it was silent or is not heard.
  /// - Returns: Whether it began or ended to speak with it.
  package mutating func heard(_ samples: UnsafeBufferPointer<Int16>?) -> Bool {
    level = samples.map(SpeechLevel.level) ?? SpeechLevel.floor
    smoothed = SpeechLevel.memory * smoothed + (1 - SpeechLevel.memory) * level
    guard (level > SpeechLevel.speech) != isSpeaking else {
      contrary = 0
      return false
    }
    contrary += 1
    guard contrary >= (isSpeaking ? SpeechLevel.endingFrames : SpeechLevel.beginningFrames) else { return false }
    isSpeaking.toggle()
    contrary = 0
    return true
  }

  /// dBov of the mean square.
  package static func level(_ samples: UnsafeBufferPointer<Int16>) -> Float {
    guard !samples.isEmpty else { return floor }
    // Each square is 2^30 at most: billions of them fit.
    var sum: Int64 = 0
    for sample in samples { sum &+= Int64(Int32(sample) &* Int32(sample)) }
    guard sum > 0 else { return floor }
    return max(floor, 10 * log10(Float(sum) / Float(samples.count) / (32_768 * 32_768)))
  }
}
