import Foundation
import MediaCore
import SecureTransport

/// Test sounds, and measures of them.
enum Sound {
  static func sine(_ frequency: Double, rate: Int, samples count: Int, amplitude: Double = 8_000) -> [Int16] {
    (0..<count).map { Int16(amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate))) }
  }

  /// Something like a voice: a gliding fundamental with harmonics, in syllables.
  static func voice(rate: Int, samples count: Int, seed: UInt64 = 1) -> [Int16] {
    var phase = 0.0
    return (0..<count).map { index in
      let time = Double(index) / Double(rate)
      let pitch = 120 + 30 * sin(2 * .pi * 0.7 * time + Double(seed))
      phase += pitch / Double(rate)
      var sum = 0.0
      for harmonic in 1...20 where Double(harmonic) * pitch < 3_400 {
        sum += sin(2 * .pi * phase * Double(harmonic)) / Double(harmonic)
      }
      return Int16(sum * 5_000 * max(0, sin(2 * .pi * 2 * time)))
    }
  }

  static func noise(samples count: Int, amplitude: Int = 8_000, seed: UInt64 = 1) -> [Int16] {
    var generator = SeededNoise(state: seed)
    return (0..<count).map { _ in Int16(Int.random(in: -amplitude...amplitude, using: &generator)) }
  }

  static func level(_ samples: some Collection<Int16>) -> Double {
    guard !samples.isEmpty else { return 0 }
    return (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
  }

  /// The largest difference of two samples that follow one another.
  static func step(_ samples: some Collection<Int16>) -> Int {
    zip(samples, samples.dropFirst()).map { abs(Int($1) - Int($0)) }.max() ?? 0
  }

  /// Decibels between `reference` and what differs from it, at the delay (up to `delay`) that fits best.
  static func clarity(of heard: [Int16], like reference: [Int16], delay: Int = 0) -> Double {
    (0...delay).map { shift in
      let count = min(reference.count, heard.count - shift)
      var signal = 0.0
      var noise = 0.0
      for index in 0..<max(count, 0) {
        let wanted = Double(reference[index])
        let error = wanted - Double(heard[index + shift])
        signal += wanted * wanted
        noise += error * error
      }
      return 10 * log10(signal / max(noise, 1e-9))
    }.max() ?? 0
  }

  /// How strong one frequency is: the amplitude of a sine.
  static func strength(_ frequency: Double, in samples: some Collection<Int16>, rate: Int) -> Double {
    var real = 0.0
    var imaginary = 0.0
    for (index, sample) in samples.enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / Double(rate)
      real += Double(sample) * cos(angle)
      imaginary += Double(sample) * sin(angle)
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
  }
}

struct SeededNoise: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension AudioEncoder {
  /// All packets of a sound, `frame` samples each; `nil` where nothing is sent.
  func packets(_ sound: [Int16], frame: Int) -> [[UInt8]?] {
    stride(from: 0, through: sound.count - frame, by: frame).map { start in
      let packet = PacketBuffer()
      let sent = encode(SampleBuffer(sound[start..<(start + frame)]), from: 0, count: frame, into: packet)
      return sent ? packet.bytes : nil
    }
  }
}

extension AudioDecoder {
  /// All sound of some packets.
  func sound(_ packets: some Sequence<[UInt8]>) -> [Int16] {
    let samples = SampleBuffer()
    return packets.flatMap { bytes -> [Int16] in
      decode(PacketBuffer(bytes), offset: 0, count: bytes.count, into: samples) ? samples.samples : []
    }
  }
}
