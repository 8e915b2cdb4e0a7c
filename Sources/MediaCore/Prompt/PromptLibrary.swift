import CLandlineOpus
public import SDPCore
public import SecureTransport
import Synchronization

/// All prompts as packets of each codec, shared by all threads.
///
/// Opus is sent as it was recorded. What other codecs need is encoded when first asked for, which takes some milliseconds for
/// each prompt, or by ``prepare()``.
public final class PromptLibrary: Sendable {
  /// A prompt of this program cannot be read: a mistake of ours.
  public struct Failure: Error, Hashable, Sendable {
    /// The first prompt that could not be read.
    public let prompt: Prompt
    /// What was wrong with it, for a log.
    public let reason: String
  }

  private let files: [Prompt: OggOpus]
  /// By prompt and codec, as far as they were asked for.
  private let recordings: Mutex<[Prompt: [AudioCodec: PromptRecording]]>

  /// Reads every prompt.
  /// - Throws: ``Failure`` for the first one that cannot be read.
  public init() throws(Failure) {
    var files: [Prompt: OggOpus] = [:]
    for prompt in Prompt.allCases {
      do {
        files[prompt] = try PromptLibrary.file(prompt)
      } catch {
        throw Failure(prompt: prompt, reason: "\(error)")
      }
    }
    self.files = files
    recordings = Mutex(files.mapValues { [.opus: PromptRecording($0.packets)] })
  }

  /// The packets of a prompt; none where the codec cannot be made, for want of memory.
  public func recording(_ prompt: Prompt, _ codec: AudioCodec) -> PromptRecording {
    if let known = recordings.withLock({ $0[prompt]?[codec] }) { return known }
    guard let file = files[prompt], let made = try? PromptLibrary.record(file, codec) else {
      return PromptRecording([])
    }
    // Two threads that asked at the same time made the same: the second takes the first one's.
    return recordings.withLock { recordings in
      if let known = recordings[prompt]?[codec] { return known }
      recordings[prompt, default: [:]][codec] = made
      return made
    }
  }

  /// Makes all that calls could ask for, on the caller's thread: a tenth of a second.
  public func prepare() {
    for prompt in Prompt.allCases {
      for codec in AudioCodec.allCases { _ = recording(prompt, codec) }
    }
  }

  private static func record(_ file: OggOpus, _ codec: AudioCodec) throws(CodecFailure) -> PromptRecording {
    PromptRecording(try encode(decode(file, codec.samplingRate), codec.samplingRate, codec))
  }

  package static func opusFile(_ prompt: Prompt) -> UnsafeRawBufferPointer {
    var count = 0
    let start = landline_speech(prompt.rawValue, &count)
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  private static func file(_ prompt: Prompt) throws(OggOpus.Failure) -> OggOpus {
    let file = try OggOpus(opusFile(prompt))
    // Packets of another length would be sent at the wrong pace.
    for (index, packet) in file.packets.enumerated() where OpusPacket.inspect(packet)?.duration != 960 {
      throw .packet(index)
    }
    return file
  }

  static func decode(_ file: OggOpus, _ rate: Int) throws(CodecFailure) -> [Int16] {
    let decoder = try OpusDecoder(samplingRate: rate)
    let samples = SampleBuffer()
    var sound: [Int16] = []
    for packet in file.packets where packet.withUnsafeBytes({ decoder.decode($0, into: samples) }) {
      sound += samples.samples
    }
    return Array(sound.dropFirst(file.preSkip * rate / 48_000).prefix(file.duration * rate / 48_000))
  }

  /// Packets of 20 ms, the last filled up with silence.
  static func encode(_ sound: [Int16], _ rate: Int, _ codec: AudioCodec) throws(CodecFailure) -> [[UInt8]] {
    let encoder = try AudioEncoder(codec, samplingRate: rate)
    let frame = rate / 50
    let whole = sound + Array(repeating: 0, count: (frame - sound.count % frame) % frame)
    return stride(from: 0, to: whole.count, by: frame).compactMap { start in
      let packet = PacketBuffer()
      let part = SampleBuffer(whole[start..<(start + frame)])
      return encoder.encode(part, from: 0, count: frame, into: packet) ? packet.bytes : nil
    }
  }
}

/// The packets of one prompt in one codec, 20 ms each.
public final class PromptRecording: Sendable {
  /// Milliseconds of a packet.
  public static let packetTime = 20

  /// The payloads.
  public let packets: [[UInt8]]

  init(_ packets: [[UInt8]]) { self.packets = packets }

  /// When played; a multiple of ``packetTime``.
  public var milliseconds: Int { packets.count * PromptRecording.packetTime }

  /// Appends payload `index`. `false`: there is no such packet, or no room.
  public func append(_ index: Int, to packet: PacketBuffer) -> Bool {
    guard packets.indices.contains(index) else { return false }
    return packet.append(payload: packets[index])
  }
}

extension PacketBuffer {
  /// `false`: there is no room beside what SRTP adds, and the packet is as it was.
  func append(payload: [UInt8]) -> Bool {
    let used = count
    guard payload.count <= PacketBuffer.capacity - AudioEncoder.reserve - used else { return false }
    count = used + payload.count
    withUnsafeMutableRoom { UnsafeMutableRawBufferPointer(rebasing: $0[used...]).copyBytes(from: payload) }
    return true
  }
}
