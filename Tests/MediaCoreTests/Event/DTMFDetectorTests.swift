import Foundation
import MediaCore
import TestVectors
import Testing

@Suite("Keys heard in sound")
struct DTMFDetectorTests {
  /// A key with silence before it, so that it begins at any place of a window, and after it.
  private func placed(_ key: [Double], after milliseconds: Double, rate: Int = 8_000) -> [Double] {
    KeyTones.silence(milliseconds, rate: rate) + key + KeyTones.silence(80, rate: rate)
  }

  @Test("every key is heard, at each rate", arguments: [8_000, 16_000])
  func everyKey(rate: Int) {
    for code in 0...15 {
      let digits = KeyTones.heard(
        placed(KeyTones.key(code, milliseconds: 80, rate: rate), after: 13, rate: rate), rate: rate)
      #expect(digits.map(\.code) == [code])
      #expect(digits.allSatisfy { $0.way == .tone && abs($0.milliseconds - 80) <= 8 }, "\(digits)")
    }
  }

  @Test("40 ms are enough and 23 ms are not, wherever they fall", arguments: [8_000, 16_000])
  func length(rate: Int) {
    for code in 0...15 {
      for offset in stride(from: 0.0, to: 14, by: 0.75) {
        let long = placed(KeyTones.key(code, milliseconds: 40, rate: rate), after: 20 + offset, rate: rate)
        #expect(KeyTones.heard(long, rate: rate).map(\.code) == [code], "\(code) after \(offset) ms")
        let short = placed(KeyTones.key(code, milliseconds: 23, rate: rate), after: 20 + offset, rate: rate)
        #expect(KeyTones.heard(short, rate: rate).isEmpty, "\(code) after \(offset) ms")
      }
    }
  }

  @Test("a pause of 40 ms parts two keys; one of 10 ms does not")
  func pauses() {
    for offset in stride(from: 0.0, to: 14, by: 0.75) {
      let key = KeyTones.key(5, milliseconds: 50)
      let two = placed(key + KeyTones.silence(40) + key, after: offset)
      #expect(KeyTones.heard(two).map(\.code) == [5, 5], "\(offset)")
      let one = placed(key + KeyTones.silence(10) + key, after: offset)
      #expect(KeyTones.heard(one).map(\.code) == [5], "\(offset)")
    }
  }

  @Test("levels from −29 to −3 dBm0 are keys, −40 is not")
  func levels() {
    for code in 0...15 {
      for level in stride(from: -29.0, through: -3, by: 2) {
        let digits = KeyTones.heard(placed(KeyTones.key(code, milliseconds: 45, level: level), after: 9))
        #expect(digits.map(\.code) == [code], "\(level) dBm0")
      }
      #expect(KeyTones.heard(placed(KeyTones.key(code, milliseconds: 200, level: -40), after: 9)).isEmpty)
    }
  }

  @Test("twist from −8 to 4 dB is accepted; ±14 dB is not")
  func twist() {
    for code in 0...15 {
      for twist in stride(from: -8.0, through: 4, by: 2) {
        let digits = KeyTones.heard(placed(KeyTones.key(code, milliseconds: 45, level: -12, twist: twist), after: 4))
        #expect(digits.map(\.code) == [code], "\(twist) dB")
      }
      for twist in [-14.0, 14] {
        let digits = KeyTones.heard(placed(KeyTones.key(code, milliseconds: 200, level: -20, twist: twist), after: 4))
        #expect(digits.isEmpty, "\(twist) dB")
      }
    }
  }

  @Test("frequencies off by 1.5 % are keys, off by 3.5 % they are not")
  func deviation() {
    for code in 0...15 {
      for sign in [-1.0, 1] {
        for offset in stride(from: 0.0, to: 7, by: 1.3) {
          let near = KeyTones.heard(
            placed(KeyTones.key(code, milliseconds: 45, detune: sign * 0.015), after: offset))
          #expect(near.map(\.code) == [code], "\(sign)")
          let far = KeyTones.heard(
            placed(KeyTones.key(code, milliseconds: 300, detune: sign * 0.035), after: offset))
          #expect(far.isEmpty, "\(sign)")
        }
      }
    }
  }

  @Test("noise 15 dB below a key does not hide it; through G.711 too")
  func noise() {
    var chance = EventChance(seed: 5)
    for code in 0...15 {
      for round in 0..<20 {
        let clean = placed(KeyTones.key(code, milliseconds: 50, level: -15), after: Double(round) * 0.7)
        // Two tones of −15 dBm0 are −12 dBm0 together.
        let noise = KeyTones.noise(clean.count, level: -27, using: &chance)
        let sound = zip(clean, noise).map { KeyTones.throughMuLaw(KeyTones.clipped($0 + $1)) }
        #expect(KeyTones.heard(sound).map(\.code) == [code], "\(round)")
      }
    }
  }

  @Test("a number is heard whatever the blocks it comes in", arguments: [1, 37, 80, 160, 240, 960, 5_760])
  func blocks(block: Int) {
    let number = [2, 0, 1, 3, 7, 8, 5, 4, 9, 6, 10, 11]
    let sound = number.flatMap { KeyTones.key($0, milliseconds: 60) + KeyTones.silence(50) }
    #expect(KeyTones.heard(sound, block: block).map(\.code) == number)
  }

  @Test("tones of the network, noise and silence are no keys")
  func otherSounds() {
    let sounds: [[(frequency: Double, level: Double)]] = [
      [(350, -13), (440, -13)], [(480, -24), (620, -24)], [(440, -19), (480, -19)], [(425, -10)], [(1100, -10)],
      [(2100, -10)], [(1000, 0)], [(1400, -10)], [(697, -6)], [(1336, -6)], [(697, -10), (852, -10)],
      [(1209, -10), (1477, -10)], [(700, -13), (900, -13)], [(1700, -13), (1500, -13)],
      // A key's tones with a third, and with overtones.
      [(697, -10), (1209, -10), (1000, -10)], [(770, -10), (1336, -10), (2672, -14), (1540, -14)],
    ]
    for sound in sounds {
      #expect(KeyTones.heard(KeyTones.tones(sound, milliseconds: 2_000)).isEmpty, "\(sound)")
    }
    var chance = EventChance(seed: 3)
    #expect(KeyTones.heard(KeyTones.noise(8_000 * 60, level: -10, using: &chance)).isEmpty)
    #expect(KeyTones.heard(KeyTones.silence(5_000)).isEmpty)
    #expect(KeyTones.heard([Int16](repeating: .min, count: 8_000)).isEmpty)
  }

  @Test(
    "recorded speech and beeps hold no keys",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func recordings() throws {
    let folder = TestVectors.folder.appendingPathComponent("codec/audio")
    let table = try TestVectors.table("codec/g711-decode.tsv")
    let law = try table.map { try #require($0["ulaw_pcm16"].flatMap { Int16($0) }) }
    #expect(law.count == 256)
    let talking = try Data(contentsOf: folder.appendingPathComponent("asterisk-talking.ulaw"))
    #expect(KeyTones.heard(talking.map { law[Int($0)] }).isEmpty)
    let wave = try Data(contentsOf: folder.appendingPathComponent("re-beep.wav")).dropFirst(44).prefix(1072)
    let beep = stride(from: wave.startIndex, to: wave.endIndex - 1, by: 2).map {
      Int16(bitPattern: UInt16(wave[$0]) | UInt16(wave[$0 + 1]) << 8)
    }
    #expect(KeyTones.heard(beep).isEmpty)
  }
}
