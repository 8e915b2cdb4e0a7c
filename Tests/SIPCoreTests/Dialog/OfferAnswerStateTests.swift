import SIPCore
import Testing

/// Who may offer when, played as message sequences.
@Suite struct OfferAnswerStateTests {
  typealias Request = OfferAnswerState.Request
  typealias Response = OfferAnswerState.Response
  typealias Meaning = OfferAnswerState.Meaning

  /// One message of a sequence; `sdp` says whether it carries a session description.
  enum Step {
    case sends(Request, sdp: Bool, Meaning?)
    case gets(Request, sdp: Bool, Meaning)
    case refuses(Request, sdp: Bool, Int)
    case answers(Response, to: Request, sdp: Bool, Meaning)
    case isAnswered(Response, to: Request, sdp: Bool, Meaning)
  }

  static let identifiers = IdentifierSource { 25 }

  private func play(_ name: String, _ steps: [Step], _ state: inout OfferAnswerState) {
    for (number, step) in steps.enumerated() {
      let place = Comment(rawValue: "\(name), step \(number + 1)")
      switch step {
      case .sends(let request, let sdp, let meaning): #expect(state.send(request, description: sdp) == meaning, place)
      case .gets(let request, let sdp, let meaning):
        #expect(state.receive(request, description: sdp, Self.identifiers) == .proceed(meaning), place)
      case .refuses(let request, let sdp, let status):
        #expect(
          state.receive(request, description: sdp, Self.identifiers)
            == .refuse(status: status, retryAfterSeconds: status == 500 ? 3 : nil), place)
      case .answers(let response, let request, let sdp, let meaning):
        #expect(state.send(response, to: request, description: sdp) == meaning, place)
      case .isAnswered(let response, let request, let sdp, let meaning):
        #expect(state.receive(response, to: request, description: sdp) == meaning, place)
      }
    }
  }

  @Test func `sequences of messages`() {
    let sequences: [(String, [Step])] = [
      (
        "offer in INVITE, early media, answer in 200",
        [
          .sends(.invite, sdp: true, .offer), .isAnswered(.provisional, to: .invite, sdp: true, .preview),
          .isAnswered(.provisional, to: .invite, sdp: false, .nothing),
          .isAnswered(.success, to: .invite, sdp: true, .answer), .sends(.acknowledgement, sdp: false, .nothing),
          .sends(.acknowledgement, sdp: true, nil), .sends(.invite, sdp: true, .offer),
        ]
      ),
      (
        "answer in a reliable response, repeated in 200; then PRACK and UPDATE may offer",
        [
          .sends(.invite, sdp: true, .offer), .sends(.update, sdp: true, nil),
          .isAnswered(.reliableProvisional, to: .invite, sdp: true, .answer), .sends(.prack, sdp: true, .offer),
          .sends(.update, sdp: true, nil), .isAnswered(.success, to: .prack, sdp: true, .answer),
          .sends(.update, sdp: true, .offer), .sends(.update, sdp: false, nil),
          .isAnswered(.success, to: .update, sdp: true, .answer),
          .isAnswered(.success, to: .invite, sdp: true, .preview),
        ]
      ),
      (
        "200 without the answer that it owes",
        [
          .sends(.invite, sdp: true, .offer), .isAnswered(.success, to: .invite, sdp: false, .missing),
          .sends(.invite, sdp: true, .offer),
        ]
      ),
      (
        "no offer in INVITE: offer in 200, answer in ACK",
        [
          .sends(.invite, sdp: false, .offerWanted), .isAnswered(.provisional, to: .invite, sdp: true, .misplaced),
          .isAnswered(.success, to: .invite, sdp: true, .offer), .sends(.invite, sdp: true, nil),
          .sends(.acknowledgement, sdp: true, .answer), .sends(.invite, sdp: true, .offer),
        ]
      ),
      (
        "no offer in INVITE: offer in a reliable response, answer in PRACK",
        [
          .sends(.invite, sdp: false, .offerWanted), .sends(.update, sdp: true, nil),
          .isAnswered(.reliableProvisional, to: .invite, sdp: true, .offer), .sends(.prack, sdp: true, .answer),
          .isAnswered(.success, to: .prack, sdp: false, .nothing),
          .isAnswered(.success, to: .invite, sdp: false, .nothing), .sends(.acknowledgement, sdp: false, .nothing),
        ]
      ),
      (
        "a call comes in with an offer",
        [
          .gets(.invite, sdp: true, .offer), .answers(.provisional, to: .invite, sdp: false, .nothing),
          .answers(.reliableProvisional, to: .invite, sdp: true, .answer), .gets(.prack, sdp: false, .nothing),
          .answers(.success, to: .prack, sdp: false, .nothing), .gets(.update, sdp: true, .offer),
          .answers(.success, to: .update, sdp: true, .answer), .answers(.success, to: .invite, sdp: false, .nothing),
          .gets(.acknowledgement, sdp: false, .nothing),
        ]
      ),
      (
        "a call comes in without an offer",
        [
          .gets(.invite, sdp: false, .offerWanted), .answers(.reliableProvisional, to: .invite, sdp: true, .offer),
          .gets(.prack, sdp: true, .answer), .answers(.success, to: .invite, sdp: false, .nothing),
        ]
      ),
      (
        "the ACK owes the answer",
        [
          .gets(.invite, sdp: false, .offerWanted), .answers(.success, to: .invite, sdp: true, .offer),
          .refuses(.invite, sdp: true, 491), .gets(.acknowledgement, sdp: false, .missing),
          .gets(.invite, sdp: true, .offer),
        ]
      ),
      (
        "glare: both sides re-INVITE",
        [
          .sends(.invite, sdp: true, .offer), .refuses(.invite, sdp: true, 491), .refuses(.invite, sdp: false, 491),
          .refuses(.update, sdp: true, 491), .gets(.update, sdp: false, .nothing),
          .answers(.success, to: .update, sdp: false, .nothing),
          .isAnswered(.failure, to: .invite, sdp: false, .nothing), .gets(.invite, sdp: true, .offer),
        ]
      ),
      (
        "a second request comes in before the first has its answer",
        [
          .gets(.invite, sdp: true, .offer), .refuses(.invite, sdp: true, 500), .refuses(.update, sdp: true, 500),
          .gets(.update, sdp: false, .nothing), .refuses(.update, sdp: false, 500), .sends(.invite, sdp: true, nil),
          .sends(.update, sdp: true, nil), .answers(.failure, to: .invite, sdp: false, .nothing),
          .sends(.invite, sdp: true, .offer),
        ]
      ),
      (
        "UPDATE against UPDATE",
        [
          .sends(.update, sdp: true, .offer), .refuses(.update, sdp: true, 491), .refuses(.invite, sdp: false, 491),
          .isAnswered(.failure, to: .update, sdp: false, .nothing), .gets(.update, sdp: true, .offer),
          .answers(.failure, to: .update, sdp: false, .nothing), .sends(.update, sdp: true, .offer),
        ]
      ),
      (
        "the peer owes our offer's INVITE an offer of its own",
        [
          .sends(.invite, sdp: false, .offerWanted), .refuses(.update, sdp: true, 500),
          .isAnswered(.success, to: .invite, sdp: false, .missing), .gets(.update, sdp: true, .offer),
        ]
      ),
      (
        "responses that belong to nothing",
        [
          .isAnswered(.success, to: .invite, sdp: true, .misplaced),
          .isAnswered(.success, to: .update, sdp: true, .misplaced), .gets(.acknowledgement, sdp: true, .misplaced),
          .isAnswered(.failure, to: .prack, sdp: false, .nothing), .sends(.invite, sdp: true, .offer),
        ]
      ),
    ]
    for (name, steps) in sequences {
      var state = OfferAnswerState()
      play(name, steps, &state)
    }
  }

  @Test func `each side of a glare draws from its own range, a few times`() {
    let draws: [(UInt64, owner: Int64, other: Int64)] = [
      (0, 2_100, 0), (190, 4_000, 1_900), (191, 2_100, 1_910), (200, 2_190, 2_000), (201, 2_200, 0),
    ]
    for (draw, owner, other) in draws {
      let identifiers = IdentifierSource { draw }
      var ours = GlareBackoff(ownsCallID: true, limit: 2)
      var theirs = GlareBackoff(ownsCallID: false, limit: 2)
      #expect(ours.next(identifiers) == owner, "drawn \(draw)")
      #expect(theirs.next(identifiers) == other, "drawn \(draw)")
      #expect(ours.next(identifiers) != nil)
      #expect(ours.next(identifiers) == nil)
      ours.reset()
      #expect(ours.next(identifiers) != nil)
    }
  }
}
