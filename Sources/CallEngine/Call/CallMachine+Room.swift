import AppProtocol
import CallModel

// MARK: A call that is in a conference

extension CallMachine {
  /// The leg that stands for the conference; `nil` in any other call.
  var roomPlace: LegID? { legs.first { $0.room != nil }?.id }

  /// The leg that takes part in the conference: whoever calls, or whom the conference calls.
  var roomMember: LegID? { roomPlace.map { $0 == .near ? .far : .near } }

  /// The leg that a call is about for those who look at it: whoever calls, unless that is a conference.
  var observed: LegID { roomPlace == .near ? .far : .near }

  /// Takes a place in the conference, before anything is prepared: all sound of a conference is on one thread. A caller from a
  /// trunk has its place from the beginning too, though other targets may come before the conference.
  /// - Returns: the mixer's room; `nil` for a call that is in none.
  func reserveRoom() throws(CallFailure) -> UInt64? {
    if let place = roomPlace, var leg = self[place].room {
      let number = try reserve(leg.key, isInvited: place == .near, number: leg.number)
      leg.number = number
      self[place].port = .room(leg)
      roomKey = leg.key
      return number
    }
    guard let key = arrived?.targets.lazy.compactMap(\.room).first else { return nil }
    do throws(CallFailure) {
      let number = try reserve(key, isInvited: false)
      arrived?.room = .success(number)
      roomKey = key
      return number
    } catch {
      arrived?.room = .failure(error)
      return nil
    }
  }

  private func reserve(_ key: RoomKey, isInvited: Bool, number: UInt64? = nil) throws(CallFailure) -> UInt64 {
    try context.inRoom(key) { rooms throws(CallFailure) in
      try rooms.reserve(
        key, id, isInvited: isInvited, number: number, context.roomLimits(of: key), clock: context.clock)
    }
  }

  /// The conference's turn among the targets of a number.
  func reachRoom(_ terms: CallTerms) {
    guard let key = terms.room, let place = arrived?.room else { return farFailed(CallFailure(.numberUnserved)) }
    switch place {
    case .success(let number) where key == roomKey:
      replace(.far, by: Leg(id: .far, terms: terms, port: .room(RoomLeg(key: key, number: number))))
      reachFar()
    // Two numbers of ours stand behind each other, each with a conference.
    case .success: farFailed(CallFailure(.numberUnserved))
    case .failure(let failure): farFailed(failure)
    }
  }

  /// Whoever takes part is there, hears the others and is heard.
  func enterRoom() {
    guard let place = roomPlace, let member = roomMember, let leg = self[place].room, let number = leg.number else {
      // Another target was there first.
      return leaveRoom()
    }
    if let host = leg.key.conference.host { context.emit(.media(host, .shareRoom(true))) }
    order(.enterRoom(media(of: member), number, tones: context.rooms.hasTones(leg.key)))
    if leg.beginsMuted { setMuted(member, true) }
    var from = callerShown(at: member)
    if from.name.isEmpty, let name = self[member].app?.name { from.name = name }
    context.inRoom(leg.key) {
      $0.enter(
        leg.key, id, from: from, isMuted: self[member].app?.isMuted ?? false, isSilenced: leg.beginsMuted,
        audience(member), at: context.now, clock: context.clock)
    }
    if let host = leg.key.conference.host { return note("is brought in to call \(host)") }
    addToStory(.inConference(leg.key.conference.text))
    if let running = context.rooms.report(leg.key)?.recording, running.options.hasTracks { beginTrack(of: running) }
  }

  /// Gives the place back; nothing happens where it has none.
  func leaveRoom() {
    guard let room = roomKey else { return }
    roomKey = nil
    context.inRoom(room) { $0.leave(room, id, at: context.now) }
  }

  /// What an app is to be told has changed, by its own word or with its connection.
  func followRoom(_ leg: LegID) {
    guard let room = roomKey, let audience = audience(leg) else { return }
    context.inRoom(room) { $0.follow(room, id, audience, at: context.now) }
  }

  /// `nil` for a guest, who would be told of other guests and not of the two whom it talks with.
  private func audience(_ leg: LegID) -> RoomBook.Audience? {
    guard snapshot.guestOf == nil else { return nil }
    return self[leg].app.map { RoomBook.Audience(session: $0.session, watch: $0.watch, isAbsent: $0.isAbsent) }
  }

  /// An app has muted itself, or not.
  func mutedInRoom(_ leg: LegID) {
    guard let room = roomKey, let app = self[leg].app else { return }
    context.inRoom(room) { $0.change(room, id, at: context.now) { $0.isMuted = app.isMuted } }
  }

  func spoke(_ isSpeaking: Bool) {
    if let room = roomKey, isUp { context.inRoom(room) { $0.spoke(room, id, isSpeaking, at: context.now) } }
  }

  func heardInRoom(_ direction: CallQuality.Direction, _ roundTrip: Double?, _ level: Int?) {
    guard let room = roomKey, isUp else { return }
    context.inRoom(room) { $0.measured(room, id, ParticipantQuality(direction, roundTrip: roundTrip, level: level)) }
  }

  func leadsTalk() {
    if let room = roomKey, isUp { context.inRoom(room) { $0.leadsTalk(room, id, at: context.now) } }
  }

  // MARK: Keys

  /// Whoever takes part has pressed a key.
  func pressedInRoom(_ key: Character) {
    guard let room = roomKey, isUp else { return }
    let listeners = context.inRoom(room) { $0.pressed(room, id, key, at: context.now) }
    roomKeys += listeners.map { (key, $0) }
  }

  /// Another participant has pressed a key, and the conference passes it on.
  func hearKey(_ key: Character) {
    guard let member = roomMember, isUp else { return }
    sendKeys(String(key), to: member)
  }

  func drainRoomKeys() -> [(key: Character, listener: CallID)] {
    guard !roomKeys.isEmpty else { return [] }
    defer { roomKeys = [] }
    return roomKeys
  }

  // MARK: Operators

  func silencedInRoom(_ isOn: Bool, by actor: String) {
    guard let room = roomKey, let member = roomMember, isUp else { return }
    addToStory(isOn ? .mutedByOperator(actor) : .unmutedByOperator(actor))
    setMuted(member, isOn)
    context.inRoom(room) { $0.change(room, id, at: context.now) { $0.isSilenced = isOn } }
  }

  private func setMuted(_ member: LegID, _ isOn: Bool) {
    for side in CallSide.allCases where side.leg == member { change(side, isOn, \.muted) }
  }

  func deafenedInRoom(_ isOn: Bool, by actor: String) {
    guard let room = roomKey, let member = roomMember, isUp else { return }
    note("\(actor) has it hear \(isOn ? "nothing" : "the others again")")
    order(.deafen(media(of: member), isOn))
    context.inRoom(room) { $0.change(room, id, at: context.now) { $0.isDeaf = isOn } }
  }

  /// The room's tones were turned on or off: one of its calls tells the mixer.
  func tellRoomTones() {
    guard let place = roomPlace, let member = roomMember, isUp, let leg = self[place].room, let number = leg.number
    else { return }
    order(.enterRoom(media(of: member), number, tones: context.rooms.hasTones(leg.key)))
  }

  func kicked(by actor: String) {
    guard isUp else { return }
    addToStory(.endedByOperator(actor))
    flags.append(.endedByOperator)
    let failure = CallFailure(.kicked)
    end(failure.endCause, failure, reasons: [CallMachine.normalClearing])
  }

  /// Nobody else has been there for as long as anybody waits.
  func aloneInRoom() {
    guard isUp else { return }
    addToStory(.aloneInConference(context.limits.aloneMilliseconds / 1000))
    end(.timeout, reasons: [CallMachine.normalClearing])
  }
}
