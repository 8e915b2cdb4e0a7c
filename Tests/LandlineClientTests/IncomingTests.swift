import AppProtocol
import CallModel
import LandlineClient
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct IncomingTests {
  /// A client that listens, and the first call that comes in.
  private func withCall(
    _ invited: TestGatewayCore.Invited = .init(), _ body: (TestGateway, Client, Call) async throws -> Void
  ) async throws {
    try await withClient(.listening) { gateway, client in
      var incoming = client.calls.incoming.makeAsyncIterator()
      let id = try await gateway.ask { try? $0.invite(invited) }
      let call = try #require(await incoming.next())
      #expect(call.id == id)
      try await body(gateway, client, call)
    }
  }

  @Test func aRegistrationSaysWhatTheDeviceIs() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway) { options in
      options.isListening = true
      options.deviceName = "Alice's phone"
      options.busyRule = .waiting
    }
    #expect(client.features == [])
    try await client.started()
    #expect(client.features == [.incoming, .rooms])
    #expect(client.calls.isListening)
    #expect(
      try await gateway.ask { $0.registrations.first?.profile }
        == DeviceProfile(features: [.incoming, .rooms], isListening: true, name: "Alice's phone", busyRule: .waiting))
    await client.stop()
    let mute = try makeClient(gateway, device: "other", capabilities: [.messaging]) { $0.isListening = true }
    try await mute.started()
    #expect(try await gateway.ask { $0.registrations.last?.profile } == DeviceProfile())
    await mute.stop()
    try await gateway.shutdown()
  }

  @Test func aNameThatIsTooLongIsRefused() async throws {
    let gateway = try await TestGateway.start()
    #expect {
      _ = try makeClient(gateway) { $0.deviceName = String(repeating: "é", count: 128) }
    } throws: {
      ($0 as? ArgumentError)?.value.rule == "deviceName.long"
    }
    try await gateway.shutdown()
  }

  @Test func listeningBeginsAndEndsWhileTheClientRuns() async throws {
    try await withClient { gateway, client in
      #expect(!client.calls.isListening)
      #expect(try await gateway.ask { $0.registrations.first?.profile.isListening } == false)
      client.calls.startListening()
      while try await gateway.ask({ !$0.guests.values.contains(where: \.isListening) }) { await Task.yield() }
      client.stopListeningOnActiveConnection()
      while try await gateway.ask({ $0.guests.values.contains(where: \.isListening) }) { await Task.yield() }
      #expect(!client.isListeningOnActiveConnection)
    }
  }

  @Test func aSessionThatIsBegunAnewListensAsTheOldOneDid() async throws {
    let gateway = try await TestGateway.start(resumeMilliseconds: 0)
    let client = try makeClient(gateway)
    try await client.started()
    client.calls.startListening()
    while try await gateway.ask({ !$0.guests.values.contains(where: \.isListening) }) { await Task.yield() }
    let events = client.events
    try await gateway.cutConnections()
    #expect(try await events.first { if case .connectionResumed = $0 { true } else { nil } } == true)
    #expect(try await gateway.ask { $0.registrations.last?.profile.isListening } == true)
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func aCallThatComesInSaysWhoCalls() async throws {
    try await withCall(
      .init(headers: ["id": "4711", "message": "lunch?"], wantsVideo: true, isWaiting: true)
    ) { _, client, call in
      #expect(call.direction == .incoming)
      #expect(call.remote == "carol" && call.remoteUserID == "carol" && call.remoteName == "Carol's phone")
      #expect(call.kind == .user)
      #expect(call.headers["id"] == "4711" && call.headers["message"] == "lunch?")
      #expect(call.isWaiting)
      #expect(call.expiresAt != nil)
      #expect(call.details.isVideoOffered)
      #expect(call.details.applicationStateWhenReceived == .active)
      call.userInfo = 17
      #expect(call.userInfo as? Int == 17)
      let outgoing = try client.calls.callPhoneNumber("+46000000408")
      #expect(throws: UsageError.notIncoming) { try outgoing.answer() }
      #expect(throws: UsageError.notIncoming) { try outgoing.decline() }
    }
  }

  @Test func aCallIsAnsweredWithTheOfferThatCameWhileItRang() async throws {
    try await withCall { gateway, client, call in
      let early = await gateway.request { if case .alert(_, let offer) = $0 { offer } else { nil } }
      #expect(early?.contains("opus") == true)
      // The way for sound is open before anybody answers.
      #expect(await call.reaches("mediaSecured"))
      #expect(call.state == .ringing)
      #expect(call.details.rungAt != nil && call.details.answeredAt == nil)
      try call.answer(headers: ["id": "17"])
      try call.answer()
      let accept = await gateway.request { request -> (offer: String?, headers: [PlaceCall.Header])? in
        if case .accept(_, let offer, let headers) = request { (offer, headers) } else { nil }
      }
      #expect(accept?.offer == nil)
      #expect(accept?.headers == [PlaceCall.Header(name: "id", value: "17")])
      #expect(await call.reaches("established"))
      var names: [String] = []
      for await event in call.events {
        names.append(event.kind.name)
        if event.kind.name == "established" { break }
      }
      #expect(names == ["mediaSecured", "answered", "established"])
      #expect(call.state == .established)
      call.hangUp()
      let details = await call.ended()
      #expect(details.endCause == .hungUp)
      #expect(!details.isMissed)
    }
  }

  @Test func soundOfAnAnsweredCallGoesThereAndBack() async throws {
    try await withCall { gateway, _, call in
      let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
      call.audio.source = ToneSource(frequency: 440, level: -6)
      call.audio.sink = CallbackSink { if ($0.max() ?? 0) > 4_000 { continuation.yield() } }
      #expect(await call.reaches("mediaSecured"))
      #expect(try await gateway.ask { $0.loudest } == 0)
      try call.answer()
      for await _ in heard { break }
      #expect(try await gateway.ask { $0.loudest } > 4_000)
      try call.sendDTMF("7")
      #expect(try await call.events.first { if case .digit("7", _) = $0.kind { true } else { nil } } == true)
      try call.hold()
      #expect(try await call.events.first { if case .onHold(true) = $0.kind { true } else { nil } } == true)
    }
  }

  @Test func anOfferThatIsPassedOverComesAgainWithTheAnswer() async throws {
    for answersAtOnce in [false, true] {
      try await withCall(.init(passesOffersOver: true)) { gateway, _, call in
        if !answersAtOnce {
          #expect(await gateway.request { if case .alert = $0 { true } else { nil } } == true)
        }
        try call.answer()
        #expect(await call.reaches("established"))
        #expect(await call.reaches("mediaSecured"))
        call.hangUp()
        #expect(await call.ended().endCause == .hungUp)
      }
    }
  }

  @Test func aCallIsDeclined() async throws {
    try await withCall { gateway, _, call in
      call.hangUp()
      let decline = await gateway.request { request -> (scope: DeclineScope, reason: DeclineReason)? in
        if case .decline(_, let scope, let reason) = request { (scope, reason) } else { nil }
      }
      #expect(decline?.scope == .user && decline?.reason == .declined)
      let details = await call.ended()
      #expect(details.endCause == .denied)
      #expect(details.endedByDevice == "test")
      #expect(!details.isMissed)
      #expect(throws: UsageError.callEnded) { try call.answer() }
      try call.decline()
    }
    try await withCall { gateway, _, call in
      try call.decline(reason: .busy, scope: .device)
      let decline = await gateway.request { request -> (scope: DeclineScope, reason: DeclineReason)? in
        if case .decline(_, let scope, let reason) = request { (scope, reason) } else { nil }
      }
      #expect(decline?.scope == .device && decline?.reason == .busy)
      #expect(await call.ended().endCause == .denied)
    }
  }

  @Test func declineAfterTheAnswerHangsUp() async throws {
    try await withCall { _, _, call in
      try call.answer()
      #expect(await call.reaches("established"))
      try call.decline()
      #expect(await call.ended().endCause == .hungUp)
    }
  }

  @Test(arguments: [CallEndCause.canceled, .timeout])
  func aCallThatNobodyTakesIsMissed(_ cause: CallEndCause) async throws {
    try await withCall { gateway, client, call in
      var events = client.calls.events.makeAsyncIterator()
      let id = try #require(call.id)
      #expect(await gateway.request { if case .alert = $0 { true } else { nil } } == true)
      _ = try await gateway.ask { $0.giveUp(id, cause) }
      let details = await call.ended()
      #expect(details.endCause == cause)
      #expect(details.isMissed && details.endedByDevice == nil && details.failure == nil)
      guard case .missed(let missed)? = await events.next() else {
        Issue.record("no missed call")
        return
      }
      #expect(missed.id == id && missed.remote == "carol" && missed.remoteName == "Carol's phone")
      #expect(missed.cause == cause)
    }
  }

  @Test func anotherDeviceAnswers() async throws {
    let gateway = try await TestGateway.start()
    let first = try makeClient(gateway, device: "first") { $0.isListening = true }
    let second = try makeClient(gateway, device: "second") { $0.isListening = true }
    try await first.started()
    try await second.started()
    var (firstCalls, secondCalls) = (
      first.calls.incoming.makeAsyncIterator(), second.calls.incoming.makeAsyncIterator()
    )
    _ = try await gateway.ask { _ = try? $0.invite() }
    let here = try #require(await firstCalls.next())
    let there = try #require(await secondCalls.next())
    #expect(here.id == there.id)
    try there.answer()
    #expect(await there.reaches("established"))
    let details = await here.ended()
    #expect(details.endCause == .otherDeviceAnswered)
    #expect(details.endedByDevice == "second" && !details.isMissed && details.failure == nil)
    await first.stop()
    await second.stop()
    try await gateway.shutdown()
  }

  @Test func anAnswerThatComesTooLateEndsAsTheCallDid() async throws {
    try await withCall { gateway, _, call in
      let id = try #require(call.id)
      #expect(await call.reaches("mediaSecured"))
      // The caller gives up while the answer is on its way.
      _ = try await gateway.ask { core in
        core.cutConnections()
        core.giveUp(id)
      }
      // The end may have come first all the same.
      try? call.answer()
      let details = await call.ended()
      #expect(details.endCause == .canceled && details.isMissed)
      #expect(details.answeredAt == nil)
    }
  }

  @Test func aLateAnswerIsRefusedBeforeTheEndIsTold() async throws {
    try await withCall { gateway, _, call in
      let id = try #require(call.id)
      _ = try await gateway.ask { $0.giveUpSilently(id) }
      try call.answer()
      let refusal = try await call.events.first { event in
        if case .refused(let failure) = event.kind { failure.code } else { nil }
      }
      #expect(refusal == .tooLate)
      _ = try await gateway.ask { $0.tellMissed(id) }
      let details = await call.ended()
      #expect(details.endCause == .canceled && details.isMissed && details.failure == nil)
    }
  }

  @Test func aCallIsToldOnceAroundALoss() async throws {
    try await withCall { gateway, client, call in
      let told = Mutex(0)
      let counting = Task { for await _ in client.calls.incoming { told.withLock { $0 += 1 } } }
      let events = client.events
      try await gateway.cutConnections()
      #expect(try await events.first { if case .connectionResumed = $0 { true } else { nil } } == true)
      try call.answer()
      #expect(await call.reaches("established"))
      counting.cancel()
      #expect(told.withLock { $0 } == 0)
      #expect(try await gateway.ask { $0.registrations.count } == 1)
    }
  }

  @Test func theEndOfACallThatWasNeverToldIsAMissedCall() async throws {
    try await withClient(.listening) { gateway, client in
      var events = client.calls.events.makeAsyncIterator()
      let id = CallID(unchecked: "while-away")
      _ = try await gateway.ask { $0.tellMissed(id) }
      guard case .missed(let missed)? = await events.next() else {
        Issue.record("no missed call")
        return
      }
      #expect(missed.id == id && missed.remote == nil && missed.cause == .canceled)
    }
  }

  @Test(arguments: ["carol", "dave"]) func theCallThatCrossesIsOffered(_ user: String) async throws {
    try await withClient(.listening) { _, client in
      var incoming = client.calls.incoming.makeAsyncIterator()
      let call = try client.calls.callUser(user)
      let details = await call.ended()
      #expect(details.failure?.code == .crossed)
      #expect(details.endCause == .error)
      let crossing = try #require(call.crossingCall)
      #expect(crossing.direction == .incoming && crossing.remote == user)
      #expect(crossing.id?.text == details.failure?.correlationID)
      #expect(await incoming.next() === crossing)
      try crossing.answer()
      #expect(await crossing.reaches("established"))
    }
  }

  @Test func aCrossingCallThatNeverComesIsNotWaitedForForever() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callUser("nobody")
      #expect(await gateway.request { if case .call = $0 { true } else { nil } } == true)
      call.hangUp()
      let details = await call.ended()
      #expect([.canceled, .error].contains(details.endCause))
      #expect(call.crossingCall == nil)
    }
  }

  @Test func moreCallsThanTheClientHoldsAreDeclinedHereAlone() async throws {
    var options = ClientOptions.listening
    options.maximumCalls = 1
    try await withClient(options) { gateway, client in
      var incoming = client.calls.incoming.makeAsyncIterator()
      _ = try await gateway.ask { _ = try? $0.invite() }
      _ = await incoming.next()
      _ = try await gateway.ask { _ = try? $0.invite() }
      let decline = await gateway.request { request -> (scope: DeclineScope, reason: DeclineReason)? in
        if case .decline(_, let scope, let reason) = request { (scope, reason) } else { nil }
      }
      #expect(decline?.scope == .device && decline?.reason == .busy)
    }
  }

  @Test func aGracefulStopLeavesACallToTheOtherDevices() async throws {
    try await withCall { gateway, client, call in
      await client.stopGracefully()
      #expect(call.details.endCause == .canceled)
      while try await gateway.ask({ $0.endedSessions }) == 0 { await Task.yield() }
      // What declines a call takes its device out of it.
      #expect(try await gateway.ask { $0.ringing } == 1)
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct CallClientDelegateTests {
  private final class Witness: CallClientDelegate {
    let told = Mutex<[String]>([])
    let calls: AsyncStream<Call>
    private let continuation: AsyncStream<Call>.Continuation
    private let announced: @Sendable (Call) -> Void

    init(_ announced: @escaping @Sendable (Call) -> Void = { _ in }) {
      (calls, continuation) = AsyncStream.makeStream(of: Call.self)
      self.announced = announced
    }

    func callClient(_ calls: CallClient, willReceiveIncomingCall call: Call) {
      told.withLock { $0.append("will") }
      announced(call)
      continuation.yield(call)
    }

    func callClient(_ calls: CallClient, didReceiveIncomingCall call: Call) { told.withLock { $0.append("did") } }
    func callClient(_ calls: CallClient, didMissCall call: MissedCall) { told.withLock { $0.append("missed") } }

    func next() async -> Call? {
      var iterator = calls.makeAsyncIterator()
      return await iterator.next()
    }
  }

  private func withWitness(
    _ witness: Witness, _ state: ApplicationState = .active,
    _ body: (TestGateway, Client, Call) async throws -> Void
  ) async throws {
    try await withClient(.listening) { gateway, client in
      client.calls.delegate = witness
      client.applicationState = state
      _ = try await gateway.ask { _ = try? $0.invite() }
      try await body(gateway, client, try #require(await witness.next()))
    }
  }

  @Test func aDelegateIsToldBeforeAndWhenACallComesIn() async throws {
    let witness = Witness()
    try await withWitness(witness) { gateway, _, call in
      let id = try #require(call.id)
      #expect(await gateway.request { if case .alert = $0 { true } else { nil } } == true)
      #expect(witness.told.withLock { $0 } == ["will", "did"])
      _ = try await gateway.ask { $0.giveUp(id) }
      _ = await call.ended()
      while witness.told.withLock({ $0.count }) < 3 { await Task.yield() }
      #expect(witness.told.withLock { $0 } == ["will", "did", "missed"])
    }
  }

  @Test func whoHangsUpInTheNotificationIsNotToldTheCall() async throws {
    let witness = Witness { $0.hangUp() }
    try await withWitness(witness) { gateway, _, call in
      #expect(await gateway.request { if case .decline = $0 { true } else { nil } } == true)
      #expect(await call.ended().endCause == .denied)
      #expect(witness.told.withLock { $0 } == ["will"])
      #expect(call.details.rungAt == nil, "nothing rang")
    }
  }

  @Test func aCallInTheBackgroundIsToldOnceTheAppIsInFront() async throws {
    let witness = Witness()
    try await withWitness(witness, .background) { gateway, client, call in
      // It rings meanwhile.
      #expect(await gateway.request { if case .alert = $0 { true } else { nil } } == true)
      #expect(await call.reaches("mediaSecured"))
      #expect(witness.told.withLock { $0 } == ["will"])
      #expect(call.details.applicationStateWhenReceived == .background)
      client.applicationState = .active
      while witness.told.withLock({ $0.count }) < 2 { await Task.yield() }
      #expect(witness.told.withLock { $0 } == ["will", "did"])
      #expect(call.state == .ringing)
    }
  }

  @Test func anAnswerInTheBackgroundWaitsForTheFront() async throws {
    let witness = Witness { try? $0.answer() }
    try await withWitness(witness, .background) { gateway, client, call in
      #expect(await gateway.request { if case .alert = $0 { true } else { nil } } == true)
      #expect(await call.reaches("mediaSecured"))
      #expect(call.state == .ringing)
      let ringing = try await gateway.ask { $0.ringing }
      #expect(ringing == 1)
      client.applicationState = .inactive
      #expect(await call.reaches("established"))
      #expect(witness.told.withLock { $0 } == ["will", "did"])
    }
  }

  @Test func aCallThatEndsInTheBackgroundIsMissedAndNotTold() async throws {
    let witness = Witness { try? $0.answer() }
    try await withWitness(witness, .background) { gateway, client, call in
      let id = try #require(call.id)
      #expect(await call.reaches("mediaSecured"))
      _ = try await gateway.ask { $0.giveUp(id) }
      #expect(await call.ended().isMissed)
      client.applicationState = .active
      while witness.told.withLock({ $0.count }) < 2 { await Task.yield() }
      await client.stop()
      #expect(witness.told.withLock { $0 } == ["will", "missed"])
    }
  }

  @Test func anAnswerInTheNotificationNeedsNoAlert() async throws {
    let witness = Witness { try? $0.answer() }
    try await withWitness(witness) { gateway, _, call in
      #expect(await call.reaches("established"))
      let first = await gateway.request { request -> String? in
        switch request {
        case .alert: "alert"
        case .accept(_, let offer, _): offer == nil ? "accept" : "accept with an offer"
        default: nil
        }
      }
      #expect(first == "accept with an offer" || first == "alert")
    }
  }
}
