package import CallModel
package import SecureTransport

/// All rooms of one thread. They have one clock: a frame every 20 ms, while anybody is in a room.
package final class RoomHall {
  /// Rooms at most; whoever would begin another is refused.
  package static let maximumRooms = 1_000
  /// Seats of one room at most.
  package static let maximumSeats = Room.maximumSeats
  /// Frames made up for at a time when the thread comes late; what is beyond is left out.
  package static let maximumCaughtUp: Int64 = 5
  /// Datagrams for which there is room in the outbox whenever a leg is sent to.
  static let outboxReserve = 8
  static let frame = Int64(RoomSum.frameMilliseconds) * 1000

  /// When ``advance(to:outbox:flush:events:)`` is due; `nil` while nobody is in a room.
  package private(set) var nextDeadline: MonotonicInstant?
  /// Legs that were refused, and frames that were left out since the start.
  package private(set) var refused: UInt64 = 0
  package private(set) var leftOut: UInt64 = 0

  /// Legs in conferences when the last frame was made.
  package private(set) var conferenceSeats = 0

  private var rooms: [RoomIdentifier: Room] = [:]
  private var nextSeat: UInt64 = 0
  /// Of the next frame.
  private var frame: Int64 = 0
  // The client has a hall that nobody enters.
  private lazy var scratch = RoomScratch()

  package init() {}

  /// Rooms that somebody is in.
  package var count: Int { rooms.count }
  /// Payloads that were encoded since the start.
  package var encodes: UInt64 { scratch.encodes }
  /// Packets of sound that were not decoded since the start, for their senders said that they are quiet.
  package var spared: UInt64 { scratch.playout.spared }

  /// A leg comes into a room, which begins with its first. `nil`: it is full, or there are too many rooms.
  func enter(
    _ member: any RoomMember, of bridge: BridgeIdentifier, _ identifier: RoomIdentifier, _ options: RoomOptions,
    at now: MonotonicInstant
  ) -> RoomSeat? {
    let known = rooms[identifier]
    guard known.map({ !$0.isFull }) ?? (rooms.count < RoomHall.maximumRooms) else {
      refused += 1
      return nil
    }
    let room = known ?? Room(identifier, options, scratch)
    rooms[identifier] = room
    room.options = options
    nextSeat += 1
    let seat = RoomSeat(nextSeat, member, of: bridge, identifier, samplingRate: room.samplingRate, scratch)
    room.enter(seat)
    if nextDeadline == nil { nextDeadline = now.advanced(byMicroseconds: RoomHall.frame) }
    return seat
  }

  func change(_ identifier: RoomIdentifier, _ options: RoomOptions) { rooms[identifier]?.options = options }

  /// A leg goes; the room ends with its last.
  func leave(_ seat: RoomSeat) {
    rooms[seat.room]?.leave(seat)
    if let room = rooms[seat.room], room.isEmpty {
      room.recorder?.end()
      rooms[seat.room] = nil
    }
    if rooms.isEmpty {
      nextDeadline = nil
      conferenceSeats = 0
    }
  }

  /// Plays a sound to all who are in a room; `nil` ends what is played. Nothing happens where nobody is in it.
  func play(_ sound: PlayableSound?, in identifier: RoomIdentifier) { rooms[identifier]?.play(sound) }

  /// Whether all who are in a room hear the tone of a recording. Nothing happens where nobody is in it.
  func setRecordingTone(_ isOn: Bool, in identifier: RoomIdentifier) { rooms[identifier]?.setRecordingTone(isOn) }

  /// What is heard in a room goes to `recorder` as well, which the caller holds until it is to end. `false`: nobody is in
  /// the room, or it has a recorder.
  func record(_ identifier: RoomIdentifier, _ recorder: RoomRecorder) -> Bool {
    guard let room = rooms[identifier], room.recorder == nil else { return false }
    room.recorder = recorder
    return true
  }

  /// The formats of a leg changed: its coders are made anew, and those of all where the room's rate changes by it.
  func formatsChanged(_ seat: RoomSeat) { rooms[seat.room]?.formatsChanged(seat) }

  /// Time went by: the frames that are due are made and sent. `flush` sends what is in the outbox and empties it; it is
  /// called when that is nearly full. `events` come with the name of the bridge that they are told for.
  package func advance(
    to now: MonotonicInstant, outbox: PacketOutbox, flush: () -> Void,
    events: inout [(BridgeIdentifier, MediaEvent)]
  ) {
    guard let due = nextDeadline, due <= now else { return }
    let frames = now.microseconds(since: due) / RoomHall.frame + 1
    let made = min(frames, RoomHall.maximumCaughtUp)
    // Time goes on without what is left out, for the listeners' clocks do as well.
    frame += frames - made
    leftOut += UInt64(clamping: frames - made)
    var hasEnded = false
    for _ in 0..<made {
      for room in rooms.values {
        room.makeFrame(frame, at: now, outbox: outbox, flush: flush, events: &events)
        guard room.isEmpty else { continue }
        room.recorder?.end()
        hasEnded = true
      }
      frame += 1
    }
    if hasEnded { rooms = rooms.filter { !$0.value.isEmpty } }
    conferenceSeats = rooms.reduce(0) { $0 + ($1.key.isConference ? $1.value.seats.count : 0) }
    nextDeadline = rooms.isEmpty ? nil : due.advanced(byMicroseconds: frames * RoomHall.frame)
  }
}
