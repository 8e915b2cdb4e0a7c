package import CallModel
import SecureTransport

extension MediaBridge {
  /// A leg hears and is heard in a room in place of the other leg. It leaves the room it was in.
  func enterRoom(
    _ id: LegID, _ room: RoomIdentifier, _ options: RoomOptions, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    guard let leg = leg(id) else { return }
    leaveOwnRoom()
    if leg.seat?.room == room { return workspace.hall.change(room, options) }
    guard !leg.isApart, let seat = workspace.hall.enter(leg, of: identifier, room, options, at: now) else {
      events.append(.roomRefused(id))
      return
    }
    sit(leg, at: seat)
  }

  func sit(_ leg: MediaLeg, at seat: RoomSeat) {
    leaveSeat(leg)
    leg.seat = seat
    leg.echo = nil
    flows.removeAll { $0.from === leg || $0.to === leg }
    leg.outgoing.changeSource()
  }

  /// A leg hears the other leg again, where there is one that is in no room.
  func leaveRoom(_ id: LegID) {
    leaveOwnRoom()
    guard let leg = leg(id), leg.seat != nil else { return }
    leaveSeat(leg)
    leg.outgoing.changeSource()
    connect(leg)
  }

  func leaveSeat(_ leg: MediaLeg) {
    guard let seat = leg.seat else { return }
    leg.seat = nil
    workspace.hall.leave(seat)
  }

  /// Who is sent what comes from a leg, where that is one leg.
  func listener(to leg: MediaLeg) -> MediaLeg? {
    flow(from: leg)?.to ?? (own.isTaken ? legs.first { $0 !== leg && !$0.isApart } : nil)
  }

  /// Milliseconds of sound of a leg that wait in its room; `nil`: it is in none.
  package func roomDelay(of id: LegID) -> Int? { leg(id)?.seat?.waiting }

  /// A packet came in for the room that a leg is in. `isSound`: or it only has a number of the stream; `isQuiet`: its sender
  /// says that nobody would hear it.
  func insert(
    _ packet: PacketBuffer, _ header: RTPHeader, isSound: Bool, isQuiet: Bool = false, _ leg: MediaLeg,
    at now: MonotonicInstant
  ) {
    guard let seat = leg.seat else { return }
    // Its sound was made up meanwhile: the sender is to know.
    if !seat.insert(packet, header, isSound: isSound, isQuiet: isQuiet, at: now), isSound {
      leg.reception.cameTooLate(header.sequence)
    }
  }
}
