import CLandlineOpus
public import CallModel

/// Frames of a recording to the bytes of a file, as it is kept: a WAV file, or Opus in Ogg (RFC 7845).
///
/// Sans-IO: it hands out bytes, which the shell appends to a file. It belongs to one thread.
///
/// ```
///   frames ──┬─ WAV ──▶ as they are; the head says how long the file is, and is made when it is handed out
///            └─ Opus ─▶ 20 ms ─▶ one packet ─▶ 25 packets ─▶ one page of Ogg
/// ```
/// Two channels are one stereo stream of Opus (mapping family 0), which every player has: left and right stay apart.
public final class RecordingEncoder {
  /// Hz of the frames that it is given.
  public static let samplingRate = 16_000
  /// Channels of a file at most.
  public static let maximumChannels = 2
  /// bit/s of one channel of Opus.
  static let bitRate = 24_000
  /// Of libopus, 0 to 10.
  static let complexity: Int32 = 5
  /// Frames of one packet: 20 ms.
  static let packetFrames = samplingRate / 50
  /// Packets of one page at most: half a second of sound, for which the page's own bytes are one in twenty.
  static let pagePackets = 25
  /// Bytes of a packet at most, which are four segments: those of a page are always below the 255 that it may have.
  static let maximumPacket = 1_000
  /// Granule positions count samples at this many Hz (RFC 7845 section 4), whatever goes in.
  static let granuleRate = 48_000
  private static let ticks = granuleRate / samplingRate

  private let format: RecordingFormat
  private let channels: Int
  private let opus: Opus?
  private var pages: OggPageWriter
  /// Bytes that are less than a packet's frames.
  private var waiting: [UInt8] = []
  /// Packets that were made; and frames that came in.
  private var packets = 0
  private var frames = 0

  /// - Parameters:
  ///   - channels: 1 or 2.
  ///   - serial: Names the stream within a file of Ogg; any number.
  /// - Throws: The library refused, or there are not so many channels.
  public init(_ format: RecordingFormat, channels: Int, serial: UInt32) throws(CodecFailure) {
    guard (1...RecordingEncoder.maximumChannels).contains(channels) else { throw .library(OPUS_BAD_ARG) }
    self.format = format
    self.channels = channels
    opus = format == .opus ? try Opus(channels: channels) : nil
    // Behind the two of the head.
    pages = OggPageWriter(serial: serial, number: 2)
  }

  /// Begins the file; for the start of it alone. Nothing for WAV, see ``wavHead(channels:dataSize:)``.
  public var head: [UInt8] {
    guard let opus else { return [] }
    var first = OggPageWriter(serial: pages.serial)
    first.append(
      Array("OpusHead".utf8) + [1, UInt8(channels)] + bytes(UInt16(clamping: opus.preSkip))
        + bytes(UInt32(RecordingEncoder.samplingRate)) + bytes(UInt16(0)) + [0])
    let vendor = Array("Landline".utf8)
    let page = first.flush(granule: 0, .begin)
    first.append(Array("OpusTags".utf8) + bytes(UInt32(vendor.count)) + vendor + bytes(UInt32(0)))
    return page + first.flush(granule: 0)
  }

  /// Encodes frames: little-endian samples of 16 bits, of the channels by turns.
  /// - Returns: What is ready of the file by it: whole pages, of a second at most.
  public func append(_ frames: [UInt8]) -> [UInt8] {
    guard let opus else { return frames }
    waiting += frames
    self.frames += frames.count / (2 * channels)
    let size = RecordingEncoder.packetFrames * channels * 2
    var ready: [UInt8] = []
    var position = 0
    while waiting.count - position >= size {
      encode(waiting[position..<(position + size)], opus, into: &ready)
      position += size
    }
    waiting.removeFirst(position)
    return ready
  }

  /// The rest of the file, with the end of its stream. Nothing may follow.
  public func finish() -> [UInt8] {
    guard let opus else { return [] }
    // The decoder is behind by the pre-skip: silence pushes the last of the sound out.
    let end = opus.preSkip + frames * RecordingEncoder.ticks
    let size = RecordingEncoder.packetFrames * channels * 2
    var ready: [UInt8] = []
    while packets * RecordingEncoder.packetFrames * RecordingEncoder.ticks < end {
      let part = Array(waiting.prefix(size))
      waiting.removeAll()
      // The page that ends the stream has a packet, so none is full before.
      encode((part + Array(repeating: 0, count: size - part.count))[...], opus, isLast: true, into: &ready)
    }
    return ready + pages.flush(granule: UInt64(end), .end)
  }

  private func encode(_ sound: ArraySlice<UInt8>, _ opus: Opus, isLast: Bool = false, into ready: inout [UInt8]) {
    pages.append(opus.encode(sound))
    packets += 1
    guard !isLast, pages.count >= RecordingEncoder.pagePackets else { return }
    ready += pages.flush(granule: UInt64(packets * RecordingEncoder.packetFrames * RecordingEncoder.ticks))
  }

  /// The head of a WAV file of frames of 16 kHz that take this many bytes.
  public static func wavHead(channels: Int, dataSize: Int) -> [UInt8] {
    WAVRecorder.head(samplingRate, channels: channels, dataSize: dataSize)
  }

  // MARK: Files of which the end is missing

  /// For a file of Ogg Opus whose process was killed: the page that ends the stream. It has one packet, by which a decoder
  /// makes up the 6.5 ms that the pre-skip left out at the end.
  /// - Parameter tail: Bytes of the file that end with a whole page, see ``endOfLastPage(in:)``.
  /// - Returns: `nil`: they do not, or the stream has ended already, or has not got beyond its first page.
  public static func closingPage(after tail: [UInt8]) -> [UInt8]? {
    tail.withUnsafeBytes { bytes in
      guard let page = lastPage(bytes), page.end == bytes.count, !page.ends, page.number > 0 else { return nil }
      var closing = OggPageWriter(serial: page.serial, number: page.number &+ 1)
      closing.append(lostPacket)
      return closing.flush(granule: page.granule &+ UInt64(preSkip), .end)
    }
  }

  /// 20 ms of which nothing came (RFC 6716 section 3.1: wide band, one frame without bytes).
  private static let lostPacket: [UInt8] = [0x48]

  /// Behind the last whole page of some bytes of a file of Ogg; what is behind it came too late to be read. `nil`: there
  /// is none.
  public static func endOfLastPage(in tail: [UInt8]) -> Int? { tail.withUnsafeBytes { lastPage($0)?.end } }

  /// Milliseconds of sound in a file of Ogg Opus that was made here, by the last whole page of its last bytes. `nil`:
  /// there is none in them.
  public static func milliseconds(ofOpusTail tail: [UInt8]) -> Int64? {
    let granule = tail.withUnsafeBytes { lastPage($0)?.granule }
    guard let granule, let position = Int64(exactly: granule) else { return nil }
    return max(position - Int64(preSkip), 0) * 1_000 / Int64(granuleRate)
  }

  /// Bytes of the longest page.
  public static let maximumPage = 27 + 255 + 255 * 255

  private static func lastPage(_ bytes: UnsafeRawBufferPointer) -> OggPage? {
    var start = bytes.count - 27
    while start >= 0 {
      if let page = OggPage(bytes, at: start) { return page }
      start -= 1
    }
    return nil
  }

  /// The same for every encoder of this rate.
  private static let preSkip = (try? Opus(channels: 1).preSkip) ?? samplingRate * 65 / 10_000 * ticks

  // MARK: The library

  private final class Opus {
    private let state: OpaquePointer
    private let memory: UnsafeMutableRawPointer
    private let channels: Int
    private var room = [UInt8](repeating: 0, count: RecordingEncoder.maximumPacket)
    private var samples: [Int16]
    /// Samples at 48 kHz that a decoder drops at the start.
    let preSkip: Int

    init(channels: Int) throws(CodecFailure) {
      self.channels = channels
      samples = Array(repeating: 0, count: RecordingEncoder.packetFrames * channels)
      memory = UnsafeMutableRawPointer.allocate(
        byteCount: Int(opus_encoder_get_size(Int32(channels))), alignment: 16)
      state = OpaquePointer(memory)
      var settings = landline_opus_settings()
      settings.bits_per_second = Int32(clamping: RecordingEncoder.bitRate * channels)
      settings.complexity = RecordingEncoder.complexity
      settings.maximum_bandwidth = OPUS_BANDWIDTH_WIDEBAND
      // The MDCT layer alone: a third of the work, and two who talk at once do not leak into each other's channel.
      var lookahead: Int32 = 0
      var result = opus_encoder_init(
        state, opus_int32(RecordingEncoder.samplingRate), Int32(channels), OPUS_APPLICATION_RESTRICTED_LOWDELAY)
      if result == OPUS_OK { result = landline_opus_configure(state, &settings) }
      if result == OPUS_OK { result = landline_opus_lookahead(state, &lookahead) }
      preSkip = Int(lookahead) * RecordingEncoder.ticks
      guard result == OPUS_OK else { throw .library(result) }
    }

    deinit { memory.deallocate() }

    /// A packet of exactly 20 ms.
    func encode(_ sound: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      for (index, start) in stride(from: sound.startIndex, to: sound.endIndex, by: 2).enumerated() {
        samples[index] = Int16(truncatingIfNeeded: UInt16(sound[start]) | UInt16(sound[start + 1]) << 8)
      }
      let count = opus_encode(
        state, samples, Int32(RecordingEncoder.packetFrames), &room, opus_int32(RecordingEncoder.maximumPacket))
      // It does not refuse a frame of the right length; time would go on all the same.
      return count > 0 ? room[..<Int(count)] : RecordingEncoder.lostPacket[...]
    }
  }
}

private func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
  (0..<(Value.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> Value($0 * 8)) }
}
