import CallModel
import SDPCore
import SecureTransport

/// The sound of one direction of a bridge, from the leg it comes in on to the leg it leaves by.
///
/// ```
///   same codec               payload ───────────────────────────────────────────────▶ header, protection, out
///   other codec   in order ─▶ decode ─▶ frames of the length the peer wants ─▶ encode ─▶ out
///                 gap ─▶ wait, bounded ─▶ FEC or concealment ─▶ as above
/// ```
/// Both coders run at the lower of the two codecs' rates, so there is no change of rate between them.
final class MediaFlow {
  /// Packets kept at most while one before them is missing.
  static let reorderedPackets = 8
  /// Microseconds that they are kept: the shorter on a quiet network, the longer at a jitter of half as much.
  static let reorderMicroseconds: ClosedRange<Int64> = 30_000...60_000
  /// Packets in a row that are made up at most; after more, the stream simply goes on.
  static let concealedPackets = 10

  let from: MediaLeg
  let to: MediaLeg
  private let workspace: MediaWorkspace

  private var decoder: AudioDecoder?
  private var encoder: AudioEncoder?
  private var frames: FrameAssembly?
  private var reorder: ReorderBuffer?
  /// Sequence number that is due, while nothing is missing; the reorder buffer knows it otherwise.
  private var due: UInt16?
  /// Samples a second between the coders.
  private var samplingRate = 8_000
  /// Samples of the last packet: what a missing one would have held.
  private var lastSamples = 160
  private var silence: SilencePayload?
  private var pause = PauseNoise()

  init(from: MediaLeg, to: MediaLeg, workspace: MediaWorkspace) {
    self.from = from
    self.to = to
    self.workspace = workspace
  }

  var nextDeadline: MonotonicInstant? {
    guard let release = reorder?.nextDeadline else { return pause.nextDeadline }
    return min(release, pause.nextDeadline ?? release)
  }

  /// The formats of a leg changed: coders are made anew when a packet needs them.
  func formatsChanged() {
    decoder = nil
    encoder = nil
    frames = nil
    silence = nil
    restart()
  }

  /// The stream that comes in begins anew.
  func restart() {
    reorder = nil
    due = nil
    pause.stop()
    to.outgoing.changeSource()
  }

  /// What the peer reports of our packets decides how Opus is encoded.
  func report(lossRate: Double, roundTrip: RoundTrip?, at now: MonotonicInstant) {
    encoder?.report(lossRate: lossRate, roundTrip: roundTrip, protection: to.transport.rtpOverhead, at: now)
  }

  /// What goes out was cut to what the peer's link carries.
  var isLinkThin: Bool { encoder?.isLinkThin ?? false }

  /// What goes out holds copies of the packets before.
  var sendsCopies: Bool { encoder?.sendsCopies ?? false }

  /// A packet of sound came in that is neither stray nor seen before.
  func sound(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    let codec = from.codec(of: header.payloadType)
    guard let send = to.send else {
      // Nobody hears it yet, but a recording.
      from.tap?.hear(
        packet, header, codec, isMuted: from.isMuted, detectsTones: false, at: now, events: &events)
      return
    }
    if codec == send.codec {
      from.tap?.hear(packet, header, codec, isMuted: from.isMuted, at: now, events: &events)
      pass(packet, header, send, at: now, outbox: outbox)
    } else {
      order(packet, header, at: now, outbox: outbox, events: &events)
    }
  }

  /// A packet of an event came: it stands in for sound.
  func event(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    pause.postpone(at: now)
    skip(packet, header, at: now, outbox: outbox, events: &events)
  }

  /// A packet without sound took a sequence number of the stream: it is not missing.
  func skip(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    guard reorder != nil || due != nil else {
      _ = to.outgoing.skip(header.sequence)
      return
    }
    order(packet, header, at: now, outbox: outbox, events: &events)
  }

  /// Time went by: what waited for a missing packet waits no more, and a pause is filled.
  func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    guard let deadline = nextDeadline, deadline <= now else { return }
    drain(at: now, outbox: outbox, events: &events)
    if let due = pause.nextDeadline, due <= now { fillPause(at: now, outbox: outbox) }
  }

  // MARK: Same codec

  private func pass(
    _ packet: PacketBuffer, _ header: RTPHeader, _ send: MediaPlan.Format, at now: MonotonicInstant,
    outbox: PacketOutbox
  ) {
    guard to.mayPlay, let stamp = to.outgoing.relay(header, clockRate: send.codec.clockRate, at: now) else { return }
    let out = outbox.next
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: to.outgoing.source)
    if from.isMuted {
      let silence = self.silence ?? SilencePayload(send.codec)
      self.silence = silence
      silence.append(to: out, like: header.payloadCount)
    } else {
      out.copy(packet, from: header.payloadOffset, count: header.payloadCount, to: RTPHeader.size)
      out.count = RTPHeader.size + header.payloadCount
    }
    to.send(out, outbox: outbox)
  }

  // MARK: Other codec

  private func order(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    guard let reorder else {
      if due == nil || due == header.sequence {
        due = header.sequence &+ 1
        work(packet, header, at: now, outbox: outbox, events: &events)
        return
      }
      let reorder = ReorderBuffer(maximumPackets: MediaFlow.reorderedPackets, maximumDelay: reorderWait)
      // It learns which number is due from the packet before the gap.
      _ = due.map { reorder.pass($0 &- 1) }
      self.reorder = reorder
      order(packet, header, at: now, outbox: outbox, events: &events)
      return
    }
    if reorder.pass(header.sequence) {
      work(packet, header, at: now, outbox: outbox, events: &events)
      if reorder.isEmpty { return }
    } else {
      reorder.maximumDelay = reorderWait
      // Its sound was made up meanwhile: to the listener it is lost, and the sender is to know.
      if reorder.insert(packet, header.sequence, at: now) == .late, from.meaning(of: header.payloadType) == .sound {
        from.reception.cameTooLate(header.sequence)
      }
    }
    drain(at: now, outbox: outbox, events: &events)
  }

  /// Twice the jitter, which is a mean: of packets that are delayed evenly by up to three times as much, nearly all have
  /// come by then.
  private var reorderWait: Int64 {
    let wanted = Int64(2_000 * from.reception.jitterMilliseconds)
    return min(max(wanted, MediaFlow.reorderMicroseconds.lowerBound), MediaFlow.reorderMicroseconds.upperBound)
  }

  private func drain(at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    guard let reorder else { return }
    var missing = 0
    while true {
      switch reorder.releaseNext(at: now) {
      case .packet(let held):
        from.longestWait = max(from.longestWait, reorder.lastWait)
        guard let header = RTPHeader(held) else { continue }
        if missing > 0 { makeUp(missing, before: held, header, at: now, outbox: outbox) }
        missing = 0
        work(held, header, at: now, outbox: outbox, events: &events)
      case .missing(let count): missing = count
      case .wait, .empty: return
      }
    }
  }

  private func work(
    _ packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox,
    events: inout [MediaEvent]
  ) {
    guard header.payloadCount > 0, from.meaning(of: header.payloadType) == .sound, let send = to.send,
      let decoder = decoder(for: from.codec(of: header.payloadType), send.codec)
    else { return }
    let sound = workspace.decoded
    guard decoder.decode(packet, offset: header.payloadOffset, count: header.payloadCount, into: sound) else {
      from.malformed += 1
      return
    }
    lastSamples = sound.count
    // What was missing in the pause has been replaced: the sound goes on behind the noise.
    if pause.isFilling { to.outgoing.changeSource() }
    if !decoder.codec.hasPauses { pause.heard(sound, at: now) }
    from.tap?.hear(
      sound, header, decoder.codec, samplingRate: samplingRate, isMuted: from.isMuted, at: now, events: &events)
    let timestamp = to.outgoing.map(timestamp: header.timestamp, clockRate: decoder.codec.clockRate, at: now)
    encode(sound, at: timestamp, marker: header.marker, send, at: now, outbox: outbox)
  }

  /// Sound for packets that never came, the last of them from the copy in the packet behind if it holds one.
  private func makeUp(
    _ missing: Int, before packet: PacketBuffer, _ header: RTPHeader, at now: MonotonicInstant, outbox: PacketOutbox
  ) {
    guard header.payloadCount > 0, from.meaning(of: header.payloadType) == .sound, let send = to.send,
      let decoder = decoder(for: from.codec(of: header.payloadType), send.codec),
      missing <= MediaFlow.concealedPackets
    else { return }
    let clock = send.codec.clockRate
    let following = to.outgoing.map(timestamp: header.timestamp, clockRate: decoder.codec.clockRate, at: now)
    let length = UInt32(lastSamples * clock / samplingRate)
    let sound = workspace.decoded
    decoder.bridge(
      missing * lastSamples, to: packet, offset: header.payloadOffset, count: header.payloadCount, scratch: sound)
    for index in 0..<missing {
      let isLast = index == missing - 1
      if isLast,
        decoder.recover(
          from: packet, offset: header.payloadOffset, count: header.payloadCount, samples: lastSamples, into: sound)
      {
        from.recoveredByCodec += 1
      } else {
        // `recover` has concealed already where it found no copy.
        if !isLast { decoder.conceal(samples: lastSamples, into: sound) }
        from.concealed += 1
      }
      encode(
        sound, at: following &- length &* UInt32(missing - index), marker: false, send, at: now, outbox: outbox)
    }
  }

  /// Noise for one packet, while the peer is to be heard and sends nothing.
  private func fillPause(at now: MonotonicInstant, outbox: PacketOutbox) {
    guard from.mayReceive, let send = to.send, let audio = to.audio, let encoder else { return pause.stop() }
    if !pause.isFilling {
      reorder = nil
      due = nil
    }
    let sound = workspace.decoded
    let milliseconds = audio.packetTime(forAtLeast: encoder.packetTime)
    pause.fill(sound, count: milliseconds * samplingRate / 1000, microseconds: Int64(milliseconds) * 1000, at: now)
    encode(sound, at: to.outgoing.following(at: now), marker: false, send, at: now, outbox: outbox)
  }

  private func encode(
    _ sound: SampleBuffer, at timestamp: UInt32, marker: Bool, _ send: MediaPlan.Format, at now: MonotonicInstant,
    outbox: PacketOutbox
  ) {
    guard to.mayPlay, let encoder = encoder(for: send), let audio = to.audio else { return }
    if from.isMuted { sound.fillSilence(sound.count) }
    let wanted = audio.packetTime(forAtLeast: encoder.packetTime) * samplingRate / 1000
    let clock = send.codec.clockRate
    if sound.count == wanted, frames?.isEmpty ?? true {
      emit(sound, encoder, send, timestamp, marker: marker, at: now, outbox: outbox)
      return
    }
    let frames = self.frames ?? FrameAssembly()
    self.frames = frames
    frames.append(sound, timestamp: timestamp, ticksPerSecond: clock, samplingRate: samplingRate)
    while let timestamp = frames.popFrame(wanted, into: workspace.frame) {
      emit(workspace.frame, encoder, send, timestamp, marker: marker, at: now, outbox: outbox)
    }
  }

  private func emit(
    _ sound: SampleBuffer, _ encoder: AudioEncoder, _ send: MediaPlan.Format, _ timestamp: UInt32, marker: Bool,
    at now: MonotonicInstant, outbox: PacketOutbox
  ) {
    let out = outbox.next
    // The payload first: a silence that is not sent takes no sequence number.
    out.count = RTPHeader.size
    guard encoder.encode(sound, from: 0, count: sound.count, into: out) else { return }
    let count = out.count
    let duration = sound.count * send.codec.clockRate / samplingRate
    let stamp = to.outgoing.stamp(timestamp: timestamp, duration: duration, marker: marker, at: now)
    out.writeRTPHeader(
      marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
      timestamp: stamp.timestamp, source: to.outgoing.source)
    out.count = count
    to.send(out, repeating: encoder.repeatsPackets, outbox: outbox)
  }

  // MARK: Coders

  private func decoder(for codec: AudioCodec, _ output: AudioCodec) -> AudioDecoder? {
    if let decoder, decoder.codec == codec { return decoder }
    let rate = min(codec.samplingRate, output.samplingRate)
    if rate != samplingRate {
      samplingRate = rate
      encoder = nil
      frames = nil
    }
    decoder = try? AudioDecoder(codec, samplingRate: rate)
    lastSamples = rate / 50
    return decoder
  }

  private func encoder(for send: MediaPlan.Format) -> AudioEncoder? {
    if let encoder { return encoder }
    let settings = to.audio.map { AudioEncoder.Settings(for: $0) } ?? AudioEncoder.Settings()
    encoder = try? AudioEncoder(send.codec, samplingRate: samplingRate, settings: settings)
    return encoder
  }
}
