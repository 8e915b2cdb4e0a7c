import AppProtocol
import CallModel

/// One or more values of every message, with every part that it can have.
enum Samples {
  static func call(_ text: String = "c-1") throws -> CallID { try CallID(validating: text) }
  static let description = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=fingerprint:sha-256 \"x\"\\\r\n"

  static let profile = DeviceProfile(features: [.incoming], isListening: false, name: "Annas åäö", busyRule: .waiting)

  static func registration(
    _ proof: Registration.Proof = .signature("4sk2/7AD0VoGke0qc1ZiJ2BtzYA=", sequence: .max),
    profile: DeviceProfile = DeviceProfile()
  ) -> Registration {
    Registration(
      application: "196087a1-e815-4bc4-8984-60d8d8a43f1d", user: "foo", device: "Annas telefon åäö", proof: proof,
      capabilities: [.calling, .messaging], profile: profile)
  }

  static func requests() throws -> [AppRequest] {
    let call = try call()
    return [
      .call(PlaceCall(kind: .phone, target: "+46000000000", offer: description)),
      .call(
        PlaceCall(
          kind: .sip, target: "alice@example.com",
          headers: [.init(name: "x-order", value: "4711"), .init(name: "X-Text", value: "åäö 日本 \u{1F600} \"\\/")],
          offer: description, callerNumber: "+46701234567", isAnonymous: true, wantsVideo: true)),
      .call(PlaceCall(kind: .user, target: "bob", offer: description)),
      .call(PlaceCall(kind: .conference, target: "monday", offer: description)),
      .listen(true), .listen(false), .alert(call, offer: nil), .alert(call, offer: description),
      .accept(call, offer: nil, headers: []),
      .accept(call, offer: description, headers: [.init(name: "room", value: "7")]),
      .decline(call, .user, .declined), .decline(call, .device, .busy),
      .hangUp(call), .sendDigits(call, "0123456789*#ABCD"), .offer(call, description), .answer(call, description),
      .mute(call, true), .mute(call, false),
      .transfer(call, TransferOrder(kind: .phone, target: "+46701234567")),
      .transfer(call, TransferOrder(kind: .user, target: "bob", consults: true)),
      .join(call, with: call), .completeTransfer(call), .takeBack(call),
      .report(call, ClientStatistics(figures: ["jitter": 0.0125, "packetsLost": 3, "roundTripTime": 1e-7])),
      .report(call, ClientStatistics(figures: [:], heard: .init(loss: 0.125))),
      .report(call, ClientStatistics(figures: ["jitter": 1], heard: .init(loss: 1, roundTrip: 240.5))),
      .room(call, .speakers), .room(call, .members), .room(call, .none),
      .record(call, .on), .record(call, .paused), .record(call, .off),
    ]
  }

  static func clientMessages() throws -> [ClientMessage] {
    let number = RequestNumber(7)
    return [
      .register(number, registration(), client: "test/1"),
      .register(number, registration(.signature("x", sequence: 0)), client: ""),
      .register(number, registration(.token("a.b.c")), client: "test/1"),
      .register(number, registration(.credential(id: "c-1", secret: "s")), client: "test/1"),
      .register(number, registration(profile: profile), client: "test/1"),
      .resume(number, Resumption(session: "s-1", token: "t", lastEvent: 12)),
      .ping(RequestNumber(AppMessageCoder.maximumRequestNumber)), .bye,
    ] + (try requests()).map { .request(number, $0) }
  }

  static func failures() throws -> [CallFailure] {
    let from = Instant(milliseconds: 1_795_000_000_118)
    let full = CallFailure(
      .congestion, sipStatus: 503, phrase: "Service \"Unavailable\"",
      reasons: [
        CallFailure.Reason(protocolName: "Q.850", cause: 34, text: "no circuit", location: .transitNetwork),
        CallFailure.Reason(protocolName: "SIP", cause: nil),
      ], warning: "399 carrier busy", retryAfterSeconds: 30, trunk: "north",
      attempts: [
        CallAttempt(
          trunk: "south", startedAt: from, endedAt: from.advanced(byMilliseconds: 200), sipStatus: 486, code: .busy),
        CallAttempt(trunk: "north", startedAt: from, endedAt: from, sipStatus: nil, code: nil),
      ], leg: .trunk, correlationID: "c-1")
    let invalid = CallFailure(
      .number,
      invalidValue: InvalidValue(kind: "phone number", rule: "e164.plus", offset: 0, problem: "p", accepted: "a"))
    let blocked = CallFailure(
      .blocked, sipStatus: 603,
      redress: CallFailure.Redress(url: "https://redress.example.com", telephone: "+12155551212"))
    let passed = CallFailure(.sequence, leg: .app, nextSequence: .max)
    return [full, invalid, passed, blocked] + CallFailureCode.allCases.map { CallFailure($0) }
      + CallRefusal.allCases.map { CallFailure($0, correlationID: "c-2") }
  }

  static func summary(_ cause: CallEndCause = .hungUp, failure: CallFailure? = nil) throws -> CallSummary {
    let start = Instant(milliseconds: 1_795_000_000_000)
    return CallSummary(
      startedAt: start, progressedAt: start.advanced(byMilliseconds: 100),
      rungAt: start.advanced(byMilliseconds: 200), answeredAt: start.advanced(byMilliseconds: 3000),
      establishedAt: start.advanced(byMilliseconds: 3040), endedAt: start.advanced(byMilliseconds: 63_040),
      cause: cause, failure: failure, headers: try headers(), durationMilliseconds: 60_040, billedSeconds: 61,
      costMicro: 15_467, currency: "EUR")
  }

  static func headers() throws -> CustomHeaders {
    try CustomHeaders([(name: "x-a", value: "1"), (name: "X-B", value: "två")])
  }

  static func replies() throws -> [AppEvent] {
    let number = RequestNumber(9)
    return [
      .placed(number, try call(), answer: description), .done(number), .answered(number, try call(), description),
    ] + (try failures()).map { .refused(number, $0) }
  }

  static func events() throws -> [AppEvent] {
    let call = try call()
    let direction = CallQuality.Direction(meanOpinionScore: 4.2, jitter: 1.25, loss: 0.001, packets: 50)
    let user = try UserID("foo")
    var events: [AppEvent] = [
      .incoming(
        call,
        Invitation(
          from: .init(kind: .user, value: "alice", name: ""), to: user,
          expiresAt: Instant(milliseconds: 1_795_000_045_000))),
      .incoming(
        call,
        Invitation(
          from: .init(kind: .user, value: "alice", name: "Alice åäö"), to: user, headers: try headers(),
          wantsVideo: true, isWaiting: true, expiresAt: Instant(milliseconds: 1_795_000_045_000))),
      .incoming(
        call,
        Invitation(
          from: .init(
            kind: .phone, value: "+46701234567", name: "Bo", verified: .failed, why: "the certificate has expired",
            divertedBy: "+46850000001"), to: user, number: "+46850000536",
          expiresAt: Instant(milliseconds: 1_795_000_045_000))),
      .incoming(
        call,
        Invitation(
          from: .init(kind: .anonymous, value: "", name: "", verified: .network), to: user, number: "+46850000536",
          expiresAt: Instant(milliseconds: 1_795_000_045_000))),
      .ended(
        call,
        CallSummary(
          startedAt: Instant(milliseconds: 0), endedAt: Instant(milliseconds: 1), cause: .otherDeviceAnswered,
          currency: "SEK", isMissed: true, device: "tablet")),
      .progressing(call, headers: CustomHeaders()), .progressing(call, headers: try headers()),
      .ringing(call, headers: try headers()), .earlyMedia(call), .accepted(call, headers: try headers()),
      .established(call),
      .price(
        call,
        CallPrice(
          currency: "EUR", ratePerMinuteNano: 12_345_678, connectionFeeMicro: 5000, initialSeconds: 60,
          incrementSeconds: 1, secondsAvailable: 3600)),
      .creditEnds(call, inSeconds: 30), .creditEnds(call, inSeconds: nil), .digit(call, "#", milliseconds: 160),
      .held(call, true), .held(call, false),
      .transfer(call, TransferProgress(.ringing, to: .phone, "+46701234567")),
      .transfer(call, TransferProgress(.takenBack, to: .user, "bob")),
      .transfer(call, TransferProgress(.failed, to: .sip, "alice@example.com", CallFailure(.busy, sipStatus: 486))),
      .offered(call, description),
      .quality(call, CallQuality(sent: direction, received: direction, roundTrip: 12.5)),
      .quality(call, CallQuality(sent: direction, received: direction, roundTrip: nil)),
      .quality(call, CallQuality(sent: .nothing(packets: 0), received: .nothing(packets: 7), roundTrip: nil)),
      .members(
        call,
        RoomMembers(
          [
            .init(
              participant: 1, from: .init(kind: .user, value: "alice", name: "Alice åäö"), isMuted: true,
              since: Instant(milliseconds: 1_795_000_045_000)),
            .init(
              participant: 2, from: .init(kind: .phone, value: "+4670•••••67", name: ""), isMuted: false,
              since: Instant(milliseconds: 1_795_000_045_250)),
          ], own: 2)),
      .members(call, RoomMembers([], left: [1, 2])),
      .speakers(call, RoomSpeakers([3, 1], leads: 3)), .speakers(call, RoomSpeakers([], leads: nil)),
      .recording(call, .on), .recording(call, .paused), .recording(call, .off),
      .ended(
        call,
        CallSummary(
          startedAt: Instant(milliseconds: 0), endedAt: Instant(milliseconds: 1), cause: .error, costMicro: nil,
          currency: "SEK")),
    ]
    for warning in QualityWarning.allCases { events.append(.warning(call, warning, isRaised: warning != .highLoss)) }
    for cause in CallEndCause.allCases { events.append(.ended(call, try summary(cause))) }
    for failure in try failures() { events.append(.ended(call, try summary(.error, failure: failure))) }
    return events
  }

  static let relays = TURNAccess(
    servers: [
      TURNServer(isSecure: false, host: .name("turn.example.com"), port: 3478, transport: .udp),
      TURNServer(isSecure: true, host: .ipv6(high: 0x2001_0DB8_0000_0000, low: 7), port: 443, transport: .tcp),
    ], username: "1795043200:foo", password: Redacted("p+/="), expiresAt: Instant(milliseconds: 1_795_043_200_000))

  static func serverMessages() throws -> [ServerMessage] {
    let number = RequestNumber(3)
    let credential = DeviceCredential(
      id: "c-9", secret: Redacted("secret"), expiresAt: Instant(milliseconds: 1_795_000_000_000))
    let lasting = DeviceCredential(id: "c-9", secret: Redacted("secret"), expiresAt: nil)
    let users = [credential, lasting, nil]
    let user = try UserID("foo")
    return users.map {
      .registered(
        number,
        Registered(
          session: "s-1", token: Redacted("t"), resumeSeconds: 30, user: user, credential: $0, version: "1.0",
          features: $0 == nil ? [.incoming, .rooms] : [], relays: $0 == nil ? relays : nil))
    } + [
      .resumed(
        number,
        Resumed(
          token: Redacted("t"), resumeSeconds: 30, lastRequest: 17, calls: [try call(), try call("c-2")])),
      .resumed(number, Resumed(token: Redacted("t"), resumeSeconds: 30, lastRequest: 0, calls: [], relays: relays)),
      .relays(relays), .relays(nil),
      .pong(number), .draining, .closing(reason: "the gateway drains"),
    ] + (try failures()).flatMap { [.error(number, $0), .error(nil, $0)] }
      + (try replies()).map { .event($0, sequence: 5) }
      + (try events()).map { event in
        switch event {
        case .quality, .members, .speakers: .event(event, sequence: nil)
        default: .event(event, sequence: 5)
        }
      }
  }
}
