import CallModel
import MediaCore
import SDPCore
import SecureTransport

/// Packets of sound, and what is made of them.
enum MediaDoors {
  static let all =
    [
      RTPDoor.door, RTCPDoor.door,
      FuzzDoor("rtp-header", "an RTP packet", dictionary: "binary", maximumBytes: 1600, header),
      FuzzDoor(
        "rtp-redundancy", "a packet that carries others, after three bytes of sizes", dictionary: "binary",
        maximumBytes: 1600, redundancy),
      FuzzDoor("telephone-event", "a row of key reports", dictionary: "binary", maximumBytes: 2048, events),
      FuzzDoor(
        "media-bridge", "packets to both legs of a call, which go to rooms and back and are recorded",
        dictionary: "binary",
        maximumBytes: 4096
      ) { (input) throws(BrokenPromise) in
        guard let bench = BridgeBench(input.first ?? 0) else { return }
        try bench.play(input.dropFirst())
      },
    ] + SoundDoors.all

  private static func header(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count <= PacketBuffer.maximumDatagram else { return }
    let packet = PacketBuffer(input)
    for identifier in 1...14 { try promise(packet.audioLevel(UInt8(identifier)) ?? 0 <= 127, "a level of no sound") }
    guard let header = RTPHeader(packet) else { return }
    try promise(
      header.payloadOffset >= RTPHeader.size && header.payloadCount >= 0
        && header.payloadOffset + header.payloadCount <= packet.count, "a payload beyond the packet")
    let payload = input[header.payloadOffset..<header.payloadOffset + header.payloadCount]
    packet.rewriteRTPHeader(header, marker: true, payloadType: 8, sequence: 9, timestamp: 10, source: 11)
    guard let again = RTPHeader(packet) else { throw BrokenPromise(description: "our own header is not read") }
    try promise(again.marker && again.payloadType == 8 && again.sequence == 9, "another header")
    try promise(again.timestamp == 10 && again.source == 11, "another header")
    try promise(
      packet.bytes.dropFirst(again.payloadOffset).prefix(again.payloadCount).elementsEqual(payload), "another payload")
  }

  /// The bytes behind the first three as such a packet; then two packets of them, as long as the first two bytes say and
  /// with the third between their times, as the second is sent that carries the first.
  private static func redundancy(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count > 3, input.count <= PacketBuffer.maximumDatagram else { return }
    let packet = PacketBuffer(input.dropFirst(3))
    if let header = RTPHeader(packet), let payload = RedundantPayload(packet, header) {
      try promise(payload.copyCount <= RedundantPayload.maximumCopies, "\(payload.copyCount) copies")
      var end = 0
      for index in 0...payload.copyCount {
        let block = index == payload.copyCount ? payload.own : payload.copy(index)
        try promise(block.offset >= max(end, header.payloadOffset), "a block within another")
        end = block.offset + block.count
        try promise(end <= header.payloadOffset + header.payloadCount, "a block behind the end")
      }
    }
    let repeater = PacketRepeater()
    let bytes = input.dropFirst(3)
    for (number, size) in input.prefix(2).enumerated() {
      packet.writeRTPHeader(
        marker: false, payloadType: 111, sequence: UInt16(number), timestamp: UInt32(number) * UInt32(input[2]) * 100,
        source: 1)
      for byte in bytes.prefix(Int(size) * 6) { packet.append(byte) }
      let sent = packet.bytes
      repeater.repeatLast(in: packet, as: 63)
      guard let header = RTPHeader(packet) else { throw BrokenPromise(description: "our own header is not read") }
      guard header.payloadType == 63 else {
        try promise(packet.bytes == sent, "a packet that carries none is another")
        continue
      }
      guard let payload = RedundantPayload(packet, header), payload.copyCount == 1 else {
        throw BrokenPromise(description: "our own copy is not read")
      }
      try promise(header.payloadCount <= PacketRepeater.maximumPayload, "\(header.payloadCount) bytes")
      for (block, size) in [(payload.copy(0), input[0]), (payload.own, input[1])] {
        try promise(
          packet.bytes[block.offset..<block.offset + block.count].elementsEqual(bytes.prefix(Int(size) * 6)),
          "another sound")
      }
    }
  }

  /// Nine bytes each: marker, sequence, timestamp, milliseconds, and a report of four behind. A key is told once.
  private static func events(_ input: [UInt8]) throws(BrokenPromise) {
    var receiver = TelephoneEventReceiver(clockRate: 8000)
    var digits: [DigitPressed] = []
    var now = MonotonicInstant.zero
    var reports = 0
    var position = 0
    let packet = PacketBuffer()
    while position + 9 <= input.count {
      let head = input[position..<position + 4]
      let count = min(Int(head[position] & 0x1F) + 4, input.count - position - 4)
      now = now.advanced(byMilliseconds: Int64(head[position + 3]))
      packet.replace(with: input[position + 4..<position + 4 + count])
      receiver.receive(
        packet, offset: 0, count: count, marker: head[position] & 0x80 != 0, sequence: UInt16(head[position + 1]),
        timestamp: UInt32(head[position + 2]) * 80, at: now, digits: &digits)
      reports += count / TelephoneEventPayload.byteCount
      receiver.advance(to: now, digits: &digits)
      try promise(digits.count <= reports, "\(digits.count) keys of \(reports) reports")
      position += 4 + count
    }
    receiver.finish(digits: &digits)
    try promise(!receiver.isPressed && receiver.nextDeadline == nil, "a key stays pressed")
    for digit in digits {
      try promise(TelephoneEvents.keys.contains(digit.code), "key \(digit.code)")
      try promise(digit.milliseconds >= 0, "\(digit.milliseconds) ms")
    }
  }
}

/// A bridge of two trunk legs. Each record is a byte that says what, one with milliseconds, one with a length, and bytes.
private final class BridgeBench {
  /// Packets of one input at most: sound takes time to decode.
  private static let maximumPackets = 40
  private static let sound = try? PlayableSound([Int16](repeating: 1_000, count: 3_200), samplingRate: 16_000)
  private let workspace = MediaWorkspace()
  private let bridge: MediaBridge
  /// Without legs: it records a room.
  private let recorder: MediaBridge
  private var roomEvents: [(MediaBridge.Identifier, MediaEvent)] = []
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()
  private var events: [MediaEvent] = []
  private var now = MonotonicInstant(milliseconds: 1_000)
  private let codecs: [AudioCodec]

  init?(_ choice: UInt8) {
    let all = AudioCodec.allCases
    codecs = [all[Int(choice & 3) % all.count], all[Int(choice >> 2 & 3) % all.count]]
    bridge = MediaBridge(MediaBridge.Identifier(rawValue: 1), workspace: workspace, at: now)
    recorder = MediaBridge(MediaBridge.Identifier(rawValue: 2), workspace: workspace, at: now)
    for side in [LegID.near, .far] {
      let number: Int32 = side == .near ? 1 : 2
      var leg = MediaLegConfiguration(
        .trunk(
          TrunkTransport.Configuration(
            port: MediaPort(rawValue: number), controlPort: MediaPort(rawValue: number + 10))),
        stream: MediaLegConfiguration.Stream(
          source: UInt32(number) * 1_000, sequence: 10, timestamp: 90_000, canonicalName: "fuzz", seed: UInt64(number),
          unixMicroseconds: 1_700_000_000_000_000))
      leg.detectsTones = choice & 0x10 != 0
      bridge.attach(side, leg, at: now)
      guard let plan = plan(side) else { return nil }
      bridge.handle(.plan(side, plan), at: now, outbox: outbox, events: &events)
    }
    if choice & 0x20 != 0 {
      bridge.handle(.record(choice & 0x40 != 0 ? .sound : .file), at: now, outbox: outbox, events: &events)
    }
  }

  private func plan(_ side: LegID) -> MediaPlan? {
    let codec = codecs[side == .near ? 0 : 1]
    let type = codec.staticPayloadType?.number ?? 111
    let encoding = codec == .opus ? "opus/48000/2" : "\(codec.rawValue)/8000"
    let text =
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "m=audio \(port(side)) RTP/AVP \(type) 63 101\r\na=rtpmap:\(type) \(encoding)\r\n"
      + "a=rtpmap:63 red/48000/2\r\na=fmtp:63 \(type)/\(type)\r\n"
      + "a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:20\r\n"
      + "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n"
    var policy = MediaPolicy(codecs: AudioCodec.allCases, protection: .none)
    policy.answersRedundancy = true
    policy.answersAudioLevels = true
    var exchange = OfferAnswer(sessionID: 1, host: SDPDoors.host, policy: policy)
    guard let offer = try? SessionDescription(parsing: Array(text.utf8)) else { return nil }
    return (try? exchange.answer(offer, from: LocalMedia(host: SDPDoors.host, port: 40_000)))?.plan
  }

  private func port(_ side: LegID) -> UInt16 { side == .near ? 5002 : 5004 }

  func play(_ input: ArraySlice<UInt8>) throws(BrokenPromise) {
    var rest = input
    var packets = 0
    while rest.count >= 3, packets < Self.maximumPackets {
      let start = rest.startIndex
      let (kind, wait, count) = (rest[start], rest[start + 1], Int(rest[start + 2]))
      let bytes = rest.dropFirst(3).prefix(count)
      rest = rest.dropFirst(3 + bytes.count)
      packets += 1
      try advance(milliseconds: Int64(wait & 0x7F))
      let side: LegID = kind & 1 == 0 ? .near : .far
      let number: Int32 = side == .near ? 1 : 2
      outbox.removeAll()
      switch kind >> 5 {
      case 0...3:
        packet.replace(with: bytes)
        // A header that fits, so that chance comes further: only its number and time are the input's.
        if kind & 2 != 0, bytes.count >= 12 {
          packet[0] = 0x80 | packet[0] & 0x3F
          let codec = codecs[side == .near ? 0 : 1]
          let sound = codec.staticPayloadType?.number ?? (kind & 16 == 0 ? 111 : 63)
          packet[1] = packet[1] & 0x80 | UInt8(kind & 4 == 0 ? sound : 101)
        }
        bridge.receive(
          packet, of: side, on: MediaPort(rawValue: kind & 8 == 0 ? number : number + 10),
          from: MediaAddress(ipv4: 0x7F00_0001, port: port(side) + (kind & 8 == 0 ? 0 : 1)), at: now, outbox: outbox,
          events: &events)
      case 4:
        bridge.handle(
          .sendDigits(side, codes: bytes.prefix(8).map { Int($0) }, milliseconds: Int(wait) * 8, pause: Int(wait)),
          at: now, outbox: outbox, events: &events)
      case 5: bridge.handle(.mute(side, kind & 2 == 0), at: now, outbox: outbox, events: &events)
      case 6: record(kind)
      case 7 where kind & 4 != 0:
        bridge.handle(
          .enterRoom(side, RoomIdentifier(rawValue: UInt64(kind >> 4 & 1)), RoomOptions()), at: now, outbox: outbox,
          events: &events)
      case 7 where kind & 8 != 0: bridge.handle(.leaveRoom(side), at: now, outbox: outbox, events: &events)
      case 7 where kind & 48 == 48:
        let command: MediaCommand =
          kind & 64 == 0 ? .toneBeneath(kind & 2 == 0) : kind & 128 == 0 ? .shareRoom(kind & 2 == 0) : .record(.sound)
        bridge.handle(command, at: now, outbox: outbox, events: &events)
      case 7 where kind & 16 != 0:
        bridge.handle(.playBeneath(kind & 2 == 0 ? nil : Self.sound), at: now, outbox: outbox, events: &events)
      default:
        if let plan = plan(side) { bridge.handle(.plan(side, plan), at: now, outbox: outbox, events: &events) }
      }
      try promise(outbox.count <= 64, "one packet makes \(outbox.count)")
    }
    try advance(milliseconds: 200)
    for one in [bridge, recorder] { one.handle(.close, at: now, outbox: outbox, events: &events) }
    try promise(bridge.nextDeadline == nil && recorder.nextDeadline == nil, "a closed bridge waits for something")
    try promise(workspace.hall.count == 0 && workspace.hall.nextDeadline == nil, "a room without anybody")
  }

  private func record(_ kind: UInt8) {
    let command: MediaCommand =
      switch kind >> 1 & 7 {
      case 0: .record(.file)
      case 1: .record(.sound)
      case 2: .pauseRecording(true)
      case 3: .pauseRecording(false)
      case 4: .recordRoom(RoomIdentifier(rawValue: 0))
      case 5: .recordRoom(RoomIdentifier(rawValue: 1))
      default: .record(nil)
      }
    let bridge = kind & 1 == 0 ? self.bridge : recorder
    bridge.handle(command, at: now, outbox: outbox, events: &events)
  }

  private func advance(milliseconds: Int64) throws(BrokenPromise) {
    let end = now.advanced(byMilliseconds: milliseconds)
    for _ in 0..<1024 {
      let deadlines = [bridge.nextDeadline, recorder.nextDeadline, workspace.hall.nextDeadline].compactMap(\.self)
      guard let next = deadlines.min(), next <= end else { break }
      now = max(now, next)
      outbox.removeAll()
      for one in [bridge, recorder] { one.advance(to: now, outbox: outbox, events: &events) }
      workspace.hall.advance(to: now, outbox: outbox, flush: outbox.removeAll, events: &roomEvents)
      for following in [bridge.nextDeadline, recorder.nextDeadline, workspace.hall.nextDeadline] {
        try promise(following.map { $0 > now } ?? true, "a deadline stayed behind")
      }
      roomEvents.removeAll(keepingCapacity: true)
      events.removeAll(keepingCapacity: true)
    }
    now = end
  }
}
