import LandlineBench
import Testing

@Suite struct MediaBenchTests {
  @Test func theGeneratorsFiguresAreRead() throws {
    let said = """
      calls 25 a=opus/srtp b=pcmu 5s | gateway CPU/call-s 24000 us (user 22720 sys 1280) = 60.0% of a core | A tx 6250 rx \
      6320  B tx 6000 rx 6244 | avg rx bytes A 87 B 172 | RSS 52060 KiB | generator 2395 us/call-s late 854
      transit through the gateway: mean 0.83 ms p50 < 1.25 p99 < 4.00 max 9.23 (40636 packets; the generator polls)
      """
    let trial = try MediaTrial(generator: said, calls: 25)
    #expect(trial.cpuMicrosecondsPerCallSecond == 24_000)
    #expect(trial.packets == 12_250)
    // 6244 of 6250 came out at the trunk; more came to the app than was sent meanwhile.
    #expect(abs(trial.loss - 6.0 / 6250) < 1e-12)
    #expect(trial.isCounted)
    #expect(trial.delay?.mean == 0.83)
    #expect(trial.delay?.p99 == 4)
    #expect(trial.delay?.most == 9.23)
  }

  @Test func aTrialThatLostPacketsDoesNotCount() throws {
    let said = "| gateway CPU/call-s 10 us | A tx 1000 rx 1000  B tx 1000 rx 998 |"
    let trial = try MediaTrial(generator: said, calls: 1)
    #expect(!trial.isCounted)
    #expect(throws: BenchProblem.self) { try MediaTrial(generator: "nothing", calls: 1) }
  }

  @Test func aSecondThreadIsJudgedByRoundsThatLostNothing() throws {
    func trial(_ microseconds: Int, received: Int = 1000) throws -> MediaTrial {
      let said = "| gateway CPU/call-s \(microseconds) us | A tx 1000 rx 1000  B tx 1000 rx \(received) |"
      return try MediaTrial(generator: said, calls: 1)
    }
    var scaling = MediaBenchReport.Scaling()
    scaling.oneThread = try [trial(1000), trial(1000), trial(1000)]
    scaling.twoThreads = try [trial(1250), trial(9000, received: 900), trial(1000)]
    let factor = try #require(scaling.factor)
    #expect(factor.lowest == 1.6)
    #expect(factor.highest == 2)
    scaling.twoThreads = try [trial(1250, received: 900)]
    #expect(scaling.factor == nil)
  }

  @Test func theFloorsFiguresAreRead() throws {
    let said = """
      calls   50 io mmsg   work relay     | CPU/call-s   602.2 us (user  120.3 sys  480.9) | 22.90 us/pkt | core used 11% \
      | sent 20020 back 20000 loss 0.100% bad 0 | ctxsw/s 241 | maxrss 10516 KiB | transit mean 0.12 ms p99<0.50 max 0.73
      """
    let trial = try MediaTrial(floor: said, calls: 50)
    #expect(trial.cpuMicrosecondsPerCallSecond == 602.2)
    #expect(trial.packets == 20_020)
    #expect(trial.isCounted)
    #expect(trial.delay?.p99 == 0.5)
    #expect(trial.delay?.most == 0.73)
  }

  private static let conference = """
    participants 20 | CPU/participant-s 1500.5 us | heard 5000 lost 5 each 49.98/s | late 2 | level -15.7 dBov
    """

  @Test func aConferencesFiguresAreRead() throws {
    let trial = try ConferenceTrial(said: Self.conference, rooms: 1)
    #expect(trial.participants == 20)
    #expect(trial.cpuMicrosecondsPerParticipantSecond == 1500.5)
    #expect(abs(trial.loss - 5.0 / 5005) < 1e-12)
    #expect(trial.isCounted)
    #expect(trial.packetsPerSecond == 49.98)
    #expect(trial.level == -15.7)
    #expect(trial.delay == nil)
    #expect(trial.tones == nil)
    #expect(throws: BenchProblem.self) { try ConferenceTrial(said: "nothing", rooms: 1) }
  }

  @Test func aConferenceThatNobodyHearsDoesNotCount() throws {
    let said = "participants 4 | CPU/participant-s 10.0 us | heard 0 lost 0 each 0.00/s | late 0"
    #expect(try !ConferenceTrial(said: said, rooms: 1).isCounted)
  }

  @Test func delayAndTonesOfConferencesAreRead() throws {
    let head = "participants 3 | CPU/participant-s 900.0 us | heard 750 lost 0 each 50.00/s | late 0 | "
    let delay = try ConferenceTrial(
      said: head + "bursts 20 of 22 delay median 43.90 lowest 31.02 highest 52.10 ms", rooms: 1
    ).delay
    #expect(delay?.median == 43.9)
    #expect(delay?.lowest == 31.02)
    #expect(delay?.highest == 52.1)
    #expect(delay?.heard == 20)
    #expect(delay?.sent == 22)
    let tones = try ConferenceTrial(
      said: head + "packets 250 wraps 5600 silent 2 missing 1 peak 32124", rooms: 1
    ).tones
    #expect(tones?.packets == 250)
    #expect(tones?.wraps == 5600)
    #expect(tones?.gaps == 3)
  }

  @Test func aConferenceIsComparedByRoundsThatLostNothing() throws {
    func trial(_ microseconds: Int, lost: Int = 0) throws -> ConferenceTrial {
      let said = "participants 20 | CPU/participant-s \(microseconds) us | heard 1000 lost \(lost) each 50.00/s"
      return try ConferenceTrial(said: said, rooms: 1)
    }
    var conference = MediaBenchReport.Conference(row: .b11)
    conference.landline = try [trial(1000), trial(1000, lost: 100), trial(1500)]
    #expect(conference.toAnchor == nil)
    conference.anchor = try [trial(8000), trial(1000), trial(6000)]
    let ratio = try #require(conference.toAnchor)
    #expect(ratio.lowest == 0.125)
    #expect(ratio.highest == 0.25)
  }

  @Test(arguments: ["B11", "B11q", "B11l", "B11m", "B12"])
  func conferencesAreRowsThatCanBeChosen(_ name: String) throws {
    let row = try #require(MediaBench.Row(rawValue: name))
    #expect(MediaBench.Row.allCases.contains(row))
    #expect(MediaBench.Row.names.hasSuffix("B11, B11q, B11l, B11m, B12"))
  }

  @Test func theAnchorsProtocolIsWrittenAndRead() {
    let value = Bencode.Value.dictionary([("a", .text("bc")), ("d", .list([.text(""), .text("é")]))])
    #expect(Bencode.write(value) == "d1:a2:bc1:dl0:2:éee")
    #expect(Bencode.texts("d1:a2:bc1:dl0:i5ed1:x1:yee6:result2:oke".utf8) == ["a": "bc", "result": "ok"])
  }

  @Test(arguments: ["", "d", "d1:a", "d1:a9:b", "d-1:a1:be", "d99999999999999999999:ae", "dl", "di5", "d1:ai", "e"])
  func brokenAnswersOfTheAnchorAreNoTexts(_ text: String) {
    #expect(Bencode.texts(text.utf8).isEmpty)
  }

  @Test func portsAndKeysAreFound() {
    let text = "v=0\r\nm=audio 30022 RTP/SAVP 111\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:Ceu+/7|2^20\r\n"
    #expect(CallDescription.port(in: text) == 30_022)
    #expect(CallDescription.key(in: text) == "Ceu+/7")
    #expect(CallDescription.port(in: "v=0\r\n") == nil)
    #expect(CallDescription.key(in: "v=0\r\n") == nil)
  }

  @Test func everyPackageThatIsMissingIsNamedAtOnce() {
    let absence = MediaPackages.absence(
      hasProgram: { _ in false }, hasHeader: { $0 != "liburing.h" })
    #expect(
      absence
        == "not installed: gcc, espeak-ng, sox, liburing-dev: apt-get install gcc espeak-ng sox liburing-dev")
    #expect(MediaPackages.absence(hasProgram: { _ in true }, hasHeader: { _ in true }) == nil)
  }

  @Test func conferencesWithoutJanusSayThatTheyHaveNoAnchor() {
    #expect(
      MediaPackages.mixerAbsence(hasProgram: { _ in false })
        == "janus is not installed: conferences have no anchor (apt-get install janus)")
    #expect(MediaPackages.mixerAbsence(hasProgram: { $0 == "janus" }) == nil)
  }
}
