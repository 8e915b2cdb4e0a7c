import CLandlineOpus
public import SDPCore
public import SecureTransport

/// All prompts as packets of each codec, made once and shared by all threads.
///
/// Opus is sent as it was recorded. Other codecs are encoded here, so make it where a tenth of a second does not matter.
public final class PromptLibrary: Sendable {
  /// A prompt of this program cannot be read: a mistake of ours.
  public struct Failure: Error, Hashable, Sendable {
    /// The first prompt that could not be read.
    public let prompt: Prompt
    /// What was wrong with it, for a log.
    public let reason: String
  }

  private let recordings: [Prompt: [AudioCodec: PromptRecording]]

  /// Reads and encodes every prompt.
  /// - Throws: ``Failure`` for the first one that cannot be read.
  public init() throws(Failure) {
    var recordings: [Prompt: [AudioCodec: PromptRecording]] = [:]
    for prompt in Prompt.allCases {
      do {
        recordings[prompt] = try PromptLibrary.record(prompt)
      } catch {
        throw Failure(prompt: prompt, reason: "\(error)")
      }
    }
    self.recordings = recordings
  }

  /// The packets of a prompt.
  public func recording(_ prompt: Prompt, _ codec: AudioCodec) -> PromptRecording {
    recordings[prompt]?[codec] ?? PromptRecording([])
  }

  private static func record(_ prompt: Prompt) throws -> [AudioCodec: PromptRecording] {
    let file = try file(prompt)
    var recordings = [AudioCodec.opus: PromptRecording(file.packets)]
    let others = AudioCodec.allCases.filter { $0 != .opus }
    for (rate, codecs) in Dictionary(grouping: others, by: \.samplingRate) {
      let sound = try decode(file, rate)
      for codec in codecs { recordings[codec] = PromptRecording(try encode(sound, rate, codec)) }
    }
    return recordings
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

  private static func decode(_ file: OggOpus, _ rate: Int) throws(CodecFailure) -> [Int16] {
    let decoder = try OpusDecoder(samplingRate: rate)
    let samples = SampleBuffer()
    var sound: [Int16] = []
    for packet in file.packets where packet.withUnsafeBytes({ decoder.decode($0, into: samples) }) {
      sound += samples.samples
    }
    return Array(sound.dropFirst(file.preSkip * rate / 48_000).prefix(file.duration * rate / 48_000))
  }

  /// Packets of 20 ms, the last filled up with silence.
  private static func encode(_ sound: [Int16], _ rate: Int, _ codec: AudioCodec) throws(CodecFailure) -> [[UInt8]] {
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
