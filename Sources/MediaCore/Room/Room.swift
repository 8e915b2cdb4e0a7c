import CallModel
import SDPCore
import SecureTransport

/// A conference: everyone hears all but oneself. One frame of 20 ms at a time, by the hall's clock.
///
/// ```
///   packets ─▶ seat: waits, decoded ─▶ frame ─▶ sum of the loudest ─┬─▶ encoded once for all who listen ─▶ copy a leg
///                                                  minus own frame ─┴─▶ encoded for each who speaks     ─▶ its leg
/// ```
/// A leg that begins to speak goes on with a copy of the encoder that it was sent from, and comes back to it when both
/// have encoded the same for a while: its peer's decoder hears no seam.
final class Room {
  static let wideRate = PlayableSound.wideRate
  static let narrowRate = PlayableSound.narrowRate
  /// Seats at most; whoever comes then is refused.
  static let maximumSeats = 1_000
  /// Forms of packets that are made for many legs at a time; a leg that would need one more has its own.
  static let maximumShared = 16
  /// Frames for which one is held that nobody is sent: 10 s.
  static let unusedFrames: Int64 = 500
  /// dBov of the noise in place of silence, for codecs that know no pauses.
  static let comfortNoise = 65

  var options: RoomOptions
  private(set) var seats: ContiguousArray<RoomSeat> = []
  private(set) var samplingRate = Room.narrowRate
  private var sum = RoomSum(samplingRate: Room.narrowRate)
  private var limiter = RoomLimiter()
  private var shared: ContiguousArray<RoomEncoding> = []
  private var speaker = ActiveSpeaker<UInt64>()
  private var chime = RoomChime()
  /// `nil`: nobody need know that something is recorded.
  private var recordingTone: RecordingTone?
  /// What is played to all; `nil`: nothing.
  private var voice: RoomVoice?
  private var noise: ComfortNoise
  /// That of this frame.
  private var isNoiseMade = false
  /// Keys of a seat that ended in a frame.
  private var digits: [DigitPressed] = []
  /// The loudest of a frame, as places in ``seats``.
  private var loudest: ContiguousArray<Int> = []
  /// With which the voices stopped that left the room since the last frame.
  private var lastSample: Int16 = 0
  private let scratch: RoomScratch
  /// Of the bridge that records it, which may go without a word.
  weak var recorder: RoomRecorder?

  init(_ identifier: RoomIdentifier, _ options: RoomOptions, _ scratch: RoomScratch) {
    self.options = options
    self.scratch = scratch
    noise = ComfortNoise(seed: identifier.rawValue, .init(level: Room.comfortNoise))
    loudest.reserveCapacity(RoomOptions.loudestRange.upperBound + 1)
  }

  var isEmpty: Bool { seats.isEmpty }
  var isFull: Bool { seats.count >= Room.maximumSeats }

  func enter(_ seat: RoomSeat) {
    seats.append(seat)
    findRate()
    if options.tones { chime.ring(.joined, seats: seats.count) }
  }

  func leave(_ seat: RoomSeat) {
    guard let index = seats.firstIndex(where: { $0 === seat }) else { return }
    seats.remove(at: index)
    left(seat)
    findRate()
    if options.tones { chime.ring(.left, seats: seats.count) }
  }

  func formatsChanged(_ seat: RoomSeat) {
    fade(seat)
    seat.makeCoders(samplingRate, formatsChanged: true)
    findRate()
  }

  private func left(_ seat: RoomSeat) {
    fade(seat)
    seat.leaveShared()
    speaker.left(seat.number)
  }

  /// A voice stops wherever it is: its last sample fades in the next frame.
  private func fade(_ seat: RoomSeat) { lastSample = Int16(clamping: Int32(lastSample) + Int32(seat.lastSample)) }

  /// Wide as soon as one participant can tell the difference.
  private func findRate() {
    let rate = seats.contains(where: \.isWide) ? Room.wideRate : Room.narrowRate
    guard rate != samplingRate else { return }
    samplingRate = rate
    sum = RoomSum(samplingRate: rate)
    shared.removeAll()
    limiter = RoomLimiter()
    lastSample = 0
    for seat in seats { seat.makeCoders(rate) }
  }

  // MARK: A frame

  /// Makes the frame of this number and sends it. `flush` empties the outbox, which may be called before each leg.
  func makeFrame(
    _ frame: Int64, at now: MonotonicInstant, outbox: PacketOutbox, flush: () -> Void,
    events: inout [(BridgeIdentifier, MediaEvent)]
  ) {
    if seats.contains(where: { $0.member == nil }) { removeGone() }
    let sparesQuiet = seats.count > RoomSum.smallRoom
    for seat in seats {
      if seat.hear(sum, sparesQuiet: sparesQuiet, at: now, digits: &digits), options.tellsSpeakers {
        events.append(
          (seat.bridge, .speaking(seat.leg, seat.speech.isSpeaking, level: Int(seat.speech.smoothed.rounded()))))
      }
      guard !digits.isEmpty else { continue }
      for digit in digits { events.append((seat.bridge, .digit(seat.leg, digit))) }
      digits.removeAll(keepingCapacity: true)
    }
    for seat in seats { seat.recordFrame(frame, samplingRate: samplingRate) }
    findSpeaker(&events)
    chooseLoudest()
    sum.begin(after: lastSample)
    for seat in seats { sum.add(seat.voice, seat.part) }
    if chime.fill(scratch.chime, count: sum.count, samplingRate: samplingRate, at: frame) {
      sum.add(scratch.chime, .whole)
    }
    if recordingTone?.fill(scratch.chime, count: sum.count, samplingRate: samplingRate, at: frame) ?? false {
      sum.add(scratch.chime, .whole)
    }
    if voice?.fill(scratch.voice, count: sum.count, samplingRate: samplingRate) ?? false {
      sum.add(scratch.voice, .whole)
    } else {
      voice = nil
    }
    // What fades of those who left is heard as well.
    let voices = sum.voices + (lastSample == 0 ? 0 : 1)
    lastSample = 0
    for seat in seats { arrange(seat, at: frame) }
    isNoiseMade = false
    sum.write(&limiter, into: scratch.mixed)
    recorder?.record(scratch.mixed, samplingRate: samplingRate, frame: frame)
    for encoding in shared where encoding.listeners > 0 {
      encoding.lastUsed = frame
      encode(scratch.mixed, encoding, isSilent: voices == 0, at: frame)
    }
    for seat in seats {
      if outbox.count > PacketOutbox.capacity - RoomHall.outboxReserve { flush() }
      send(seat, voices: voices, at: frame, now, outbox)
    }
    for seat in seats { seat.endFrame() }
    if shared.contains(where: { frame - $0.lastUsed > Room.unusedFrames }) {
      shared.removeAll { frame - $0.lastUsed > Room.unusedFrames }
    }
  }

  /// Whether all hear the tone of a recording.
  func setRecordingTone(_ isOn: Bool) {
    if isOn != (recordingTone != nil) { recordingTone = isOn ? RecordingTone() : nil }
  }

  /// Plays a sound to all, in place of one that is played already; `nil` ends it.
  func play(_ sound: PlayableSound?) { voice = sound.map { RoomVoice($0) } }

  /// Legs whose bridge is gone without a word.
  private func removeGone() {
    for seat in seats where seat.member == nil { left(seat) }
    seats.removeAll { $0.member == nil }
    findRate()
    if options.tones { chime.ring(.left, seats: seats.count) }
  }

  private func findSpeaker(_ events: inout [(BridgeIdentifier, MediaEvent)]) {
    let speaking = seats.lazy.filter { $0.speech.isSpeaking }
    guard speaker.heard(speaking.map { (participant: $0.number, level: $0.speech.smoothed) }), options.tellsSpeakers,
      let seat = seats.first(where: { $0.number == speaker.current })
    else { return }
    events.append((seat.bridge, .leadsTalk(seat.leg)))
  }

  private func chooseLoudest() {
    guard seats.count > RoomSum.smallRoom else {
      for seat in seats { seat.choose(seat.isAudible) }
      return
    }
    loudest.removeAll(keepingCapacity: true)
    for (index, seat) in seats.enumerated() where seat.isAudible {
      let place = loudest.firstIndex { seats[$0].rank < seat.rank } ?? loudest.count
      guard place < options.loudest else { continue }
      loudest.insert(index, at: place)
      if loudest.count > options.loudest { loudest.removeLast() }
    }
    for (index, seat) in seats.enumerated() { seat.choose(loudest.contains(index)) }
  }

  // MARK: Who encodes

  /// Whether a leg is sent what all hear, or has its own encoding.
  private func arrange(_ seat: RoomSeat, at frame: Int64) {
    guard let own = seat.own, let wanted = seat.wanted else { return }
    guard seat.part == .none, !seat.isDeaf else {
      seat.alike = 0
      if let shared = seat.shared {
        own.copyState(from: shared)
        seat.limiter = limiter
        seat.leaveShared()
      }
      return own.use(packetTime: wanted.packetTime, at: frame)
    }
    seat.alike = min(seat.alike + 1, RoomSeat.alikeFrames)
    if let shared = seat.shared {
      guard shared.form != wanted, begins(shared.packetTime, wanted.packetTime, at: frame) else { return }
      if !share(seat, wanted, from: shared, at: frame) {
        own.copyState(from: shared)
        own.use(packetTime: wanted.packetTime, at: frame)
        seat.limiter = limiter
        seat.leaveShared()
      }
      return
    }
    own.use(packetTime: wanted.packetTime, at: frame)
    if own.isFresh || seat.alike >= RoomSeat.alikeFrames, own.packetTime == wanted.packetTime {
      _ = share(seat, wanted, from: own, at: frame)
    }
  }

  private func begins(_ first: Int, _ second: Int, at frame: Int64) -> Bool {
    RoomEncoding.begins(first, at: frame) && RoomEncoding.begins(second, at: frame)
  }

  /// A leg is sent what all of its form are sent. `former`: what it was sent so far.
  /// - Returns: `false`: it is not, for there is no room for another form, or it would come in amid a stream.
  private func share(
    _ seat: RoomSeat, _ wanted: RoomEncoding.Form, from former: RoomEncoding, at frame: Int64
  ) -> Bool {
    guard let own = seat.own else { return false }
    if let known = shared.first(where: { $0.form == wanted }) {
      if known.listeners == 0 {
        // It stood still since it was used last.
        known.copyState(from: former)
        known.use(packetTime: wanted.packetTime, at: frame)
      } else if former.isFresh, !known.isFresh {
        return false
      }
      guard known.packetTime == wanted.packetTime else { return false }
      seat.listen(to: known)
      return true
    }
    guard shared.count < Room.maximumShared else { return false }
    let made = RoomEncoding(copying: own)
    if former !== own { made.copyState(from: former) }
    made.use(packetTime: wanted.packetTime, at: frame)
    made.lastUsed = frame
    shared.append(made)
    seat.listen(to: made)
    return true
  }

  // MARK: What goes out

  private func encode(_ sound: SampleBuffer, _ encoding: RoomEncoding, isSilent: Bool, at frame: Int64) {
    let isNoise = isSilent && !encoding.encoder.codec.hasPauses
    if isNoise, !isNoiseMade {
      noise.fill(scratch.noise, count: sum.count)
      isNoiseMade = true
    }
    encoding.encode(isNoise ? scratch.noise : sound, isSilent: isSilent, at: frame, scratch)
  }

  private func send(
    _ seat: RoomSeat, voices: Int, at frame: Int64, _ now: MonotonicInstant, _ outbox: PacketOutbox
  ) {
    guard let member = seat.member, member.mayPlay else { return }
    if let shared = seat.shared { return seat.send(shared, at: now, outbox: outbox) }
    guard let own = seat.own else { return }
    let isHeard = seat.part != .none
    if seat.isDeaf {
      scratch.own.fillSilence(sum.count)
    } else if isHeard {
      sum.write(without: seat.voice, &seat.limiter, into: scratch.own)
    } else {
      sum.write(&seat.limiter, into: scratch.own)
    }
    encode(scratch.own, own, isSilent: seat.isDeaf || voices == (isHeard ? 1 : 0), at: frame)
    seat.send(own, at: now, outbox: outbox)
  }
}
