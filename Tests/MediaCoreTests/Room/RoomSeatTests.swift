import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// How rooms begin and end, and who comes in.
@Suite struct RoomSeatTests {
  @Test func anEmptyHallHasNothingToDo() throws {
    let network = RoomNetwork()
    #expect(network.hall.nextDeadline == nil && network.hall.count == 0)
    let first = try network.add(.pcmu)
    let second = try network.add(.opus)
    #expect(network.hall.nextDeadline == network.now.advanced(byMilliseconds: 20) && network.hall.count == 1)
    network.run(milliseconds: 1_000)
    network.command(first, .leaveRoom(.near))
    #expect(network.hall.nextDeadline != nil)
    network.command(second, .close)
    #expect(network.hall.nextDeadline == nil && network.hall.count == 0)
    let before = (first.heard.count, second.heard.count)
    network.run(milliseconds: 1_000)
    #expect((first.heard.count, second.heard.count) == before)
    // The last leaves and the first joins: a room afresh.
    network.command(first, .enterRoom(.near, RoomNetwork.room, RoomOptions()))
    network.run(milliseconds: 1_000)
    #expect(first.heard.count - before.0 >= 48 && network.hall.count == 1)
  }

  @Test func whoEntersAnotherRoomMoves() throws {
    let network = RoomNetwork()
    let mover = try network.add(.pcmu)
    let first = try network.add(.pcmu)
    let second = try network.add(.pcmu, room: RoomIdentifier(rawValue: 8))
    mover.hum(400)
    first.hum(700)
    second.hum(1_100)
    network.run(milliseconds: 2_000)
    #expect(first.strength(400) > 3_700 && second.strength(400) < 40 && mover.strength(700) > 3_700)
    network.command(mover, .enterRoom(.near, RoomIdentifier(rawValue: 8), RoomOptions()))
    network.command(mover, .enterRoom(.near, RoomIdentifier(rawValue: 8), RoomOptions()))
    network.run(milliseconds: 2_000)
    #expect(second.strength(400) > 3_700 && first.strength(400) < 40)
    #expect(mover.strength(1_100) > 3_700 && mover.strength(700) < 40 && mover.strength(400) < 40)
    #expect(zip(mover.heard, mover.heard.dropFirst()).allSatisfy { $1.header.sequence == $0.header.sequence &+ 1 })
    network.command(mover, .part(.near))
    network.run(milliseconds: 1_500)
    #expect(second.strength(400) < 40)
    // Whoever waits apart enters no room.
    network.command(mover, .enterRoom(.near, RoomIdentifier(rawValue: 8), RoomOptions()))
    #expect(network.told(mover).contains(.roomRefused(.near)))
  }

  @Test func aToneSaysThatSomebodyComesOrLeavesAtMostOneInTwoSeconds() throws {
    let network = RoomNetwork()
    var options = RoomOptions()
    options.tones = true
    func enter() throws -> RoomNetwork.Phone {
      let phone = try network.add(.pcma, room: nil)
      network.command(phone, .enterRoom(.near, RoomNetwork.room, options))
      return phone
    }
    func loudest(_ phone: RoomNetwork.Phone, _ milliseconds: Int) -> Int {
      phone.last(milliseconds).map { abs(Int($0)) }.max() ?? 0
    }
    let first = try enter()
    network.run(milliseconds: 3_000)
    #expect(loudest(first, 3_000) < 100, "nobody rings for oneself")
    let second = try enter()
    network.run(milliseconds: 500)
    #expect((1_500...3_500).contains(loudest(first, 500)) && loudest(second, 500) > 1_500)
    #expect(loudest(first, 150) < 100, "it is over after 200 ms")
    network.command(second, .detach(.near))
    network.run(milliseconds: 1_000)
    #expect(loudest(first, 900) < 100, "too soon after the other")
    network.run(milliseconds: 2_000)
    let third = try enter()
    network.run(milliseconds: 2_500)
    network.command(third, .detach(.near))
    network.run(milliseconds: 500)
    #expect(loudest(first, 500) > 1_500)
    #expect(Sound.step(first.sound) < 2_500)
    for _ in 0..<20 { _ = try enter() }
    network.run(milliseconds: 3_000)
    _ = try enter()
    network.run(milliseconds: 500)
    #expect(loudest(first, 500) < 100, "somebody always comes and goes in a large room")
  }

  @Test func whoIsDeafHearsNothingIsHeardAndHearsAgain() throws {
    let network = RoomNetwork()
    let deaf = try network.add(.pcma)
    let first = try network.add(.pcmu)
    let second = try network.add(.opus)
    deaf.hum(400)
    first.hum(700)
    network.run(milliseconds: 2_000)
    #expect(deaf.strength(700) > 3_700)
    network.command(deaf, .deafen(.near, true))
    network.run(milliseconds: 2_000)
    #expect(deaf.strength(700) < 40 && first.strength(400) > 3_700 && second.strength(700) > 3_000)
    network.command(deaf, .deafen(.near, false))
    network.run(milliseconds: 2_000)
    #expect(deaf.strength(700) > 3_700 && deaf.strength(400) < 40)
    // It never lacked a packet: a telephone that hears none may hang up.
    #expect(zip(deaf.heard, deaf.heard.dropFirst()).allSatisfy { $1.header.sequence == $0.header.sequence &+ 1 })
  }

  @Test func aVoiceThatLeavesFades() throws {
    let network = RoomNetwork()
    let listener = try network.add(.pcma)
    var leaving: [RoomNetwork.Phone] = []
    for _ in 0..<5 { leaving.append(try network.add(.pcma)) }
    for phone in leaving { phone.hum(60, level: 5_000) }
    network.run(milliseconds: 1_000)
    for (index, phone) in leaving.enumerated() {
      network.run(milliseconds: Int64(100 + 5 * index))
      network.command(phone, .detach(.near))
    }
    network.run(milliseconds: 500)
    let steps = Sound.step(listener.sound)
    // Five tones rise by 240 each from sample to sample; A-law adds what it rounds.
    #expect(steps < 2_400)
    #expect(listener.last(300).allSatisfy { abs(Int($0)) < 60 })
  }

  @Test func aBridgeOfTwoLegsIsARoomsAndBackAgain() throws {
    let harness = try BridgeHarness(.pcmu, .pcma)
    let tone = TestSound.sine(400, samples: 160)
    let encoder = try AudioEncoder(.pcmu, samplingRate: 8_000)
    harness.send(.near, TestSound.encode(tone, encoder), ticks: 160)
    #expect(harness.heard(.far).count == 1)
    harness.command(.enterRoom(.near, RoomNetwork.room, RoomOptions()))
    for _ in 0..<5 { harness.send(.near, TestSound.encode(tone, encoder), ticks: 160) }
    #expect(harness.heard(.far).count == 1, "it is in the room, and the other is not")
    harness.command(.leaveRoom(.near))
    harness.send(.near, TestSound.encode(tone, encoder), ticks: 160)
    #expect(harness.heard(.far).count == 2)
  }

  @Test func aBridgeThatGoesWithoutAWordLeavesItsRoom() throws {
    let network = RoomNetwork()
    let listener = try network.add(.pcmu)
    try network.add(.pcmu).hum(400)
    network.run(milliseconds: 1_000)
    network.phones.removeLast()
    network.run(milliseconds: 1_500)
    #expect(listener.strength(400) < 40 && network.hall.count == 1)
    network.phones.removeLast()
    withExtendedLifetime(listener) {}
  }

  @Test func aFullRoomAndAFullHallRefuse() throws {
    let network = RoomNetwork()
    for _ in 0..<RoomHall.maximumSeats { try network.add(.pcmu) }
    let late = try network.add(.pcmu)
    func refusals() -> Int { network.told(late).count { $0 == .roomRefused(.near) } }
    #expect(refusals() == 1)
    #expect(network.hall.refused == 1)
    for (index, phone) in network.phones.dropLast().enumerated().dropFirst() {
      network.command(phone, .enterRoom(.near, RoomIdentifier(rawValue: UInt64(100 + index)), RoomOptions()))
    }
    #expect(network.hall.count == RoomHall.maximumRooms)
    network.command(late, .enterRoom(.near, RoomIdentifier(rawValue: 5), RoomOptions()))
    #expect(refusals() == 2)
    network.command(late, .enterRoom(.near, RoomNetwork.room, RoomOptions()))
    network.advanceHall()
    #expect(refusals() == 2, "there is room by now in the first")
  }

  @Test func formatsMayChangeWithinARoom() throws {
    let network = RoomNetwork()
    let speaker = try network.add(.pcmu)
    let listener = try network.add(.opus)
    speaker.hum(400)
    listener.hum(1_000)
    network.run(milliseconds: 1_000)
    try network.agree(listener, attributes: "a=sendonly\r\n")
    network.run(milliseconds: 500)
    let held = listener.heard.count
    network.run(milliseconds: 500)
    #expect(listener.heard.count == held && speaker.strength(1_000) > 2_000)
    try network.agree(listener, parameters: "maxaveragebitrate=16000")
    network.run(milliseconds: 2_000)
    #expect(listener.strength(400) > 2_500 && speaker.strength(1_000) > 3_000)
  }
}
