import CallModel
import LandlineWire
import MediaCore
import PeerKit
import SDPCore
import SecureTransport
import Testing

/// A loop with the bridges that calls have.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct MediaLoopBridgeTests {
  /// One end of a call: a phone that speaks µ-law over plain RTP.
  private struct Phone {
    let socket: MediaPeer
    let ports: TrunkPorts

    func packet(_ sequence: UInt16, _ byte: UInt8) -> [UInt8] {
      let packet = PacketBuffer()
      packet.writeRTPHeader(
        marker: false, payloadType: 0, sequence: sequence, timestamp: 160 * UInt32(sequence), source: 77)
      return packet.bytes + [UInt8](repeating: byte, count: 160)
    }

    func send(_ sequence: UInt16, _ byte: UInt8) { socket.send(packet(sequence, byte), to: ports.address) }

    /// The sound of the next RTP packet; reports are passed over.
    func hear(_ what: String) async throws -> [UInt8] {
      while true {
        let bytes = try await socket.receive(what)
        guard let header = RTPHeader(PacketBuffer(bytes)), header.payloadType == 0 else { continue }
        return Array(bytes[header.payloadOffset...])
      }
    }

    /// What this phone offered, and the bridge's answer made of it.
    func plan() throws -> MediaPlan {
      let text =
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
        + "m=audio \(socket.address.port) RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=ptime:20\r\n"
      var end = OfferAnswer(
        sessionID: 1, host: .ipv4(0x7F00_0001), policy: MediaPolicy(codecs: [.pcmu], protection: .none))
      let local = LocalMedia(host: ports.address.host, port: Int(ports.address.port))
      return try end.answer(SessionDescription(parsing: Array(text.utf8)), from: local).plan
    }
  }

  private func reserve(
    _ loop: MediaLoop, _ identifier: MediaBridge.Identifier, _ side: LegID
  ) async throws -> TrunkPorts {
    try await withCheckedThrowingContinuation { continuation in
      let isTaken = loop.reserveTrunkPorts(for: identifier, side) { continuation.resume(with: $0.mapError { $0 }) }
      if !isTaken { continuation.resume(throwing: MediaLoopFailure.stopped) }
    }
  }

  private func open(
    _ loop: MediaLoop, _ identifier: MediaBridge.Identifier, _ legs: [LegID: MediaLegConfiguration]
  ) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let isTaken = loop.open(identifier, legs) { continuation.resume(with: $0.mapError { $0 }) }
      if !isTaken { continuation.resume(throwing: MediaLoopFailure.stopped) }
    }
  }

  private func leg(_ ports: TrunkPorts, _ number: UInt32) -> MediaLegConfiguration {
    MediaLegConfiguration(
      .trunk(TrunkTransport.Configuration(port: ports.port, controlPort: ports.control)),
      stream: .init(
        source: number, sequence: 1, timestamp: 1, canonicalName: "landline", seed: UInt64(number),
        unixMicroseconds: 1_700_000_000_000_000))
  }

  /// A bridge without legs, opened to record a room.
  @Test func aRoomIsRecordedByABridgeWithoutLegs() async throws {
    let events = Recorder<MediaLoopEvent>()
    let loop = try MediaLoop.start(ProbeLoop.configuration(.ownLoopback())) { batch in
      for event in batch { events.append(event) }
    }
    let (call, recorder) = (MediaBridge.Identifier(1), MediaBridge.Identifier(2))
    let room = RoomIdentifier(rawValue: 5)
    try await open(loop, recorder, [:])
    #expect(loop.apply(.recordRoom(room), to: recorder))
    let ended = MediaLoopEvent(bridge: recorder, event: .recordingEnded([]))
    try await events.wait(for: "the refusal", count: 1) { $0 == ended }
    let phone = Phone(socket: try MediaPeer(), ports: try await reserve(loop, call, .near))
    try await open(loop, call, [.near: leg(phone.ports, 1)])
    #expect(loop.apply(.plan(.near, try phone.plan()), to: call))
    #expect(loop.apply(.enterRoom(.near, room, RoomOptions()), to: call))
    #expect(loop.apply(.recordRoom(room), to: recorder))
    // Nobody speaks: silence, in real time.
    try await events.wait(for: "two pieces", count: 2) {
      if $0.bridge == recorder, case .recorded = $0.event { true } else { false }
    }
    loop.close(call)
    try await events.wait(for: "the end of the recording", count: 2) { $0 == ended }
    loop.close(recorder)
    try await events.wait(for: "the end", count: 1) { $0 == MediaLoopEvent(bridge: recorder, event: .closed) }
    let left = await withCheckedContinuation { continuation in
      let isTaken = loop.shutDown { continuation.resume(returning: $0) }
      if !isTaken { continuation.resume(returning: MediaLoopHoldings()) }
    }
    #expect(left.isIdle)
  }

  @Test func soundGoesBothWays() async throws {
    let events = Recorder<MediaLoopEvent>()
    let loop = try MediaLoop.start(ProbeLoop.configuration(.ownLoopback())) { batch in
      for event in batch { events.append(event) }
    }
    let calls = (1...10).map { MediaBridge.Identifier($0) }
    var phones: [(left: Phone, right: Phone)] = []
    for call in calls {
      let left = Phone(socket: try MediaPeer(), ports: try await reserve(loop, call, .near))
      let right = Phone(socket: try MediaPeer(), ports: try await reserve(loop, call, .far))
      // The second leg comes later, as when a trunk is chosen after the app has called.
      try await open(loop, call, [.near: leg(left.ports, 1)])
      #expect(loop.attach(.far, leg(right.ports, 2), to: call))
      #expect(loop.apply(.plan(.near, try left.plan()), to: call))
      #expect(loop.apply(.plan(.far, try right.plan()), to: call))
      phones.append((left, right))
    }
    for sequence in 1...20 as ClosedRange<UInt16> {
      for (number, pair) in phones.enumerated() {
        pair.left.send(sequence, UInt8(number))
        pair.right.send(sequence, UInt8(100 + number))
        #expect(
          try await pair.right.hear("call \(number)") == [UInt8](repeating: UInt8(number), count: 160))
        #expect(
          try await pair.left.hear("call \(number)") == [UInt8](repeating: UInt8(100 + number), count: 160))
      }
    }
    // Somebody who only knows the port is not heard.
    let stranger = try MediaPeer()
    for sequence in 21...25 as ClosedRange<UInt16> {
      stranger.send(phones[0].left.packet(sequence, 99), to: phones[0].left.ports.address)
    }
    phones[0].left.send(21, 42)
    #expect(try await phones[0].right.hear("after the stranger") == [UInt8](repeating: 42, count: 160))
    for call in calls {
      loop.close(call)
      try await events.wait(for: "the end", count: 1) { $0 == MediaLoopEvent(bridge: call, event: .closed) }
      for side in [LegID.near, .far] {
        #expect(events.events.contains(MediaLoopEvent(bridge: call, event: .firstMedia(side))))
      }
    }
    let left = await withCheckedContinuation { continuation in
      loop.shutDown { continuation.resume(returning: $0) }
    }
    var nothing = MediaLoopHoldings()
    nothing.freePairs = 8_192
    #expect(left == nothing)
  }
}
