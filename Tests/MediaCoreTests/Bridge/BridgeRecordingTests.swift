import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// What a bridge records of its legs.
@Suite struct BridgeRecordingTests {
  private static let rate = RecordingEncoder.samplingRate

  private func strength(_ frequency: Double, _ samples: some Collection<Int16>) -> Double {
    Sound.strength(frequency, in: samples, rate: Self.rate)
  }

  private func range(_ milliseconds: Range<Int>) -> Range<Int> {
    (milliseconds.lowerBound * 16)..<(milliseconds.upperBound * 16)
  }

  @Test(arguments: [
    (AudioCodec.pcmu, AudioCodec.pcmu), (.pcmu, .opus), (.opus, .opus), (.g722, .opus), (.g722, .g722), (.opus, .pcma),
  ])
  func eachLegHasItsChannel(_ left: AudioCodec, _ right: AudioCodec) throws {
    let stage = try HummingBridge(left, right)
    stage.harness.advance(milliseconds: 333)
    stage.harness.command(.record(.sound))
    stage.hum(milliseconds: 4_000)
    stage.harness.advance(milliseconds: 7)
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(near.count == 4_007 * 16 && far.count == near.count)
    let middle = range(500..<3_900)
    #expect(strength(440, near[middle]) > 6_500 && strength(1_000, near[middle]) < 80)
    #expect(strength(1_000, far[middle]) > 6_500 && strength(440, far[middle]) < 80)
    #expect(stage.ends == 1)
    for case .recordingEnded(let patches) in stage.harness.events { #expect(patches.isEmpty) }
    // It comes in time.
    var told = 0
    for case .recorded(let bytes) in stage.harness.events.dropLast(2) { told += bytes.count }
    #expect(told >= 2_000 * 64)
  }

  @Test(arguments: [
    (AudioCodec.opus, AudioCodec.opus), (.g722, .g722), (.g722, .opus), (.opus, .g722),
  ])
  func wideBandIsKept(_ left: AudioCodec, _ right: AudioCodec) throws {
    for tone in [3_800.0, 6_000] {
      let stage = try HummingBridge(left, right, tone, 500)
      stage.harness.command(.record(.sound))
      stage.hum(milliseconds: 2_000)
      stage.harness.command(.record(nil))
      let near = stage.recorded.left
      #expect(strength(tone, near[range(500..<1_900)]) > 4_000, "\(left) \(right): \(tone) Hz")
    }
  }

  @Test(arguments: [WAVRecorder.Form.file, .sound], [(AudioCodec.pcmu, AudioCodec.pcmu), (.opus, .pcmu)])
  func whoIsMutedIsNotRecorded(_ form: WAVRecorder.Form, _ codecs: (AudioCodec, AudioCodec)) throws {
    let stage = try HummingBridge(codecs.0, codecs.1)
    stage.harness.command(.record(form))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.mute(.near, true))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.mute(.near, false))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.record(nil))
    let head = form == .file ? WAVRecorder.headSize / 4 : 0
    let (near, far) = stage.recorded
    let ms = form.samplingRate / 1_000
    #expect(near.count == head + 3_000 * ms)
    let muted = (head + 1_040 * ms)..<(head + 1_990 * ms)
    #expect(near[muted].allSatisfy { $0 == 0 })
    #expect(Sound.level(far[muted]) > 4_000 && Sound.level(near[(head + 2_100 * ms)...]) > 4_000)
    #expect(Sound.level(near[(head + 100 * ms)..<(head + 1_000 * ms)]) > 4_000)
  }

  @Test(arguments: [WAVRecorder.Form.file, .sound]) func aPauseIsSilence(_ form: WAVRecorder.Form) throws {
    let stage = try HummingBridge(.pcmu, .opus)
    stage.harness.command(.pauseRecording(true))
    stage.harness.command(.record(form))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.pauseRecording(true))
    stage.hum(milliseconds: 5_000)
    stage.harness.command(.pauseRecording(false))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.record(nil))
    let head = form == .file ? WAVRecorder.headSize / 4 : 0
    let ms = form.samplingRate / 1_000
    let (near, far) = stage.recorded
    #expect(near.count == head + 7_000 * ms)
    for channel in [near, far] {
      #expect(channel[(head + 1_060 * ms)..<(head + 5_990 * ms)].allSatisfy { $0 == 0 })
      #expect(Sound.level(channel[(head + 100 * ms)..<(head + 980 * ms)]) > 4_000)
      #expect(Sound.level(channel[(head + 6_100 * ms)...]) > 4_000)
    }
  }

  @Test func silenceLastsAsLongAsTheTime() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.record(.sound))
    stage.harness.command(.record(.file))
    stage.harness.advance(milliseconds: 10_010)
    var told = 0
    for case .recorded(let bytes) in stage.harness.events { told += bytes.count }
    #expect(told == 9_000 * 64)
    stage.harness.command(.close)
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(near.count == 10_010 * 16 && near.allSatisfy { $0 == 0 } && far.allSatisfy { $0 == 0 })
    #expect(stage.ends == 1)
  }

  @Test(arguments: [LegID.near, .far, LegID(2)]) func whoIsAloneHasItsOwnChannel(_ leg: LegID) throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.record(.sound))
    if leg == .near {
      stage.harness.command(.detach(.far))
      stage.hum([.near], milliseconds: 1_000)
    } else {
      stage.harness.command(.detach(.near))
      stage.hum([.far], milliseconds: 1_000)
    }
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(near.count == 16_000)
    let (own, other) = leg == .near ? (near, far) : (far, near)
    #expect(Sound.level(own[1_000..<15_000]) > 4_000 && other.allSatisfy { $0 == 0 })
  }

  @Test func whoWaitsApartIsNotRecorded() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.record(.sound))
    stage.harness.command(.part(.far))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.join(.far))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(far[range(0..<990)].allSatisfy { $0 == 0 })
    #expect(Sound.level(near[range(100..<1_900)]) > 4_000 && Sound.level(far[range(1_100..<1_900)]) > 4_000)
  }

  /// The near phone is put through and leaves; the third one talks with the far phone from there on.
  @Test func whoTakesAPlaceHasItsChannel() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    let third = LegID(2)
    try stage.harness.addPhoneApart(third, .pcmu)
    stage.harness.command(.record(.sound))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.detach(.near))
    stage.harness.command(.join(third))
    for _ in 0..<50 {
      stage.harness.send(third, [UInt8](repeating: 0x10, count: 160), ticks: 160)
      stage.send(.far)
      stage.harness.advance(milliseconds: 20)
    }
    stage.harness.command(.record(nil))
    let (left, right) = stage.recorded
    #expect(strength(440, left[range(100..<900)]) > 6_500 && strength(1_000, left[range(0..<1_990)]) < 80)
    #expect(strength(1_000, right[range(1_100..<1_900)]) > 6_000, "whoever stays has its own channel")
    #expect(left[range(1_100..<1_900)].allSatisfy { $0 != 0 }, "and the new one the other")
  }

  @Test func whoIsInARoomIsRecorded() throws {
    let stage = try HummingBridge(.pcmu, .opus)
    stage.harness.command(.record(.sound))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.enterRoom(.near, RoomIdentifier(rawValue: 1), RoomOptions()))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.mute(.near, true))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.mute(.near, false))
    stage.harness.command(.leaveRoom(.near))
    stage.hum(milliseconds: 1_000)
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(near.count == 4_000 * 16)
    for part in [100..<900, 1_100..<1_900, 3_100..<3_900] {
      #expect(strength(440, near[range(part)]) > 6_500, "\(part)")
      #expect(strength(1_000, far[range(part)]) > 6_000, "\(part)")
    }
    #expect(near[range(2_040..<2_990)].allSatisfy { $0 == 0 })
  }

  /// The far phone's sound stops on its way for 300 ms and then comes all at once: it stays where it belongs.
  @Test(arguments: [(AudioCodec.pcmu, AudioCodec.pcmu), (.opus, .pcmu), (.opus, .g722)])
  func aStallLeavesNoGap(_ codecs: (AudioCodec, AudioCodec)) throws {
    let stage = try HummingBridge(codecs.0, codecs.1)
    stage.harness.command(.record(.sound))
    stage.hum(milliseconds: 1_000)
    stage.hum([.near], milliseconds: 300)
    for _ in 0..<15 { stage.send(.far) }
    stage.hum(milliseconds: 1_700)
    stage.harness.command(.record(nil))
    let far = stage.recorded.right
    #expect(far.count == 3_000 * 16)
    #expect(strength(1_000, far[range(100..<2_900)]) > 6_000)
    #expect(Sound.strength(1_000, in: far[range(900..<1_500)], rate: Self.rate) > 6_000)
  }

  @Test func whatIsLostIsSilence() throws {
    let stage = try HummingBridge(.pcmu, .pcma)
    stage.harness.command(.record(.sound))
    for index in 0..<100 {
      stage.send(.near, lost: (40..<60).contains(index))
      stage.send(.far)
      stage.harness.advance(milliseconds: 20)
    }
    stage.harness.command(.record(nil))
    let (near, far) = stage.recorded
    #expect(near.count == 2_000 * 16)
    #expect(near[range(820..<1_180)].allSatisfy { $0 == 0 })
    #expect(Sound.level(near[range(1_210..<1_990)]) > 4_000 && Sound.level(far[range(100..<1_900)]) > 4_000)
  }

  /// Whoever looks at the call sees that it is recorded no more.
  @Test func aRecordingAsLongAsOneMayBeIsOver() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.record(.sound))
    for _ in 0..<(WAVRecorder.maximumSeconds / 60) {
      #expect(stage.ends == 0)
      stage.harness.events.removeAll()
      stage.harness.advance(milliseconds: 60_000)
    }
    stage.harness.advance(milliseconds: 200)
    #expect(stage.ends == 1)
    stage.harness.command(.record(.sound))
    stage.harness.advance(milliseconds: 1_000)
    stage.harness.command(.record(nil))
    #expect(stage.ends == 2)
  }

  @Test func whoSendsTooMuchMakesNothingLonger() throws {
    let stage = try HummingBridge(.pcmu, .pcmu)
    stage.harness.command(.record(.sound))
    for _ in 0..<100 {
      for _ in 0..<3 { stage.send(.near) }
      stage.send(.far)
      stage.harness.advance(milliseconds: 20)
    }
    stage.harness.command(.record(nil))
    #expect(stage.recorded.left.count == 2_000 * 16)
  }
}
