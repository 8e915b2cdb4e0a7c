import AppProtocol
import CallModel
import RoutingCore
import SDPCore
import SIPCore

// MARK: Whom a call is transferred to: judged in full before the call hears of it

extension CallEngine {
  /// An app of the call asks for a transfer.
  func transfer(_ id: CallID, _ order: TransferOrder, _ number: RequestNumber, _ session: SessionID) {
    guard let call = calls[id], let environment = context.environment(of: call.payer) else { return }
    let destination: Destination
    do throws(CallFailure) {
      destination = try self.destination(order.kind, order.target, in: environment, from: call.callerNumber)
    } catch {
      return context.emit(.app(session, .refused(number, error)))
    }
    let way = way(to: destination, of: call, in: environment)
    with(id) { $0.requestedTransfer(number, session, to: destination, way, consults: order.consults) }
  }

  /// A trunk asks for a transfer: its number may be one of ours, and is otherwise called like any other.
  func transferRequested(_ handle: CallHandle, of id: CallID, to address: NameAddress, replaces: TransferReplaces?) {
    guard let call = calls[id], let environment = context.environment(of: call.payer),
      let leg = call.leg(of: handle), let trunk = call[leg].trunk?.current?.trunk, trunk.inbound.allowsTransfer
    else { return with(id) { $0.refuseTransfer(handle, 603) } }
    if case .call(let other)? = replaces { return join(handle, of: id, with: other, trunk: trunk.trunk.name) }
    var foreign: String?
    if case .foreign(let value)? = replaces { foreign = value }
    guard let destination = destination(of: address, over: trunk, in: environment, of: call) else {
      return with(id) { $0.refuseTransfer(handle, 404) }
    }
    let way = way(to: destination, of: call, in: environment)
    with(id) { $0.transferRequested(handle, to: destination, way, replaces: foreign) }
  }

  /// What a trunk's Refer-To means: a telephone number where its user is one, and of those of ours the user behind it.
  private func destination(
    of address: NameAddress, over trunk: CallTrunk, in environment: EngineConfiguration.Environment,
    of call: CallMachine
  ) -> Destination? {
    let uri = address.uri
    guard let user = uri.user else { return nil }
    if let number = trunk.inbound.numberFormat.number(user) {
      if let row = context.numbers[environment.name]?[number], row.isActive,
        row.application == call.snapshot.application, row.account == call.payer.account,
        case .user(let user)? = row.targets.first?.destination
      {
        return .user(user)
      }
      return .phone(number)
    }
    // A tel URI that is no number names nobody else.
    guard let host = uri.host else { return nil }
    let port = uri.port.map { ":\($0)" } ?? ""
    let text = "\(uri.scheme == .sips ? "sips:" : "")\(user)@\(host)\(port)"
    return try? Destination(
      .sip, text, userRules: .standard, emergencyCodes: EmergencyNumber.known)
  }

  func way(
    to destination: Destination, of call: CallMachine, in environment: EngineConfiguration.Environment
  ) -> ArrivedCall.Target.Way {
    switch destination {
    case .user(let user) where !(environment.hasSandboxNumbers && TestUser(rawValue: user.text) != nil):
      return .user(user)
    case .emergency:
      return .refused(CallFailure(.policy, phrase: "no call is transferred to an emergency service", leg: .app))
    case .user, .phone, .sip, .conference:
      do throws(CallFailure) {
        return .leg(try terms(of: destination, payer: call.payer, in: environment))
      } catch {
        return .refused(error)
      }
    }
  }
}

// MARK: Two calls that are joined

extension CallEngine {
  /// An app that talks in two calls puts their other sides through to each other.
  func join(_ id: CallID, with otherID: CallID, _ number: RequestNumber, _ session: SessionID) {
    guard let call = calls[id], let leg = call.leg(of: session) else { return }
    guard id != otherID, let other = calls[otherID], let place = other.leg(of: session) else {
      return context.emit(.app(session, .refused(number, CallMachine.unknownCall(otherID))))
    }
    if let refusal = begin(call, leg, other, place) {
      return context.emit(.app(session, .refused(number, call.described(refusal))))
    }
    context.emit(.app(session, .done(number)))
  }

  /// A phone behind a trunk puts the other sides of two of its calls through to each other (RFC 3891, RFC 5589 section 7).
  func join(_ handle: CallHandle, of id: CallID, with replaced: CallHandle, trunk: String) {
    guard let otherID = context.handles[replaced], otherID != id, let call = calls[id], let other = calls[otherID],
      let leg = call.leg(of: handle), let place = other.leg(of: replaced),
      other[place].trunk?.current?.name == trunk
    else { return with(id) { $0.refuseTransfer(handle, 481) } }
    guard call.payer.account == other.payer.account, call.payer.environment == other.payer.environment else {
      return with(id) { $0.refuseTransfer(handle, 403) }
    }
    if let refusal = call.transferRefusal(by: leg) ?? other.transferRefusal(by: place) {
      call.note("transfer refused: \(refusal)")
      return with(id) { $0.refuseTransfer(handle, 486) }
    }
    context.emit(.sip(.acceptTransfer(handle)))
    _ = begin(call, leg, other, place)
  }

  private func begin(_ call: CallMachine, _ leg: LegID, _ other: CallMachine, _ place: LegID) -> CallFailure? {
    if let refusal = call.transferRefusal(by: leg) ?? other.transferRefusal(by: place) { return refusal }
    with(call.id) { $0.beginLink(by: leg, to: other, place) }
    with(other.id) { $0.beginLink(by: place, to: call, leg) }
    return nil
  }

  /// Ports of one end of a link are there. With those of the other end, both agree on what goes over it.
  func linkPrepared(_ id: CallID) {
    guard let call = calls[id], call.has(.third), let link = call[.third].link, let media = link.media,
      let other = calls[link.other], other.has(.third), let far = other[.third].link, far.other == id,
      let farMedia = far.media
    else { return }
    var (near, distant) = (link.negotiation, far.negotiation)
    do throws(NegotiationRefusal) {
      let offer = try near.offer(from: media)
      let (answer, _) = try distant.answer(offer, from: farMedia)
      _ = try near.accept(answer)
    } catch {
      context.log(.error, id, "two calls cannot be joined: \(error)")
      for call in [id, link.other] { with(call) { $0.transferFailed(CallFailure(.internal)) } }
      return
    }
    call[.third].link?.negotiation = near
    other[.third].link?.negotiation = distant
    for call in [id, link.other] { with(call) { $0.linkAgreed() } }
  }

  /// One of two joined calls is over: so is the other.
  func linkEnded(_ other: CallID) {
    with(other) { $0.linkEnded() }
  }
}

extension CallMachine {
  /// The call that it is joined with; `nil` for none.
  var linkedCall: CallID? { legs.lazy.compactMap(\.link?.other).first }

  func linkEnded() {
    if has(.third), self[.third].link != nil { return transferFailed(nil) }
    guard linkedCall != nil, !isEnding else { return }
    note("the call that it was joined with is over")
    end(.hungUp, reasons: [CallMachine.normalClearing])
  }
}
