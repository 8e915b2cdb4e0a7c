import CallModel
import SDPCore
import SecureTransport

/// One leg's place in a room: what comes from it waits here, and what it hears is made here, unless many hear the same.
final class RoomSeat {
  /// dBov below which a frame adds nothing to a room that anybody would hear.
  static let audible: Float = -60
  /// The same in -dBov, as senders tell it.
  static let quiet = UInt8(-audible)
  /// Frames that a voice stays in the sum behind its last one that is louder: pauses within words are not cut.
  static let holdFrames = 5
  /// Frames for which a leg has heard what all hear before it is sent what they are sent: two encoders that have
  /// encoded the same for 400 ms are as good as one.
  static let alikeFrames = 20

  /// No other seat of the hall has it.
  let number: UInt64
  let bridge: BridgeIdentifier
  let leg: LegID
  let room: RoomIdentifier
  private(set) weak var member: (any RoomMember)?
  private let playout: StreamPlayout

  // What comes in.
  private(set) var speech = SpeechLevel()
  /// The frame that is heard of it now, where ``part`` says so.
  private(set) var voice = SampleBuffer()
  /// Frames for which it is still heard.
  private var hold = 0
  /// It is in the sum of this frame, and was in that of the one before.
  var part = RoomSum.Part.none
  private(set) var isContributor = false
  /// With which its voice went on in the sum.
  private(set) var lastSample: Int16 = 0
  private var wasMuted = false
  /// Hears keys that come as tones, where the peer sends no events; `nil`: it sends events.
  private var keys: DTMFDetector?
  /// Of the bridge that records what comes from it, which may go without a word.
  weak var recorder: RoomRecorder?

  // What goes out.
  /// Its own; idle while it hears what others hear. It gets the peer's reports.
  private(set) var own: RoomEncoding?
  /// For all that hear the same; `nil`: it has its own.
  var shared: RoomEncoding?
  /// What ``own`` would like to be.
  private(set) var wanted: RoomEncoding.Form?
  var limiter = RoomLimiter()
  /// Frames for which it has heard the same as all who do not speak.
  var alike = 0

  init(
    _ number: UInt64, _ member: any RoomMember, of bridge: BridgeIdentifier, _ room: RoomIdentifier, samplingRate: Int,
    _ scratch: RoomScratch
  ) {
    self.number = number
    self.bridge = bridge
    self.room = room
    self.member = member
    leg = member.id
    playout = StreamPlayout(samplingRate: samplingRate, highestRate: Room.wideRate, .room, scratch.playout)
    makeCoders(samplingRate)
  }

  /// It is sent silence.
  var isDeaf: Bool { member?.isDeaf ?? false }

  /// It sends or is sent more than a telephone's band.
  var isWide: Bool {
    guard let codec = member?.audio?.send.codec else { return false }
    return codec == .opus || codec == .g722
  }

  /// Milliseconds of sound that wait.
  var waiting: Int { playout.waiting }

  // MARK: What comes in

  /// A packet came in that is neither stray nor seen before. `isQuiet`: its sender says that nobody would hear it. `false`:
  /// its turn was over.
  func insert(
    _ packet: PacketBuffer, _ header: RTPHeader, isSound: Bool, isQuiet: Bool, at now: MonotonicInstant
  ) -> Bool {
    // What nobody is to hear is not even looked at.
    guard let member, !member.isMuted else { return true }
    return playout.insert(packet, header, isSound: isSound, isQuiet: isQuiet, at: now)
  }

  /// The stream that comes in begins anew.
  func restart() { playout.restart() }

  /// Its part of a frame is made. `sparesQuiet`: what its sender says is quiet is silence, and not decoded. `digits`: keys that
  /// came as tones and ended.
  /// - Returns: Whether it began or ended to speak with it.
  func hear(_ sum: RoomSum, sparesQuiet: Bool, at now: MonotonicInstant, digits: inout [DigitPressed]) -> Bool {
    guard let member, !member.isMuted, member.mayReceive else {
      if !wasMuted {
        wasMuted = true
        playout.restart()
      }
      hold = 0
      // Its voice stops wherever it was: that sample fades, and it is still in the sum for it.
      part = .none
      if isContributor {
        sum.fillFading(voice, from: lastSample)
        part = .whole
      }
      return speech.heard(nil)
    }
    wasMuted = false
    voice = playout.nextFrame(member, sparesQuiet: sparesQuiet, at: now)
    if let keys {
      keys.process(voice, from: 0, count: voice.count, digits: &digits)
      // The other participants need not hear it, but for the 40 ms before it is known to be one.
      if keys.key != nil { sum.fillFading(voice, from: lastSample) }
    }
    let changed = voice.withUnsafeMutableRoom { speech.heard(UnsafeBufferPointer(rebasing: $0[..<voice.count])) }
    hold = speech.level >= RoomSeat.audible ? RoomSeat.holdFrames : max(hold - 1, 0)
    part = .none
    return changed
  }

  /// What came from it with the frame of this number goes to whoever records it.
  func recordFrame(_ frame: Int64, samplingRate: Int) {
    recorder?.record(wasMuted ? nil : voice, samplingRate: samplingRate, frame: frame)
  }

  /// There is something to hear of it.
  var isAudible: Bool { hold > 0 }

  /// Whoever is heard already stays so where another is no louder than this many dB.
  static let stay: Float = 2

  /// By which the loudest are found.
  var rank: Float { speech.smoothed + (isContributor ? RoomSeat.stay : 0) }

  /// Whether it is one of those that are heard from now on.
  func choose(_ isChosen: Bool) {
    // It was muted, and fades.
    guard part == .none else { return }
    switch (isContributor, isChosen) {
    case (false, false): part = .none
    case (false, true): part = .fadesIn
    case (true, true): part = .whole
    case (true, false): part = .fadesOut
    }
  }

  /// The frame is over.
  func endFrame() {
    isContributor = !wasMuted && (part == .whole || part == .fadesIn)
    lastSample = isContributor && voice.count > 0 ? voice[voice.count - 1] : 0
  }

  // MARK: What goes out

  /// What the peer reports of our packets decides how Opus is encoded. `protection`: bytes that it adds to a packet.
  func report(lossRate: Double, roundTrip: RoundTrip?, protection: Int, at now: MonotonicInstant) {
    own?.encoder.report(lossRate: lossRate, roundTrip: roundTrip, protection: protection, at: now)
    findForm()
  }

  /// What goes out was cut to what the peer's link carries.
  var isLinkThin: Bool { own?.encoder.isLinkThin ?? false }
  /// What goes out holds copies of the packets before.
  var sendsCopies: Bool { own?.encoder.sendsCopies ?? false }

  /// The room's rate is another, or the leg's formats are: coders are made anew.
  func makeCoders(_ samplingRate: Int, formatsChanged: Bool = false) {
    leaveShared()
    alike = 0
    if formatsChanged { playout.formatsChanged() }
    playout.use(samplingRate: samplingRate)
    isContributor = false
    part = .none
    hold = 0
    lastSample = 0
    own = member?.audio.flatMap { RoomEncoding(for: $0, roomRate: samplingRate) }
    // Apps send events, or tell keys by their connection.
    let sendsTones = member?.audio.map { $0.events == nil && $0.send.codec != .opus } ?? false
    keys = sendsTones ? DTMFDetector(samplingRate: samplingRate) : nil
    findForm()
  }

  private func findForm() {
    guard let own, let stream = member?.audio else {
      wanted = nil
      return
    }
    wanted = own.wantedForm(stream)
  }

  func listen(to encoding: RoomEncoding) {
    leaveShared()
    encoding.listeners += 1
    shared = encoding
  }

  func leaveShared() {
    shared?.listeners -= 1
    shared = nil
  }

  /// Sends what the frame gave.
  func send(_ encoding: RoomEncoding, at now: MonotonicInstant, outbox: PacketOutbox) {
    guard let member else { return }
    for index in 0..<encoding.payloadCount {
      let payload = encoding.payloads[index]
      member.sendRoomSound(
        payload.packet, timestamp: payload.timestamp, duration: encoding.duration, marker: payload.marker,
        repeating: own?.encoder.repeatsPackets ?? false, at: now, outbox: outbox)
    }
  }
}
