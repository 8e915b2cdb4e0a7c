import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct MediaBridgeTests {
  @Test func sameCodecPassesUntouched() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    for index in 0..<10 {
      harness.send(.near, [UInt8](repeating: UInt8(index), count: 160), ticks: 160)
      harness.advance(milliseconds: 20)
    }
    let heard = harness.heard(.far)
    #expect(heard.map { $0.payload.first } == (0..<10).map { UInt8($0) })
    #expect(heard.map(\.header.sequence) == (10..<20).map { UInt16($0) })
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == 160 })
    #expect(heard.allSatisfy { $0.header.source == 2_000 && $0.payload.count == 160 })
    #expect(heard.map(\.header.marker) == [true] + [Bool](repeating: false, count: 9))
    #expect(harness.events.contains(.firstMedia(.near)))
  }

  @Test func aLatePacketKeepsItsNumberWherePacketsPassUntouched() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    let order: [UInt16] = [0, 1, 3, 4, 2, 2, 5, 8, 7, 9]
    for number in order {
      harness.deliver(
        .near, [UInt8](repeating: UInt8(number), count: 160), sequence: 65_530 &+ number,
        timestamp: UInt32(number) * 160, payloadType: 0)
      harness.advance(milliseconds: 20)
    }
    let heard = harness.heard(.far)
    #expect(heard.map { UInt16($0.payload[0]) } == [0, 1, 3, 4, 2, 5, 8, 7, 9])
    #expect(heard.allSatisfy { $0.header.sequence == 10 + UInt16($0.payload[0]) })
    let first = heard[0].header.timestamp
    #expect(heard.allSatisfy { $0.header.timestamp &- first == UInt32($0.payload[0]) * 160 })
  }

  @Test(arguments: [
    (AudioCodec.opus, AudioCodec.pcmu), (.pcmu, .opus), (.opus, .g722), (.g722, .opus), (.pcma, .pcmu), (.g722, .pcma),
    (.pcma, .g722),
  ])
  func soundIsTranscoded(_ input: AudioCodec, _ output: AudioCodec) throws {
    let harness = try BridgeHarness(input, output)
    let rate = input == .opus ? 8_000 : input.samplingRate
    let encoder = try AudioEncoder(input, samplingRate: rate)
    let samples = rate / 50
    for index in 0..<50 {
      let sound = TestSound.sine(440, samples: samples, from: index * samples, rate: Double(rate))
      harness.send(.near, TestSound.encode(sound, encoder), ticks: UInt32(input.clockRate / 50))
      harness.advance(milliseconds: 20)
    }
    let heard = harness.heard(.far)
    #expect(heard.count == 50)
    let decoder = try AudioDecoder(output, samplingRate: 8_000)
    let sound = heard.flatMap { TestSound.decode($0.payload, decoder) }
    #expect(sound.count == 8_000)
    #expect(TestSound.purity(Array(sound.suffix(4_000)), 440) > 0.9)
    let step = UInt32(output.clockRate / 50)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == step })
  }

  @Test func aBridgeJoinsNoMoreThanTwoLegs() throws {
    let harness = try BridgeHarness(.pcmu, .pcma)
    harness.attach(LegID(2), port: 3)
    harness.attach(.near, port: 4)
    harness.advance(milliseconds: 1_000)
    let told = harness.events.compactMap { if case .statistics(let leg, _) = $0 { leg } else { nil as LegID? } }
    #expect(told == [.near, .far])
    harness.send(.near, [UInt8](repeating: 0xD5, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == 1)
  }

  @Test func aLegThatWaitsApartIsHeardOnceItJoins() throws {
    let harness = try BridgeHarness(.pcmu, .pcma)
    harness.send(.near, [UInt8](repeating: 0xD5, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == 1)
    harness.command(.detach(.far))
    #expect(harness.controls(.far) > 0, "whoever leaves is told so")
    let (first, second) = (LegID(2), LegID(3))
    for leg in [first, second] { try harness.addPhoneApart(leg, .pcmu) }
    let sound = [UInt8](repeating: 0x55, count: 160)
    func speak() {
      for leg in [.near, first, second] { harness.send(leg, sound, ticks: 160) }
      harness.advance(milliseconds: 20)
    }
    speak()
    for leg in [.near, first, second] { #expect(harness.heard(leg).isEmpty, "\(leg)") }
    #expect(harness.events.contains { if case .firstMedia(first) = $0 { true } else { false } })
    harness.command(.join(second))
    harness.command(.detach(first))
    for _ in 0..<3 { speak() }
    #expect(harness.heard(.near).count == 3 && harness.heard(second).count == 3)
    #expect(harness.heard(first).isEmpty && harness.heard(.far).count == 1)
    // There is no third place, and none for whoever has left.
    try harness.addPhoneApart(LegID(4), .pcmu)
    harness.command(.join(LegID(4)))
    harness.command(.join(first))
    speak()
    #expect(harness.heard(.near).count == 4 && harness.heard(LegID(4)).isEmpty)
  }

  @Test func noMoreLegsWaitApartThanMay() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    for number in 2..<40 { try harness.addPhoneApart(LegID(UInt8(number)), .pcmu) }
    harness.advance(milliseconds: 1_000)
    let told = harness.events.compactMap { if case .statistics(let leg, _) = $0 { leg } else { nil as LegID? } }
    #expect(told.count == 2 + MediaBridge.maximumLegsApart)
  }

  @Test(arguments: [10, 30, 40, 60])
  func packetsAreCutToThePeersLength(_ milliseconds: Int) throws {
    let harness = try BridgeHarness(.pcma, .pcmu, rightPacketTime: milliseconds)
    let encoder = try AudioEncoder(.pcma, samplingRate: 8_000)
    for index in 0..<60 {
      harness.send(.near, TestSound.encode(TestSound.sine(440, samples: 160, from: index * 160), encoder), ticks: 160)
      harness.advance(milliseconds: 20)
    }
    let heard = harness.heard(.far)
    #expect(heard.count == 60 * 20 / milliseconds)
    #expect(heard.allSatisfy { $0.payload.count == milliseconds * 8 })
    let step = UInt32(milliseconds * 8)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == step })
  }

  @Test func aLatePacketFindsItsPlaceAndALostOneIsMadeUp() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    let encoder = try AudioEncoder(.opus, samplingRate: 8_000)
    for _ in 0..<10 { encoder.report(lossRate: 0.1, at: .zero) }
    for index in 0..<40 {
      let payload = TestSound.encode(TestSound.sine(440, samples: 160, from: index * 160), encoder)
      switch index {
      case 20:
        // Overtaken by the next.
        harness.send(.near, payload, ticks: 960, lost: true)
        let late = payload
        let phone = try #require(harness.phones[.near])
        let next = TestSound.encode(TestSound.sine(440, samples: 160, from: 21 * 160), encoder)
        harness.send(.near, next, ticks: 960)
        harness.deliver(
          .near, late, sequence: phone.sequence &- 1, timestamp: phone.timestamp &- 960, payloadType: 111)
      case 21: break
      case 30: harness.send(.near, payload, ticks: 960, lost: true)
      default: harness.send(.near, payload, ticks: 960)
      }
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    let heard = harness.heard(.far)
    #expect(heard.count == 40)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == 160 })
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.sequence &- $0.header.sequence == 1 })
    let statistics = harness.lastStatistics(.near)
    #expect(statistics?.received.reordered == 1)
    #expect((statistics?.received.recovered ?? 0) + (statistics?.received.concealed ?? 0) == 1)
  }

  /// Peers that measure their link send packets of padding alone, with numbers of the stream.
  @Test(arguments: [AudioCodec.pcmu, .opus])
  func paddingAloneIsNoLoss(_ far: AudioCodec) throws {
    let harness = try BridgeHarness(.opus, far)
    let encoder = try AudioEncoder(.opus, samplingRate: 48_000)
    let payload = TestSound.encode(TestSound.sine(440, samples: 960, rate: 48_000), encoder)
    let padding = [UInt8](repeating: 0, count: 223) + [224]
    for index in 0..<60 {
      // Behind a packet that is lost, too.
      harness.send(.near, payload, ticks: 960, lost: index == 30)
      for _ in 0..<3 where index % 10 == 1 || index == 30 {
        let phone = try #require(harness.phones[.near])
        harness.phones[.near]?.sequence &+= 1
        let packet = PacketBuffer()
        packet.writeRTPHeader(
          marker: false, payloadType: 111, sequence: phone.sequence, timestamp: phone.timestamp &- 960, source: 77)
        packet[0] |= 0x20
        for byte in padding { packet.append(byte) }
        harness.bridge.receive(
          packet, of: .near, on: phone.port, from: phone.address, at: harness.now, outbox: harness.outbox,
          events: &harness.events)
      }
      harness.advance(milliseconds: 20)
    }
    harness.advance(milliseconds: 1_000)
    let heard = harness.heard(.far)
    #expect(heard.count >= 59 && heard.count <= 60)
    let gaps = zip(heard, heard.dropFirst()).filter { $1.header.sequence &- $0.header.sequence != 1 }
    #expect(gaps.count <= (far == .opus ? 1 : 0))
    let received = try #require(harness.lastStatistics(.near)?.received)
    #expect(received.lost == 1 && received.concealed + received.recovered <= 1)
  }

  @Test(arguments: [8_000, 48_000], [8_000, 48_000])
  func keysCrossTheBridgeOnceAndInOrder(_ input: Int, _ output: Int) throws {
    let harness = try BridgeHarness(
      input == 48_000 ? .opus : .pcmu, output == 48_000 ? .opus : .pcmu, leftEvents: input, rightEvents: output)
    let code = "13579*0#2468"
    let codes = code.compactMap { "0123456789*#".firstIndex(of: $0)?.utf16Offset(in: "0123456789*#") }
    var receiver = TelephoneEventReceiver(clockRate: output)
    var told: [DigitPressed] = []
    harness.press(codes, clockRate: input, milliseconds: 100, pause: 80, steps: 400) { packet in
      guard packet.header.payloadType == 101 else { return }
      let payload = PacketBuffer(packet.payload)
      receiver.receive(
        payload, offset: 0, count: payload.count, marker: packet.header.marker, sequence: packet.header.sequence,
        timestamp: packet.header.timestamp, at: packet.at, digits: &told)
    }
    #expect(String(told.map(\.character)) == code)
    #expect(told.allSatisfy { $0.milliseconds == 100 })
    #expect(harness.digits == code.map { "near \($0)" })
  }

  /// The far end knows no events: what is pressed at the near end must not be lost.
  @Test func keysOfTheOtherLegBecomeTones() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu, rightEvents: nil)
    harness.press([4, 2], milliseconds: 60, pause: 60, steps: 60)
    #expect(harness.digits == ["near 4", "near 2"])
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    let detector = DTMFDetector(samplingRate: 8_000)
    var digits: [DigitPressed] = []
    for packet in harness.heard(.far) {
      let sound = SampleBuffer(TestSound.decode(packet.payload, decoder))
      detector.process(sound, from: 0, count: sound.count, digits: &digits)
    }
    detector.finish(digits: &digits)
    #expect(String(digits.map(\.character)) == "42")
  }

  /// A hook flash (event 16 of RFC 4733) is no key: nobody is told of it, and the other leg hears nothing of it.
  @Test(arguments: [8_000, nil] as [Int?])
  func aFlashIsPassedOver(_ rightEvents: Int?) throws {
    let harness = try BridgeHarness(.pcmu, .pcmu, rightEvents: rightEvents)
    for code in [5, 16, 7] as [UInt8] {
      let timestamp = UInt32(harness.now.milliseconds) &* 8
      for report in 1...6 as ClosedRange<UInt16> {
        let packet = PacketBuffer()
        TelephoneEventPayload(code: code, isEnd: report > 3, volume: 10, duration: min(report, 4) * 160)
          .append(to: packet)
        let sequence = harness.phones[.near]?.sequence ?? 0
        harness.phones[.near]?.sequence &+= 1
        harness.deliver(
          .near, packet.bytes, sequence: sequence, timestamp: timestamp, payloadType: 101, marker: report == 1)
        harness.advance(milliseconds: 20)
      }
      harness.advance(milliseconds: 400)
    }
    #expect(harness.digits == ["near 5", "near 7"])
    let codes = harness.heard(.far).filter { $0.header.payloadType == 101 }.compactMap(\.payload.first)
    #expect(Set(codes) == (rightEvents == nil ? [] : [5, 7]))
  }

  @Test func keysGoOutAsToneWhereNoEventsWereAgreed() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu, rightEvents: nil)
    harness.command(.sendDigits(.far, codes: [4, 2], milliseconds: 100, pause: 100))
    harness.advance(milliseconds: 600)
    let decoder = try AudioDecoder(.pcmu, samplingRate: 8_000)
    let detector = DTMFDetector(samplingRate: 8_000)
    var digits: [DigitPressed] = []
    for packet in harness.heard(.far) {
      let sound = SampleBuffer(TestSound.decode(packet.payload, decoder))
      detector.process(sound, from: 0, count: sound.count, digits: &digits)
    }
    detector.finish(digits: &digits)
    #expect(String(digits.map(\.character)) == "42")
  }

  @Test(arguments: [(AudioCodec.pcmu, AudioCodec.pcmu), (.pcmu, .opus), (.opus, .opus), (.opus, .g722)])
  func keysInTheSoundAreHeardWhereThatIsWanted(_ left: AudioCodec, _ right: AudioCodec) throws {
    let harness = try BridgeHarness(left, right, leftEvents: nil, detectsTones: true)
    let rate = left == .opus ? 48_000 : 8_000
    let encoder = try AudioEncoder(left, samplingRate: rate)
    for code in [7, 11] {
      var tone = ToneGenerator(try #require(Tone.key(code, milliseconds: 100, pause: 100)), samplingRate: rate)
      for _ in 0..<10 {
        let sound = SampleBuffer()
        tone.fill(sound, count: rate / 50)
        harness.send(.near, TestSound.encode(sound.samples, encoder), ticks: UInt32(left.clockRate / 50))
        harness.advance(milliseconds: 20)
      }
    }
    #expect(harness.digits == ["near 7", "near #"])
    #expect(harness.heard(.far).count == 20)
  }

  @Test func bothLegsAreRecordedSideBySide() throws {
    let harness = try BridgeHarness(.pcmu, .opus)
    harness.command(.record(.file))
    let left = try AudioEncoder(.pcmu, samplingRate: 8_000)
    let right = try AudioEncoder(.opus, samplingRate: 8_000)
    for index in 0..<100 {
      harness.send(
        .near, TestSound.encode(TestSound.sine(440, samples: 160, from: index * 160), left), ticks: 160)
      harness.send(
        .far, TestSound.encode(TestSound.sine(1_000, samples: 160, from: index * 160), right), ticks: 960)
      harness.advance(milliseconds: 20)
    }
    harness.command(.record(nil))
    var file: [UInt8] = []
    for event in harness.events {
      if case .recorded(let bytes) = event { file += bytes }
      if case .recordingEnded(let patches) = event {
        for patch in patches {
          file.replaceSubrange(patch.offset..<(patch.offset + patch.bytes.count), with: patch.bytes)
        }
      }
    }
    #expect(file.count == WAVRecorder.headSize + 100 * 160 * 4)
    #expect(file[40..<44].elementsEqual([0, 0xFA, 0, 0]))
    func channel(_ offset: Int) -> [Int16] {
      stride(from: WAVRecorder.headSize + offset, to: file.count - 1, by: 4).map {
        Int16(bitPattern: UInt16(file[$0]) | UInt16(file[$0 + 1]) << 8)
      }
    }
    #expect(TestSound.purity(channel(0), 440) > 0.95)
    #expect(TestSound.purity(Array(channel(2).dropFirst(800)), 1_000) > 0.9)
  }

  @Test func aMutedLegIsHeardAsSilence() throws {
    for right in [AudioCodec.pcmu, .pcma] {
      let harness = try BridgeHarness(.pcmu, right)
      harness.command(.mute(.near, true))
      for _ in 0..<5 {
        harness.send(.near, [UInt8](repeating: 0x12, count: 160), ticks: 160)
        harness.advance(milliseconds: 20)
      }
      let decoder = try AudioDecoder(right, samplingRate: 8_000)
      let sound = harness.heard(.far).flatMap { TestSound.decode($0.payload, decoder) }
      #expect(sound.count == 800)
      #expect(sound.allSatisfy { abs(Int($0)) <= 8 })
    }
  }

  @Test func nothingGoesToALegOnHold() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == 1)
    // It sends and does not want to hear.
    try harness.agree(.far, "a=sendonly\r\n", clock: 8_000)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == 1)
    try harness.agree(.far, "a=inactive\r\n", clock: 8_000)
    harness.send(.far, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.near).isEmpty)
    try harness.agree(.far, "a=sendrecv\r\n", clock: 8_000)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == 2)
  }

  @Test func whatIsNotOfTheCallIsCountedAndDropped() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    harness.send(.near, [1, 2, 3], ticks: 160, payloadType: 77)
    harness.deliver(
      .near, [UInt8](repeating: 9, count: 160), sequence: 102, timestamp: 7_320, payloadType: 0,
      from: MediaAddress(ipv4: 0x0A00_0001, port: 9))
    harness.advance(milliseconds: 1_000)
    #expect(harness.heard(.far).count == 1)
    let dropped = harness.lastStatistics(.near)?.dropped ?? []
    #expect(dropped[DropReason.source.rawValue] == 1)
    #expect(dropped[DropReason.payloadType.rawValue] + dropped[DropReason.kind.rawValue] == 1)
  }

  @Test func aFloodFromTheRightAddressIsCapped() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    for _ in 0..<(MediaBridge.maximumPacketsPerSecond + 50) {
      harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    }
    harness.advance(milliseconds: 1_000)
    #expect(harness.heard(.far).count == MediaBridge.maximumPacketsPerSecond)
    #expect(harness.lastStatistics(.near)?.dropped[DropReason.rate.rawValue] == 50)
  }

  @Test func silenceIsToldOnceAndSoIsItsEnd() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    harness.advance(milliseconds: 9_000)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 72_000)
    #expect(harness.events.filter { $0 == .silence(.near) }.count == 1)
    #expect(harness.events.filter { $0 == .soundAgain(.near) }.count == 1)
  }

  @Test func closingTellsAndReleases() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    harness.command(.close)
    #expect(harness.events.last == .closed)
    #expect(harness.bridge.nextDeadline == nil)
    let before = harness.heard(.far).count
    harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.far).count == before)
  }
}

extension BridgeHarness {
  func lastStatistics(_ side: LegID) -> MediaStatistics? {
    for event in events.reversed() {
      if case .statistics(side, let statistics) = event { return statistics }
    }
    return nil
  }
}

@Suite struct BridgePromptTests {
  static let library = Result { try PromptLibrary() }

  @Test(arguments: [AudioCodec.pcmu, .opus, .g722])
  func promptsAreSaidAtTheirPace(_ codec: AudioCodec) throws {
    let library = try BridgePromptTests.library.get()
    let harness = try BridgeHarness(codec, .pcmu)
    let start = harness.now
    harness.command(.play(.near, [.connected, .goodbye], from: library))
    let packets = library.recording(.connected, codec).packets + library.recording(.goodbye, codec).packets
    harness.advance(milliseconds: Int64(packets.count * 20) + 100)
    let heard = harness.heard(.near)
    #expect(heard.map(\.payload) == packets)
    #expect(
      heard.map { $0.at.milliseconds(since: start) } == packets.indices.map { Int64($0 * 20) })
    let step = UInt32(codec.clockRate / 50)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == step })
    #expect(harness.events.contains(.promptEnded(.near, finished: true)))
    // The other leg is heard again.
    harness.send(.far, [UInt8](repeating: 1, count: 160), ticks: 160)
    #expect(harness.heard(.near).count == packets.count + 1)
    #expect(harness.heard(.near).last?.header.marker == true)
  }

  @Test func aPromptCanBeStopped() throws {
    let library = try BridgePromptTests.library.get()
    let harness = try BridgeHarness(.pcmu, .pcmu)
    harness.command(.play(.near, [.connected], from: library))
    harness.advance(milliseconds: 200)
    harness.command(.stopPlaying(.near))
    harness.advance(milliseconds: 2_000)
    #expect(harness.heard(.near).count == 11)
    #expect(harness.events.contains(.promptEnded(.near, finished: false)))
  }
}

@Suite struct BridgeReportTests {
  @Test func reportsOfBothLegsCarryLossAndTime() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    for index in 0..<600 {
      harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160, lost: index % 10 == 9)
      harness.advance(milliseconds: 20)
    }
    let statistics = try #require(harness.lastStatistics(.near))
    #expect(abs(statistics.received.lossRate - 0.1) < 0.03)
    #expect(statistics.received.jitter < 0.5)
    #expect(statistics.received.meanOpinionScore < 4)
    #expect(statistics.received.meanOpinionScore > 1)
    // Two seconds in which nothing comes: nothing to judge by, and the counts stay.
    harness.advance(milliseconds: 2000)
    let silent = try #require(harness.lastStatistics(.near))
    #expect(silent.received.packets == statistics.received.packets)
    #expect(silent.received.meanOpinionScore == 0)
    #expect(harness.controls(.near) > 0)
    #expect(harness.controls(.far) > 0)
  }
}
