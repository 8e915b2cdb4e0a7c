import AppProtocol
import CallEngine
import CallModel
import Testing

@Suite("Sessions and their calls")
struct SessionTests {
  @Test("a lost connection keeps the call; a session that is over ends it")
  func absence() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.sessionAbsent(bench.session))
    bench.pass(seconds: 20)
    #expect(bench.engine.call(call)?.state == .established)
    bench.feed(.sessionResumed(bench.session))
    bench.feed(.sessionAbsent(bench.session))
    bench.feed(.sessionEnded(bench.session))
    #expect(bench.summary(of: call)?.failure?.code == .networkLost)
    #expect(bench.summary(of: call)?.durationMilliseconds == 20_000)
  }

  @Test("a session that says goodbye hangs up")
  func goodbye() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let ringing = try #require(bench.place())
    bench.feed(.sessionEnded(bench.session))
    bench.hungUp(1)
    #expect(bench.summary(of: call)?.cause == .hungUp)
    #expect(bench.summary(of: call)?.failure == nil)
    #expect(bench.summary(of: ringing)?.cause == .canceled)
  }

  @Test("nobody reaches another session's calls")
  func strangers() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.session = SessionID(2)
    bench.request(.hangUp(call))
    bench.request(.sendDigits(call, "1"))
    #expect(bench.lastRefusal?.invalidValue?.rule == "call.unknown")
    #expect(bench.engine.call(call) != nil)
  }

  @Test("what an app measured reaches the record, before its end and after")
  func reports() throws {
    let bench = try Bench()
    let call = try bench.talk()
    let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("f\($0)", Double($0)) })
    bench.request(.report(call, ClientStatistics(figures: many)))
    bench.request(.hangUp(call))
    #expect(bench.records.first?.clientStatistics.count == ClientStatistics.maximumFigures)
    bench.request(.report(call, ClientStatistics(figures: ["late": 1])))
    #expect(bench.ladder().suffix(2) == ["app done", "statistics"])
    bench.session = SessionID(2)
    bench.request(.report(call, ClientStatistics(figures: ["late": 1])))
    #expect(bench.ladder().last == "app refused gw.address")
  }

  @Test("what an app hears of the gateway's sound decides how much it is sent")
  func adapts() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.request(.report(call, ClientStatistics(figures: [:], heard: .init(loss: 0.25, roundTrip: 80))))
    #expect(bench.ladder().suffix(2) == ["media adapt near 0.25", "app done"])
    bench.request(.report(call, ClientStatistics(figures: ["jitter": 1])))
    #expect(bench.ladder().last == "app done")
    bench.request(.hangUp(call))
    bench.request(.report(call, ClientStatistics(figures: [:], heard: .init(loss: 0.25))))
    #expect(!bench.ladder().suffix(2).contains { $0.contains("adapt") })
  }

  @Test("an operator ends a call")
  func operatorHangsUp() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(.hangUp(call, by: "operator:anna"))
    #expect(bench.summary(of: call)?.cause == .hungUp)
    #expect(bench.records.first?.flags == [.endedByOperator])
    #expect(bench.records.first?.story.contains { $0.text == "ended by operator:anna" } == true)
  }

  @Test("media that do not come up in time end the call, charged from its answer")
  func noMedia() throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    try bench.answer()
    bench.pass(milliseconds: 14_999)
    #expect(bench.summary(of: call) == nil)
    bench.pass(milliseconds: 1)
    let failure = try #require(bench.summary(of: call)?.failure)
    #expect(failure.code == .networkMedia && failure.leg == .app, "the app's own network: \(failure)")
    #expect(failure.phrase == "no ICE check of the app reached the gateway's media port")
    #expect(bench.summary(of: call)?.durationMilliseconds == 15_000)
    #expect(bench.summary(of: call)?.costMicro == 60_000, "the first minute")
  }

  @Test(
    "why the app's media were not set up is told in words, as the app's own way",
    arguments: [
      ("noConnectivity", "no ICE check of the app reached the gateway's media port"),
      ("handshakeTimeout", "the DTLS handshake with the app did not end"),
      ("fingerprint", "the app's certificate has not the fingerprint that its offer names"),
    ])
  func mediaNeverSetUp(_ reason: String, _ words: String) throws {
    let bench = try Bench()
    let call = try #require(bench.place())
    try bench.progress(180)
    bench.feed(.media(call, .failed(.near, reason)))
    let failure = try #require(bench.summary(of: call)?.failure)
    #expect(failure.code == .networkMedia && failure.leg == .app && failure.phrase == words, "\(failure)")
  }

  @Test("ports that are not to be had, or not in time, refuse the call", arguments: [true, false])
  func shortage(_ isTold: Bool) throws {
    let bench = try Bench()
    bench.answersMedia = false
    bench.place()
    let call = try #require(bench.newest)
    if isTold { bench.feed(.prepared(call, .failure(.ports))) }
    bench.pass(seconds: 2)
    #expect(bench.lastRefusal?.code == .congestion)
    #expect(bench.count("media close") == (isTold ? 0 : 1))
    #expect(bench.count("ledger void") == 1)
    #expect(bench.invites.isEmpty)
    #expect(bench.engine.isIdle)
  }
}

@Suite("Quality of a call")
struct QualityTests {
  private func second(
    _ bench: Bench, _ call: CallID, score: Double = 4.2, jitter: Double = 5, loss: Double = 0, sentLoss: Double? = nil,
    roundTrip: Double? = 50
  ) {
    bench.feed(
      .media(
        call,
        .quality(
          .far, .init(meanOpinionScore: 4.3, jitter: 2, loss: 0, packets: 50), roundTrip: nil)))
    bench.feed(
      .media(
        call,
        .quality(
          .near, .init(meanOpinionScore: score, jitter: jitter, loss: loss, packets: 50), sentLoss: sentLoss,
          roundTrip: roundTrip)))
  }

  private func warnings(_ bench: Bench) -> [String] {
    bench.ladder().filter { $0.hasPrefix("app raise") || $0.hasPrefix("app clear") }
  }

  @Test("is told once a second, with means in the record")
  func seconds() throws {
    let bench = try Bench()
    let call = try bench.talk()
    second(bench, call, score: 4)
    second(bench, call, score: 4.4)
    #expect(bench.count("app quality") == 2)
    #expect(warnings(bench).isEmpty)
    bench.request(.hangUp(call))
    #expect(abs((bench.records.first?.meanScoreNear ?? 0) - 4.2) < 0.001)
    #expect(bench.records.first?.meanScoreFar == 4.3)
  }

  @Test("of a second in which nothing came is nothing, and that no sound comes is told with it")
  func nothing() throws {
    let bench = try Bench()
    let call = try bench.talk()
    bench.feed(
      .media(call, .quality(.far, .init(meanOpinionScore: 4.3, jitter: 2, loss: 0, packets: 50), roundTrip: nil)))
    // The second began before the call stood.
    bench.pass(milliseconds: 900)
    bench.feed(.media(call, .quality(.near, .nothing(packets: 0), roundTrip: nil)))
    #expect(warnings(bench).isEmpty)
    bench.pass(milliseconds: 1000)
    bench.feed(.media(call, .quality(.near, .nothing(packets: 0), roundTrip: nil)))
    #expect(warnings(bench) == ["app raise no-audio"])
    guard case .quality(_, let quality)? = bench.events.last(where: { if case .quality = $0 { true } else { false } })
    else {
      Issue.record("no quality is told")
      return
    }
    #expect(quality.sent == .nothing(packets: 0))
    #expect(quality.sent.meanOpinionScore == nil && quality.sent.loss == nil && quality.sent.jitter == nil)
    #expect(quality.received.meanOpinionScore == 4.3)
    second(bench, call)
    #expect(warnings(bench) == ["app raise no-audio", "app clear no-audio"])
    bench.request(.hangUp(call))
    #expect(bench.records.first?.meanScoreNear == 4.2, "what was not heard has no part in the mean")
  }

  @Test("warns above each limit and withdraws the warning below it")
  func limits() throws {
    let bench = try Bench()
    let call = try bench.talk()
    second(bench, call, roundTrip: 400)
    #expect(warnings(bench).isEmpty)
    second(bench, call, roundTrip: 401)
    second(bench, call, roundTrip: 402)
    second(bench, call)
    #expect(warnings(bench) == ["app raise high-rtt", "app clear high-rtt"])
    for _ in 0..<2 { second(bench, call, jitter: 31) }
    #expect(warnings(bench).count == 2)
    second(bench, call, jitter: 31)
    #expect(warnings(bench).last == "app raise high-jitter")
    for _ in 0..<3 { second(bench, call) }
    #expect(warnings(bench).last == "app clear high-jitter")
    for score in [3.4, 3.6, 3.4, 3.6, 4.3, 3.4] { second(bench, call, score: score) }
    #expect(warnings(bench).last == "app clear high-jitter", "two bad seconds of five")
    second(bench, call, score: 3.4)
    second(bench, call, score: 3.4)
    #expect(warnings(bench).last == "app raise low-mos")
    for score in [3.6, 3.4] { second(bench, call, score: score) }
    #expect(warnings(bench).last == "app raise low-mos", "it does not come and go with each second")
    for _ in 0..<3 { second(bench, call) }
    #expect(warnings(bench).suffix(2) == ["app raise low-mos", "app clear low-mos"])
    for _ in 0..<3 { second(bench, call, score: 3.4) }
    #expect(warnings(bench).last == "app raise low-mos")
    for _ in 0..<3 {
      for leg in [LegID.far, .near] { bench.feed(.media(call, .quality(leg, .nothing(packets: 0), roundTrip: nil))) }
    }
    #expect(warnings(bench).contains("app clear low-mos"), "nothing that is heard is bad, as on hold")
    for _ in 0..<7 { second(bench, call, loss: 0.04) }
    #expect(warnings(bench).last == "app raise high-packet-loss")
    for _ in 0..<7 { second(bench, call) }
    #expect(warnings(bench).last == "app clear high-packet-loss")
    // Of what it is sent it tells by its reports; until there is one, nothing is known.
    for _ in 0..<20 { second(bench, call) }
    for _ in 0..<6 { second(bench, call, sentLoss: 0.04) }
    #expect(warnings(bench).last == "app clear high-packet-loss")
    second(bench, call, sentLoss: 0.04)
    #expect(warnings(bench).last == "app raise high-downlink-loss")
    for _ in 0..<2 { second(bench, call, sentLoss: 0.01) }
    #expect(warnings(bench).last == "app raise high-downlink-loss", "the mean of seven seconds")
    second(bench, call, sentLoss: 0)
    #expect(warnings(bench).last == "app clear high-downlink-loss")
    bench.feed(.media(call, .silence(.near)))
    bench.feed(.media(call, .soundAgain(.near)))
    #expect(warnings(bench).suffix(2) == ["app raise no-audio", "app clear no-audio"])
    for isThin in [true, true, false] { bench.feed(.media(call, .thinLink(.near, isThin))) }
    #expect(warnings(bench).suffix(2) == ["app raise thin-link", "app clear thin-link"])
    // The trunk's own link is nothing that an app could mend.
    bench.feed(.media(call, .thinLink(.far, true)))
    #expect(warnings(bench).last == "app clear thin-link")
  }
}
