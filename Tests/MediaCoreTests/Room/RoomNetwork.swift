import CallModel
import Foundation
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Phones that speak plain RTP, each with a bridge of its own, in the rooms of one thread, in memory, with a clock that
/// the test moves.
final class RoomNetwork {
  /// A phone: what it says, and what it was sent.
  final class Phone {
    let bridge: MediaBridge
    let port: MediaPort
    let address: MediaAddress
    let codec: AudioCodec
    let payloadType: UInt8
    let packetTime: Int
    /// Hz of what it says and hears.
    let rate: Int
    fileprivate var end: OfferAnswer
    fileprivate let encoder: AudioEncoder
    fileprivate let decoder: AudioDecoder
    /// The sample at a place in time, counted from its first; `nil`: it sends nothing.
    var says: ((Int) -> Int16)?
    /// What its packets say of how loud they are (RFC 6464), by their sound; `nil`: nothing.
    var level: (([Int16]) -> UInt8)?
    /// Percent of its packets that are lost on their way to the bridge.
    var loss = 0
    /// Microseconds from one packet to the next: its clock may be a wrong one.
    var period: Double
    /// Packets are not delivered meanwhile, but all at once afterwards.
    var isStalled = false
    fileprivate var stalled: [[UInt8]] = []
    fileprivate var nextSend: Double
    var position = 0
    var sequence: UInt16 = 100
    var timestamp: UInt32 = 7_000
    /// Packets of sound it was sent.
    var heard: [Packet] = []
    /// Their sound, in the order of their time; silence where there is none.
    var sound: [Int16] = []
    fileprivate var nextTimestamp: UInt32?

    fileprivate init(
      _ bridge: MediaBridge, _ number: Int, _ codec: AudioCodec, packetTime: Int, at now: MonotonicInstant
    ) throws {
      self.bridge = bridge
      self.codec = codec
      self.packetTime = packetTime
      port = MediaPort(rawValue: Int32(2 * number + 1))
      address = MediaAddress(ipv4: 0x7F00_0001, port: UInt16(5_000 + 2 * number))
      payloadType = UInt8(codec.staticPayloadType?.number ?? 111)
      rate = codec == .opus ? 16_000 : codec.samplingRate
      encoder = try AudioEncoder(codec, samplingRate: rate)
      decoder = try AudioDecoder(codec, samplingRate: rate)
      period = Double(packetTime) * 1_000
      // Phones do not speak at the same instant.
      nextSend = Double(now.microseconds) + Double(number * 1_700 % 20_000)
      var policy = MediaPolicy(codecs: AudioCodec.allCases, protection: .none)
      policy.answersRedundancy = true
      policy.answersAudioLevels = true
      end = OfferAnswer(sessionID: UInt64(number), host: .ipv4(0x7F00_0001), policy: policy)
    }

    /// A tone that goes on.
    func hum(_ frequency: Double, level: Double = 4_000) {
      let rate = Double(rate)
      says = { Int16(level * sin(2 * .pi * frequency * Double($0) / rate)) }
    }

    /// Sound of the last milliseconds that it heard.
    func last(_ milliseconds: Int) -> [Int16] { Array(sound.suffix(milliseconds * rate / 1_000)) }

    /// How strong a tone is in the last second that it heard.
    func strength(_ frequency: Double) -> Double { Sound.strength(frequency, in: last(1_000), rate: rate) }
  }

  struct Packet {
    let header: RTPHeader
    let count: Int
    let at: MonotonicInstant
    /// Of its sound.
    let peak: Int
  }

  static let room = RoomIdentifier(rawValue: 7)
  /// Of an offer whose packets say how loud they are.
  static let levels = "a=extmap:5 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n"

  let workspace = MediaWorkspace()
  var hall: RoomHall { workspace.hall }
  let outbox = PacketOutbox()
  var now = MonotonicInstant(milliseconds: 1_000)
  var phones: [Phone] = []
  /// Bridges without legs.
  var recorders: [MediaBridge] = []
  private var recordersMade = 0
  /// With the number of the phone.
  var events: [(phone: Int, event: MediaEvent)] = []
  /// The rooms' clock stands still: the thread is busy.
  var isBusy = false
  private var random = SeededNoise(state: 5)

  /// A phone with a bridge; in the room unless `room` is nil.
  @discardableResult func add(
    _ codec: AudioCodec, packetTime: Int = 20, room: RoomIdentifier? = RoomNetwork.room, parameters: String = ""
  ) throws -> Phone {
    let number = phones.count
    let bridge = MediaBridge(MediaBridge.Identifier(rawValue: UInt64(number)), workspace: workspace, at: now)
    let phone = try Phone(bridge, number, codec, packetTime: packetTime, at: now)
    let stream = MediaLegConfiguration.Stream(
      source: UInt32(number + 1) * 1_000, sequence: 10, timestamp: 90_000, canonicalName: "landline",
      seed: UInt64(number), unixMicroseconds: 1_700_000_000_000_000)
    let control = MediaPort(rawValue: phone.port.rawValue + 1)
    bridge.attach(
      .near,
      MediaLegConfiguration(
        .trunk(TrunkTransport.Configuration(port: phone.port, controlPort: control)), stream: stream), at: now)
    phones.append(phone)
    try agree(phone, parameters: parameters)
    if let room { command(phone, .enterRoom(.near, room, RoomOptions())) }
    return phone
  }

  /// A bridge without legs, for a recording.
  func addRecorder() -> MediaBridge {
    recordersMade += 1
    let bridge = MediaBridge(
      MediaBridge.Identifier(rawValue: UInt64(1_000_000 + recordersMade)), workspace: workspace, at: now)
    recorders.append(bridge)
    return bridge
  }

  /// The phone offers, the bridge's leg takes the plan. `carries`: payload type of packets that carry others.
  func agree(_ phone: Phone, attributes: String = "", parameters: String = "", carries: UInt8? = nil) throws {
    let format = "\(phone.payloadType)"
    let copies = carries.map { "a=rtpmap:\($0) red/48000/2\r\na=fmtp:\($0) \(format)/\(format)\r\n" } ?? ""
    let encoding = phone.codec == .opus ? "opus/48000/2" : "\(phone.codec.rawValue)/8000"
    let text =
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "m=audio \(phone.address.port) RTP/AVP \(format)\(carries.map { " \($0)" } ?? "") 101\r\na=rtpmap:\(format) \(encoding)\r\n"
      + (parameters.isEmpty ? "" : "a=fmtp:\(format) \(parameters)\r\n")
      + copies + "a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:\(phone.packetTime)\r\n\(attributes)"
    let local = LocalMedia(host: .ipv4(0x7F00_0001), port: 40_000)
    let plan = try phone.end.answer(SessionDescription(parsing: Array(text.utf8)), from: local).plan
    command(phone, .plan(.near, plan))
  }

  func command(_ phone: Phone, _ command: MediaCommand) { self.command(phone.bridge, command) }

  func command(_ bridge: MediaBridge, _ command: MediaCommand) {
    var told: [MediaEvent] = []
    bridge.handle(command, at: now, outbox: outbox, events: &told)
    collect(told, bridge)
  }

  /// A packet comes from a phone.
  func deliver(_ bytes: [UInt8], _ phone: Phone) {
    let packet = PacketBuffer(bytes)
    var told: [MediaEvent] = []
    phone.bridge.receive(
      packet, of: .near, on: phone.port, from: phone.address, at: now, outbox: outbox, events: &told)
    collect(told, phone.bridge)
  }

  /// A packet of the phone's stream with another payload.
  func send(
    _ payload: [UInt8], payloadType: UInt8, marker: Bool = false, level: UInt8? = nil, _ phone: Phone,
    timestamp: UInt32? = nil
  ) {
    let packet = PacketBuffer()
    packet.writeRTPHeader(
      marker: marker, payloadType: payloadType, sequence: phone.sequence, timestamp: timestamp ?? phone.timestamp,
      source: 77)
    phone.sequence &+= 1
    if let level { append(level, to: packet) }
    for byte in payload { packet.append(byte) }
    deliver(packet.bytes, phone)
  }

  /// Behind a header: how loud the sound is.
  private func append(_ level: UInt8, to packet: PacketBuffer) {
    packet[0] |= 0x10
    for byte in [0xBE, 0xDE, 0, 1, 0x50, level, 0, 0] as [UInt8] { packet.append(byte) }
  }

  /// Moves the clock on, from one thing that is due to the next.
  func run(milliseconds: Int64) {
    let limit = now.advanced(byMilliseconds: milliseconds)
    while true {
      var next = limit
      for phone in phones {
        next = min(next, MonotonicInstant(microseconds: Int64(phone.nextSend)))
        if let due = phone.bridge.nextDeadline { next = min(next, due) }
      }
      for bridge in recorders { if let due = bridge.nextDeadline { next = min(next, due) } }
      if !isBusy, let due = hall.nextDeadline { next = min(next, due) }
      if next >= limit { break }
      now = max(now, next)
      for phone in phones {
        if Int64(phone.nextSend) <= now.microseconds { speak(phone) }
        if let due = phone.bridge.nextDeadline, due <= now {
          var told: [MediaEvent] = []
          phone.bridge.advance(to: now, outbox: outbox, events: &told)
          collect(told, phone.bridge)
        }
      }
      for bridge in recorders {
        guard let due = bridge.nextDeadline, due <= now else { continue }
        var told: [MediaEvent] = []
        bridge.advance(to: now, outbox: outbox, events: &told)
        collect(told, bridge)
      }
      if !isBusy { advanceHall() }
    }
    now = limit
  }

  func advanceHall() {
    var told: [(BridgeIdentifier, MediaEvent)] = []
    hall.advance(to: now, outbox: outbox, flush: { collect() }, events: &told)
    for (bridge, event) in told { events.append((Int(bridge.rawValue), event)) }
    collect()
  }

  private func speak(_ phone: Phone) {
    phone.nextSend += phone.period
    guard let says = phone.says else { return }
    let count = phone.packetTime * phone.rate / 1_000
    let sound = SampleBuffer((0..<count).map { says(phone.position + $0) })
    phone.position += count
    let packet = PacketBuffer()
    packet.writeRTPHeader(
      marker: false, payloadType: phone.payloadType, sequence: phone.sequence, timestamp: phone.timestamp, source: 77)
    phone.sequence &+= 1
    phone.timestamp &+= UInt32(phone.packetTime * phone.codec.clockRate / 1_000)
    if let level = phone.level?(sound.samples) { append(level, to: packet) }
    guard phone.encoder.encode(sound, from: 0, count: count, into: packet) else { return }
    if phone.isStalled { return phone.stalled.append(packet.bytes) }
    if phone.loss > 0, Int.random(in: 0..<100, using: &random) < phone.loss { return }
    for bytes in phone.stalled { deliver(bytes, phone) }
    phone.stalled = []
    deliver(packet.bytes, phone)
  }

  private func collect(_ told: [MediaEvent], _ bridge: MediaBridge) {
    for event in told { events.append((Int(bridge.identifier.rawValue), event)) }
    collect()
  }

  private func collect() {
    for index in 0..<outbox.count {
      let number = Int(outbox.port(at: index).rawValue - 1)
      let phone = phones[number / 2]
      // Reports leave by a port of their own.
      guard number.isMultiple(of: 2), let header = RTPHeader(outbox.buffer(at: index)) else { continue }
      hear(outbox.buffer(at: index), header, phone)
    }
    outbox.removeAll()
  }

  private func hear(_ packet: PacketBuffer, _ header: RTPHeader, _ phone: Phone) {
    let decoded = SampleBuffer()
    let scale = UInt32(phone.codec.clockRate)
    if let due = phone.nextTimestamp, header.timestamp &- due < scale * 3 {
      var missing = Int((header.timestamp &- due) / (scale / 50)) * phone.rate / 50
      while missing > 0 {
        let piece = min(missing, phone.rate / 50)
        phone.decoder.conceal(samples: piece, into: decoded)
        phone.sound += decoded.samples
        missing -= piece
      }
    }
    guard
      phone.decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: decoded)
    else {
      Issue.record("not to be decoded")
      return
    }
    phone.nextTimestamp = header.timestamp &+ UInt32(decoded.count) * scale / UInt32(phone.rate)
    phone.sound += decoded.samples
    let peak = decoded.samples.map { abs(Int($0)) }.max() ?? 0
    phone.heard.append(Packet(header: header, count: decoded.count, at: now, peak: peak))
  }

  /// What was told for a phone.
  func told(_ phone: Phone) -> [MediaEvent] { told(phone.bridge) }

  func told(_ bridge: MediaBridge) -> [MediaEvent] {
    events.filter { $0.phone == Int(bridge.identifier.rawValue) }.map(\.event)
  }

  /// The bytes that a bridge recorded.
  func recorded(_ bridge: MediaBridge) -> [UInt8] {
    told(bridge).flatMap { if case .recorded(let bytes) = $0 { bytes } else { [] as [UInt8] } }
  }

  /// The same as the samples of one channel.
  func sound(_ bridge: MediaBridge) -> [Int16] {
    let bytes = recorded(bridge)
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }

  func recordingEnds(_ bridge: MediaBridge) -> Int { told(bridge).count { $0 == .recordingEnded([]) } }
}
