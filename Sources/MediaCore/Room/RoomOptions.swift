/// How a room works. Whoever enters last decides for all.
public struct RoomOptions: Hashable, Sendable {
  /// What ``loudest`` may be.
  public static let loudestRange = 3...8

  /// Voices that are heard at a time where there are many participants; rooms of eight or fewer hear everybody.
  public var loudest = 5 {
    didSet { loudest = min(max(loudest, RoomOptions.loudestRange.lowerBound), RoomOptions.loudestRange.upperBound) }
  }
  /// A short tone says that somebody came in or left; at most one in two seconds, and none among more than 20.
  public var tones = false
  /// Tell who speaks, and who leads the talk.
  public var tellsSpeakers = true

  /// The five loudest are heard, and who speaks is told; without tones.
  public init() {}
}
