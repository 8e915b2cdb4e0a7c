import AppProtocol
import CallModel
import SDPCore
import SIPCore

// MARK: What the app asks, and others may

extension CallMachine {
  /// A request about this call; each gets exactly one reply.
  func requested(_ number: RequestNumber, _ request: AppRequest, by session: SessionID) {
    guard let leg = leg(of: session) else {
      if let leg = self[ringLeg].ring?.leg(of: session) { return ringing(leg, requests: request, number, session) }
      // A device that is to ring and was not told yet, or that rings no longer.
      switch request {
      case .hangUp, .decline: return reply(.done(number), to: session)
      case .alert, .accept: return reply(.refused(number, CallMachine.tooLate(id)), to: session)
      default: return refuseLate(number, session)
      }
    }
    switch request {
    case .call, .listen: reply(.refused(number, CallFailure(.internal, leg: .app)), to: session)
    case .alert, .accept, .decline: late(request, number, leg, session)
    case .hangUp:
      reply(.done(number), to: session)
      hungUp(leg)
    case .sendDigits(_, let digits): sendDigits(number, digits, leg, session)
    case .offer(_, let text): offered(number, text, leg, session)
    case .answer: refuse(number, session, .media, "no offer of the gateway is open")
    case .mute(_, let isMuted): mute(number, isMuted, leg, session)
    case .report(_, let report): reported(number, report, leg, session)
    case .room(_, let watch): follow(number, watch, leg, session)
    // Who is meant by it, and whether apps may, is found before it comes here.
    case .transfer, .join, .record: refuse(number, session, .internal, "not a request for the call alone")
    case .completeTransfer: completeTransfer(number, leg, session)
    case .takeBack: takeBack(number, leg, session)
    }
  }

  /// The app has consulted, and puts the other side through.
  private func completeTransfer(_ number: RequestNumber, _ leg: LegID, _ session: SessionID) {
    guard let transfer, transfer.by == leg, transfer.consults, case .consulting = transfer.stage else {
      return refuse(number, session, .transfer, "nobody has answered whom the call could be put through to")
    }
    reply(.done(number), to: session)
    completeTransfer()
  }

  private func takeBack(_ number: RequestNumber, _ leg: LegID, _ session: SessionID) {
    guard let transfer, transfer.by == leg else {
      return refuse(number, session, .transfer, "no transfer of this app is under way")
    }
    reply(.done(number), to: session)
    transferFailed(nil, isTakenBack: true)
  }

  /// An app asks for a transfer whose target is known; one reply.
  func requestedTransfer(
    _ number: RequestNumber, _ session: SessionID, to destination: Destination, _ way: ArrivedCall.Target.Way,
    consults: Bool
  ) {
    guard let leg = leg(of: session), leg != .third else { return refuseLate(number, session) }
    if let failure = beginTransfer(by: leg, to: destination, way, consults: consults) {
      return reply(.refused(number, described(failure)), to: session)
    }
    reply(.done(number), to: session)
  }

  /// The leg of an app; none of a device that only rings.
  func leg(of session: SessionID) -> LegID? { legs.first { $0.app?.session == session }?.id }

  func refuse(_ number: RequestNumber, _ session: SessionID, _ code: CallFailureCode, _ problem: String) {
    reply(.refused(number, CallFailure(code, warning: problem, leg: .app, correlationID: id.text)), to: session)
  }

  /// The call as the app knows it is over: the request crossed its end.
  func refuseLate(_ number: RequestNumber, _ session: SessionID) {
    reply(.refused(number, CallMachine.unknownCall(id)), to: session)
  }

  /// What a request about a call gets that is over, or was never this session's.
  static func unknownCall(_ id: CallID) -> CallFailure {
    CallFailure(
      .address, leg: .app,
      invalidValue: InvalidValue(
        kind: "call id", rule: "call.unknown", offset: nil, problem: "no call of this session with that id is up",
        accepted: "the id of a call that was placed and has not ended"))
  }

  /// What a device hears that answers a call which rings no longer.
  static func tooLate(_ id: CallID) -> CallFailure { CallFailure(.tooLate, leg: .app, correlationID: id.text) }

  private func hungUp(_ leg: LegID) {
    switch state {
    case .preparing: refuse(CallFailure(.cancelled, leg: .app))
    case .reaching:
      addToStory(.callerGaveUp)
      end(.canceled, reasons: [CallMachine.normalClearing])
    case .up:
      if leg == .third { return transferFailed(nil) }
      if leavesToTransfer(leg) { return }
      if leg == .near { note("the caller hangs up") } else { addToStory(.hungUp(reason: nil)) }
      end(.hungUp, reasons: [CallMachine.normalClearing])
    case .ending, .over: break
    }
  }

  private func sendDigits(_ number: RequestNumber, _ digits: String, _ leg: LegID, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      if let problem = CallMachine.problem(withDigits: digits, limit: context.limits.digitsPerRequest) {
        return reply(
          .refused(number, CallFailure(.number, leg: .app, correlationID: id.text, invalidValue: problem)),
          to: session)
      }
      reply(.done(number), to: session)
      let keys = digits.uppercased()
      guard let other = partner(of: leg) else { return note("keys while the other side waits") }
      if self[other].prompt != nil {
        for key in keys { pressedAtPrompt(key) }
      } else if self[other].room != nil {
        for key in keys { pressedInRoom(key) }
      } else if self[other].hears, self[leg].hears {
        sendKeys(keys, to: other)
      } else {
        note("keys before there is anybody to hear them")
      }
    case .ending, .over: refuseLate(number, session)
    }
  }

  func sendKeys(_ keys: String, to leg: LegID) {
    order(.sendDigits(media(of: leg), keys))
    // No browser hands the events of RTP (RFC 4733) to its page.
    guard self[leg].app?.isJoined ?? false else { return }
    for key in keys { tell(.digit(id, key, milliseconds: EngineConfiguration.keyMilliseconds), leg) }
  }

  static func problem(withDigits digits: String, limit: Int) -> InvalidValue? {
    func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "keys", rule: "keys.\(rule)", offset: offset, problem: problem,
        accepted: "1 to \(limit) of 0-9, *, # and A-D")
    }
    guard !digits.isEmpty else { return refusal("empty", nil, "nothing is there") }
    guard digits.utf8.count <= limit else { return refusal("long", limit, "more than \(limit) keys") }
    let keys = "0123456789*#ABCDabcd".utf8
    guard let offset = digits.utf8.enumerated().first(where: { !keys.contains($0.element) })?.offset else {
      return nil
    }
    return refusal("symbol", offset, "there is no such key")
  }

  private func mute(_ number: RequestNumber, _ isMuted: Bool, _ leg: LegID, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      self[leg].app?.isMuted = isMuted
      // From here on it has to send again.
      if !isMuted { self[leg].sound.lastSound = self[leg].sound.lastSound.map { _ in context.now } }
      note(isMuted ? "\(name(leg)) is muted" : "\(name(leg)) is no longer muted")
      mutedInRoom(leg)
      reply(.done(number), to: session)
    case .ending, .over: refuseLate(number, session)
    }
  }

  /// What the app wants to hear of its conference; of all who are there, as soon as it is there itself.
  private func follow(_ number: RequestNumber, _ watch: RoomWatch, _ leg: LegID, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      guard roomPlace != nil, snapshot.guestOf == nil else {
        return refuse(number, session, .message, "the call is in no conference")
      }
      self[leg].app?.watch = watch
      reply(.done(number), to: session)
      followRoom(leg)
    case .ending, .over: refuseLate(number, session)
    }
  }

  /// The app in a line of the story.
  private func name(_ leg: LegID) -> String { leg == .near ? "the app" : "the called app" }

  private func reported(
    _ number: RequestNumber, _ report: ClientStatistics, _ leg: LegID, _ session: SessionID
  ) {
    switch state {
    case .preparing, .ending: break
    case .reaching, .up: if let heard = report.heard { order(.adapt(media(of: leg), heard)) }
    case .over: return refuseLate(number, session)
    }
    // The record has a place for the figures of the app that calls, under names that both would use.
    if leg == .near { add(report) }
    reply(.done(number), to: session)
  }

  private func add(_ report: ClientStatistics) {
    for (name, value) in report.figures.sorted(by: { $0.key < $1.key })
    where statistics[name] != nil || statistics.count < ClientStatistics.maximumFigures {
      statistics[name] = value
    }
  }

  /// Whether an app has left the call by a transfer.
  func hasLeft(_ session: SessionID) -> Bool { formerLegs.contains { $0.app?.session == session } }

  /// The last figures of such an app.
  func reportedAfterLeaving(_ report: ClientStatistics, of session: SessionID) {
    if formerLegs.contains(where: { $0.id == .near && $0.app?.session == session }) { add(report) }
  }

  /// A new description of the app: hold, resume, another codec, an ICE restart.
  func offered(_ number: RequestNumber, _ text: String, _ leg: LegID, _ session: SessionID) {
    switch state {
    case .preparing: refuse(number, session, .media, "the first offer has no answer yet")
    case .reaching, .up:
      guard var app = self[leg].app else { return refuse(number, session, .media, "the call has no app") }
      let description: SessionDescription
      do throws(InvalidSessionDescription) {
        description = try SessionDescription(parsing: text)
      } catch {
        return refuse(number, session, .media, "\(error)")
      }
      do throws(NegotiationRefusal) {
        switch try app.offer(description, draw: context.draw) {
        case .moved(let answer), .stayed(let answer):
          self[leg].app = app
          guard let answer else { return reply(.done(number), to: session) }
          give(answer, number, leg, session)
          passOn(answer.plan, by: leg)
        case .lacksOffer: refuse(number, session, .media, "the first offer has no answer yet")
        case .tooLate: refuseLate(number, session)
        }
      } catch {
        refuse(number, session, .media, "\(error)")
      }
    case .ending, .over: refuseLate(number, session)
    }
  }

  /// Sends an app the answer to its offer, and the media what follows from it.
  func give(_ answer: AppLeg.Answer, _ number: RequestNumber, _ leg: LegID, _ session: SessionID) {
    if let restart = answer.restart {
      note("ICE restart")
      order(.restartICE(media(of: leg), restart))
    }
    reply(.answered(number, id, answer.text), to: session)
    apply(answer.plan, to: leg)
  }

  /// Hold of an app reaches the other side: what the app does not send or take, a trunk need not take or send. Another app
  /// is told; the gateway makes it no offer.
  func passOn(_ plan: MediaPlan, by leg: LegID) {
    guard case .up = state else { return }
    if let other = partner(of: leg) { self[other].trunk?.offer(plan.audio.direction.mirrored, context) }
    noteHold(by: leg, plan, wants: .sendAndReceive)
  }

  // MARK: Sessions

  func sessionAbsent(_ session: SessionID) { heard(from: session, isAbsent: true) }

  func sessionResumed(_ session: SessionID) { heard(from: session, isAbsent: false) }

  private func heard(from session: SessionID, isAbsent: Bool) {
    switch state {
    case .preparing, .reaching, .up:
      for leg in legs where leg.app?.session == session {
        self[leg.id].app?.isAbsent = isAbsent
        addToStory(isAbsent ? .appLost : .appBack, leg.id)
        followRoom(leg.id)
      }
      if let leg = self[ringLeg].ring?.leg(of: session) {
        self[ringLeg].ring?[leg]?.app.isAbsent = isAbsent
        addToStory(isAbsent ? .appLost : .appBack, leg)
      }
    case .ending, .over: break
    }
  }

  /// A line about one of the apps: those that somebody decides by are the calling one's.
  private func addToStory(_ event: CallRecord.StoryLine.Event, _ leg: LegID) {
    if leg == .near { addToStory(event) } else { note("called: \(event.text)") }
  }

  func sessionEnded(_ session: SessionID) {
    guard let leg = legs.first(where: { $0.app?.session == session }) else { return ringingSessionEnded(session) }
    let isLost = leg.app?.isAbsent ?? false
    let failure = isLost ? CallFailure(.networkLost, leg: .app) : nil
    switch state {
    case .preparing: refuse(failure ?? CallFailure(.cancelled, leg: .app))
    case .reaching:
      addToStory(.appGone, leg.id)
      end(isLost ? .error : .canceled, failure, reasons: [CallMachine.normalClearing])
    case .up:
      addToStory(.appGone, leg.id)
      if leg.id == .third { return transferFailed(failure) }
      if leavesToTransfer(leg.id) { return }
      end(isLost ? .error : .hungUp, failure, reasons: [CallMachine.normalClearing])
    case .ending, .over: break
    }
  }

  // MARK: Operators and accounts

  /// - Parameter cause: that trunks are told (ITU-T Q.850).
  func hangUp(by actor: String, cause: Int = HangUpCause.normal) {
    let reason =
      cause == HangUpCause.normal
      ? CallMachine.normalClearing : CallFailure.Reason(protocolName: "Q.850", cause: cause, text: nil)
    switch state {
    case .preparing: refuse(CallFailure(.policy, phrase: "ended by an operator", leg: .app))
    case .reaching:
      addToStory(.endedByOperator("\(actor)"))
      flags.append(.endedByOperator)
      end(.canceled, reasons: [reason])
    case .up:
      addToStory(.endedByOperator("\(actor)"))
      flags.append(.endedByOperator)
      end(.hungUp, reasons: [reason])
    case .ending, .over: break
    }
  }

  func accountChanged() {
    switch state {
    case .reaching, .up:
      changeBills { $0.accountChanged(context) }
    // The ledger judges by what is there when it is asked.
    case .preparing, .ending, .over: break
    }
  }

  /// Fraud: nothing more is carried, but for calls for help.
  func accountLocked() {
    guard !isEmergency else { return }
    let failure = CallFailure(.accountLocked)
    switch state {
    case .preparing: refuse(failure)
    case .reaching, .up:
      note("the account is locked")
      silence()
      end(.error, failure, reasons: [CallMachine.cutOff(.accountLocked)])
    case .ending, .over: break
    }
  }

  /// Another node has taken this one's calls over.
  func fenced() {
    switch state {
    case .preparing: refuse(CallFailure(.internal, phrase: "the node has lost its calls"))
    case .reaching, .up:
      note("the node has lost its calls")
      flags.append(.fenced)
      end(.error, CallFailure(.internal, phrase: "the node has lost its calls"))
    case .ending, .over: break
    }
  }
}
