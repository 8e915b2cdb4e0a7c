import Foundation
import MediaCore
import Testing

/// Speech that a synthesizer makes, where one is installed.
@Suite("Keys not heard in speech")
struct DTMFTalkOffTests {
  private static let synthesizer = "/usr/bin/flite"
  private static let isPresent = FileManager.default.isExecutableFile(atPath: synthesizer)
  private static let text = """
    Seven tones, two of them at once, are what a telephone sends for every key that is pressed. Whoever speaks sings
    many tones at once, and now and then two of them lie where a key would put them. Ooh, no, do you know who the new
    crew knew? Easy, breezy, sixty-six sleek seals see three green trees. We were away a year ago. Roaring lions;
    whistling kettles; an eerie, airy oboe. One, two, three, four, five, six, seven, eight, nine, zero, star, hash.
    """

  @Test(
    "no voice presses a key", .enabled(if: isPresent, "flite is not installed"),
    arguments: ["kal", "rms", "slt"])
  func speech(voice: String) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: DTMFTalkOffTests.synthesizer)
    process.arguments = ["-voice", voice, "-t", DTMFTalkOffTests.text, "-o", file.path]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let wave = [UInt8](try Data(contentsOf: file))
    try #require(wave.count > 44 + 16_000 * 5)
    let rate = Int(wave[24]) | Int(wave[25]) << 8
    try #require(rate == 8_000 || rate == 16_000)
    let samples = stride(from: 44, to: wave.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(wave[$0]) | UInt16(wave[$0 + 1]) << 8)
    }
    #expect(KeyTones.heard(samples, rate: rate).isEmpty)
    // The same voice with a key in the middle is heard: the test can fail.
    let half = samples.count / 2
    let key = KeyTones.key(7, milliseconds: 60, rate: rate).map(KeyTones.clipped)
    let gap = [Int16](repeating: 0, count: rate / 20)
    let pressed = samples[..<half] + gap + key + gap + samples[half...]
    #expect(KeyTones.heard(Array(pressed), rate: rate).map(\.code) == [7])
  }
}
