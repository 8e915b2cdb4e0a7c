import AppProtocol
import CallModel

// MARK: What operators do to a call that is up

extension CallMachine {
  /// Both sides are there.
  var isUp: Bool {
    if case .up = state { return true }
    return false
  }

  func press(_ digits: String, towards leg: LegID, by actor: String) -> CallFailure? {
    if let problem = CallMachine.problem(withDigits: digits, limit: context.limits.digitsPerRequest) {
      return CallFailure(.number, leg: .app, invalidValue: problem)
    }
    let keys = digits.uppercased()
    note("\(actor) presses \(keys.count) keys towards the \(leg) side")
    if self[leg].prompt != nil {
      for key in keys { pressedAtPrompt(key) }
      return nil
    }
    guard self[leg].hears else { return CallFailure(.transfer, phrase: "that side takes no keys", leg: .app) }
    sendKeys(keys, to: leg)
    return nil
  }

  func silence(_ side: CallSide, _ isOn: Bool, by actor: String) -> CallFailure? {
    if side.leg == roomMember {
      silencedInRoom(isOn, by: actor)
      return nil
    }
    guard self[side.leg].needs != nil else {
      return CallFailure(.transfer, phrase: "that side is the gateway's own voice, or a conference", leg: .app)
    }
    guard isOn != snapshot.muted.contains(side) else { return nil }
    note("\(actor) \(isOn ? "mutes" : "no longer mutes") the \(side.rawValue) side")
    change(side, isOn, \.muted)
    return nil
  }

  /// A side waits. It is not heard meanwhile, whether or not it is muted besides.
  func hold(_ side: CallSide, _ isOn: Bool, by actor: String) -> CallFailure? {
    guard transfer == nil, self[side.leg].needs != nil, roomPlace == nil else {
      return CallFailure(.transfer, phrase: "that side cannot wait now", leg: .app)
    }
    guard isOn != snapshot.onHold.contains(side) else { return nil }
    note("\(actor) \(isOn ? "has the \(side.rawValue) side wait" : "takes the \(side.rawValue) side back")")
    order(isOn ? .hold(media(of: side.leg)) : .stopPlaying(media(of: side.leg)))
    change(side, isOn, \.onHold)
    return nil
  }

  func change(_ side: CallSide, _ isOn: Bool, _ sides: WritableKeyPath<CallSnapshot, Set<CallSide>>) {
    if isOn { snapshot[keyPath: sides].insert(side) } else { snapshot[keyPath: sides].remove(side) }
    order(.mute(media(of: side.leg), snapshot.muted.contains(side) || snapshot.onHold.contains(side)))
    changed()
  }
}
