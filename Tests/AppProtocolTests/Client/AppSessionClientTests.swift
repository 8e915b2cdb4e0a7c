import AppProtocol
import CallModel
import Testing

@Suite("The client's end of a session")
struct AppSessionClientTests {
  private let first = ConnectionID(1)
  private let now = MonotonicInstant(milliseconds: 1_000_000)

  private func client() -> (AppSessionClient, [AppSessionClientEffect]) {
    let client = AppSessionClient(AppSessionClient.Configuration(client: "t")) { 0 }
    var effects: [AppSessionClientEffect] = []
    client.handle(.start(Samples.registration()), at: now, into: &effects)
    return (client, effects)
  }

  private func registered() throws -> [UInt8] {
    AppMessageCoder.encode(
      .registered(
        RequestNumber(1),
        Registered(
          session: "s", token: Redacted("t"), resumeSeconds: 30, user: try UserID("foo"), credential: nil, version: "1"
        )))
  }

  private func ready() throws -> AppSessionClient {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    client.handle(.text(first, try registered()), at: now, into: &effects)
    #expect(client.state == .ready)
    return client
  }

  @Test(
    "what a close code means while it registers",
    arguments: [
      (4401, "ended gw.registration"), (1008, "ended gw.message"), (1002, "ended gw.message"),
      (1012, "connecting"), (1013, "connecting"), (4408, "connecting"), (1006, "connecting"),
      (4409, "ended network.lost"),
    ] as [(UInt16, String)])
  func codesAtFirst(_ code: UInt16, _ state: String) {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    client.handle(.closed(first, code: code), at: now, into: &effects)
    let words =
      if case .ended(let failure?) = client.state { "ended \(failure.code.rawValue)" } else { "\(client.state)" }
    #expect(words == state)
    #expect((client.nextDeadline == nil) == state.hasPrefix("ended"))
  }

  @Test("a refusal's own words are passed on, and its wait is kept") func refusal() throws {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    let failure = CallFailure(.limit, retryAfterSeconds: 7)
    client.handle(.text(first, AppMessageCoder.encode(.error(RequestNumber(1), failure))), at: now, into: &effects)
    client.handle(.closed(first, code: 1013), at: now, into: &effects)
    #expect(client.nextDeadline == now.advanced(byMilliseconds: 7000))
  }

  private func error(_ number: UInt64, _ failure: CallFailure) -> AppSessionClientInput {
    .text(first, AppMessageCoder.encode(.error(RequestNumber(number), failure)))
  }

  @Test("a signature whose sequence was passed is made again, on the same connection, so many times")
  func signsAgain() throws {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    for attempt in 1...15 as ClosedRange<UInt64> {
      effects = []
      client.handle(error(attempt, CallFailure(.sequence, nextSequence: 100 + attempt)), at: now, into: &effects)
      guard case .signAgain(100 + attempt)? = effects.first, effects.count == 1 else {
        Issue.record("\(effects)")
        return
      }
      effects = []
      client.handle(.proof(.signature("s", sequence: 100 + attempt)), at: now, into: &effects)
      guard case .send(first, let bytes)? = effects.first,
        case .register(RequestNumber(attempt + 1), let registration, _) = try AppMessageCoder.decodeRequest(bytes)
      else {
        Issue.record("\(effects)")
        return
      }
      #expect(registration.proof == .signature("s", sequence: 100 + attempt))
    }
    client.handle(error(16, CallFailure(.sequence, nextSequence: 200)), at: now, into: &effects)
    guard case .ended(let failure?) = client.state else {
      Issue.record("\(client.state)")
      return
    }
    #expect(failure.code == .sequence)
  }

  @Test("a connection that is lost while somebody signs is made anew with the new signature, and not before")
  func signsAcrossALoss() throws {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    client.handle(error(1, CallFailure(.sequence, nextSequence: 7)), at: now, into: &effects)
    effects = []
    client.handle(.closed(first, code: 4408), at: now, into: &effects)
    #expect(effects.isEmpty)
    client.handle(.proof(.signature("s", sequence: 7)), at: now, into: &effects)
    guard case .connect(let second)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    effects = []
    client.handle(.opened(second), at: now, into: &effects)
    guard case .send(second, let bytes)? = effects.first,
      case .register(_, let registration, _) = try AppMessageCoder.decodeRequest(bytes)
    else {
      Issue.record("\(effects)")
      return
    }
    #expect(registration.proof == .signature("s", sequence: 7))
  }

  @Test("a gateway that cannot keep a first registration ends the start at once")
  func unavailable() throws {
    let (client, _) = client()
    var effects: [AppSessionClientEffect] = []
    client.handle(.opened(first), at: now, into: &effects)
    client.handle(error(1, CallFailure(.unavailable, retryAfterSeconds: 1)), at: now, into: &effects)
    client.handle(.closed(first, code: 1013), at: now, into: &effects)
    guard case .ended(let failure?) = client.state else {
      Issue.record("\(client.state)")
      return
    }
    #expect(failure.code == .unavailable && failure.sipStatus == 503)
  }

  @Test("the waits double up to the longest, and begin anew after a success") func backoff() {
    let (client, _) = client()
    var time = now
    var waits: [Int64] = []
    for attempt in 1...12 as ClosedRange<UInt64> {
      var effects: [AppSessionClientEffect] = []
      client.handle(.closed(ConnectionID(attempt), code: nil), at: time, into: &effects)
      guard let next = client.nextDeadline else { break }
      waits.append(next.milliseconds(since: time))
      time = next
      client.advance(to: time, into: &effects)
    }
    // The draw is 0: the least of each range.
    #expect(waits == [0, 125, 250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000])
  }

  @Test("a request without reply is given up to the millisecond; a call that comes late is hung up") func late() throws
  {
    let client = try ready()
    var effects: [AppSessionClientEffect] = []
    let place = AppRequest.call(PlaceCall(kind: .phone, target: "+46", offer: "v"))
    let number = try #require(client.send(place, at: now, into: &effects))
    effects = []
    client.advance(to: now.advanced(byMilliseconds: 14_999), into: &effects)
    #expect(effects.isEmpty)
    client.advance(to: now.advanced(byMilliseconds: 15_000), into: &effects)
    guard case .event(.refused(number, let failure))? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(failure.code == .networkTimeout && effects.count == 1)
    effects = []
    let placed = AppMessageCoder.encode(.event(.placed(number, try Samples.call(), answer: "v"), sequence: 1))
    client.handle(.text(first, placed), at: now, into: &effects)
    guard effects.count == 1, case .send(first, let bytes)? = effects.first,
      case .request(_, .hangUp(let call)) = try AppMessageCoder.decodeRequest(bytes)
    else {
      Issue.record("\(effects)")
      return
    }
    #expect(call.text == "c-1" && client.liveCalls.isEmpty)
  }

  @Test("only so many requests wait, and none before the session stands") func bounded() throws {
    let (young, _) = client()
    var effects: [AppSessionClientEffect] = []
    #expect(young.send(.hangUp(try Samples.call()), at: now, into: &effects) == nil)
    let client = try ready()
    for _ in 0..<64 { #expect(client.send(.hangUp(try Samples.call()), at: now, into: &effects) != nil) }
    #expect(client.send(.hangUp(try Samples.call()), at: now, into: &effects) == nil)
  }

  @Test("a silent gateway is asked, and then given up") func silent() throws {
    let client = try ready()
    var effects: [AppSessionClientEffect] = []
    client.advance(to: now.advanced(byMilliseconds: 19_999), into: &effects)
    #expect(effects.isEmpty)
    client.advance(to: now.advanced(byMilliseconds: 20_000), into: &effects)
    #expect(effects.count == 1)
    effects = []
    client.advance(to: now.advanced(byMilliseconds: 29_999), into: &effects)
    #expect(effects.isEmpty)
    client.advance(to: now.advanced(byMilliseconds: 30_000), into: &effects)
    #expect(client.state == .reconnecting)
    guard case .close(first, 4408)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
  }

  @Test("late news of a connection that was given up changes nothing") func stale() throws {
    let client = try ready()
    var effects: [AppSessionClientEffect] = []
    client.handle(.closed(ConnectionID(99), code: 4401), at: now, into: &effects)
    client.handle(.text(ConnectionID(99), Array("{".utf8)), at: now, into: &effects)
    #expect(effects.isEmpty && client.state == .ready)
  }

  @Test("a stream that is none of the protocol is left; one odd message is passed over") func nonsense() throws {
    let client = try ready()
    var effects: [AppSessionClientEffect] = []
    client.handle(.text(first, Array(#"{"type":"ended","seq":1}"#.utf8)), at: now, into: &effects)
    #expect(effects.isEmpty)
    client.handle(.text(first, Array("<html>".utf8)), at: now, into: &effects)
    #expect(client.state == .reconnecting)
  }
}
