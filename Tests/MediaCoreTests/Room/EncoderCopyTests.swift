import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct EncoderCopyTests {
  private static func payloads(_ encoder: AudioEncoder, _ frames: Range<Int>) -> [[UInt8]] {
    let sound = Sound.voice(rate: encoder.samplingRate, samples: encoder.samplingRate * 2)
    let count = encoder.samplingRate / 50
    return frames.map { TestSound.encode(Array(sound[($0 * count)..<(($0 + 1) * count)]), encoder) }
  }

  @Test(arguments: [(AudioCodec.opus, 0.0), (.opus, 0.1), (.g722, 0), (.pcmu, 0)])
  func aCopyGoesOnAsTheOriginalDoes(_ codec: AudioCodec, _ loss: Double) throws {
    let rate = codec == .pcmu ? 8_000 : 16_000
    let original = try AudioEncoder(codec, samplingRate: rate)
    original.report(lossRate: loss, at: .zero)
    _ = Self.payloads(original, 0..<40)
    let copy = AudioEncoder(copying: original)
    #expect(copy.form == original.form)
    let late = try AudioEncoder(codec, samplingRate: rate)
    late.report(lossRate: loss, at: .zero)
    let truth = Self.payloads(original, 40..<60)
    #expect(Self.payloads(copy, 40..<60) == truth)
    if codec != .pcmu { #expect(Self.payloads(late, 40..<60) != truth, "one without a past does not") }
    #expect(late.copyState(from: original) && original.copyState(from: copy))
    #expect(Self.payloads(late, 60..<80) == Self.payloads(original, 60..<80))
  }

  @Test func whatIsOfAnotherKindIsNotCopied() throws {
    let opus = try AudioEncoder(.opus, samplingRate: 16_000)
    let lossy = try AudioEncoder(.opus, samplingRate: 16_000)
    lossy.report(lossRate: 0.2, at: .zero)
    #expect(opus.form != lossy.form)
    #expect(!opus.copyState(from: lossy))
    #expect(!opus.copyState(from: try AudioEncoder(.opus, samplingRate: 8_000)))
    #expect(!opus.copyState(from: try AudioEncoder(.g722, samplingRate: 16_000)))
    #expect(!Self.payloads(opus, 0..<10).contains([]), "it works as before")
  }
}
