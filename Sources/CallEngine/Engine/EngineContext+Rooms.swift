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

  var roomLimits: RoomBook.Limits {
    RoomBook.Limits(
      participants: limits.participantsPerRoom, conferences: limits.rooms, aloneMilliseconds: limits.aloneMilliseconds)
  }
}
