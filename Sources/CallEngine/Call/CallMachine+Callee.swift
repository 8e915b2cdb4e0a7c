import AppProtocol
import CallModel
import SDPCore

// MARK: An app that is called

extension CallMachine {
  /// Tells an app that it is called, and gives it its time to ring.
  func invite(_ leg: LegID) {
    guard case .reaching(var reaching) = state, self[leg].app?.invite() ?? false, let app = self[leg].app else {
      return
    }
    let milliseconds = context.limits.ringMilliseconds
    reaching.ringUntil = context.now.advanced(byMilliseconds: milliseconds)
    state = .reaching(reaching)
    note("the app of \(app.identity.user) is called")
    context.emit(
      .invite(
        app.session, id,
        Invitation(
          caller: caller?.identity.user, headers: headers,
          expiresAt: context.clock.advanced(byMilliseconds: milliseconds))))
  }

  /// Nobody has taken the call in its time.
  func ringIsOver() {
    note("nobody answers")
    end(
      .noAnswer, CallFailure(.noAnswer, leg: .app),
      reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 19, text: "No answer")])
  }

  /// What an app says that is called; each request gets exactly one reply.
  func requested(_ number: RequestNumber, _ request: CalleeRequest, by session: SessionID) {
    guard let leg = leg(of: session), self[leg].terms != nil else {
      switch request {
      case .decline: return reply(.done(number), to: session)
      case .alert, .accept: return refuseLate(number, session)
      }
    }
    switch request {
    case .alert(let offer): alerted(number, offer, leg, session)
    case .accept(let offer, let headers): accepted(number, offer, headers, leg, session)
    case .decline(let reason):
      reply(.done(number), to: session)
      declined(reason)
    }
  }

  private func alerted(_ number: RequestNumber, _ offer: String?, _ leg: LegID, _ session: SessionID) {
    switch state {
    case .reaching:
      do throws(UnusableOffer) {
        switch try says(.alert, leg, offer) {
        case .moved(let answer), .stayed(let answer):
          if answer != nil { shutSound() }
          confirm(answer, number, leg, session)
          rangFirst()
        case .lacksOffer, .tooLate: refuseLate(number, session)
        }
      } catch {
        refuse(error, number, session)
      }
    // It crossed the answer of this very device, and changes nothing.
    case .up: reply(.done(number), to: session)
    case .preparing, .ending, .over: refuseLate(number, session)
    }
  }

  /// The first time that its device alerts; the caller hears of it once.
  private func rangFirst() {
    guard case .reaching(var reaching) = state, !reaching.hasProgressed else { return }
    reaching.hasProgressed = true
    state = .reaching(reaching)
    progressed(CustomHeaders())
    rang(CustomHeaders())
  }

  /// Neither side hears the other before somebody accepts, though their media are there.
  private func shutSound() {
    guard case .reaching(var reaching) = state, !reaching.isShut else { return }
    reaching.isShut = true
    state = .reaching(reaching)
    for leg in legs { order(.mute(leg.id, true)) }
  }

  /// The turn that takes `accept` fixes the winner: the bill starts, and whatever comes after it finds the call answered.
  private func accepted(
    _ number: RequestNumber, _ offer: String?, _ headers: CustomHeaders, _ leg: LegID, _ session: SessionID
  ) {
    switch state {
    case .reaching, .up:
      do throws(UnusableOffer) {
        switch try says(.accept, leg, offer) {
        case .moved(let answer):
          confirm(answer, number, leg, session)
          farAnswered(headers)
        case .stayed(let answer): confirm(answer, number, leg, session)
        case .lacksOffer: refuse(number, session, .message, "accept has no offer, and none came before it")
        case .tooLate: refuseLate(number, session)
        }
      } catch {
        refuse(error, number, session)
      }
    case .preparing, .ending, .over: refuseLate(number, session)
    }
  }

  /// Nobody wants the call. After `accept` it changes nothing: it crossed the answer.
  func declined(_ reason: CalleeRequest.Reason) {
    switch state {
    case .reaching:
      let failure =
        switch reason {
        case .declined: CallFailure(.declined, sipStatus: 603, leg: .app)
        case .busy: CallFailure(.busy, sipStatus: 486, leg: .app)
        }
      note("\(reason) by the called app")
      end(failure.endCause, failure)
    case .preparing, .up, .ending, .over: break
    }
  }

  // MARK: Offers

  /// Why an offer cannot be answered, and the status that says so.
  private struct UnusableOffer: Error {
    let problem: String
    let status: Int
  }

  private enum Word {
    case alert, accept
  }

  /// Has an app say something that may come with an offer.
  private func says(_ word: Word, _ leg: LegID, _ offer: String?) throws(UnusableOffer) -> AppLeg.Step {
    guard var app = self[leg].app else { return .tooLate }
    var description: SessionDescription?
    if let offer {
      do throws(InvalidSessionDescription) {
        description = try SessionDescription(parsing: offer)
      } catch {
        throw UnusableOffer(problem: "\(error)", status: 400)
      }
    }
    do throws(NegotiationRefusal) {
      let step =
        switch word {
        case .alert: try app.alert(description, draw: context.draw)
        case .accept: try app.accept(description, draw: context.draw)
        }
      self[leg].app = app
      return step
    } catch {
      throw UnusableOffer(problem: "\(error)", status: error.sipStatus)
    }
  }

  private func confirm(_ answer: AppLeg.Answer?, _ number: RequestNumber, _ leg: LegID, _ session: SessionID) {
    if let answer { give(answer, number, leg, session) } else { reply(.done(number), to: session) }
  }

  /// With what its app offers no call can come about; one that is up stays as it is.
  private func refuse(_ offer: UnusableOffer, _ number: RequestNumber, _ session: SessionID) {
    refuse(number, session, .media, offer.problem)
    guard case .reaching = state else { return }
    note("offer of the called app not usable: \(offer.problem)")
    let failure = CallFailure(.media, sipStatus: offer.status, warning: offer.problem, leg: .app)
    end(failure.endCause, failure)
  }
}
