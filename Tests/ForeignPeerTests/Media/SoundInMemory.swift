import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore
import SecureTransport

/// Speech through our bridges without sockets and without waiting: from one phone to another over plain RTP, in time that
/// only this moves. What comes out is the same at every run.
final class SoundInMemory {
  /// How the two are joined.
  enum Way: Sendable, CustomStringConvertible {
    /// Two legs of one bridge.
    case call
    /// Each with a bridge of its own, in a room of so many, of whom the others send silence.
    case room(Int)

    var description: String {
      switch self {
      case .call: "call"
      case .room(let people): "room of \(people)"
      }
    }
  }

  /// Microseconds.
  private static let frame: Int64 = 20_000
  private static let loopback: UInt32 = 0x7F00_0001

  private final class Phone {
    let bridge: MediaBridge
    let side: LegID
    let codec: AudioCodec
    let port: MediaPort
    let encoder: AudioEncoder
    let decoder: AudioDecoder
    /// 20 ms each; silence behind the last.
    var blocks: [[Int16]] = []
    var sent = 0
    /// What it hears, in the order of its time.
    var heard: [Int16] = []
    var dueTimestamp: UInt32?
    /// Of the sound that it says and hears.
    var rate: Int { encoder.samplingRate }
    var payloadType: UInt8 { UInt8(codec.staticPayloadType?.number ?? 111) }
    /// Phones do not speak at the same instant.
    var phase: Int64 { Int64(port.rawValue) * 1_700 % SoundInMemory.frame }

    init(_ bridge: MediaBridge, _ side: LegID, _ codec: AudioCodec, port: Int32) throws {
      (self.bridge, self.side, self.codec) = (bridge, side, codec)
      self.port = MediaPort(rawValue: port)
      encoder = try AudioEncoder(codec, samplingRate: codec == .opus ? 16_000 : codec.samplingRate)
      decoder = try AudioDecoder(codec, samplingRate: codec == .opus ? 16_000 : codec.samplingRate)
    }
  }

  private let workspace = MediaWorkspace()
  private let outbox = PacketOutbox()
  private var now = MonotonicInstant(milliseconds: 1_000)
  private var phones: [Phone] = []

  /// What one phone hears of what another says.
  static func heard(_ speech: SoundFile, _ codec: AudioCodec, to other: AudioCodec, _ way: Way) throws -> SoundFile {
    let sound = SoundInMemory()
    let first = sound.bridge(1)
    let speaker = try sound.add(first, .near, codec, port: 1)
    let listener: Phone
    switch way {
    case .call: listener = try sound.add(first, .far, other, port: 3)
    case .room(let people):
      listener = try sound.add(sound.bridge(2), .near, other, port: 3)
      for number in 2..<max(people, 2) {
        _ = try sound.add(sound.bridge(UInt64(number + 1)), .near, other, port: Int32(2 * number + 1))
      }
      for phone in sound.phones {
        sound.command(phone, .enterRoom(.near, RoomIdentifier(rawValue: 7), RoomOptions()))
      }
    }
    speaker.blocks = try speech.converted(to: speaker.rate).blocks(milliseconds: 20)
    sound.run(frames: speaker.blocks.count)
    return SoundFile(samplingRate: listener.rate, samples: listener.heard)
  }

  private func bridge(_ number: UInt64) -> MediaBridge {
    MediaBridge(MediaBridge.Identifier(rawValue: number), workspace: workspace, at: now)
  }

  private func add(_ bridge: MediaBridge, _ side: LegID, _ codec: AudioCodec, port: Int32) throws -> Phone {
    let phone = try Phone(bridge, side, codec, port: port)
    let stream = MediaLegConfiguration.Stream(
      source: UInt32(port) * 1_000, sequence: 10, timestamp: 90_000, canonicalName: "landline", seed: UInt64(port),
      unixMicroseconds: 1_700_000_000_000_000)
    let transport = TrunkTransport.Configuration(
      port: phone.port, controlPort: MediaPort(rawValue: phone.port.rawValue + 1))
    bridge.attach(side, MediaLegConfiguration(.trunk(transport), stream: stream), at: now)
    phones.append(phone)
    let format = phone.payloadType
    let encoding = codec == .opus ? "opus/48000/2" : "\(codec.rawValue)/8000"
    let text =
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "m=audio \(5_000 + port) RTP/AVP \(format)\r\na=rtpmap:\(format) \(encoding)\r\na=ptime:20\r\n"
    var end = OfferAnswer(
      sessionID: UInt64(port), host: .ipv4(Self.loopback),
      policy: MediaPolicy(codecs: AudioCodec.allCases, protection: .none))
    let local = LocalMedia(host: .ipv4(Self.loopback), port: 40_000)
    let plan = try end.answer(SessionDescription(parsing: Array(text.utf8)), from: local).plan
    command(phone, .plan(side, plan))
    return phone
  }

  private func command(_ phone: Phone, _ command: MediaCommand) {
    var told: [MediaEvent] = []
    phone.bridge.handle(command, at: now, outbox: outbox, events: &told)
    collect()
  }

  /// Every phone sends so many packets; each in its turn, and the room's frames between them.
  private func run(frames: Int) {
    let start = now
    for frame in 0..<Int64(frames) {
      for phone in phones.sorted(by: { $0.phase < $1.phase }) {
        advance(to: start.advanced(byMicroseconds: frame * Self.frame + phone.phase))
        speak(phone)
      }
    }
    // What waits is heard.
    advance(to: now.advanced(byMilliseconds: 200))
  }

  private func advance(to instant: MonotonicInstant) {
    while let due = workspace.hall.nextDeadline, due <= instant {
      now = max(now, due)
      var told: [(BridgeIdentifier, MediaEvent)] = []
      workspace.hall.advance(to: now, outbox: outbox, flush: { self.collect() }, events: &told)
      collect()
    }
    now = instant
    for phone in phones {
      guard let due = phone.bridge.nextDeadline, due <= now else { continue }
      var told: [MediaEvent] = []
      phone.bridge.advance(to: now, outbox: outbox, events: &told)
      collect()
    }
  }

  private func speak(_ phone: Phone) {
    let count = phone.rate / 50
    let block =
      phone.sent < phone.blocks.count ? phone.blocks[phone.sent] : [Int16](repeating: 0, count: count)
    let packet = PacketBuffer()
    packet.writeRTPHeader(
      marker: false, payloadType: phone.payloadType, sequence: UInt16(truncatingIfNeeded: phone.sent + 100),
      timestamp: UInt32(truncatingIfNeeded: phone.sent * phone.codec.clockRate / 50 + 7_000), source: 77)
    phone.sent += 1
    guard phone.encoder.encode(SampleBuffer(block), from: 0, count: count, into: packet) else { return }
    var told: [MediaEvent] = []
    phone.bridge.receive(
      packet, of: phone.side, on: phone.port,
      from: MediaAddress(ipv4: Self.loopback, port: UInt16(5_000 + phone.port.rawValue)), at: now, outbox: outbox,
      events: &told)
    collect()
  }

  private func collect() {
    for index in 0..<outbox.count {
      let port = outbox.port(at: index)
      // Reports leave by a port of their own.
      guard let phone = phones.first(where: { $0.port == port }), let header = RTPHeader(outbox.buffer(at: index))
      else { continue }
      hear(outbox.buffer(at: index), header, phone)
    }
    outbox.removeAll()
  }

  /// In a pause of the stream there is silence.
  private func hear(_ packet: PacketBuffer, _ header: RTPHeader, _ phone: Phone) {
    let decoded = SampleBuffer()
    guard
      phone.decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: decoded)
    else { return }
    let clock = phone.codec.clockRate
    if let due = phone.dueTimestamp, header.timestamp &- due < UInt32(clock * 3) {
      phone.heard += [Int16](repeating: 0, count: Int(header.timestamp &- due) * phone.rate / clock)
    }
    phone.heard += decoded.samples
    phone.dueTimestamp = header.timestamp &+ UInt32(decoded.count * clock / phone.rate)
  }
}
