import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

@Suite struct AudioEndpointTests {
  @Test(
    "Speech passes both ways through a bridge, whatever codecs the legs have",
    arguments: [
      (AudioCodec.opus, AudioCodec.opus, 48_000), (.opus, .pcmu, 48_000), (.pcma, .pcma, 48_000),
      (.opus, .g722, 16_000),
      (.pcmu, .g722, 8_000),
    ])
  func speech(left: AudioCodec, right: AudioCodec, samplingRate: Int) throws {
    let network = try EndpointNetwork(left, right, samplingRate: samplingRate)
    try network.join()
    network.run(milliseconds: 200)
    let speech = try TestSpeech.prompt(.early, samplingRate: samplingRate)
    network.say(speech, .left)
    network.say(speech, .right)
    network.played = [.left: [], .right: []]
    network.run(milliseconds: 2_400)
    for end in [EndpointNetwork.End.left, .right] {
      let likeness = TestSpeech.likeness(
        speech, from: 500, network.played[end] ?? [], samplingRate: samplingRate)
      #expect(likeness.correlation >= 0.9, "\(end): \(likeness)")
      // The buffer, and what coders and converters hold back; a packet that arrives in time is played in its own turn.
      #expect((40...70).contains(likeness.milliseconds), "\(end): \(likeness)")
    }
    #expect(network.has(.left) { $0 == .firstMedia })
    #expect(network.has(.left) { if case .connected = $0 { true } else { false } })
  }

  @Test("Keys arrive exactly, both ways and with loss")
  func digits() throws {
    let network = try EndpointNetwork(.opus, .pcmu)
    try network.join()
    network.lost = 10
    network.handle(.sendDigits(codes: [1, 2, 2, 10, 11, 0], milliseconds: 100, pause: 100), .left)
    network.handle(.sendDigits(codes: [9, 8, 12], milliseconds: 100, pause: 100), .right)
    network.run(milliseconds: 2_500)
    #expect(network.digits(.right) == "122*#0")
    #expect(network.digits(.left) == "98A")
  }

  @Test("Figures say what was sent, lost and concealed")
  func statistics() throws {
    let network = try EndpointNetwork(.opus, .pcmu)
    try network.join()
    network.run(milliseconds: 10_000)
    let calm = try #require(network.statistics(.left).last)
    #expect((440...510).contains(calm.sent.packets))
    #expect(calm.received.lost == 0)
    #expect(calm.received.concealed <= 8)
    #expect(calm.received.meanOpinionScore > 4)
    #expect(calm.roundTrip.map { (5...25).contains($0) } == true)
    network.lost = 10
    network.run(milliseconds: 20_000)
    let harmed = try #require(network.statistics(.left).last)
    let expected = Double(harmed.received.packets) + Double(harmed.received.lost) - Double(calm.received.packets)
    #expect((0.05...0.16).contains(Double(harmed.received.lost) / expected))
    let madeUp = Double(harmed.received.recovered + harmed.received.concealed)
    #expect(madeUp >= 0.8 * Double(harmed.received.lost))
    #expect(harmed.received.meanOpinionScore < calm.received.meanOpinionScore)
  }

  @Test("Packets of padding alone are no loss")
  func padding() throws {
    let network = try EndpointNetwork(.opus, .pcmu)
    try network.join()
    network.run(milliseconds: 1_000)
    let before = try #require(network.statistics(.right).last).received
    network.paddedEvery = 4
    network.run(milliseconds: 10_000)
    let after = try #require(network.statistics(.right).last).received
    // A second of statistics may be under way.
    #expect(after.packets - before.packets >= 500)
    #expect(after.lost == 0)
    #expect(after.concealed - before.concealed <= 8)
  }

  @Test("An uneven network costs delay and little else", arguments: [20, 60])
  func uneven(milliseconds: Int64) throws {
    let network = try EndpointNetwork(.opus, .opus)
    try network.join()
    network.uneven = milliseconds
    network.run(milliseconds: 5_000)
    let before = network.left.playoutLosses
    let first = try #require(network.statistics(.left).last).received.concealed
    network.run(milliseconds: 20_000)
    let after = network.left.playoutLosses
    let last = try #require(network.statistics(.left).last)
    let frames = 1_000.0
    #expect(Double(last.received.concealed - first) / frames <= 0.05)
    #expect(Double(after.late - before.late) / frames <= 0.05)
    // Calm again: the delay goes back to where it was.
    network.uneven = 0
    network.run(milliseconds: 20_000)
    let speech = try TestSpeech.prompt(.early, samplingRate: 48_000)
    network.say(speech, .right)
    network.played = [.left: [], .right: []]
    network.run(milliseconds: 2_400)
    let likeness = TestSpeech.likeness(speech, from: 500, network.played[.left] ?? [], samplingRate: 48_000)
    #expect(likeness.correlation >= 0.9 && likeness.milliseconds <= 90, "\(likeness)")
  }

  @Test("An outage leaves no delay behind", arguments: [60, 1_000, 5_000])
  func outage(milliseconds: Int64) throws {
    let network = try EndpointNetwork(.opus, .opus)
    try network.join()
    network.run(milliseconds: 500)
    network.lost = 100
    network.run(milliseconds: milliseconds)
    network.lost = 0
    network.run(milliseconds: 300)
    let speech = try TestSpeech.prompt(.early, samplingRate: 48_000)
    network.say(speech, .right)
    network.played = [.left: [], .right: []]
    network.run(milliseconds: 2_400)
    let likeness = TestSpeech.likeness(speech, from: 500, network.played[.left] ?? [], samplingRate: 48_000)
    #expect(likeness.correlation >= 0.9 && likeness.milliseconds <= 90, "\(likeness)")
  }

  @Test("A muted endpoint sends silence, not nothing")
  func mute() throws {
    let network = try EndpointNetwork(.opus, .pcmu)
    try network.join()
    network.handle(.mute(true), .left)
    network.say(try TestSpeech.prompt(.early, samplingRate: 48_000), .left)
    network.run(milliseconds: 500)
    let before = network.statistics(.right).last?.received.packets ?? 0
    network.played[.right] = []
    network.run(milliseconds: 2_000)
    #expect(try #require(network.statistics(.right).last).received.packets > before + 50)
    #expect(network.played[.right]?.allSatisfy { abs(Int($0)) < 200 } == true)
  }

  @Test("Other packet lengths are kept to", arguments: [10, 40, 60])
  func packetTimes(milliseconds: Int) throws {
    let network = try EndpointNetwork(.opus, .pcmu, packetTime: milliseconds)
    try network.join()
    network.run(milliseconds: 6_000)
    let last = try #require(network.statistics(.right).last)
    #expect(last.received.lost == 0 && last.received.packets > 200)
    #expect(network.statistics(.left).last?.received.lost == 0)
  }

  @Test("The end is said to the peer, and nothing follows")
  func close() throws {
    let network = try EndpointNetwork(.opus, .pcmu)
    try network.join()
    network.run(milliseconds: 1_000)
    network.handle(.close, .left)
    #expect(network.events[.left]?.last == .closed)
    network.run(milliseconds: 1_000)
    #expect(network.events[.left]?.last == .closed)
    #expect(network.left.nextDeadline == nil)
    #expect(network.bridgeEvents.contains(.bye(.near)))
  }

  @Test("An echo gives back sound and keys, and a prompt takes its place")
  func echo() throws {
    let network = try EndpointNetwork(.opus, nil)
    try network.join()
    network.command(.echo(.near, dropping: 0))
    let speech = try TestSpeech.prompt(.early, samplingRate: 48_000)
    network.say(speech, .left)
    network.played[.left] = []
    network.run(milliseconds: 2_400)
    let likeness = TestSpeech.likeness(speech, from: 500, network.played[.left] ?? [], samplingRate: 48_000)
    #expect(likeness.correlation >= 0.9, "\(likeness)")
    network.handle(.sendDigits(codes: [4, 5, 6], milliseconds: 80, pause: 80), .left)
    network.run(milliseconds: 1_000)
    #expect(network.digits(.left) == "456")
    let library = try TestSpeech.prompts.get()
    network.command(.play(.near, [.cut], from: library))
    network.played[.left] = []
    network.run(milliseconds: 2_000)
    let prompt = try TestSpeech.prompt(.cut, samplingRate: 48_000)
    let said = TestSpeech.likeness(prompt, from: 500, network.played[.left] ?? [], samplingRate: 48_000)
    #expect(said.correlation >= 0.9, "\(said)")
    network.run(milliseconds: Int64(library.recording(.cut, .opus).milliseconds))
    #expect(network.bridgeEvents.contains(.promptEnded(.near, finished: true)))
    // The echo goes on behind it.
    network.say(speech, .left)
    network.played[.left] = []
    network.run(milliseconds: 2_400)
    let again = TestSpeech.likeness(speech, from: 500, network.played[.left] ?? [], samplingRate: 48_000)
    #expect(again.correlation >= 0.9, "\(again)")
    #expect(network.statistics(.left).last?.received.lost == 0)
  }

  @Test("An echo that drops a packet of ten shows a loss of a tenth", arguments: [10, 50])
  func lossyEcho(dropping: Int) throws {
    let network = try EndpointNetwork(.pcmu, nil)
    try network.join()
    network.command(.echo(.near, dropping: dropping))
    network.run(milliseconds: 20_000)
    let last = try #require(network.statistics(.left).last).received
    let rate = Double(last.lost) / (Double(last.packets) + Double(last.lost))
    #expect(abs(rate - 1 / Double(dropping)) < 0.005, "\(last)")
  }

  @Test("A bridge with two legs does not echo")
  func noEchoBetweenTwo() throws {
    let network = try EndpointNetwork(.pcmu, .pcmu)
    try network.join()
    network.command(.echo(.near, dropping: 0))
    network.handle(.sendDigits(codes: [7], milliseconds: 80, pause: 80), .left)
    network.run(milliseconds: 1_000)
    #expect(network.digits(.left).isEmpty)
    #expect(network.digits(.right) == "7")
  }
}
