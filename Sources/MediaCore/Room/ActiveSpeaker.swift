/// Who leads the talk in a room: the loudest, once it has been clearly louder for a while.
package struct ActiveSpeaker<Participant: Hashable & Sendable>: Sendable {
  /// dB that a newcomer must be louder by, and frames for which: 200 ms.
  package static var lead: Float { 3 }
  package static var leadFrames: Int { 10 }

  package private(set) var current: Participant?
  private var candidate: Participant?
  private var frames = 0

  package init() {}

  /// A frame's levels of those who speak.
  /// - Returns: Whether another one leads now.
  package mutating func heard(_ speaking: some Sequence<(participant: Participant, level: Float)>) -> Bool {
    var loudest: (participant: Participant, level: Float)?
    var own: Float?
    for one in speaking {
      if one.participant == current { own = one.level }
      if one.level > loudest?.level ?? -.infinity { loudest = one }
    }
    // Where nobody speaks, whoever did last still leads.
    guard let loudest, loudest.participant != current else {
      candidate = nil
      return false
    }
    guard let own else {
      // Whoever led is silent.
      candidate = nil
      current = loudest.participant
      return true
    }
    guard loudest.level >= own + Self.lead else {
      candidate = nil
      return false
    }
    frames = candidate == loudest.participant ? frames + 1 : 1
    candidate = loudest.participant
    guard frames >= Self.leadFrames else { return false }
    candidate = nil
    current = loudest.participant
    return true
  }

  package mutating func left(_ participant: Participant) {
    if current == participant { current = nil }
    if candidate == participant { candidate = nil }
  }
}
