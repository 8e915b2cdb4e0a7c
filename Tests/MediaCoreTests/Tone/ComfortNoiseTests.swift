import Foundation
import MediaCore
import SecureTransport
import Testing

@Suite struct ComfortNoiseTests {
  @Test(arguments: [30, 40, 50, 60]) func itIsAsLoudAsAsked(_ level: Int) {
    for reflections in [[], [-0.9], [0.7, -0.4, 0.2], Array(repeating: 0.3, count: 12)] {
      var noise = ComfortNoise(seed: 1, .init(level: level, reflections: reflections))
      let samples = SampleBuffer()
      noise.fill(samples, count: 400)
      noise.fill(samples, count: 5_760)
      #expect(abs(ComfortNoise.level(of: samples) - level) <= 2, "\(reflections)")
    }
  }

  @Test func theSpectrumHasItsShape() {
    let samples = SampleBuffer()
    var ratios: [Double] = []
    for reflection in [-0.9, 0, 0.9] {
      var noise = ComfortNoise(seed: 2, .init(level: 40, reflections: [reflection]))
      noise.fill(samples, count: 5_760)
      // Neighbours are alike where low frequencies are strong.
      let sound = samples.samples.map(Double.init)
      ratios.append(zip(sound, sound.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / sound.reduce(0) { $0 + $1 * $1 })
    }
    #expect(ratios[0] > 0.8 && abs(ratios[1]) < 0.1 && ratios[2] < -0.8)
  }

  @Test func aSeedRepeatsItself() {
    var one = ComfortNoise(seed: 9, .init(level: 40))
    var same = ComfortNoise(seed: 9, .init(level: 40))
    var other = ComfortNoise(seed: 12, .init(level: 40))
    let (a, b, c) = (SampleBuffer(), SampleBuffer(), SampleBuffer())
    one.fill(a, count: 160)
    same.fill(b, count: 160)
    other.fill(c, count: 160)
    #expect(a.samples == b.samples && a.samples != c.samples)
  }

  @Test func packetsAreReadAndWritten() throws {
    let packet = PacketBuffer([1, 2])
    let payload = ComfortNoise.Payload(level: 67, reflections: [0.5, -0.5])
    #expect(payload.write(into: packet) && packet.count == 5 && packet[2] == 67)
    let read = try #require(ComfortNoise.Payload(packet, offset: 2, count: 3))
    #expect(read.level == 67 && read.reflections.count == 2)
    #expect(zip(read.reflections, payload.reflections).allSatisfy { abs($0 - $1) < 0.005 })
    // 127 stands for 0; 255 is not used and means 0 too; the top bit of the level is not part of it.
    let bytes: [UInt8] = [0x80 | 40, 127, 255, 0, 254]
    let odd = try #require(ComfortNoise.Payload(PacketBuffer(bytes), offset: 0, count: 5))
    #expect(odd.level == 40 && odd.reflections[0] == 0 && odd.reflections[1] == 0)
    #expect(odd.reflections[2] == -0.99 && odd.reflections[3] == 0.99)
    #expect(ComfortNoise.Payload(packet, offset: 5, count: 0) == nil)
    #expect(ComfortNoise.Payload(packet, offset: 4, count: 2) == nil)
    let long = PacketBuffer(Array(repeating: 200, count: 1_000))
    #expect(ComfortNoise.Payload(long, offset: 0, count: 1_000)?.reflections.count == ComfortNoise.Payload.maximumOrder)
    packet.count = PacketBuffer.capacity
    #expect(!payload.write(into: packet))
  }

  /// The sharpest filter a packet can ask for stays bounded.
  @Test func noPacketMakesItOverflow() {
    var generator = SeededNoise(state: 5)
    let samples = SampleBuffer()
    var noise = ComfortNoise(seed: 3, .init(level: 0))
    for _ in 0..<500 {
      let bytes = (0..<14).map { _ in
        Bool.random(using: &generator) ? UInt8(254) : UInt8.random(in: 0...255, using: &generator)
      }
      guard let payload = ComfortNoise.Payload(PacketBuffer(bytes), offset: 0, count: 14) else { continue }
      noise.change(to: payload)
      noise.fill(samples, count: 160)
      #expect(samples.count == 160)
    }
    noise.change(to: .init(level: 60))
    noise.fill(samples, count: 800)
    noise.fill(samples, count: 800)
    #expect(abs(ComfortNoise.level(of: samples) - 60) <= 2)
  }

  @Test func levelsAreMeasured() {
    #expect(ComfortNoise.level(of: SampleBuffer([])) == 127)
    #expect(ComfortNoise.level(of: SampleBuffer([0, 0])) == 127)
    #expect(ComfortNoise.level(of: SampleBuffer([.min, .max])) == 0)
    #expect(ComfortNoise.level(of: SampleBuffer(Sound.sine(1_000, rate: 8_000, samples: 800, amplitude: 22_302))) == 6)
  }
}
