import CallModel
import MediaCore
import SDPCore
import SecureTransport

/// One end of a joined call: says a tone, presses keys, and keeps what it hears. The way of its packets is not its own
/// business: it hands out and takes plain RTP and RTCP.
final class JoinedPhone {
  /// Milliseconds of each packet of sound.
  static let packetTime: Int64 = 20
  /// Samples a second of what it says and hears.
  static let samplingRate = 8_000

  let codec: AudioCodec
  let payloadType: UInt8
  let eventType: UInt8
  let eventClock: Int
  let frequency: Double

  // What goes out.
  private let encoder: AudioEncoder
  private var tone: ToneGenerator
  private let sound = SampleBuffer()
  private let source: UInt32
  private var sequence: UInt16
  private var timestamp: UInt32
  private var nextFrame: MonotonicInstant?
  private var keys: TelephoneEventSender
  private var counters = SentCounters()

  // What comes in.
  private(set) var reception: ReceptionStatistics
  private let control: RTCPSession
  private var receiver: TelephoneEventReceiver
  private(set) var digits: [DigitPressed] = []
  private(set) var heard: [Int: [UInt8]] = [:]
  private(set) var hasHeardBye = false

  init(
    _ codec: AudioCodec, payloadType: UInt8, eventType: UInt8, eventClock: Int, frequency: Double, seed: UInt64,
    at now: MonotonicInstant
  ) throws {
    self.codec = codec
    self.payloadType = payloadType
    self.eventType = eventType
    self.eventClock = eventClock
    self.frequency = frequency
    encoder = try AudioEncoder(codec, samplingRate: JoinedPhone.samplingRate)
    // Loud and soft by turns, as speech is: a steady tone counts as background, of which Opus sends no copies.
    // Each part holds whole cycles of frequencies that 25 Hz divides.
    let syllables = [(level: -12.0, milliseconds: 240), (-22, 160)].map {
      Tone.Segment([Tone.Component(frequency: frequency, level: $0.level)], milliseconds: $0.milliseconds)
    }
    tone = ToneGenerator(Tone(syllables, repeats: true), samplingRate: JoinedPhone.samplingRate)
    source = UInt32(truncatingIfNeeded: seed &* 77 &+ 5)
    // Close to a wrap for some seeds.
    sequence = UInt16(truncatingIfNeeded: seed &* 4_099) & 0x7FFF
    timestamp = UInt32.max - 48_000
    keys = TelephoneEventSender(clockRate: eventClock, packetTime: Int(JoinedPhone.packetTime))
    reception = ReceptionStatistics(clockRate: codec.clockRate)
    control = RTCPSession(
      source: source, canonicalName: "phone", clockRate: codec.clockRate, seed: seed,
      unixMicroseconds: 1_700_000_000_000_000, at: now)
    receiver = TelephoneEventReceiver(clockRate: eventClock)
  }

  // MARK: What goes out

  /// Says its tone from now on; `nil`: no more.
  func speak(from start: MonotonicInstant?) { nextFrame = start }

  func press(_ codes: [Int], at now: MonotonicInstant) -> Bool {
    codes.allSatisfy { keys.send($0, milliseconds: 120, pause: 100, at: now) }
  }

  var nextDeadline: MonotonicInstant? {
    [nextFrame, control.nextDeadline, receiver.nextDeadline].compactMap { $0 }.min()
  }

  /// What is due of plain RTP and RTCP, each handed to `send` in order.
  func advance(to now: MonotonicInstant, send: (PacketBuffer, _ isControl: Bool) -> Void) {
    receiver.advance(to: now, digits: &digits)
    while let due = nextFrame, due <= now {
      nextFrame = due.advanced(byMilliseconds: JoinedPhone.packetTime)
      timestamp &+= UInt32(codec.clockRate / 50)
      // The clock of events is that of the codec here, so both share one time line.
      while let event = keys.next(at: now, timestamp: timestamp) {
        let packet = PacketBuffer()
        header(packet, payloadType: eventType, timestamp: event.timestamp, marker: event.marker)
        event.payload.append(to: packet)
        count(packet, at: now)
        send(packet, false)
      }
      guard !keys.isPressing else { continue }
      let packet = PacketBuffer()
      tone.fill(sound, count: JoinedPhone.samplingRate / 50)
      header(packet, payloadType: payloadType, timestamp: timestamp, marker: false)
      guard encoder.encode(sound, from: 0, count: sound.count, into: packet) else { continue }
      count(packet, at: now)
      send(packet, false)
    }
    let report = PacketBuffer()
    if control.advance(to: now, sent: counters, reception: &reception, into: report) { send(report, true) }
  }

  private func header(_ packet: PacketBuffer, payloadType: UInt8, timestamp: UInt32, marker: Bool) {
    packet.writeRTPHeader(
      marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp, source: source)
    sequence &+= 1
  }

  private func count(_ packet: PacketBuffer, at now: MonotonicInstant) {
    counters.packets += 1
    counters.octets += UInt64(packet.count - RTPHeader.size)
    counters.timestamp = timestamp
    counters.instant = now
  }

  // MARK: What comes in

  func receiveRTP(_ packet: PacketBuffer, at now: MonotonicInstant) {
    guard let header = RTPHeader(packet) else { return }
    let arrival = reception.received(
      sequence: header.sequence, timestamp: header.timestamp, source: header.source,
      payloadCount: header.payloadCount, arrival: now)
    switch arrival {
    case .stray, .duplicate, .heardFromCopy: return
    case .first, .next, .ahead, .late, .restarted: break
    }
    if header.payloadType == eventType {
      receiver.receive(
        packet, offset: header.payloadOffset, count: header.payloadCount, marker: header.marker,
        sequence: header.sequence, timestamp: header.timestamp, at: now, digits: &digits)
    } else if header.payloadType == payloadType {
      let newest = Int(reception.extendedHighestSequence)
      let behind = Int(Int16(bitPattern: header.sequence &- UInt16(truncatingIfNeeded: newest)))
      heard[newest + behind] =
        Array(packet.bytes[header.payloadOffset..<(header.payloadOffset + header.payloadCount)])
    }
  }

  func receiveRTCP(_ packet: PacketBuffer, at now: MonotonicInstant) {
    let received = control.receive(packet, heard: reception.hasStarted ? reception.source : nil, at: now)
    if received.bye { hasHeardBye = true }
    if received.reported, let report = control.peerReport { encoder.report(lossRate: report.lossRate, at: now) }
  }

  /// All that was heard, in order, gaps of a few packets made up.
  func sounds() throws -> [Int16] {
    let decoder = try AudioDecoder(codec, samplingRate: JoinedPhone.samplingRate)
    let samples = SampleBuffer()
    var all: [Int16] = []
    var last: Int?
    for (number, payload) in heard.sorted(by: { $0.key < $1.key }) {
      let missing = last.map { number - $0 - 1 } ?? 0
      if missing <= 5 {
        for _ in 0..<missing {
          decoder.conceal(samples: JoinedPhone.samplingRate / 50, into: samples)
          all += samples.samples
        }
      }
      last = number
      let packet = PacketBuffer(payload)
      if decoder.decode(packet, offset: 0, count: packet.count, into: samples) { all += samples.samples }
    }
    return all
  }
}
