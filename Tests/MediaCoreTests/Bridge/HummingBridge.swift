import CallModel
import MediaCore
import SDPCore

/// Phones that hum, and what was recorded of them.
final class HummingBridge {
  let harness: BridgeHarness
  private var encoders: [LegID: AudioEncoder] = [:]
  private var positions: [LegID: Int] = [:]
  private let frequencies: [LegID: Double]

  init(_ left: AudioCodec, _ right: AudioCodec, _ near: Double = 440, _ far: Double = 1_000) throws {
    harness = try BridgeHarness(left, right)
    frequencies = [.near: near, .far: far]
    for (leg, codec) in [(LegID.near, left), (.far, right)] {
      encoders[leg] = try AudioEncoder(codec, samplingRate: codec == .opus ? 16_000 : codec.samplingRate)
    }
  }

  func hum(_ legs: [LegID] = [.near, .far], milliseconds: Int) {
    for _ in 0..<(milliseconds / 20) {
      for leg in legs { send(leg) }
      harness.advance(milliseconds: 20)
    }
  }

  func send(_ leg: LegID, lost: Bool = false) {
    guard let encoder = encoders[leg], let codec = harness.phones[leg]?.codec, let frequency = frequencies[leg] else {
      return
    }
    let rate = encoder.samplingRate
    let from = positions[leg] ?? 0
    positions[leg] = from + rate / 50
    let sound = TestSound.sine(frequency, samples: rate / 50, from: from, rate: Double(rate))
    harness.send(leg, TestSound.encode(sound, encoder), ticks: UInt32(codec.clockRate / 50), lost: lost)
  }

  /// How often a recording ended.
  var ends: Int { harness.events.count { if case .recordingEnded = $0 { true } else { false } } }

  var recorded: (left: [Int16], right: [Int16]) {
    var bytes: [UInt8] = []
    for case .recorded(let piece) in harness.events { bytes += piece }
    func channel(_ offset: Int) -> [Int16] {
      stride(from: offset, to: bytes.count - 1, by: 4).map {
        Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
      }
    }
    return (channel(0), channel(2))
  }
}
