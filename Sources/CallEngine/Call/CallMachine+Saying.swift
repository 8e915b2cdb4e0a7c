import AppProtocol
import CallModel

// MARK: What operators have said to the sides of a call

extension CallMachine {
  func say(_ sound: PreparedSound, to sides: Set<CallSide>, by actor: String) -> CallFailure? {
    if let refusal = refusalOfSaying(to: sides) { return refusal }
    for side in CallSide.allCases where sides.contains(side) {
      note("\(actor) has \(sound.name) said to the \(side.rawValue) side")
      order(.play(media(of: side.leg), sound: sound.number))
    }
    return nil
  }

  func sayBeneath(_ sound: PreparedSound, by actor: String) -> CallFailure? {
    if let refusal = refusalOfSaying(to: Set(CallSide.allCases)) { return refusal }
    note("\(actor) has \(sound.name) played beneath the talk")
    order(.playBeneath(sound: sound.number))
    return nil
  }

  func stopSaying(to sides: Set<CallSide>, by actor: String) -> CallFailure? {
    if let refusal = refusalOfSaying(to: sides) { return refusal }
    for side in CallSide.allCases where sides.contains(side) { order(.stopPlaying(media(of: side.leg))) }
    if sides == Set(CallSide.allCases) { order(.playBeneath(sound: nil)) }
    note("\(actor) ends what is said")
    return nil
  }

  private func refusalOfSaying(to sides: Set<CallSide>) -> CallFailure? {
    func refused(_ phrase: String) -> CallFailure { CallFailure(.saying, phrase: phrase, leg: .app) }
    guard roomPlace == nil else { return refused("it is a call in a conference, where all hear what is said") }
    guard legs.allSatisfy({ $0.prompt == nil }) else { return refused("the gateway's own voice speaks in it") }
    for side in sides {
      if snapshot.onHold.contains(side) { return refused("the \(side.rawValue) side waits with a tone") }
      if self[side.leg].needs == nil { return refused("the \(side.rawValue) side has no sound") }
    }
    return transfer == nil ? nil : refused("it is being transferred")
  }

  /// Whoever takes part in a conference tells the mixer; all others hear it as well.
  func sayInRoom(_ sound: PreparedSound?) {
    guard let place = roomPlace, isUp, let number = self[place].room?.number else { return }
    order(.playInRoom(number, sound: sound?.number))
  }
}
