import SDPCore
import SecureTransport

/// What a room sends: its sound as packets of one form, for one leg or for all that hear the same.
///
/// Packets of any length begin where their length divides the room's time, so that two encodings of the same length
/// always hold as much of an unfinished packet, and a leg may go from one to the other at any frame.
final class RoomEncoding {
  /// What is equal where two legs may be sent the same packets.
  struct Form: Hashable {
    let encoder: AudioEncoder.Form
    /// Milliseconds.
    let packetTime: Int
  }

  struct Payload {
    let packet = PacketBuffer()
    /// In ticks of the codec's clock, since the room's beginning.
    var timestamp: UInt32 = 0
    /// It ends a pause.
    var marker = false
  }

  /// Milliseconds of silence that are sent before a pause, in which a packet is sent every so many milliseconds.
  static let silenceBeforePause = 200
  static let pauseInterval = 400
  /// Packets that a frame gives at most: two of 10 ms.
  static let maximumPayloads = 2
  /// Milliseconds of sound in a packet; others are brought into this range.
  static let packetTimes = 10...120

  let encoder: AudioEncoder
  private let roomRate: Int
  private let converter: RateConverter?
  /// Of packets of another length than the room's frames.
  private var frames: FrameAssembly?
  /// Milliseconds of sound in each packet.
  private(set) var packetTime: Int
  /// Payloads of the last frame are the first ``payloadCount``.
  private(set) var payloads: ContiguousArray<Payload>
  private(set) var payloadCount = 0
  /// Frames that it was given, by their number: the next is this one.
  private var nextFrame: Int64?
  /// Milliseconds for which there was nothing to hear at the end of the last frame.
  private var silence = 0
  /// Milliseconds of packets without sound, one after the other.
  private var paused = 0

  /// Legs that are sent its packets, and the last frame in which there was any. Of one for many legs.
  var listeners = 0
  var lastUsed: Int64 = 0

  /// `nil` when the coder cannot be made.
  init?(for stream: MediaPlan.Stream, roomRate: Int) {
    let rate = min(stream.send.codec.samplingRate, roomRate)
    var settings = AudioEncoder.Settings(for: stream)
    settings.isCodedAgain = true
    guard let encoder = try? AudioEncoder(stream.send.codec, samplingRate: rate, settings: settings) else { return nil }
    self.encoder = encoder
    self.roomRate = roomRate
    converter = rate == roomRate ? nil : RateConverter(from: roomRate, to: rate)
    packetTime = RoomEncoding.usable(stream.packetTime)
    payloads = RoomEncoding.room()
  }

  /// A second one in the form of `other`, which goes on as `other` does.
  init(copying other: RoomEncoding) {
    encoder = AudioEncoder(copying: other.encoder)
    roomRate = other.roomRate
    converter = other.converter.flatMap { RateConverter(from: $0.source, to: $0.target) }
    packetTime = other.packetTime
    payloads = RoomEncoding.room()
    copyState(from: other)
  }

  private static func room() -> ContiguousArray<Payload> {
    ContiguousArray((0..<maximumPayloads).map { _ in Payload() })
  }

  private static func usable(_ packetTime: Int) -> Int {
    min(max(packetTime, packetTimes.lowerBound), packetTimes.upperBound)
  }

  /// As it is; ``wantedForm(_:)`` is what it would like to be.
  var form: Form { Form(encoder: encoder.form, packetTime: packetTime) }

  /// The form that suits the peer of a stream by now, as its reports say.
  func wantedForm(_ stream: MediaPlan.Stream) -> Form {
    Form(
      encoder: encoder.form, packetTime: RoomEncoding.usable(stream.packetTime(forAtLeast: encoder.packetTime)))
  }

  /// It has encoded nothing yet.
  var isFresh: Bool { nextFrame == nil }

  /// Ticks of the codec's clock in a packet.
  var duration: Int { packetTime * encoder.codec.clockRate / 1000 }

  /// Goes on as `other` would.
  func copyState(from other: RoomEncoding) {
    encoder.copyState(from: other.encoder)
    if let converter, let former = other.converter { converter.copyState(from: former) }
    packetTime = other.packetTime
    nextFrame = other.nextFrame
    silence = other.silence
    paused = other.paused
    guard let former = other.frames else {
      frames?.removeAll()
      return
    }
    let frames = self.frames ?? FrameAssembly()
    self.frames = frames
    frames.copyState(from: former)
  }

  /// A packet of so many milliseconds begins with the frame of this number.
  static func begins(_ packetTime: Int, at frame: Int64) -> Bool {
    frame * Int64(RoomSum.frameMilliseconds) % Int64(packetTime) == 0
  }

  /// Packets are of another length from this frame on, if both lengths begin with it.
  func use(packetTime wanted: Int, at frame: Int64) {
    guard wanted != packetTime, RoomEncoding.begins(packetTime, at: frame), RoomEncoding.begins(wanted, at: frame)
    else { return }
    packetTime = wanted
    frames?.removeAll()
  }

  /// Encodes a frame of the room; what it gives is in ``payloads``. `isSilent`: there is nothing to hear in it.
  func encode(_ sound: SampleBuffer, isSilent: Bool, at frame: Int64, _ scratch: RoomScratch) {
    payloadCount = 0
    silence = isSilent ? min(silence + RoomSum.frameMilliseconds, RoomEncoding.pauseInterval) : 0
    var sound = sound
    if let converter {
      guard converter.convert(sound, into: scratch.converted) else { return }
      sound = scratch.converted
    }
    let follows = nextFrame == frame
    nextFrame = frame + 1
    let clock = encoder.codec.clockRate
    let timestamp = UInt32(truncatingIfNeeded: frame * Int64(clock * RoomSum.frameMilliseconds / 1000))
    if packetTime == RoomSum.frameMilliseconds { return emit(sound, timestamp, scratch) }
    let frames = self.frames ?? FrameAssembly()
    self.frames = frames
    let rate = encoder.samplingRate
    if !follows {
      // Where the room's time went on without us, the packet that has begun meanwhile begins with silence.
      frames.removeAll()
      let begun = Int(frame * Int64(RoomSum.frameMilliseconds) % Int64(packetTime))
      if begun > 0 {
        scratch.packet.fillSilence(begun * rate / 1000)
        frames.append(
          scratch.packet, timestamp: timestamp &- UInt32(truncatingIfNeeded: begun * clock / 1000),
          ticksPerSecond: clock, samplingRate: rate)
      }
    }
    frames.append(sound, timestamp: timestamp, ticksPerSecond: clock, samplingRate: rate)
    while payloadCount < RoomEncoding.maximumPayloads,
      let timestamp = frames.popFrame(packetTime * rate / 1000, into: scratch.packet)
    {
      emit(scratch.packet, timestamp, scratch)
    }
  }

  private func emit(_ sound: SampleBuffer, _ timestamp: UInt32, _ scratch: RoomScratch) {
    let wasPaused = paused > RoomEncoding.silenceBeforePause
    if encoder.codec.hasPauses, silence >= packetTime {
      let former = paused
      paused += packetTime
      guard paused <= RoomEncoding.silenceBeforePause || isDue(former) else { return }
    } else {
      paused = 0
    }
    let packet = payloads[payloadCount].packet
    packet.count = 0
    scratch.encodes += 1
    guard encoder.encode(sound, from: 0, count: sound.count, into: packet) else { return }
    payloads[payloadCount].timestamp = timestamp
    payloads[payloadCount].marker = wasPaused && paused == 0
    payloadCount += 1
  }

  /// A packet of the pause is due that began with `former` milliseconds of silence behind it.
  private func isDue(_ former: Int) -> Bool {
    let before = max(former - RoomEncoding.silenceBeforePause, 0) / RoomEncoding.pauseInterval
    let now = (paused - RoomEncoding.silenceBeforePause) / RoomEncoding.pauseInterval
    // The count begins anew, so that it stays small.
    if now > before { paused = RoomEncoding.silenceBeforePause }
    return now > before
  }
}
