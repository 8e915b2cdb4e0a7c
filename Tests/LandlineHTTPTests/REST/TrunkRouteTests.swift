import AppProtocol
import CallEngine
import CallModel
import DoorKit
import Foundation
import LandlineHTTP
import LandlineNode
import NodeCore
import SIPCore
import Synchronization
import Testing

/// How trunks do, and tests of them while somebody looks.
@Suite struct TrunkRouteTests {
  private static func record(_ attempts: [(String, Int?, CallFailureCode?)], at instant: Instant) -> CallRecord {
    var record = CallRecordFixture("c", "acme").record
    record.summary.durationMilliseconds = 90_000
    record.attempts = attempts.map {
      CallAttempt(trunk: $0.0, startedAt: instant, endedAt: instant, sipStatus: $0.1, code: $0.2)
    }
    return record
  }

  @Test func figuresOfTheLastHour() {
    var statistics = TrunkStatistics()
    let start = Instant(seconds: 1_795_000_000)
    statistics.add(Self.record([("one", 503, .congestion), ("two", 200, nil)], at: start), at: start)
    let later = start.advanced(byMilliseconds: 1_800_000)
    statistics.add(Self.record([("one", 503, .congestion), ("one", 486, .busy)], at: later), at: later)
    statistics.add(Self.record([("one", 200, nil)], at: later), at: later)
    let one = statistics.figures(of: "one", at: later)
    #expect(one.attempts == 4)
    #expect(one.answered == 1)
    #expect(one.answerRatio == 0.25)
    #expect(one.averageDurationSeconds == 90)
    #expect(
      one.failures == [
        .init(code: .congestion, sipStatus: 503, count: 2, lastAt: later),
        .init(code: .busy, sipStatus: 486, count: 1, lastAt: later),
      ])
    #expect(statistics.figures(of: "two", at: later).answerRatio == 1)
    // The first half hour is forgotten, then all of it.
    let hour = start.advanced(byMilliseconds: 3_900_000)
    #expect(statistics.figures(of: "one", at: hour).attempts == 3)
    #expect(statistics.figures(of: "one", at: hour.advanced(byMilliseconds: 3_600_000)).attempts == 0)
    let none = statistics.figures(of: "three", at: later)
    #expect(none.answerRatio == nil)
    #expect(none.averageDurationSeconds == nil)
  }

  @Test func figuresOfEachHourOfADay() {
    var statistics = TrunkStatistics()
    let start = Instant(seconds: 1_795_000_000 / 3600 * 3600)
    func later(_ hours: Int64) -> Instant { start.advanced(byMilliseconds: hours * 3_600_000) }
    statistics.add(Self.record([("one", 503, .congestion), ("one", 200, nil)], at: start), at: start)
    statistics.pinged("one", microseconds: 12_000, at: start)
    statistics.pinged("one", microseconds: 18_000, at: start)
    statistics.pinged("one", microseconds: nil, at: start)
    statistics.pinged("one", microseconds: nil, at: later(2))
    let first = TrunkFigures.Hour(
      startsAt: start, attempts: 2, answered: 1, pings: 3, pingAnswers: 2, meanOptionsMilliseconds: 15,
      worstOptionsMilliseconds: 18)
    let third = TrunkFigures.Hour(
      startsAt: later(2), attempts: 0, answered: 0, pings: 1, pingAnswers: 0, meanOptionsMilliseconds: nil,
      worstOptionsMilliseconds: nil)
    #expect(statistics.figures(of: "one", at: later(2)).hours == [first, third])
    #expect(first.answerRatio == 0.5 && third.answerRatio == nil)
    // The day moves on, and a clock that jumps back adds to the newest hour.
    #expect(statistics.figures(of: "one", at: later(24)).hours == [third])
    statistics.pinged("one", microseconds: 5_000, at: start)
    #expect(statistics.figures(of: "one", at: later(2)).hours.map(\.pings) == [3, 2])
    for number in 0..<TrunkStatistics.maximumTrunks + 5 {
      statistics.pinged("t\(number)", microseconds: 1, at: start)
    }
    #expect(statistics.figures(of: "t\(TrunkStatistics.maximumTrunks)", at: start).hours.isEmpty)
    for hour in 0..<100 { statistics.pinged("t0", microseconds: 1, at: later(Int64(hour))) }
    #expect(statistics.figures(of: "t0", at: later(99)).hours.count == Int(TrunkFigures.hourCount))
  }

  @Test func aTrunksAddressReadsAsItIsWritten() throws {
    for text in ["sip:carrier.example", "sips:[2001:db8::1]:5061", "sip:me@192.0.2.1:5060;transport=tcp;lr"] {
      #expect(TrunkAddress.text(try SIPURI(parsing: text)) == text)
    }
  }

  @Test func figuresAreBounded() {
    var statistics = TrunkStatistics()
    let now = Instant(seconds: 1_795_000_000)
    for number in 0..<TrunkStatistics.maximumTrunks + 5 {
      statistics.add(Self.record([("t\(number)", 200, nil)], at: now), at: now)
    }
    #expect(statistics.figures(of: "t\(TrunkStatistics.maximumTrunks)", at: now).attempts == 0)
    for status in 400..<500 {
      statistics.add(Self.record([("t0", status, .busy)], at: now), at: now)
    }
    let figures = statistics.figures(of: "t0", at: now)
    #expect(figures.attempts == 101)
    #expect(figures.failures.count == TrunkStatistics.maximumFailures)
    // A clock that jumps back loses nothing and traps nowhere.
    let earlier = now.advanced(byMilliseconds: -86_400_000)
    statistics.add(Self.record([("t0", 200, nil)], at: earlier), at: earlier)
    #expect(statistics.figures(of: "t0", at: now).attempts == 102)
    // Room is made by those that were quiet for an hour.
    let later = now.advanced(byMilliseconds: 7_200_000)
    statistics.add(Self.record([("new", 200, nil)], at: later), at: later)
    #expect(statistics.figures(of: "new", at: later).attempts == 1)
  }

  @Test func trunksAreListedWithTheirFigures() async throws {
    let kit = try await RESTKit()
    var figures = TrunkFigures()
    figures.attempts = 4
    figures.answered = 3
    figures.talkMilliseconds = 90_000
    figures.failures = [
      .init(code: .busy, sipStatus: 486, count: 1, lastAt: Instant(seconds: 1_795_000_000))
    ]
    figures.hours = [
      .init(
        startsAt: Instant(seconds: 1_795_000_000 / 3600 * 3600), attempts: 4, answered: 3, pings: 3, pingAnswers: 2,
        meanOptionsMilliseconds: 14.5, worstOptionsMilliseconds: 16)
    ]
    let measured = figures
    kit.operations.with {
      $0.trunks = [
        TrunkReport(
          name: "one", uri: "sip:one.example", environments: ["production"], standing: "up", explanation: "",
          liveCalls: 3, maximumCalls: 30, figures: measured, optionsMilliseconds: 12.5)
      ]
    }
    let answer = try await kit.send("GET", "/v1/trunks")
    #expect(
      answer.text
        == #"{"trunks":[{"name":"one","uri":"sip:one.example","standing":"up","explanation":"","live_calls":3,"maximum_calls":30,"attempts":4,"answered":3,"answer_ratio":0.75,"average_duration_seconds":30.0,"window_seconds":3600,"failures":[{"code":"sip.busy","sip_status":486,"count":1,"last_at":"2026-11-18T11:06:40.000Z"}],"options_ms":12.5,"hours":[{"starts_at":"2026-11-18T11:00:00.000Z","attempts":4,"answered":3,"answer_ratio":0.75,"options_sent":3,"options_answered":2,"options_mean_ms":14.5,"options_worst_ms":16.0}]}]}"#
    )
    await kit.close()
  }

  /// Lets a test of a trunk go on step by step.
  private final class Gate: Sendable {
    let steps: AsyncStream<TrunkTestStep>
    private let continuation: AsyncStream<TrunkTestStep>.Continuation
    let asked = Mutex<[String]>([])

    init() { (steps, continuation) = AsyncStream.makeStream(of: TrunkTestStep.self) }
    func tell(_ step: TrunkTestStep) { continuation.yield(step) }
    func end() { continuation.finish() }
  }

  @Test func stepsOfATestAreStreamedAsTheyAreDone() async throws {
    let gate = Gate()
    let kit = try await RESTKit()
    kit.operations.with {
      $0.trunks = ["one", "two"].map { name in
        TrunkReport(
          name: name, uri: "sip:one.example", environments: [name == "one" ? "production" : "sandbox"], standing: "up",
          explanation: "", liveCalls: 0, maximumCalls: nil)
      }
    }
    let test: RESTService.TrunkTestStart = { name, order, tell in
      gate.asked.withLock { $0.append(name + (order.number.map { " calls \($0)" } ?? "")) }
      for await step in gate.steps { tell(step) }
      return .warning
    }
    try await RunningDoor.with(RecordingAcceptor(), operations: kit.operations, testTrunk: test) { port, _ in
      func request(_ path: String, key: String = "operator") -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nContent-Length: 0\r\n\r\n"
      }
      let peer = try await RawPeer.connect(port)
      try await peer.write(request("/v1/trunks/one/test"))
      let head = try #require(await peer.head()).lowercased()
      #expect(head.hasPrefix("http/1.1 200"))
      #expect(head.contains("content-type: application/x-ndjson"))
      gate.tell(TrunkTestStep(step: "dns", outcome: .ok, text: "one address", milliseconds: 3))
      #expect(
        await peer.line(containing: "dns")
          == #"{"step":"dns","outcome":"ok","text":"one address","fix":null,"milliseconds":3}"#)
      // The first step is here while the test still runs; a second test of the same trunk has to wait.
      let second = try await RawPeer.connect(port)
      for (path, key, status) in [
        ("/v1/trunks/one/test", "operator", 429), ("/v1/trunks/two/test", "operator", 404),
        ("/v1/trunks/none/test", "operator", 404), ("/v1/trunks/one/test", "owner", 403),
        ("/v1/trunks/one/test", "app", 403), ("/v1/trunks/one/test", "wrong", 401),
      ] {
        try await second.write(request(path, key: key))
        #expect(await second.response()?.status == status, "\(path) \(key)")
      }
      gate.tell(
        TrunkTestStep(step: "options", outcome: .failed, text: "no answer\nin 5 s", fix: "look", milliseconds: 5000))
      gate.end()
      #expect(
        await peer.line(containing: "options")
          == #"{"step":"options","outcome":"failed","text":"no answer\nin 5 s","fix":"look","milliseconds":5000}"#)
      #expect(await peer.line(containing: "done") == #"{"done":true,"outcome":"warning"}"#)
      #expect(gate.asked.withLock { $0 } == ["one"])
      // Then the trunk can be tested again, and somebody be called.
      func calling(_ number: String) -> String {
        let body = #"{"number":"\#(number)","caller":"+46 8 12 34 56 78"}"#
        return request("/v1/trunks/one/test").replacing(
          "Content-Length: 0\r\n\r\n",
          with: "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      }
      for number in ["112", "+46000000000", "070 123", "nobody"] {
        try await second.write(calling(number))
        #expect(await second.response()?.status == 400, "\(number)")
      }
      try await second.write(calling("+46 70 123 45 67"))
      #expect(await second.head()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(await second.line(containing: "done") != nil)
      #expect(gate.asked.withLock { $0 } == ["one", "one calls +46701234567"])
    }
    await kit.close()
  }

  @Test func aTestThatFailsSaysSo() async throws {
    struct Broken: Error {}
    let kit = try await RESTKit()
    kit.operations.with {
      $0.trunks = [
        TrunkReport(
          name: "one", uri: "", environments: ["production"], standing: "up", explanation: "", liveCalls: 0,
          maximumCalls: nil)
      ]
    }
    let test: RESTService.TrunkTestStart = { _, _, _ in throw Broken() }
    try await RunningDoor.with(RecordingAcceptor(), operations: kit.operations, testTrunk: test) { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write(
        "POST /v1/trunks/one/test HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer operator\r\nContent-Length: 0\r\n\r\n")
      #expect(await peer.line(containing: "failed")?.contains(#""step":"test","outcome":"failed""#) == true)
      #expect(await peer.line(containing: "done") == #"{"done":true,"outcome":"failed"}"#)
    }
    await kit.close()
  }
}
