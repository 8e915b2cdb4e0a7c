import CallModel
import SDPCore
import SecureTransport

/// What a leg is sent that does not come from the other leg: keys, prompts, reports.
extension MediaLeg {
  /// Presses keys towards the peer: as events where it takes them, else as tones.
  func press(_ codes: [Int], milliseconds: Int, pause: Int, at now: MonotonicInstant) {
    if pressing != nil {
      for code in codes { _ = pressing?.send(code, milliseconds: milliseconds, pause: pause, at: now) }
    } else if configuration.pressesTones {
      play(codes.compactMap { Tone.key($0, milliseconds: milliseconds, pause: pause) }, at: now)
    }
  }

  /// Plays tones towards the peer, in place of the other leg's sound, behind tones that are played already.
  func play(_ tones: [Tone], at now: MonotonicInstant) {
    if let player {
      if player.isTones { player.add(tones) }
    } else if let send {
      player = LocalSound(tones, for: send.codec, sharing: workspace, at: now)
    }
  }

  /// Says prompts to the peer, one after the other, in place of the other leg's sound and of what was said before.
  func play(
    _ prompts: [Prompt], from library: PromptLibrary, at now: MonotonicInstant, events: inout [MediaEvent]
  ) {
    play(at: now, events: &events) { codec in prompts.map { library.recording($0, codec) } }
  }

  /// Plays a sound to the peer in the same way.
  func play(_ sound: PlayableSound, at now: MonotonicInstant, events: inout [MediaEvent]) {
    play(at: now, events: &events) { [sound.recording($0)] }
  }

  private func play(
    at now: MonotonicInstant, events: inout [MediaEvent], _ recordings: (AudioCodec) -> [PromptRecording]
  ) {
    endPlaying(finished: false, events: &events)
    guard let send else {
      events.append(.promptEnded(id, finished: false))
      return
    }
    player = LocalSound(recordings(send.codec), at: now)
  }

  func endPlaying(finished: Bool, events: inout [MediaEvent]) {
    guard let player else { return }
    self.player = nil
    outgoing.changeSource()
    if !player.isTones { events.append(.promptEnded(id, finished: finished)) }
  }

  /// Sends what is due of keys and prompts.
  func sendOwn(at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    if let agreed = audio?.events {
      while let event = pressing?.next(at: now, timestamp: outgoing.following(at: now)) {
        sendEvent(event, agreed, at: now, outbox: outbox)
      }
    }
    guard let player, let send else { return }
    while let due = player.nextDeadline, due <= now {
      let out = outbox.next
      out.count = RTPHeader.size
      guard player.appendFrame(to: out, using: workspace.frame) else {
        endPlaying(finished: true, events: &events)
        return
      }
      // The clock of a prompt does not wait for a leg that cannot take it yet.
      guard maySend else { continue }
      let count = out.count
      let stamp = outgoing.stamp(
        timestamp: outgoing.following(at: now), duration: LocalSound.frameMilliseconds * send.codec.clockRate / 1000,
        marker: false, at: now)
      out.writeRTPHeader(
        marker: stamp.marker, payloadType: UInt8(send.payloadType.number), sequence: stamp.sequence,
        timestamp: stamp.timestamp, source: outgoing.source)
      out.count = count
      if echo?.drops() != true { self.send(out, outbox: outbox) }
    }
  }

  /// Sends a report if one is due (RFC 3550 section 6.3).
  func sendReport(at now: MonotonicInstant, outbox: PacketOutbox) {
    guard let due = control.nextDeadline, due <= now else { return }
    let out = outbox.next
    guard
      control.advance(
        to: now, sent: outgoing.counters, reception: &reception,
        voice: configuration.sendsExtendedReports ? voiceMetrics : nil, into: out)
    else { return }
    sendControl(out, outbox: outbox)
  }

  private var voiceMetrics: RTCPVoiceMetrics {
    let unheard = Double(max(0, reception.unheard - Int64(clamping: recovered)))
    let rating = TransmissionRating(
      CodecImpairment(heardCodec ?? .pcmu), lossRate: unheard / max(1, Double(reception.expected)),
      burstRatio: reception.burstRatio, delay: (control.roundTrip ?? 0) / 2)
    return RTCPVoiceMetrics(
      of: reception, packetMilliseconds: audio?.packetTime ?? 20, rating: rating, roundTrip: control.roundTrip,
      bufferDelay: 0)
  }

  func sayBye(at now: MonotonicInstant, outbox: PacketOutbox) {
    let out = outbox.next
    guard control.bye(at: now, sent: outgoing.counters, reception: &reception, into: out) else { return }
    sendControl(out, outbox: outbox)
  }

  private func sendControl(_ out: PacketBuffer, outbox: PacketOutbox) {
    guard transport.isReady, let port = transport.controlPort, let destination = transport.controlDestination,
      transport.protectRTCP(out)
    else { return }
    outbox.commit(on: port, to: destination)
  }
}
