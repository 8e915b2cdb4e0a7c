import AppProtocol
import CallEngine
import CallModel
import SDPCore
import Testing

/// How a leg that is an app comes to each of its states.
enum AppLegState: String, CaseIterable, Sendable {
  case asking, invited, alerting, alertingEarly, joined, gone

  init(_ leg: AppLeg) {
    self =
      switch leg.state {
      case .asking: .asking
      case .invited: .invited
      case .alerting: .alerting
      case .alertingEarly: .alertingEarly
      case .joined: .joined
      case .gone: .gone
      }
  }

  func leg() throws -> AppLeg {
    var policy = MediaPolicy.app
    policy.answersAudioLevels = true
    let negotiation = OfferAnswer(sessionID: 7, host: Scene.host, policy: policy)
    guard self != .asking else {
      return AppLeg(
        session: SessionID(1), identity: try Scene.identity("alice"),
        AppLeg.Asking(request: RequestNumber(1), offer: try AppLegState.offer(), negotiation: negotiation))
    }
    var leg = AppLeg(
      session: Bench.called, identity: try Scene.identity("bob"),
      AppLeg.Way(negotiation: negotiation, media: Scene.appMedia()))
    switch self {
    case .asking, .invited: break
    case .alerting: _ = try leg.alert(nil, draw: { 1 })
    case .alertingEarly: _ = try leg.alert(AppLegState.offer(), draw: { 1 })
    case .joined: _ = try leg.accept(AppLegState.offer(), draw: { 1 })
    case .gone: leg.leave()
    }
    return leg
  }

  static func offer(_ direction: String = "sendrecv", fragment: String = "appu", version: Int = 1) throws
    -> SessionDescription
  {
    try SessionDescription(parsing: Scene.appOffer(direction, fragment: fragment, version: version))
  }
}

/// Everything that may be asked of such a leg.
enum AppLegWord: String, CaseIterable, Sendable {
  case join, alert, alertOffer, accept, acceptOffer, offer, leave

  /// What comes of it, in a word: `!` says that there is an answer for the app.
  func say(to leg: inout AppLeg) throws -> String {
    func word(_ step: AppLeg.Step) -> String {
      switch step {
      case .moved(let answer): answer == nil ? "moved" : "moved!"
      case .stayed(let answer): answer == nil ? "stayed" : "stayed!"
      case .lacksOffer: "lacksOffer"
      case .tooLate: "tooLate"
      }
    }
    let offer = try AppLegState.offer()
    switch self {
    case .join: return try leg.join(from: Scene.appMedia()) == nil ? "no" : "moved!"
    case .alert: return word(try leg.alert(nil, draw: { 1 }))
    case .alertOffer: return word(try leg.alert(offer, draw: { 1 }))
    case .accept: return word(try leg.accept(nil, draw: { 1 }))
    case .acceptOffer: return word(try leg.accept(offer, draw: { 1 }))
    case .offer: return word(try leg.offer(offer, draw: { 1 }))
    case .leave:
      leg.leave()
      return "-"
    }
  }
}

@Suite("A leg that is an app")
struct AppLegTests {
  /// One row a state, one column a word of ``AppLegWord``: what comes of it, and the state after it where it is another.
  static let table: [AppLegState: String] = [
    .asking: "moved!>joined tooLate tooLate tooLate tooLate lacksOffer ->gone",
    .invited: "no moved>alerting moved!>alertingEarly lacksOffer moved!>joined lacksOffer ->gone",
    .alerting: "no stayed moved!>alertingEarly lacksOffer moved!>joined lacksOffer ->gone",
    .alertingEarly: "no stayed stayed! moved>joined moved!>joined stayed! ->gone",
    .joined: "no tooLate tooLate stayed stayed! stayed! ->gone",
    .gone: "no tooLate tooLate tooLate tooLate tooLate -",
  ]

  @Test("goes from each state where the table says, at each word", arguments: AppLegState.allCases)
  func steps(_ state: AppLegState) throws {
    var row: [String] = []
    for word in AppLegWord.allCases {
      var leg = try state.leg()
      #expect(AppLegState(leg) == state)
      let result = try word.say(to: &leg)
      let after = AppLegState(leg)
      row.append(after == state ? result : "\(result)>\(after.rawValue)")
    }
    #expect(row.joined(separator: " ") == AppLegTests.table[state])
  }

  @Test("has a plan and somebody there only where its state says so", arguments: AppLegState.allCases)
  func looks(_ state: AppLegState) throws {
    let leg = try state.leg()
    #expect((leg.plan != nil) == [.alertingEarly, .joined].contains(state))
    #expect(leg.isJoined == (state == .joined))
    #expect((leg.openRequest != nil) == (state == .asking))
  }

  @Test("stays what it was when an offer cannot be answered", arguments: AppLegState.allCases)
  func refusedOffers(_ state: AppLegState) throws {
    let nothing = try SessionDescription(
      parsing: Scene.appOffer().replacing("m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 101", with: "m=audio 0 RTP/AVP 0"))
    let words: [(inout AppLeg) throws -> AppLeg.Step] = [
      { try $0.alert(nothing, draw: { 1 }) }, { try $0.accept(nothing, draw: { 1 }) },
      { try $0.offer(nothing, draw: { 1 }) },
    ]
    for word in words {
      var leg = try state.leg()
      let plan = leg.plan
      do {
        switch try word(&leg) {
        case .moved, .stayed: Issue.record("an offer without sound was taken")
        case .lacksOffer, .tooLate: break
        }
      } catch {
        #expect(error is NegotiationRefusal)
      }
      #expect(AppLegState(leg) == state)
      #expect(leg.plan == plan)
    }
  }

  @Test("is asked how loud its packets are where it offers to say so, in each state that answers")
  func audioLevels() throws {
    let line = "a=extmap:3 urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    let offer = try SessionDescription(
      parsing: Scene.appOffer().replacing("a=rtpmap:0 ", with: line + "\r\na=rtpmap:0 "))
    for state in [AppLegState.invited, .alerting, .alertingEarly, .joined] {
      var leg = try state.leg()
      #expect(leg.plan?.audio.audioLevelExtension == nil)
      let step = try state == .joined ? leg.offer(offer, draw: { 1 }) : leg.accept(offer, draw: { 1 })
      let answer: AppLeg.Answer? =
        switch step {
        case .moved(let answer), .stayed(let answer): answer
        case .lacksOffer, .tooLate: nil
        }
      guard let answer else {
        Issue.record("no answer while \(state)")
        continue
      }
      #expect(answer.text.contains("\r\n\(line.replacing(":3 ", with: ":3/recvonly "))\r\n"))
      #expect(answer.plan.audio.audioLevelExtension == 3 && leg.plan?.audio.audioLevelExtension == 3)
    }
  }

  @Test("gets new credentials for an ICE restart, also with an accept that replaces the early offer")
  func restarts() throws {
    var leg = try AppLegState.alertingEarly.leg()
    guard case .moved(let answer?) = try leg.accept(AppLegState.offer(fragment: "other", version: 2), draw: { 1 })
    else {
      Issue.record("accept has no answer")
      return
    }
    let restart = try #require(answer.restart)
    #expect(answer.text.contains("a=ice-ufrag:\(restart.userFragment)"))
    guard case .stayed(let again?) = try leg.offer(AppLegState.offer(fragment: "other", version: 2), draw: { 1 }) else {
      Issue.record("the offer has no answer")
      return
    }
    #expect(again.restart == nil)
    #expect(again.text == answer.text, "the same offer has the same answer")
  }
}
