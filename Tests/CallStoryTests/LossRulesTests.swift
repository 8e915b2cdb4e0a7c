import AppProtocol
import CallModel
import CallStory
import Testing

@Suite("What calls with missing sound are told")
struct LossRulesTests {
  private static func story(near: String = "opus", far: String = "PCMA", _ change: (inout SceneSound) -> Void)
    -> CallStory
  {
    var sound = SceneSound()
    change(&sound)
    var scene = RulesScene()
    scene.talk(sound, near: near, far: far)
    return CallStory.tell(scene.sources)
  }

  private static func rules(_ story: CallStory) -> [String] { story.findings.map(\.rule) }

  @Test("A call without loss is fine, and sounds good")
  func fine() {
    let story = Self.story { _ in }
    #expect(story.findings.first?.rule == "fine")
    #expect(story.conclusion.contains("sounded good"))
  }

  @Test("Loss that copies make good leaves a call fine")
  func madeGood() {
    let story = Self.story {
      $0.fromApp = .losing(5)
      $0.fromApp.recovered = { $0.isMultiple(of: 2) ? 5 : 4 }
    }
    #expect(story.findings.first?.rule == "fine", "\(Self.rules(story))")
  }

  @Test("Figures name the share, and each loss its owner")
  func figures() throws {
    let app = Self.story { $0.toApp = .losing(15) }
    let finding = try #require(app.findings.first)
    #expect(finding.rule == "appDownlinkLoss" && finding.owner == "app")
    #expect(finding.explanation.contains("30.0 %"), "\(finding.explanation)")
    #expect(app.conclusion.contains("Sound was lost on its way from the gateway to the app."))
    let trunk = try #require(Self.story { $0.toTrunk = .losing(15) }.findings.first)
    #expect(trunk.owner == "trunk" && trunk.explanation.contains("30.0 %"))
  }

  @Test("Gaps that packets bring along untouched are their source's", arguments: [true, false])
  func passedThrough(_ isUntouched: Bool) throws {
    let story = Self.story(near: isUntouched ? "PCMA" : "opus") {
      $0.fromApp = .losing(5)
      $0.toTrunk = .losing(5)
    }
    let trunk = try #require(story.findings.first { $0.rule == "trunkFarLoss" })
    #expect(trunk.owner == (isUntouched ? "app" : "trunk"))
    #expect(story.findings.first?.rule == "appUplinkLoss")
  }

  @Test("A queue that stands from the first second is known by how long and how steadily it loses")
  func standingQueue() throws {
    let thin = Self.story {
      $0.fromApp = .losing { 15 + $0 % 6 }
      $0.fromApp.bytes = 4_000
      $0.roundTrip = { _ in 900 }
    }
    let finding = try #require(thin.findings.first)
    #expect(finding.rule == "thinLink" && finding.owner == "app")
    #expect(finding.explanation.contains("kbit/s of sound got through"))
    // As long a way, and now and then a loss: a satellite.
    let satellite = Self.story {
      $0.fromApp = .losing { $0.isMultiple(of: 3) ? 6 : 0 }
      $0.roundTrip = { _ in 600 }
    }
    #expect(!Self.rules(satellite).contains("thinLink"))
    // As much loss on a short way.
    let short = Self.story {
      $0.fromApp = .losing(15)
      $0.roundTrip = { _ in 120 }
    }
    #expect(!Self.rules(short).contains("thinLink"))
    // A queue that loses nothing.
    let slow = Self.story { $0.roundTrip = { $0 < 5 ? 40 : 900 } }
    #expect(!Self.rules(slow).contains("thinLink"))
  }

  @Test("The link to the app is too thin where what is sent to it is lost")
  func thinDownlink() throws {
    let finding = try #require(
      Self.story {
        $0.count = 30
        $0.toApp = .losing { $0 < 10 ? 0 : 18 }
        $0.roundTrip = { $0 < 10 ? 35 : 700 }
      }.findings.first)
    #expect(finding.rule == "thinLink" && finding.explanation.contains("to the calling side"))
  }

  @Test("Late packets are named before the loss they make, and after another that is greater")
  func late() throws {
    let mostly = Self.story {
      $0.fromApp = .losing(6)
      $0.fromApp.tooLate = { _ in 4 }
    }
    #expect(Array(Self.rules(mostly).prefix(2)) == ["latePackets", "appUplinkLoss"])
    let partly = Self.story {
      $0.fromApp = .losing(10)
      $0.fromApp.tooLate = { _ in 2 }
    }
    #expect(Array(Self.rules(partly).prefix(2)) == ["appUplinkLoss", "latePackets"])
    // Too few to spoil the call.
    let few = Self.story {
      $0.fromApp = .losing(1)
      $0.fromApp.tooLate = { _ in 1 }
    }
    #expect(Array(Self.rules(few).prefix(2)) == ["fine", "latePackets"])
  }

  @Test("A path that is cut is told with its length, and whether it came back")
  func cut() throws {
    let back = try #require(Self.story { $0.silent = [.far: 5...15] }.findings.first)
    #expect(back.rule == "pathLost" && back.owner == "trunk" && back.explanation.hasSuffix("came back."))
    let gone = Self.story { $0.silent = [.near: 10...19] }
    #expect(gone.findings.first?.explanation.hasSuffix("It did not come back.") == true)
    #expect(!Self.rules(gone).contains("fine") && !gone.conclusion.contains("good"))
    let both = try #require(Self.story { $0.silent = [.near: 5...15, .far: 5...15] }.findings.first)
    #expect(both.rule == "pathLost" && both.owner == "gateway")
    // Shorter than two reports may lie apart.
    #expect(!Self.rules(Self.story { $0.silent = [.near: 5...10] }).contains("pathLost"))
  }

  @Test("Silence of a side on hold, or of one that never reports, is no cut path")
  func silence() {
    var sound = SceneSound()
    sound.silent = [.far: 5...17]
    var held = RulesScene()
    held.talk(sound)
    held.plan(.far, "PCMA", direction: "sendonly")
    #expect(!CallRule.findings(in: CallEvidence(held.sources)).map(\.rule).contains("pathLost"))
    var mute = RulesScene()
    mute.talk(sound)
    for index in mute.trace.seconds.indices { mute.trace.seconds[index].reports = 0 }
    mute.sources.trace = mute.trace
    #expect(!CallRule.findings(in: CallEvidence(mute.sources)).map(\.rule).contains("pathLost"))
  }

  // MARK: Every loss

  static let ways: [any WritableKeyPath<SceneSound, SceneSound.Way> & Sendable] = [
    \.fromApp, \.toApp, \.fromTrunk, \.toTrunk,
  ]

  /// Whatever the way, the codecs, the length of the call and the bursts are: with more than 3 % missing no call is fine,
  /// even where every score says so.
  @Test("No call is fine above 3 % effective loss", arguments: 0..<4, [1.0, 3, 8])
  func neverFine(_ way: Int, burst: Double) {
    var random = Seeded(state: UInt64(way) * 7 + UInt64(burst))
    var lossy = 0
    for (near, far) in [("opus", "PCMA"), ("PCMU", "PCMU"), ("PCMA", "G722"), ("opus", "opus")] {
      for loss in [0.005, 0.02, 0.03, 0.035, 0.05, 0.1, 0.2, 0.3, 0.5, 0.9] {
        for count in [10, 25, 130, 900] {
          let lost = Self.pattern(loss, burst: burst, seconds: count, &random)
          let isReported = way % 2 == 1
          let known = isReported ? count / SceneSound.reportSeconds * SceneSound.reportSeconds : count
          let share = Double(lost.prefix(known).reduce(0, +)) / Double(known * SceneSound.packetsPerSecond)
          let story = Self.story(near: near, far: far) {
            $0.count = count
            $0[keyPath: Self.ways[way]] = .losing { lost[$0] }
          }
          guard share > 0.03 else { continue }
          lossy += 1
          #expect(!Self.rules(story).contains("fine"), "\(share) \(count) s: \(Self.rules(story))")
          #expect(!story.conclusion.contains("sounded good"), "\(share): \(story.conclusion)")
          #expect(story.findings.first.map { $0.owner != "nobody" } == true)
        }
      }
    }
    #expect(lossy > 60)
  }

  /// Packets lost in each second, in runs of the mean length `burst` (Gilbert's model of two states).
  private static func pattern(_ loss: Double, burst: Double, seconds: Int, _ random: inout Seeded) -> [Int] {
    let end = 1 / max(burst, 1 / (1 - min(loss, 0.99)))
    let begin = min(1, end * loss / (1 - loss))
    var isLost = false
    return (0..<seconds).map { _ in
      (0..<SceneSound.packetsPerSecond).count { _ in
        isLost = Double.random(in: 0..<1, using: &random) < (isLost ? 1 - end : begin)
        return isLost
      }
    }
  }

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    /// SplitMix64.
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
