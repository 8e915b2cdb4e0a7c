import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Who is sent the same packets, and that nobody hears it.
@Suite struct RoomEncodingTests {
  @Test(arguments: [AudioCodec.pcmu, .g722, .opus]) func whoListensSharesAnEncoder(_ codec: AudioCodec) throws {
    let network = RoomNetwork()
    for index in 0..<20 {
      let phone = try network.add(codec)
      phone.says = { _ in 0 }
      if index < 3 { phone.hum(400 + 300 * Double(index)) }
    }
    network.run(milliseconds: 2_000)
    let before = (network.hall.encodes, network.phones.map(\.heard.count))
    network.run(milliseconds: 1_000)
    #expect(network.hall.encodes - before.0 == 4 * 50)
    #expect(zip(network.phones, before.1).allSatisfy { $0.heard.count - $1 == 50 })
    for tone in [400.0, 700, 1_000] { #expect(network.phones[19].strength(tone) > 3_000) }
    // All are silent: after a while one encoder is enough for all, or nearly none where pauses are known.
    for phone in network.phones { phone.says = { _ in 0 } }
    network.run(milliseconds: 2_000)
    let silent = network.hall.encodes
    network.run(milliseconds: 1_000)
    #expect(network.hall.encodes - silent <= (codec == .opus ? 3 : 50))
  }

  @Test func legsOfOtherFormsHaveOthers() throws {
    let network = RoomNetwork()
    try network.add(.opus).hum(400)
    for parameters in ["", "useinbandfec=1", "maxaveragebitrate=16000", "cbr=1"] {
      for _ in 0..<3 { try network.add(.opus, parameters: parameters) }
    }
    for codec in [AudioCodec.pcmu, .pcma, .g722] { for _ in 0..<3 { try network.add(codec) } }
    network.run(milliseconds: 2_000)
    let before = network.hall.encodes
    network.run(milliseconds: 1_000)
    // And whoever speaks hears nobody: that is a pause.
    #expect((350...353).contains(network.hall.encodes - before))
    #expect(network.phones.dropFirst().allSatisfy { $0.strength(400) > 2_500 })
  }

  @Test(arguments: [AudioCodec.g722, .opus, .pcma])
  func speakingNowAndThenIsNoNoiseForOneself(_ codec: AudioCodec) throws {
    let network = RoomNetwork()
    let steady = try network.add(.g722)
    steady.hum(1_000, level: 6_000)
    let wavering = try network.add(codec)
    // Others share its encoding.
    for _ in 0..<2 { try network.add(codec).says = { _ in 0 } }
    network.run(milliseconds: 2_000)
    let start = wavering.sound.count
    for round in 0..<12 {
      wavering.hum(440, level: 8_000)
      network.run(milliseconds: 300)
      wavering.says = { _ in 0 }
      network.run(milliseconds: 700 + Int64(round) * 20)
    }
    let rate = wavering.rate
    let window = rate / 20
    let purities = stride(from: start, to: wavering.sound.count - window, by: window).map {
      TestSound.purity(Array(wavering.sound[$0..<($0 + window)]), 1_000, rate: Double(rate))
    }
    #expect(purities.count > 200)
    #expect((purities.min() ?? 0) > 0.99, "\(purities.min() ?? 0)")
  }

  @Test func speakersThatChangeTenTimesASecondMakeNoClick() throws {
    let network = RoomNetwork()
    for _ in 0..<11 {
      let phone = try network.add(.pcma)
      let index = Double(network.phones.count)
      // Each is loud in its turn: who is among the five loudest changes all the time.
      phone.says = { place in
        let turn = TestSound.sine(1, samples: 1, from: place + Int(index * 727), level: 1_000)[0]
        let level = 2_000 + 1.9 * Double(turn)
        return TestSound.sine(50 + index, samples: 1, from: place, level: level)[0]
      }
    }
    let listener = try network.add(.pcma)
    network.run(milliseconds: 12_000)
    let sound = listener.sound.dropFirst(8_000)
    let steps = Sound.step(sound)
    #expect(steps < 1_400, "\(steps)")
    #expect(Sound.level(sound) > 1_500)
  }

  @Test func whereNobodySpeaksAppsAreSentNextToNothing() throws {
    let network = RoomNetwork()
    let app = try network.add(.opus)
    let phone = try network.add(.pcmu)
    let desk = try network.add(.g722)
    let speaker = try network.add(.pcma)
    speaker.hum(400)
    network.run(milliseconds: 1_000)
    speaker.says = { _ in 0 }
    network.run(milliseconds: 2_000)
    let before = [app, phone, desk].map(\.heard.count)
    network.run(milliseconds: 4_000)
    #expect(phone.heard.count - before[1] == 200 && desk.heard.count - before[2] == 200)
    let packets = app.heard[before[0]...]
    #expect((9...11).contains(packets.count))
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.header.timestamp &- $0.header.timestamp == 19_200 })
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.header.sequence == $0.header.sequence &+ 1 })
    #expect(app.last(1_000).allSatisfy { abs(Int($0)) < 20 })
    // -65 dBov, less what a narrower band takes of it and G.711 rounds.
    for listener in [phone, desk] { #expect((8...26).contains(Sound.level(listener.last(1_000)))) }
    speaker.hum(400)
    network.run(milliseconds: 1_200)
    #expect(app.heard[(before[0] + packets.count)...].filter(\.header.marker).count == 1)
    #expect(app.strength(400) > 3_000 && phone.strength(400) > 3_200)
    // Whoever is alone is sent as little.
    for other in [app, phone, desk] { network.command(other, .leaveRoom(.near)) }
    network.run(milliseconds: 2_000)
    #expect(speaker.strength(400) < 40)
  }
}
