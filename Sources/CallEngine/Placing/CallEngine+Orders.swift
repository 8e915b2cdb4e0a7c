import AppProtocol
import CallModel

// MARK: What operators do to calls that are up

extension CallEngine {
  /// Each order has one answer: why nothing was done, or nothing.
  func order(_ order: CallOrder, _ id: CallID, by actor: String) -> CallFailure? {
    guard let call = calls[id], call.isUp else {
      let code: CallFailureCode =
        switch order {
        case .record: .recording
        case .say, .sayBeneath, .stopSaying: .saying
        case .press, .mute, .hold, .transfer: .transfer
        }
      return CallFailure(code, phrase: "the call is not answered, or over", leg: .app)
    }
    var refusal: CallFailure?
    switch order {
    case .press(let side, let keys): with(id) { refusal = $0.press(keys, towards: side.leg, by: actor) }
    case .mute(let side, let isOn): with(id) { refusal = $0.silence(side, isOn, by: actor) }
    case .hold(let side, let isOn): with(id) { refusal = $0.hold(side, isOn, by: actor) }
    case .transfer(let side, let order): refusal = transfer(call, side, order, by: actor)
    case .record(let order): with(id) { refusal = $0.record(order, by: actor) }
    case .say(let sound, let sides): with(id) { refusal = $0.say(sound, to: sides, by: actor) }
    case .sayBeneath(let sound): with(id) { refusal = $0.sayBeneath(sound, by: actor) }
    case .stopSaying(let sides): with(id) { refusal = $0.stopSaying(to: sides, by: actor) }
    }
    return refusal.map(call.described)
  }

  private func transfer(_ call: CallMachine, _ side: CallSide, _ order: TransferOrder, by actor: String) -> CallFailure?
  {
    guard let environment = context.environment(of: call.payer) else { return CallFailure(.internal) }
    do throws(CallFailure) {
      let destination = try destination(order.kind, order.target, in: environment, from: call.callerNumber)
      let way = way(to: destination, of: call, in: environment)
      var refusal: CallFailure?
      with(call.id) { call in
        call.note("\(actor) has the \(side.rawValue) side transferred")
        refusal = call.beginTransfer(by: side.leg, to: destination, way, consults: false)
      }
      return refusal
    } catch {
      return error
    }
  }
}
