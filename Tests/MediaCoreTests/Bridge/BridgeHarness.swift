import CallModel
import Foundation
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// A bridge between two phones that speak plain RTP, in memory, with a clock that the test moves.
final class BridgeHarness {
  /// A phone: what it offered, the stream it sends, and what it was sent.
  struct Phone {
    let port: MediaPort
    let address: MediaAddress
    let codec: AudioCodec
    let payloadType: UInt8
    let eventType: UInt8
    var sequence: UInt16 = 100
    var timestamp: UInt32 = 7_000
    var heard: [Packet] = []
    /// Compounds of RTCP that it was sent.
    var controls: [[UInt8]] = []
  }

  struct Packet {
    let header: RTPHeader
    let payload: [UInt8]
    let at: MonotonicInstant
  }

  let bridge: MediaBridge
  let workspace = MediaWorkspace()
  let outbox = PacketOutbox()
  var events: [MediaEvent] = []
  var now = MonotonicInstant(milliseconds: 1_000)
  var phones: [LegID: Phone] = [:]
  private var ends: [LegID: OfferAnswer] = [:]

  init(
    _ left: AudioCodec, _ right: AudioCodec, leftEvents: Int? = 8_000, rightEvents: Int? = 8_000,
    rightPacketTime: Int = 20, detectsTones: Bool = false
  ) throws {
    let bridge = MediaBridge(MediaBridge.Identifier(rawValue: 1), workspace: workspace, at: now)
    self.bridge = bridge
    for (side, codec, clock, time) in [
      (LegID.near, left, leftEvents, 20), (.far, right, rightEvents, rightPacketTime),
    ] {
      let number: Int32 = side == .near ? 1 : 2
      attach(side, port: number, detectsTones: detectsTones)
      addPhone(side, codec, number)
      try agree(side, "", clock: clock, packetTime: time)
    }
  }

  private func addPhone(_ side: LegID, _ codec: AudioCodec, _ number: Int32) {
    let payloadType = UInt8(codec.staticPayloadType?.number ?? 111)
    phones[side] = Phone(
      port: MediaPort(rawValue: number), address: MediaAddress(ipv4: 0x7F00_0001, port: UInt16(5_000 + 2 * number)),
      codec: codec, payloadType: payloadType, eventType: 101)
    var policy = MediaPolicy(codecs: AudioCodec.allCases, protection: .none)
    policy.answersRedundancy = true
    ends[side] = OfferAnswer(sessionID: UInt64(number), host: .ipv4(0x7F00_0001), policy: policy)
  }

  /// A phone that rings: its leg waits apart, with all that it needs to speak.
  func addPhoneApart(_ side: LegID, _ codec: AudioCodec) throws {
    let number = Int32(side.number) + 20
    attach(side, port: number, isApart: true)
    addPhone(side, codec, number)
    try agree(side, "", clock: nil)
  }

  /// Hands the bridge a leg on ports of its own.
  func attach(_ id: LegID, port: Int32, detectsTones: Bool = false, isApart: Bool = false) {
    let stream = MediaLegConfiguration.Stream(
      source: UInt32(port) * 1_000, sequence: 10, timestamp: 90_000, canonicalName: "landline", seed: UInt64(port),
      unixMicroseconds: 1_700_000_000_000_000)
    var leg = MediaLegConfiguration(
      .trunk(
        TrunkTransport.Configuration(
          port: MediaPort(rawValue: port), controlPort: MediaPort(rawValue: port + 10))), stream: stream)
    leg.detectsTones = detectsTones
    bridge.attach(id, leg, isApart: isApart, at: now)
  }

  /// The phone offers, the bridge's leg takes the plan. `redundancy`: payload type of packets that carry others.
  func agree(
    _ side: LegID, _ attributes: String, clock: Int?, packetTime: Int = 20, redundancy: UInt8? = nil
  ) throws {
    guard let phone = phones[side], var end = ends[side] else { return }
    let encoding = phone.codec == .opus ? "opus/48000/2" : "\(phone.codec.rawValue)/8000"
    let format = "\(phone.payloadType)"
    let events = clock.map { "a=rtpmap:101 telephone-event/\($0)\r\na=fmtp:101 0-15\r\n" } ?? ""
    let copies = redundancy.map { "a=rtpmap:\($0) red/48000/2\r\na=fmtp:\($0) \(format)/\(format)\r\n" } ?? ""
    let text =
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "m=audio \(phone.address.port) RTP/AVP \(format)\(redundancy.map { " \($0)" } ?? "")\(clock == nil ? "" : " 101")\r\n"
      + "a=rtpmap:\(format) \(encoding)\r\n\(copies)\(events)a=ptime:\(packetTime)\r\n\(attributes)"
    let local = LocalMedia(host: .ipv4(0x7F00_0001), port: 40_000)
    let plan = try end.answer(SessionDescription(parsing: Array(text.utf8)), from: local).plan
    ends[side] = end
    command(.plan(side, plan))
  }

  func command(_ command: MediaCommand) {
    bridge.handle(command, at: now, outbox: outbox, events: &events)
    collect()
  }

  /// Moves the clock on, deadline by deadline.
  func advance(milliseconds: Int64) {
    let end = now.advanced(byMilliseconds: milliseconds)
    while let due = [bridge.nextDeadline, workspace.hall.nextDeadline].compactMap(\.self).min(), due <= end {
      now = max(now, due)
      bridge.advance(to: now, outbox: outbox, events: &events)
      var told: [(BridgeIdentifier, MediaEvent)] = []
      workspace.hall.advance(to: now, outbox: outbox, flush: collect, events: &told)
      events += told.map(\.1)
      collect()
    }
    now = end
  }

  /// The phone sends a payload in its next packet.
  func send(
    _ side: LegID, _ payload: [UInt8], ticks: UInt32, payloadType: UInt8? = nil, marker: Bool = false,
    lost: Bool = false
  ) {
    guard let phone = phones[side] else { return }
    phones[side]?.sequence &+= 1
    phones[side]?.timestamp &+= ticks
    if !lost {
      deliver(
        side, payload, sequence: phone.sequence, timestamp: phone.timestamp,
        payloadType: payloadType ?? phone.payloadType, marker: marker)
    }
  }

  func deliver(
    _ side: LegID, _ payload: [UInt8], sequence: UInt16, timestamp: UInt32, payloadType: UInt8,
    marker: Bool = false, from address: MediaAddress? = nil
  ) {
    guard let phone = phones[side] else { return }
    let packet = PacketBuffer()
    packet.writeRTPHeader(
      marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp, source: 77)
    for byte in payload { packet.append(byte) }
    bridge.receive(
      packet, of: side, on: phone.port, from: address ?? phone.address, at: now, outbox: outbox, events: &events)
    collect()
  }

  /// The near phone presses keys, as events of RFC 4733, while so many steps of 10 ms go by; `hear` is given what the far
  /// phone is sent meanwhile.
  func press(
    _ codes: [Int], clockRate: Int = 8_000, milliseconds: Int, pause: Int, steps: Int, hear: (Packet) -> Void = { _ in }
  ) {
    var sender = TelephoneEventSender(clockRate: clockRate, packetTime: 20)
    for code in codes { _ = sender.send(code, milliseconds: milliseconds, pause: pause, at: now) }
    for _ in 0..<steps {
      let stamp = UInt32(now.milliseconds) &* UInt32(clockRate / 1_000)
      let read = heard(.far).count
      while let event = sender.next(at: now, timestamp: stamp) {
        let packet = PacketBuffer()
        event.payload.append(to: packet)
        phones[.near]?.sequence &+= 1
        deliver(
          .near, packet.bytes, sequence: phones[.near]?.sequence ?? 0, timestamp: event.timestamp, payloadType: 101,
          marker: event.marker)
      }
      advance(milliseconds: 10)
      heard(.far).dropFirst(read).forEach(hear)
    }
  }

  private func collect() {
    for index in 0..<outbox.count {
      let buffer = outbox.buffer(at: index)
      for (side, phone) in phones where outbox.port(at: index).rawValue == phone.port.rawValue + 10 {
        #expect((try? RTCPCompound(buffer)) != nil)
        phones[side]?.controls.append(buffer.bytes)
      }
      for (side, phone) in phones where phone.address == outbox.address(at: index) {
        guard let header = RTPHeader(buffer), outbox.port(at: index) == phone.port else { continue }
        let payload = Array(buffer.bytes[header.payloadOffset..<(header.payloadOffset + header.payloadCount)])
        phones[side]?.heard.append(Packet(header: header, payload: payload, at: now))
      }
    }
    outbox.removeAll()
  }

  func controls(_ side: LegID) -> Int { phones[side]?.controls.count ?? 0 }
  func heard(_ side: LegID) -> [Packet] { phones[side]?.heard ?? [] }
  var digits: [String] {
    events.compactMap {
      if case .digit(let side, let digit) = $0 { "\(side) \(digit.character)" } else { nil }
    }
  }
}

/// Sound as the tests make it.
enum TestSound {
  /// A sine of `frequency` Hz.
  static func sine(_ frequency: Double, samples: Int, from start: Int = 0, rate: Double = 8_000, level: Double = 8_000)
    -> [Int16]
  {
    (0..<samples).map { Int16(level * sin(2 * .pi * frequency * Double($0 + start) / rate)) }
  }

  static func encode(_ samples: [Int16], _ encoder: AudioEncoder) -> [UInt8] {
    let packet = PacketBuffer()
    _ = encoder.encode(SampleBuffer(samples), from: 0, count: samples.count, into: packet)
    return packet.bytes
  }

  static func decode(_ payload: [UInt8], _ decoder: AudioDecoder) -> [Int16] {
    let sound = SampleBuffer()
    _ = decoder.decode(PacketBuffer(payload), offset: 0, count: payload.count, into: sound)
    return sound.samples
  }

  /// Power at `frequency` as part of all power, 0 to 1.
  static func purity(_ samples: [Int16], _ frequency: Double, rate: Double = 8_000) -> Double {
    var real = 0.0
    var imaginary = 0.0
    var all = 0.0
    for (index, sample) in samples.enumerated() {
      let value = Double(sample)
      real += value * cos(2 * .pi * frequency * Double(index) / rate)
      imaginary += value * sin(2 * .pi * frequency * Double(index) / rate)
      all += value * value
    }
    guard all > 0 else { return 0 }
    return 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * all)
  }
}
