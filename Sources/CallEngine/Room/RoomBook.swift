import CallModel

/// Names a conference: the same id is another one in another application.
struct RoomKey: Hashable {
  let environment: String
  let application: String
  let conference: ConferenceID
}

/// The port of a leg that stands for all others of a conference: it has no media of its own, the calling leg is mixed with
/// those of the other calls.
struct RoomLeg {
  let key: RoomKey
  /// Of the mixer's room; `nil` until the call has its place there.
  var number: UInt64?
}

/// Which calls are in which conference. A room is there from its first call to its last; whoever comes after that finds a
/// new one.
final class RoomBook {
  private struct Room {
    /// Of the mixer's room: that of a conference which begins anew is another one.
    let number: UInt64
    var calls: Set<CallID> = []
  }

  private var rooms: [RoomKey: Room] = [:]
  private var lastNumber: UInt64 = 0

  /// A call gets a place, before anything is prepared for it.
  /// - Parameters:
  ///   - participants: of one conference at most.
  ///   - conferences: at most.
  /// - Returns: the number of the mixer's room.
  /// - Throws: `gw.roomFull` where the conference has as many participants as it may have, `gw.limit` where there are too
  ///   many conferences.
  func enter(
    _ key: RoomKey, _ call: CallID, participants: Int, conferences: Int
  ) throws(CallFailure) -> UInt64 {
    guard var room = rooms[key] else {
      guard rooms.count < conferences else {
        throw CallFailure(
          .limit, refusal: .concurrencyCap, sipStatus: 503, phrase: "conferences of the gateway", leg: .app)
      }
      lastNumber += 1
      rooms[key] = Room(number: lastNumber, calls: [call])
      return lastNumber
    }
    guard room.calls.count < participants else {
      throw CallFailure(.roomFull, phrase: "\(participants) participants are in it", leg: .app)
    }
    room.calls.insert(call)
    rooms[key] = room
    return room.number
  }

  /// A call gives its place back; nothing happens where it has none.
  func leave(_ key: RoomKey, _ call: CallID) {
    guard rooms[key]?.calls.remove(call) != nil else { return }
    if rooms[key]?.calls.isEmpty ?? false { rooms[key] = nil }
  }
}
