import CallModel

// MARK: Others who are brought in to a call of two

extension CallEngine {
  /// A guest's place beside the two of a call.
  func place(asGuestOf host: CallID, in environment: EngineConfiguration.Environment) throws(CallFailure) -> RoomLeg {
    func refused(_ phrase: String) -> CallFailure { CallFailure(.transfer, phrase: phrase, leg: .app) }
    guard let call = calls[host], call.isUp, call.payer.environment == environment.name else {
      throw refused("the call is not answered, or over")
    }
    guard call.roomPlace == nil, call.snapshot.guestOf == nil else {
      throw refused("the call is in a conference or another call: add to that")
    }
    guard !call.isEmergency else { throw refused("nobody is brought in to a call for help") }
    guard let number = call.ownRoom, call.legs.allSatisfy({ $0.prompt == nil }) else {
      throw refused("the gateway's own voice speaks in it")
    }
    call.hasInvited = true
    return RoomLeg(key: call.guestsKey, number: number)
  }

  /// A call is over: whoever was brought in to it, or is being called for that, leaves.
  func endGuests(of call: CallMachine) {
    for guest in context.rooms.calls(call.guestsKey) { with(guest) { $0.hostEnded() } }
  }
}

extension CallMachine {
  /// Where the guests of this call meet.
  var guestsKey: RoomKey {
    RoomKey(
      environment: payer.environment, application: snapshot.application ?? "", conference: ConferenceID(guestsOf: id))
  }

  /// It talks with the two of another call.
  var isPresentGuest: Bool { isUp && snapshot.guestOf != nil }

  /// A guest of this call came in or left.
  func guestsChanged(_ guest: CallMachine) {
    guard isUp else { return }
    let name = "\(guest.snapshot.kind.rawValue) \(guest.snapshot.destination)"
    if guest.isPresentGuest {
      snapshot.guests.append(guest.id)
      snapshot.guests.sort()
      note("\(name) is brought in, by call \(guest.id)")
    } else {
      snapshot.guests.removeAll { $0 == guest.id }
      note("\(name) has left, by call \(guest.id)")
      // The two hear each other by themselves again.
      if snapshot.guests.isEmpty { order(.shareRoom(false)) }
    }
    changed()
  }

  /// The call that this one is a guest of is over.
  func hostEnded() {
    note("the call is over that it was brought in to")
    switch state {
    case .preparing: refuse(CallFailure(.cancelled, leg: .app))
    case .reaching: end(.canceled, reasons: [CallMachine.normalClearing])
    case .up: end(.hungUp, reasons: [CallMachine.normalClearing])
    case .ending, .over: break
    }
  }
}
