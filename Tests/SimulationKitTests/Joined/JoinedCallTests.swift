import CallModel
import Foundation
import MediaCore
import SDPCore
import SecureTransport
import SimulationKit
import Testing

@Suite("A call joined in memory")
struct JoinedCallTests {
  /// A network for both legs, and what a call must stand on it.
  struct Case: CustomTestStringConvertible {
    let name: String
    var scene = JoinedCall.Scene()
    /// Milliseconds until media is safe, at most.
    var secured: Int64 = 1_000
    /// Part of the tenths of a second in which the tone is heard clearly, at least.
    var clear = 0.95
    var hasExactDigits = true
    /// Packets of the app that are made good from the copy in the next one, at least.
    var recovered: UInt64 = 0

    /// Everything arrives.
    var isPerfect: Bool {
      let network = scene.app
      return network.loss == ImpairmentOptions.Loss.none && network.corrupt == 0 && network.duplicate == 0
    }

    var testDescription: String { name }

    init(_ name: String, _ change: (inout ImpairmentOptions) -> Void, _ more: (inout Case) -> Void = { _ in }) {
      self.name = name
      change(&scene.app)
      change(&scene.trunk)
      more(&self)
    }
  }

  static let cases: [Case] = [
    Case("nothing is lost") { $0.delay = 10_000 },
    Case("nothing is lost, G.722", { $0.delay = 10_000 }, { $0.scene.trunkCodec = .g722 }),
    Case("nothing is lost, Opus on both legs", { $0.delay = 10_000 }, { $0.scene.trunkCodec = .opus }),
    Case("nothing is lost, no SRTP on the trunk", { $0.delay = 10_000 }, { $0.scene.isTrunkSecured = false }),
    Case("far and unsteady") {
      $0.delay = 80_000
      $0.jitter = 60_000
    },
    Case(
      "5 % lost",
      {
        $0.delay = 20_000
        $0.loss = .independent(0.05)
      },
      {
        $0.secured = 5_000
        $0.clear = 0.85
      }),
    Case(
      "15 % lost, some late, doubled",
      {
        $0.delay = 30_000
        $0.jitter = 20_000
        $0.loss = .independent(0.15)
        $0.reorder = 0.05
        $0.duplicate = 0.05
      },
      {
        $0.secured = 8_000
        $0.clear = 0.6
        $0.recovered = 30
      }),
    Case(
      "10 % lost in runs of 4",
      {
        $0.delay = 20_000
        $0.loss = .bursts(rate: 0.1, length: 4)
      },
      {
        $0.secured = 8_000
        $0.clear = 0.8
        // A run may swallow all packets of a key.
        $0.hasExactDigits = false
      }),
    Case(
      "5 % damaged, 5 % late, 10 % doubled",
      {
        $0.delay = 20_000
        $0.corrupt = 0.05
        $0.reorder = 0.05
        $0.duplicate = 0.1
      },
      {
        $0.secured = 5_000
        $0.clear = 0.83
      }),
    Case(
      "storm: 30 % lost in runs, unsteady, late, doubled, damaged",
      {
        $0.delay = 40_000
        $0.jitter = 80_000
        $0.loss = .bursts(rate: 0.3, length: 2)
        $0.reorder = 0.1
        $0.duplicate = 0.1
        $0.corrupt = 0.02
      },
      {
        $0.secured = 15_000
        $0.clear = 0.35
        $0.hasExactDigits = false
      }),
  ]

  @Test(
    "sound, keys and reports cross it both ways, and nothing stays behind", arguments: cases,
    1...3 as ClosedRange<UInt64>)
  func joined(_ test: Case, seed: UInt64) throws {
    let call = try JoinedCall(test.scene, seed: seed)
    let clear = try talk(call, test)
    #expect(clear.app >= test.clear && clear.trunk >= test.clear, "\(clear)")
    call.app.phone.speak(from: nil)
    call.trunk.speak(from: nil)
    call.run(milliseconds: 2_500)

    #expect(call.events.contains(.firstMedia(.near)) && call.events.contains(.firstMedia(.far)))

    let heard = [
      (call.digits(.near), Self.fromApp), (call.trunk.digits.map(\.code), Self.fromApp),
      (call.digits(.far), Self.fromTrunk), (call.app.phone.digits.map(\.code), Self.fromTrunk),
    ]
    for (digits, pressed) in heard {
      // Whatever is lost, nothing is invented, doubled or out of order.
      #expect(digits == pressed || !test.hasExactDigits && isPart(digits, of: pressed), "\(digits) of \(pressed)")
    }
    call.command(.close)
    try agree(call, test, .near, call.fromApp)
    try agree(call, test, .far, call.fromTrunk)
    let received = try #require(call.statistics(.near)).received
    #expect(received.recovered >= test.recovered, "\(received.recovered) of \(received.lost)")
    try release(call, test)
  }

  /// One seed of that case may fall below what the others reach; together they may not.
  @Test func damagedAndLateSoundIsClearOnAverage() throws {
    let test = try #require(Self.cases.first { $0.name.hasPrefix("5 % damaged") })
    let clear = try (1...3).map { try talk(try JoinedCall(test.scene, seed: $0), test).app }
    #expect(clear.reduce(0, +) / 3 >= 0.87, "\(clear)")
  }

  private static let fromApp = [1, 1, 2, 0, 11, 9, 10, 5]
  private static let fromTrunk = [4, 15, 4, 4, 7]

  /// Both sides sound their tones and press their keys.
  /// - Returns: How clearly each hears the other, while both sound: what a silent telephone leaves out is heard as noise.
  private func talk(_ call: JoinedCall, _ test: Case) throws -> (app: Double, trunk: Double) {
    let start = call.now
    call.trunk.speak(from: start.advanced(byMilliseconds: 7))
    call.run(milliseconds: test.secured)
    let securedAt = try #require(call.securedAt)
    #expect(securedAt.milliseconds(since: start) <= test.secured)
    #expect(!call.events.contains { if case .transport(_, .failed) = $0 { true } else { false } })

    call.run(milliseconds: 2_000)
    #expect(call.app.phone.press(Self.fromApp, at: call.now))
    #expect(call.trunk.press(Self.fromTrunk, at: call.now))
    call.run(milliseconds: 6_000)
    return (
      app: try Sound.clearness(call.app.phone.sounds(), call.trunk.frequency),
      trunk: try Sound.clearness(call.trunk.sounds(), call.app.phone.frequency)
    )
  }

  /// Whether the first can be had from the second by leaving some out.
  private func isPart(_ part: [Int], of whole: [Int]) -> Bool {
    var rest = whole[...]
    return part.allSatisfy { code in
      guard let place = rest.firstIndex(of: code) else { return false }
      rest = rest[(place + 1)...]
      return true
    }
  }

  /// The bridge counts what the network knows.
  private func agree(_ call: JoinedCall, _ test: Case, _ side: LegID, _ passage: JoinedCall.Passage) throws {
    let statistics = try #require(call.statistics(side))
    // Media that came before the keys, or late from before the first packet, is known to the network alone.
    #expect(abs(Int(statistics.received.packets) - passage.arrived.count) <= 3)
    // What came too late to be heard counts as lost, and did come.
    #expect(abs(Int(statistics.received.lost) - Int(statistics.received.tooLate) - passage.lost) <= 3)
    #expect(statistics.sent.packets == (side == .near ? call.sentToApp : call.sentToTrunk))
    let network = side == .near ? test.scene.app : test.scene.trunk
    let longest =
      Double(2 * (network.delay + network.jitter) + (network.reorder > 0 ? network.reorderDelay * 2 : 0)) / 1000
    if let roundTrip = statistics.roundTrip {
      #expect(roundTrip >= Double(2 * network.delay) / 1000 - 1 && roundTrip <= longest + 2, "\(roundTrip)")
    }
  }

  private func release(_ call: JoinedCall, _ test: Case) throws {
    #expect(call.events.last == .closed)
    #expect(call.bridge?.nextDeadline == nil)
    let told = call.events.count
    weak let bridge = call.bridge
    call.run(milliseconds: 3_000)
    #expect(call.events.count == told)
    if test.isPerfect {
      #expect(call.app.phone.hasHeardBye && call.app.isClosedByPeer && call.trunk.hasHeardBye)
      #expect(call.app.unopened == 0)
    }
    call.release()
    #expect(bridge == nil)
  }
}

/// How clearly a tone is heard.
enum Sound {
  /// Part of the tenths of a second in which at least 0.6 of the power is at the frequency.
  static func clearness(_ samples: [Int16], _ frequency: Double) -> Double {
    let length = JoinedPhone.samplingRate / 10
    var clear = 0
    var all = 0
    for start in stride(from: 0, to: samples.count - length + 1, by: length) {
      all += 1
      if purity(samples[start..<start + length], frequency) >= 0.6 { clear += 1 }
    }
    return all == 0 ? 0 : Double(clear) / Double(all)
  }

  private static func purity(_ samples: ArraySlice<Int16>, _ frequency: Double) -> Double {
    var real = 0.0
    var imaginary = 0.0
    var power = 0.0
    for (index, sample) in samples.enumerated() {
      let angle = 2 * Double.pi * frequency * Double(index) / Double(JoinedPhone.samplingRate)
      real += Double(sample) * cos(angle)
      imaginary += Double(sample) * sin(angle)
      power += Double(sample) * Double(sample)
    }
    return power == 0 ? 0 : 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * power)
  }
}
