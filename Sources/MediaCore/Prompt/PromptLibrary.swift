import CLandlineOpus
public import SDPCore
public import SecureTransport

/// All prompts as packets of each codec, made once and shared by all threads.
///
/// Opus is sent as it was recorded. Other codecs are encoded here, so make it where half a tenth of a second does not
/// matter.
public final class PromptLibrary: Sendable {
  /// A prompt of this program cannot be read: a mistake of ours.
  public struct Failure: Error, Hashable, Sendable {
    public let prompt: Prompt
    public let reason: String
  }

  private let recordings: [Prompt: [AudioCodec: PromptRecording]]

  public init() throws(Failure) {
    var recordings: [Prompt: [AudioCodec: PromptRecording]] = [:]
    for prompt in Prompt.allCases {
      var codecs: [AudioCodec: PromptRecording] = [:]
      for codec in AudioCodec.allCases { codecs[codec] = try PromptLibrary.record(prompt, codec) }
      recordings[prompt] = codecs
    }
    self.recordings = recordings
  }

  /// The packets of a prompt.
  public func recording(_ prompt: Prompt, _ codec: AudioCodec) -> PromptRecording {
    recordings[prompt]?[codec] ?? PromptRecording([])
  }

  private static func record(_ prompt: Prompt, _ codec: AudioCodec) throws(Failure) -> PromptRecording {
    do {
      let file = try file(prompt)
      return codec == .opus ? PromptRecording(file.packets) : PromptRecording(try encode(file, codec))
    } catch {
      throw Failure(prompt: prompt, reason: "\(error)")
    }
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

  /// Packets of 20 ms, the last filled up with silence.
  private static func encode(_ file: OggOpus, _ codec: AudioCodec) throws(CodecFailure) -> [[UInt8]] {
    let rate = codec.samplingRate
    let decoder = try OpusDecoder(samplingRate: rate)
    let encoder = try AudioEncoder(codec, samplingRate: rate)
    let samples = SampleBuffer()
    var sound: [Int16] = []
    for packet in file.packets where packet.withUnsafeBytes({ decoder.decode($0, into: samples) }) {
      sound += samples.samples
    }
    let frame = rate / 50
    sound = Array(sound.dropFirst(file.preSkip * rate / 48_000).prefix(file.duration * rate / 48_000))
    sound += Array(repeating: 0, count: (frame - sound.count % frame) % frame)
    return stride(from: 0, to: sound.count, by: frame).compactMap { start in
      let packet = PacketBuffer()
      let part = SampleBuffer(sound[start..<(start + frame)])
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

  public var milliseconds: Int { packets.count * PromptRecording.packetTime }

  /// Appends payload `index`. `false`: there is no such packet, or no room.
  public func append(_ index: Int, to packet: PacketBuffer) -> Bool {
    guard packets.indices.contains(index) else { return false }
    let used = packet.count
    return packets[index].withUnsafeBytes { payload in
      guard payload.count <= PacketBuffer.capacity - AudioEncoder.reserve - used else { return false }
      packet.count = used + payload.count
      packet.withUnsafeMutableRoom { room in
        UnsafeMutableRawBufferPointer(rebasing: room[used...]).copyMemory(from: payload)
      }
      return true
    }
  }
}
