import CallModel
import Foundation
import MediaCore
import SDPCore
import Testing

@Suite struct ToneRoundTests {
  /// The second round's packets are sent again and again, and no seam is heard.
  @Test(arguments: [AudioCodec.pcmu, .pcma, .opus])
  func aRepeatingToneIsEncodedOnce(_ codec: AudioCodec) throws {
    let harness = try BridgeHarness(codec, .pcmu)
    harness.command(.playTones(.near, [.ringback(.europe)]))
    harness.advance(milliseconds: 17_000)
    let heard = harness.heard(.near)
    let packets = heard.map(\.payload)
    #expect(packets.count == 851)
    #expect(zip(packets[250...], packets[500...]).allSatisfy { $0 == $1 })
    let step = UInt32(codec.clockRate / 50)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == step })

    let sound = try AudioDecoder(codec, samplingRate: 8_000).sound(packets)
    for round in 0..<3 {
      let start = round * 40_000
      for part in stride(from: start + 400, to: start + 7_600, by: 400) {
        let level = 20 * log10(Sound.strength(425, in: sound[part..<(part + 400)], rate: 8_000) / Tone.reference)
        #expect(abs(level + 13) < 1, "\(codec) at \(part)")
      }
      #expect(Sound.level(sound[(start + 8_400)..<(start + 39_900)]) < 20, "\(codec)")
    }
    let (first, second) = (Array(sound[40_000..<48_000]), Array(sound[80_000..<88_000]))
    #expect(Sound.clarity(of: second, like: first) > 60, "\(codec)")
  }

  @Test func legsOfOneThreadShareARound() {
    let workspace = MediaWorkspace()
    let ringback = workspace.toneRound(.ringback(.europe), .opus)
    #expect(ringback != nil && ringback === workspace.toneRound(.ringback(.europe), .opus))
    #expect(workspace.toneRound(.ringback(.europe), .pcmu) !== ringback)
    #expect(workspace.toneRound(.busy(.europe), .opus) !== ringback)
    for pause in 1...100 { #expect(workspace.toneRound(Self.tone(on: 20, off: 20 * pause), .pcmu) != nil) }
    #expect(workspace.toneRound(.ringback(.europe), .opus) !== ringback, "not more than a number are kept")
  }

  @Test(arguments: [
    .milliwatt, Tone(Tone.ringback(.europe).segments, repeats: false), tone(on: 30, off: 20), tone(on: 20, off: 10_000),
    tone(on: 20, off: Int.max), tone(on: -20, off: 40), Tone([], repeats: true),
    Tone(Tone.ringback(.europe).segments.reversed(), repeats: true), tone(on: 0, off: 0),
  ])
  func otherTonesAreMadeAnew(_ tone: Tone) { #expect(MediaWorkspace().toneRound(tone, .pcmu) == nil) }

  @Test func whatNeverComesToRestIsEncodedForEachLeg() throws {
    #expect(MediaWorkspace().toneRound(.ringback(.europe), .g722) == nil)
    let harness = try BridgeHarness(.g722, .pcmu)
    harness.command(.playTones(.near, [.ringback(.europe)]))
    harness.advance(milliseconds: 6_000)
    let sound = try AudioDecoder(.g722, samplingRate: 8_000).sound(harness.heard(.near).map(\.payload))
    for start in [0, 40_000] {
      let strength = Sound.strength(425, in: sound[(start + 400)..<(start + 7_600)], rate: 8_000)
      #expect(abs(20 * log10(strength / Tone.reference) + 13) < 1)
    }
  }

  private static func tone(on: Int, off: Int) -> Tone {
    Tone(
      [.init([.init(frequency: 425, level: -13)], milliseconds: on), .init([], milliseconds: off)], repeats: true)
  }

  /// What repeats has no end: tones that come later are not heard, as long as it is played.
  @Test func aRepeatingToneGoesOnUntilItIsStopped() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.command(.playTones(.near, [.ringback(.europe)]))
    harness.advance(milliseconds: 1_000)
    let key = try #require(Tone.key(5))
    harness.command(.playTones(.near, [key]))
    harness.advance(milliseconds: 1_000)
    let payloads = harness.heard(.near).map(\.payload)
    #expect(payloads.dropFirst(51).allSatisfy { $0.allSatisfy { $0 == 0xFF } }, "the pause of the cadence")
    harness.command(.stopPlaying(.near))
    harness.command(.playTones(.near, [key]))
    harness.advance(milliseconds: 100)
    #expect(harness.heard(.near).map(\.payload).dropFirst(payloads.count).contains { $0.contains { $0 != 0xFF } })
  }
}
