import CallModel
import SecureTransport

extension MediaBridge {
  private var ownRoom: RoomIdentifier { RoomIdentifier(of: identifier) }

  /// Milliseconds within which the last of a sound has been mixed, whenever the room's frames are made.
  private static let beneathRest: Int64 = 100

  func playBeneath(_ sound: PlayableSound?, at now: MonotonicInstant) {
    guard let sound else {
      own.soundEnd = nil
      return workspace.hall.play(nil, in: ownRoom)
    }
    own.soundEnd = now.advanced(byMilliseconds: Int64(sound.milliseconds) + MediaBridge.beneathRest)
    arrangeOwnRoom(at: now)
    guard own.isTaken else {
      own.soundEnd = nil
      return
    }
    workspace.hall.play(sound, in: ownRoom)
  }

  /// The legs go into the room or leave it, as is wanted now. Whoever is alone hears no tone and no sound there, only others.
  func arrangeOwnRoom(at now: MonotonicInstant) {
    guard own.isWanted else { return leaveOwnRoom() }
    if !own.isTaken {
      let talking = legs.filter { !$0.isApart && $0.seat == nil }
      guard talking.count >= (own.isShared ? 1 : 2) else { return }
      // A tone says that others come; that the two themselves move says nothing to them.
      var options = RoomOptions()
      options.tellsSpeakers = own.isShared
      let seats = talking.compactMap { workspace.hall.enter($0, of: identifier, ownRoom, options, at: now) }
      guard seats.count == talking.count else {
        for seat in seats { workspace.hall.leave(seat) }
        return
      }
      for (leg, seat) in zip(talking, seats) { sit(leg, at: seat) }
      own.isTaken = true
    }
    workspace.hall.setRecordingTone(own.hasTone, in: ownRoom)
  }

  /// The legs hear each other by themselves again, until ``arrangeOwnRoom(at:)``; a sound that is played ends.
  func leaveOwnRoom() {
    own.soundEnd = nil
    guard own.isTaken else { return }
    own.isTaken = false
    for leg in legs where leg.seat?.room == ownRoom { leaveRoom(leg.id) }
  }
}
