import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Who hears whom.
@Suite struct RoomTests {
  @Test(arguments: [
    [AudioCodec.pcmu, .pcma, .pcmu], [.opus, .opus, .opus], [.g722, .pcma, .opus, .pcmu], [.g722, .g722, .g722],
  ])
  func everyoneHearsAllButOneself(_ codecs: [AudioCodec]) throws {
    let network = RoomNetwork()
    let tones = [400.0, 700, 1_100, 1_500]
    for (index, codec) in codecs.enumerated() { try network.add(codec).hum(tones[index]) }
    network.run(milliseconds: 3_000)
    for (index, phone) in network.phones.enumerated() {
      for other in codecs.indices where other != index {
        #expect(phone.strength(tones[other]) > 3_200, "\(codecs[index]) hears \(codecs[other])")
      }
      #expect(phone.strength(tones[index]) < 40, "\(codecs[index]) hears itself")
      #expect(zip(phone.heard, phone.heard.dropFirst()).allSatisfy { $1.header.sequence == $0.header.sequence &+ 1 })
      let step = UInt32(codecs[index].clockRate / 50)
      let steps = zip(phone.heard, phone.heard.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
      #expect(steps.suffix(100).allSatisfy { $0 == step })
    }
  }

  @Test func whoIsMutedIsNotHeardAndNeverHearsItself() throws {
    let network = RoomNetwork()
    let first = try network.add(.pcma)
    let second = try network.add(.pcma)
    first.hum(430)
    second.hum(1_000)
    network.run(milliseconds: 1_000)
    for round in 0..<3 {
      // It stops at another place of its wave each time.
      network.run(milliseconds: 20 * Int64(round + 1))
      network.command(first, .mute(.near, true))
      network.run(milliseconds: 600)
      #expect(Sound.strength(430, in: second.last(500), rate: 8_000) < 4)
      #expect(Sound.strength(1_000, in: first.last(500), rate: 8_000) > 3_200)
      network.command(first, .mute(.near, false))
      network.run(milliseconds: 600)
      #expect(Sound.strength(430, in: second.last(500), rate: 8_000) > 3_200)
    }
    let windows = stride(from: 8_000, to: first.sound.count - 800, by: 800).map { first.sound[$0..<($0 + 800)] }
    #expect(windows.count > 20)
    for window in windows { #expect(Sound.strength(430, in: window, rate: 8_000) < 40) }
    // What was said before it was muted is not heard afterwards.
    let steps = Sound.step(second.sound)
    #expect(steps < 1_600, "a voice that stops fades")
  }

  @Test func lossAtOneHurtsNobodyElse() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let poor = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    speaker.hum(400)
    poor.hum(1_000)
    poor.loss = 30
    network.run(milliseconds: 10_000)
    #expect(speaker.heard.count >= 490 && listener.heard.count >= 490 && poor.heard.count >= 490)
    for window in stride(from: 8_000, to: listener.sound.count - 8_000, by: 8_000) {
      let second = listener.sound[window..<(window + 8_000)]
      #expect(Sound.strength(400, in: second, rate: 8_000) > 3_600)
    }
    #expect(poor.strength(400) > 3_600 && poor.strength(1_000) < 40)
    #expect(listener.strength(1_000) > 1_500, "what is missing of it is concealed")
  }

  @Test func keysAreToldAndNotHeard() throws {
    let network = RoomNetwork()
    let presser = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    presser.hum(1_000, level: 0)
    network.run(milliseconds: 1_000)
    presser.says = nil
    let start = presser.timestamp
    for index in 0..<8 {
      let isEnd = index >= 5
      let duration = UInt16(160 * min(index + 1, 6))
      network.send(
        [5, isEnd ? 0x8A : 0x0A, UInt8(duration >> 8), UInt8(duration & 0xFF)], payloadType: 101, marker: index == 0,
        presser, timestamp: start)
      network.run(milliseconds: 20)
    }
    network.run(milliseconds: 500)
    func keys(_ phone: RoomNetwork.Phone) -> String {
      String(network.told(phone).compactMap { if case .digit(_, let digit) = $0 { digit.character } else { nil } })
    }
    #expect(keys(presser) == "5")
    #expect(keys(listener).isEmpty)
    // The comfort noise has 18 and a little.
    #expect(listener.sound.allSatisfy { abs(Int($0)) < 60 })
    #expect(listener.heard.allSatisfy { $0.header.payloadType == 0 })
  }

  @Test func ofManyTheLoudestFiveAreHeard() throws {
    let network = RoomNetwork()
    for index in 0..<9 { try network.add(.pcma).hum(400 + 200 * Double(index), level: 800 + 300 * Double(index)) }
    let listener = try network.add(.pcma)
    network.run(milliseconds: 3_000)
    for index in 0..<9 {
      let strength = listener.strength(400 + 200 * Double(index))
      #expect(index < 4 ? strength < 40 : strength > 1_500, "\(index): \(strength)")
    }
    // Where there are eight at most, all are.
    for phone in network.phones[7...8] { network.command(phone, .leaveRoom(.near)) }
    network.run(milliseconds: 2_000)
    for index in 0..<7 { #expect(listener.strength(400 + 200 * Double(index)) > 600) }
  }

  @Test func theRoomIsAsWideAsOneOfThem() throws {
    let network = RoomNetwork()
    let phone = try network.add(.pcmu)
    phone.hum(1_000)
    let other = try network.add(.pcmu)
    network.run(milliseconds: 1_000)
    let app = try network.add(.opus)
    let desk = try network.add(.g722)
    app.hum(5_000)
    network.run(milliseconds: 2_000)
    #expect(desk.strength(5_000) > 3_000 && desk.strength(1_000) > 3_200 && app.strength(1_000) > 3_000)
    #expect(other.strength(1_000) > 3_200)
    network.command(app, .detach(.near))
    network.command(desk, .close)
    network.run(milliseconds: 2_000)
    #expect(other.strength(1_000) > 3_200)
    #expect(network.hall.count == 1)
  }

  @Test(arguments: [10, 20, 30, 40, 60]) func packetsHaveTheLengthThatWasAgreedOn(_ milliseconds: Int) throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    speaker.hum(400)
    network.run(milliseconds: 500)
    let phones = [
      try network.add(.pcma, packetTime: milliseconds), try network.add(.g722, packetTime: milliseconds),
      try network.add(.opus, packetTime: milliseconds == 30 ? 20 : milliseconds),
    ]
    // One speaks now and then, and has an encoder of its own then.
    for round in 0..<6 {
      if round.isMultiple(of: 2) { phones[0].hum(1_000) } else { phones[0].says = { _ in 0 } }
      network.run(milliseconds: 730)
    }
    for phone in phones {
      let ticks = UInt32(phone.packetTime * phone.codec.clockRate / 1_000)
      let steps = zip(phone.heard, phone.heard.dropFirst()).map { $1.header.timestamp &- $0.header.timestamp }
      #expect(steps.count > 4_000 / phone.packetTime)
      // The formats of all change as soon as a wide band comes in.
      #expect(steps.suffix(3_500 / phone.packetTime).allSatisfy { $0 == ticks }, "\(phone.codec)")
      #expect(phone.heard.allSatisfy { $0.count == phone.packetTime * phone.rate / 1_000 })
      #expect(phone.strength(400) > 3_200, "\(phone.codec)")
    }
    #expect(phones[0].strength(1_000) < 40)
  }

  @Test func packetsOfSixtyMillisecondsAreHeardAmongThoseOfTwenty() throws {
    let network = RoomNetwork()
    let long = try network.add(.pcmu, packetTime: 60)
    let short = try network.add(.pcmu)
    let listener = try network.add(.pcma)
    long.hum(400)
    short.hum(1_000)
    network.run(milliseconds: 4_000)
    for window in stride(from: 8_000, to: listener.sound.count - 8_000, by: 8_000) {
      let second = listener.sound[window..<(window + 8_000)]
      for tone in [400.0, 1_000] { #expect(Sound.strength(tone, in: second, rate: 8_000) > 3_700) }
    }
    #expect(long.strength(1_000) > 3_700 && short.strength(400) > 3_700)
  }

  @Test func aPromptTakesThePlaceOfTheRoom() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.pcmu)
    speaker.hum(400)
    network.run(milliseconds: 1_000)
    let tone = Tone([.init([.init(frequency: 1_000, level: -10)], milliseconds: 600)], repeats: false)
    network.command(listener, .playTones(.near, [tone]))
    network.run(milliseconds: 500)
    #expect(Sound.strength(400, in: listener.last(300), rate: 8_000) < 40)
    #expect(Sound.strength(1_000, in: listener.last(300), rate: 8_000) > 1_000)
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) > 3_700 && listener.strength(1_000) < 40)
    let numbers = listener.heard.map(\.header.sequence)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
  }

  @Test func whoSpeaksAndWhoLeadsIsTold() throws {
    let network = RoomNetwork()
    let first = try network.add(.pcmu)
    let second = try network.add(.opus)
    first.hum(400)
    network.run(milliseconds: 2_000)
    second.hum(700, level: 12_000)
    first.says = nil
    network.run(milliseconds: 2_000)
    func changes(_ phone: RoomNetwork.Phone) -> [String] {
      network.told(phone).compactMap {
        switch $0 {
        case .speaking(.near, let isSpeaking, _): isSpeaking ? "speaks" : "is silent"
        case .leadsTalk(.near): "leads"
        default: nil
        }
      }
    }
    #expect(changes(first) == ["speaks", "leads", "is silent"])
    #expect(changes(second) == ["speaks", "leads"])
    let levels = network.events.compactMap { if case .speaking(_, true, let level) = $0.event { level } else { nil } }
    #expect(levels.count == 2)
    for level in levels { #expect(level >= -70 && level <= -5) }
  }
}
