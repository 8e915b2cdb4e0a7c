import PeerKit
import Testing

@Suite("The judge of cases that listen in real time")
struct ListeningJudgeTests {
  enum Kind: String { case good, again, failed }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// PESQ with the gateway in between, of at least 2.5.
    let pesq: Double?
    /// The worst lateness of anybody meanwhile, and all of it, in milliseconds.
    var late = 0.0
    var lateInAll: Double?
    /// Packets missing of a thousand.
    var lost = 0.0
    /// The same without the gateway; `nil`: no control.
    var control: Double?
    var controlLate = 0.0
    var repeats = 0
    let kind: Kind
    /// Part of the reason.
    var reason = ""
  }

  static let rows: [Row] = [
    Row(testDescription: "good", pesq: 3, kind: .good),
    Row(testDescription: "good though late", pesq: 3, late: 900, kind: .good),
    Row(testDescription: "exactly what it must come to", pesq: 2.5, kind: .good),
    Row(testDescription: "good after repeats", pesq: 3, repeats: 3, kind: .good),
    Row(testDescription: "bad, all on time, control good", pesq: 2, control: 3, kind: .failed, reason: "on time"),
    Row(testDescription: "bad, all on time, no control", pesq: 2, kind: .failed, reason: "on time"),
    Row(
      testDescription: "nothing was heard, all on time", pesq: nil, control: 3, kind: .failed, reason: "not measured"),
    Row(testDescription: "bad, a little late, control good", pesq: 2, late: 39, control: 3, kind: .failed),
    Row(
      testDescription: "bad, late enough, control good", pesq: 2, late: 40, control: 3, kind: .again, reason: "40 ms"),
    Row(testDescription: "bad, late enough, no control", pesq: 2, late: 40, kind: .again),
    Row(testDescription: "bad, often a little late", pesq: 2, late: 15, lateInAll: 500, control: 3, kind: .again),
    Row(testDescription: "bad, seldom a little late", pesq: 2, late: 15, lateInAll: 499, control: 3, kind: .failed),
    Row(
      testDescription: "bad and late, but the control was good though later", pesq: 2, late: 100, control: 3,
      controlLate: 300, kind: .failed, reason: "though later"),
    Row(
      testDescription: "bad and late, the control about as late and good", pesq: 2, late: 100, control: 3,
      controlLate: 299, kind: .again),
    Row(
      testDescription: "bad, and so is the control", pesq: 2, control: 2, kind: .again, reason: "without the gateway"),
    Row(
      testDescription: "bad and late, and so is the control", pesq: 2, late: 300, control: 2, controlLate: 600,
      kind: .again),
    Row(testDescription: "the third repeat is the last", pesq: 2, late: 300, control: 2, repeats: 2, kind: .again),
    Row(
      testDescription: "no fourth repeat", pesq: 2, late: 300, control: 2, repeats: 3, kind: .failed,
      reason: "3 repeats"),
    Row(testDescription: "packets lost, the sound good", pesq: 3, lost: 50, kind: .failed, reason: "are missing"),
    Row(
      testDescription: "packets lost, everybody late, the control bad", pesq: 2, late: 900, lost: 50, control: 2,
      controlLate: 100, kind: .failed, reason: "50 of 1000 packets are missing"),
    Row(testDescription: "one packet of a thousand lost", pesq: 3, lost: 1, kind: .good),
    Row(testDescription: "as many lost as are allowed", pesq: 3, lost: 5, kind: .good),
    Row(testDescription: "one more", pesq: 3, lost: 6, kind: .failed),
  ]

  private static func heard(_ pesq: Double?, late: Double, inAll: Double? = nil, lost: Double = 0) -> Heard {
    Heard(
      [.init("PESQ", pesq, atLeast: 2.5), .init("start", 1, atLeast: 0.9)], packets: (1_000 - lost, lost),
      lateness: [
        Lateness("this machine", worstMilliseconds: 1, totalMilliseconds: 1),
        Lateness("chromium_peer", worstMilliseconds: late, totalMilliseconds: inAll ?? late),
      ], seconds: 10)
  }

  @Test("each row", arguments: rows)
  func row(_ row: Row) {
    let verdict = ListeningJudge.verdict(
      Self.heard(row.pesq, late: row.late, inAll: row.lateInAll, lost: row.lost),
      control: row.control.map { Self.heard($0, late: row.controlLate) }, repeats: row.repeats)
    switch verdict {
    case .good: #expect(row.kind == .good)
    case .again(let reason):
      #expect(row.kind == .again)
      #expect(reason.contains(row.reason))
    case .failed(let reason):
      #expect(row.kind == .failed, "\(reason)")
      #expect(reason.contains(row.reason))
    }
  }

  @Test("a control is run only where the verdict depends on it")
  func controls() {
    #expect(!ListeningJudge.needsControl(Self.heard(3, late: 0)))
    #expect(ListeningJudge.needsControl(Self.heard(2, late: 0)))
    #expect(!ListeningJudge.needsControl(Self.heard(2, late: 0, lost: 50)))
    #expect(!ListeningJudge.needsControl(Self.heard(2, late: 0), repeats: ListeningJudge.mostRepeats))
  }

  @Test("a case is tried four times at most; each control is heard behind its try")
  func repeats() async {
    let counts = Counts()
    await #expect {
      try await ListeningCase.run("late", printsRepeats: false) {
        await counts.tried()
        try ListeningCase.judge(Self.heard(2, late: 500)) {
          await counts.compared()
          return Self.heard(2, late: 500)
        }
        return "never"
      }
    } throws: { "\($0)".contains("after 3 repeats") }
    #expect(await counts.tries == 4)
    #expect(await counts.controls == 3)
  }

  @Test("a case that is good again tells why it was repeated")
  func recovers() async throws {
    let counts = Counts()
    let told = try await ListeningCase.run("late once", printsRepeats: false) {
      let tries = await counts.tried()
      try ListeningCase.judge(Self.heard(tries == 1 ? 2 : 3, late: 500))
      return "fine"
    }
    #expect(told.hasPrefix("fine; repeated: missed: PESQ 2 (at least 2.5); late: chromium_peer 500 ms"))
    #expect(await counts.tries == 2)
  }

  @Test("what the gateway did is told at once, and so is any failure that is none of hearing")
  func failsAtOnce() async {
    let counts = Counts()
    await #expect(throws: PeerFailure.self) {
      try await ListeningCase.run("on time", printsRepeats: false) {
        await counts.tried()
        try ListeningCase.judge(Self.heard(2, late: 0)) { Self.heard(3, late: 0) }
        return "never"
      }
    }
    await #expect(throws: PeerFailure.self) {
      try await ListeningCase.run("another failure", printsRepeats: false) {
        await counts.tried()
        throw PeerFailure("no answer")
      }
    }
    #expect(await counts.tries == 2)
  }

  @Test("a peer that saw a message twice was late")
  func signalling() async {
    let counts = Counts()
    await #expect(throws: PeerFailure.self) {
      try await ListeningCase.run("late signalling", printsRepeats: false) {
        await counts.tried()
        throw PeerFailure("no answer", wasLate: true)
      }
    }
    #expect(await counts.tries == 1 + ListeningJudge.mostRepeats)
  }

  private actor Counts {
    private(set) var tries = 0
    private(set) var controls = 0
    @discardableResult
    func tried() -> Int {
      tries += 1
      return tries
    }
    func compared() { controls += 1 }
  }
}

@Suite("The clock of those who listen")
struct ListeningTests {
  @Test("programs that wait for a processor are late", .timeLimit(.minutes(5)))
  func late() async throws {
    let folder = try TemporaryFolder("busy")
    let programs = try (0..<8).map { number in
      try PeerProcess(
        path: "/usr/bin/timeout", ["1", "/bin/sh", "-c", "while :; do :; done"], environment: [:],
        startedIn: folder.url, in: folder, name: "busy \(number)")
    }
    let listened = try await Listening.during {
      for program in programs { _ = try await program.exited(within: 20) }
    }
    let busy = listened.lateness.filter { $0.who.hasPrefix("busy") }
    #expect(busy.contains { $0.worstMilliseconds >= ListeningJudge.leastLateMilliseconds }, "\(listened.lateness)")
    #expect(listened.seconds >= 0.9)
  }
}
