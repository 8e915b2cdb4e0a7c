import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// What nobody heard, in figures for people and in what the sender is told.
@Suite struct EffectiveLossTests {
  /// Packets of the near phone in the test below: one of every `stride` comes `late` packets too late.
  private static func unsteady(_ harness: BridgeHarness, count: Int, stride: Int, late: Int, ticks: UInt32, type: UInt8)
    throws
  {
    let encoder = try AudioEncoder(harness.phones[.near]?.codec ?? .pcmu, samplingRate: 8_000)
    var held: [(due: Int, payload: [UInt8], sequence: UInt16)] = []
    for index in 0..<count {
      let payload = TestSound.encode(TestSound.sine(440, samples: 160, from: index * 160), encoder)
      let sequence = UInt16(index)
      func deliver(_ payload: [UInt8], _ sequence: UInt16) {
        harness.deliver(
          .near, payload, sequence: sequence, timestamp: UInt32(sequence) * ticks, payloadType: type)
      }
      if index % stride == stride - 1 {
        held.append((index + late, payload, sequence))
      } else {
        deliver(payload, sequence)
      }
      while let first = held.first, first.due <= index {
        deliver(first.payload, first.sequence)
        held.removeFirst()
      }
      harness.advance(milliseconds: 20)
    }
  }

  @Test("What came when its sound was made up counts as lost, for people and for the sender")
  func lateIsLostWhereThePlaceWasGivenUp() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try Self.unsteady(harness, count: 615, stride: 20, late: 8, ticks: 960, type: 111)
    let received = try #require(harness.lastStatistics(.near)).received
    #expect((28...30).contains(received.tooLate))
    #expect(received.lost == Int64(received.tooLate))
    #expect(received.concealed + received.recovered >= received.tooLate)
    let report = try #require(harness.report(to: .near))
    #expect((8...20).contains(report.fractionLost), "\(report)")
    #expect(report.cumulativeLost >= 10, "\(report)")
  }

  @Test("Where packets pass untouched, a late one is handed on and not lost")
  func lateIsNotLostWherePacketsPass() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    try Self.unsteady(harness, count: 615, stride: 20, late: 8, ticks: 160, type: 0)
    let received = try #require(harness.lastStatistics(.near)).received
    #expect(received.tooLate == 0 && received.lost == 0 && received.reordered == 29)
    #expect(try #require(harness.report(to: .near)).cumulativeLost <= 1)
    #expect(harness.heard(.far).count == 615)
  }

  @Test("A packet that is only a little late is in time")
  func aLittleLateIsInTime() throws {
    let harness = try BridgeHarness(.opus, .pcmu)
    try Self.unsteady(harness, count: 605, stride: 20, late: 1, ticks: 960, type: 111)
    let received = try #require(harness.lastStatistics(.near)).received
    #expect(received.tooLate == 0 && received.lost == 0 && received.effectiveLoss == 0)
  }

  @Test(
    "What comes twice hides no loss, from people or from the sender, and makes none negative",
    arguments: [AudioCodec.pcmu, .pcma])
  func duplicates(_ far: AudioCodec) throws {
    let harness = try BridgeHarness(.pcmu, far)
    for index in 0..<600 where index % 20 != 19 {
      for _ in 0..<2 {
        harness.deliver(
          .near, [UInt8](repeating: 1, count: 160), sequence: UInt16(index), timestamp: UInt32(index) * 160,
          payloadType: 0)
      }
      harness.advance(milliseconds: index % 20 == 18 ? 40 : 20)
      for case .statistics(_, let statistics) in harness.events {
        #expect(statistics.received.lost >= 0 && statistics.received.lossRate >= 0)
        #expect(statistics.received.effectiveLoss >= 0)
      }
    }
    harness.advance(milliseconds: 1_000)
    let received = try #require(harness.lastStatistics(.near)).received
    #expect(received.duplicated == 570 && received.lost == 29)
    let report = try #require(harness.report(to: .near))
    #expect((10...29).contains(report.cumulativeLost), "\(report)")
    #expect((6...20).contains(report.fractionLost), "one of 20 of 256: \(report)")
  }

  @Test("What copies made good is no effective loss, and sounds better than the same loss without")
  func copies() throws {
    let voice = Sound.voice(rate: 8_000, samples: 160_000)
    func run(_ isCopied: Bool) throws -> (rate: Double, effective: Double, score: Double) {
      let harness = try BridgeHarness(.opus, .pcmu)
      var settings = AudioEncoder.Settings()
      settings.inBandFEC = isCopied
      let encoder = try AudioEncoder(.opus, samplingRate: 8_000, settings: settings)
      encoder.report(lossRate: 0.2, at: .zero)
      #expect(encoder.sendsCopies == isCopied)
      var sums = (rate: 0.0, effective: 0.0, score: 0.0)
      for index in 0..<1_000 {
        let sound = Array(voice[index * 160..<(index + 1) * 160])
        harness.send(.near, TestSound.encode(sound, encoder), ticks: 960, lost: index % 10 == 9)
        harness.advance(milliseconds: 20)
      }
      for case .statistics(.near, let statistics) in harness.events {
        sums.rate += statistics.received.lossRate / 20
        sums.effective += statistics.received.effectiveLoss / 20
        sums.score += statistics.received.meanOpinionScore / 20
      }
      return sums
    }
    let (copied, bare) = (try run(true), try run(false))
    #expect(abs(copied.rate - 0.1) < 0.02 && abs(bare.rate - 0.1) < 0.02)
    #expect(copied.effective < copied.rate * 0.7, "\(copied)")
    #expect(abs(bare.effective - bare.rate) < 0.001, "\(bare)")
    #expect(copied.score > bare.score + 0.3, "\(copied) \(bare)")
  }

  @Test("What the far receiver reports is the loss of what was sent")
  func farReceiver() throws {
    let harness = try BridgeHarness(.pcmu, .pcmu)
    for _ in 0..<50 {
      harness.send(.near, [UInt8](repeating: 1, count: 160), ticks: 160)
      harness.advance(milliseconds: 20)
    }
    #expect(try #require(harness.lastStatistics(.far)).sent.meanOpinionScore == 0)
    harness.tell(.far, fractionLost: 0, cumulativeLost: -5)
    harness.advance(milliseconds: 1_000)
    let calm = try #require(harness.lastStatistics(.far))
    #expect(calm.sent.lost == 0 && calm.sent.effectiveLoss == 0 && calm.reports == 1)
    harness.tell(.far, fractionLost: 64, cumulativeLost: 12)
    harness.advance(milliseconds: 1_000)
    let harmed = try #require(harness.lastStatistics(.far))
    #expect(harmed.sent.lost == 12 && harmed.sent.lossRate == 0.25 && harmed.sent.effectiveLoss == 0.25)
    #expect(harmed.sent.meanOpinionScore < calm.sent.meanOpinionScore - 0.5 && harmed.reports == 2)
    // It threw away what came too late, which a report block does not tell.
    var voice = RTCPVoiceMetrics()
    voice.source = 2_000
    voice.lossRate = 64
    voice.discardRate = 64
    voice.endSystemDelay = 200
    harness.tell(.far, fractionLost: 64, cumulativeLost: 12, voice: voice)
    harness.advance(milliseconds: 1_000)
    let late = try #require(harness.lastStatistics(.far))
    #expect(late.sent.lossRate == 0.25 && late.sent.effectiveLoss == 0.5)
    #expect(late.sent.meanOpinionScore < harmed.sent.meanOpinionScore)
  }
}

@Suite struct UnheardPacketsTests {
  private static func receive(_ statistics: inout ReceptionStatistics, _ sequence: Int) -> Arrival {
    statistics.received(
      sequence: UInt16(truncatingIfNeeded: sequence), timestamp: UInt32(truncatingIfNeeded: sequence &* 160), source: 1,
      payloadCount: 160, arrival: MonotonicInstant(microseconds: Int64(sequence) * 20_000))
  }

  @Test("Packets from before the first are neither lost nor too many")
  func beforeTheFirst() {
    var statistics = ReceptionStatistics(clockRate: 8_000)
    for sequence in [50, 47, 48, 49, 51] { _ = Self.receive(&statistics, sequence) }
    #expect(statistics.lost == 0 && statistics.missing == 0 && statistics.unheard == 0)
    #expect(statistics.burstRatio == 1)
    statistics.cameTooLate(47)
    #expect(statistics.unheard == 0)
  }

  @Test("A late packet that nobody heard is part of its burst")
  func bursts() {
    var lost = ReceptionStatistics(clockRate: 8_000)
    var late = ReceptionStatistics(clockRate: 8_000)
    for sequence in 0..<1_000 {
      guard sequence % 20 == 5 || sequence % 20 == 6 else {
        _ = Self.receive(&lost, sequence)
        _ = Self.receive(&late, sequence)
        if sequence % 20 == 12 {
          for other in [sequence - 7, sequence - 6] {
            #expect(Self.receive(&late, other) == .late)
            late.cameTooLate(UInt16(other))
          }
        }
        continue
      }
    }
    #expect(late.tooLate == 100 && late.missing == 0 && late.unheard == 100)
    #expect(lost.unheard == 100)
    #expect(abs(late.burstRatio - lost.burstRatio) < 0.001 && late.burstRatio > 1.7)
    #expect(late.nextLoss(recovered: 0).rate == lost.nextLoss(recovered: 0).rate)
  }

  @Test("Loss is never negative, whatever is doubled, late or made good", arguments: 1...20 as ClosedRange<UInt64>)
  func neverNegative(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    var statistics = ReceptionStatistics(clockRate: 8_000)
    var recovered: UInt64 = 0
    for step in 0..<5_000 {
      let sequence = 60_000 + step - Int.random(in: 0...Int(random.next() % 60), using: &random)
      for _ in 0...(random.next() % 3) {
        if Self.receive(&statistics, sequence) == .late, Bool.random(using: &random) {
          statistics.cameTooLate(UInt16(truncatingIfNeeded: sequence))
        }
      }
      recovered += random.next() % 2
      #expect(statistics.missing >= 0 && statistics.unheard >= 0)
      if step.isMultiple(of: 50) {
        let loss = statistics.nextLoss(recovered: recovered)
        #expect((0...1).contains(loss.rate) && (0...1).contains(loss.effective))
      }
      #expect(statistics.burstRatio >= 1)
    }
  }
}

extension BridgeHarness {
  /// The newest report block that a phone was sent about its own stream.
  func report(to side: LegID) -> RTCPReportBlock? {
    for bytes in (phones[side]?.controls ?? []).reversed() {
      guard let compound = try? RTCPCompound(PacketBuffer(bytes)) else { continue }
      if let block = compound.compactMap({ compound.report(on: 77, in: $0) }).first { return block }
    }
    return nil
  }

  /// A phone reports on what it was sent.
  func tell(_ side: LegID, fractionLost: UInt8, cumulativeLost: Int32, voice: RTCPVoiceMetrics? = nil) {
    guard let phone = phones[side] else { return }
    let packet = PacketBuffer()
    let writer = RTCPWriter(packet)
    writer.report(
      from: 77, nil,
      RTCPReportBlock(
        source: UInt32(phone.port.rawValue) * 1_000, fractionLost: fractionLost, cumulativeLost: cumulativeLost,
        extendedHighestSequence: 60, jitter: 0, lastSenderReport: 0, delaySinceLastSenderReport: 0))
    writer.description(of: 77, canonicalName: Array("phone".utf8))
    if let voice { writer.extendedReport(from: 77, referenceTime: nil, delaySinceReference: nil, voice: voice) }
    let from = MediaAddress(ipv4: 0x7F00_0001, port: phone.address.port + 1)
    bridge.receive(
      packet, of: side, on: MediaPort(rawValue: phone.port.rawValue + 10), from: from, at: now, outbox: outbox,
      events: &events)
  }
}
