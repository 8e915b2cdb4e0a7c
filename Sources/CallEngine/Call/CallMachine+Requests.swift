import AppProtocol
import CallModel
import SDPCore
import SIPCore

// MARK: What the app asks, and others may

extension CallMachine {
  /// A request about this call; each gets exactly one reply.
  func requested(_ number: RequestNumber, _ request: AppRequest, by session: SessionID) {
    switch request {
    case .call: reply(.refused(number, CallFailure(.internal, leg: .app)), to: session)
    case .hangUp:
      reply(.done(number), to: session)
      hungUp()
    case .sendDigits(_, let digits): sendDigits(number, digits, session)
    case .offer(_, let text): offered(number, text, session)
    case .answer: refuse(number, session, .media, "no offer of the gateway is open")
    case .mute(_, let isMuted): mute(number, isMuted, session)
    case .report(_, let report): reported(number, report, session)
    }
  }

  private func refuse(_ number: RequestNumber, _ session: SessionID, _ code: CallFailureCode, _ problem: String) {
    reply(.refused(number, CallFailure(code, warning: problem, leg: .app, correlationID: id.text)), to: session)
  }

  /// The call as the app knows it is over: the request crossed its end.
  private func refuseLate(_ number: RequestNumber, _ session: SessionID) {
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

  private func hungUp() {
    switch state {
    case .preparing: refuse(CallFailure(.cancelled, leg: .app))
    case .reaching:
      addToStory(.callerGaveUp)
      end(.canceled, reasons: [CallMachine.normalClearing])
    case .up:
      note("the caller hangs up")
      end(.hungUp, reasons: [CallMachine.normalClearing])
    case .ending, .over: break
    }
  }

  private func sendDigits(_ number: RequestNumber, _ digits: String, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      if let problem = CallMachine.problem(withDigits: digits, limit: context.limits.digitsPerRequest) {
        return reply(
          .refused(number, CallFailure(.number, leg: .app, correlationID: id.text, invalidValue: problem)),
          to: session)
      }
      reply(.done(number), to: session)
      let keys = digits.uppercased()
      if self[.far].prompt != nil {
        for key in keys { pressedAtPrompt(key) }
      } else if self[.far].plan != nil {
        order(.sendDigits(.far, keys))
      } else {
        note("keys before there is anybody to hear them")
      }
    case .ending, .over: refuseLate(number, session)
    }
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

  private func mute(_ number: RequestNumber, _ isMuted: Bool, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up:
      self[.near].app?.isMuted = isMuted
      // From here on it has to send again.
      if !isMuted { self[.near].sound.lastSound = self[.near].sound.lastSound.map { _ in context.now } }
      note(isMuted ? "the app is muted" : "the app is no longer muted")
      reply(.done(number), to: session)
    case .ending, .over: refuseLate(number, session)
    }
  }

  private func reported(_ number: RequestNumber, _ report: ClientStatistics, _ session: SessionID) {
    switch state {
    case .preparing, .reaching, .up, .ending:
      for (name, value) in report.figures.sorted(by: { $0.key < $1.key })
      where statistics[name] != nil || statistics.count < ClientStatistics.maximumFigures {
        statistics[name] = value
      }
      reply(.done(number), to: session)
    case .over: refuseLate(number, session)
    }
  }

  /// A new description of the app: hold, resume, another codec, an ICE restart.
  private func offered(_ number: RequestNumber, _ text: String, _ session: SessionID) {
    switch state {
    case .preparing: refuse(number, session, .media, "the first offer has no answer yet")
    case .reaching, .up:
      guard var app = caller else { return refuse(number, session, .media, "the call has no app") }
      let description: SessionDescription
      do throws(InvalidSessionDescription) {
        description = try SessionDescription(parsing: text)
      } catch {
        return refuse(number, session, .media, "\(error)")
      }
      do throws(NegotiationRefusal) {
        let (answer, plan, restart) = try app.answer(description, context)
        self[.near].app = app
        if let restart {
          note("ICE restart")
          order(.restartICE(.near, restart))
        }
        reply(.answered(number, id, answer), to: session)
        apply(plan, to: .near)
        passOn(plan.direction)
      } catch {
        refuse(number, session, .media, "\(error)")
      }
    case .ending, .over: refuseLate(number, session)
    }
  }

  /// Hold of the app reaches the trunk: what the app does not send or take, the trunk need not take or send.
  private func passOn(_ direction: MediaDirection) {
    guard case .up = state else { return }
    self[.far].trunk?.offer(direction.mirrored, context)
  }

  // MARK: Sessions

  func sessionAbsent() {
    switch state {
    case .preparing, .reaching, .up:
      self[.near].app?.isAbsent = true
      addToStory(.appLost)
    case .ending, .over: break
    }
  }

  func sessionResumed() {
    switch state {
    case .preparing, .reaching, .up:
      self[.near].app?.isAbsent = false
      addToStory(.appBack)
    case .ending, .over: break
    }
  }

  func sessionEnded() {
    let isLost = caller?.isAbsent ?? false
    let failure = isLost ? CallFailure(.networkLost, leg: .app) : nil
    switch state {
    case .preparing: refuse(failure ?? CallFailure(.cancelled, leg: .app))
    case .reaching:
      addToStory(.appGone)
      end(isLost ? .error : .canceled, failure, reasons: [CallMachine.normalClearing])
    case .up:
      addToStory(.appGone)
      end(isLost ? .error : .hungUp, failure, reasons: [CallMachine.normalClearing])
    case .ending, .over: break
    }
  }

  // MARK: Operators and accounts

  func hangUp(by actor: String) {
    switch state {
    case .preparing: refuse(CallFailure(.policy, phrase: "ended by an operator", leg: .app))
    case .reaching:
      addToStory(.endedByOperator("\(actor)"))
      flags.append(.endedByOperator)
      end(.canceled, reasons: [CallMachine.normalClearing])
    case .up:
      addToStory(.endedByOperator("\(actor)"))
      flags.append(.endedByOperator)
      end(.hungUp, reasons: [CallMachine.normalClearing])
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
