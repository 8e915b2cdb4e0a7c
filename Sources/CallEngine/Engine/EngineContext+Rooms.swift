import AppProtocol
import CallModel

extension EngineContext {
  /// Does something to a conference, tells apps what follows from it, and sets its timer.
  func inRoom<Answer, Failure>(
    _ key: RoomKey, _ act: (RoomBook) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let answer = try act(rooms)
    for (session, event) in rooms.drainNews() { emit(.app(session, event)) }
    deadlines.set(.room(key), rooms.nextDeadline(key))
    return answer
  }

  func roomLimits(of key: RoomKey) -> RoomBook.Limits {
    // A guest is never alone: it leaves with the two whom it talks with.
    let isForGuests = key.conference.host != nil
    return RoomBook.Limits(
      participants: isForGuests ? limits.guestsPerCall : limits.participantsPerRoom, conferences: limits.rooms,
      aloneMilliseconds: isForGuests ? limits.maximumCallSeconds * 1_000 : limits.aloneMilliseconds)
  }
}
