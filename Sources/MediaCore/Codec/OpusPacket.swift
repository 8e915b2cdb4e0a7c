public import SecureTransport

/// What the first bytes of an Opus packet promise, found true (RFC 6716 section 3).
///
/// A packet that breaks one of the requirements R1 to R7 of section 3.4 has no such description, and the library never
/// sees it.
public struct OpusPacket: Hashable, Sendable {
  /// Most frames of a packet: 48 of 2.5 ms.
  public static let maximumFrames = 48
  /// Longest packet, in samples at 48 kHz: 120 ms.
  public static let maximumDuration = 5760
  /// Most bytes of a frame (R2).
  public static let maximumFrameSize = 1275

  /// Which layers made the frames.
  public enum Mode: Hashable, Sendable {
    case silk, hybrid, celt
  }

  /// Audio bandwidth: 4, 6, 8, 12, 20 kHz.
  public enum Bandwidth: Int, Hashable, Sendable, Comparable {
    case narrow, medium, wide, superWide, full

    /// The narrower one first.
    public static func < (one: Bandwidth, other: Bandwidth) -> Bool { one.rawValue < other.rawValue }
  }

  /// The same for all frames of the packet.
  public let mode: Mode
  /// The same for all frames of the packet.
  public let bandwidth: Bandwidth
  /// As the packet was coded; ``AudioDecoder`` mixes both channels into one.
  public let isStereo: Bool
  /// 1 to ``maximumFrames``.
  public let frameCount: Int
  /// Of one frame, in samples at 48 kHz: 120 to 2880.
  public let frameDuration: Int
  /// Whether the packet holds a copy of the sound of the packet before (LBRR, RFC 6716 section 4.2.4).
  public let hasForwardErrorCorrection: Bool

  /// Of the packet, in samples at 48 kHz.
  public var duration: Int { frameCount * frameDuration }

  /// The description of `count` bytes of `packet` from `offset`; `nil` when malformed.
  public static func inspect(_ packet: PacketBuffer, offset: Int, count: Int) -> OpusPacket? {
    guard offset >= 0, count >= 0, offset <= packet.count, count <= packet.count - offset else { return nil }
    return packet.withUnsafeMutableRoom { room in
      inspect(UnsafeRawBufferPointer(rebasing: room[offset..<(offset + count)])) { _ in }
    }
  }

  /// The description of a packet; `nil` when malformed.
  public static func inspect(_ packet: [UInt8]) -> OpusPacket? {
    packet.withUnsafeBytes { inspect($0) { _ in } }
  }

  /// `eachFrame` is told where each frame lies, once the packet is known to be well formed.
  package static func inspect(_ bytes: UnsafeRawBufferPointer, eachFrame: (Range<Int>) -> Void) -> OpusPacket? {
    guard let head = bytes.first else { return nil }  // R1
    let configuration = Int(head >> 3)
    let layout: FrameLayout?
    switch head & 3 {
    case 0: layout = .one(bytes)
    case 1: layout = .twoEqual(bytes)
    case 2: layout = .two(bytes)
    default: layout = .many(bytes)
    }
    let frameDuration = duration(of: configuration)
    guard let layout, layout.count * frameDuration <= maximumDuration else { return nil }  // R5

    var start = layout.start
    var first = 0..<0
    for index in 0..<layout.count {
      let size = layout.size(of: index, in: bytes)
      if index == 0 { first = start..<(start + size) }
      eachFrame(start..<(start + size))
      start += size
    }
    let mode: Mode = configuration < 12 ? .silk : (configuration < 16 ? .hybrid : .celt)
    let isStereo = head & 4 != 0
    return OpusPacket(
      mode: mode, bandwidth: bandwidth(of: configuration), isStereo: isStereo, frameCount: layout.count,
      frameDuration: frameDuration,
      hasForwardErrorCorrection: mode != .celt && !first.isEmpty
        && holdsCopy(bytes[first.lowerBound], frameDuration: frameDuration, isStereo: isStereo))
  }

  /// The first bits of a SILK layer say, for each 20 ms, whether there is voice, then whether there is a copy; those of
  /// the side channel follow (RFC 6716 section 4.2.3).
  private static func holdsCopy(_ byte: UInt8, frameDuration: Int, isStereo: Bool) -> Bool {
    let parts = max(frameDuration / 960, 1)
    if byte >> UInt8(7 - parts) & 1 != 0 { return true }
    return isStereo && byte >> UInt8(6 - 2 * parts) & 1 != 0
  }

  /// RFC 6716 table 2, in samples at 48 kHz.
  private static func duration(of configuration: Int) -> Int {
    if configuration < 12 { return [480, 960, 1920, 2880][configuration & 3] }
    if configuration < 16 { return configuration & 1 == 0 ? 480 : 960 }
    return 120 << (configuration & 3)
  }

  private static func bandwidth(of configuration: Int) -> Bandwidth {
    switch configuration {
    case 0..<4, 16..<20: .narrow
    case 4..<8: .medium
    case 8..<12, 20..<24: .wide
    case 12..<14, 24..<28: .superWide
    default: .full
    }
  }
}

/// Where the frames of a packet lie (RFC 6716 section 3.2). Every length was checked.
private struct FrameLayout {
  let count: Int
  /// Of the first frame.
  let start: Int
  /// After the last frame; padding may follow.
  let end: Int
  /// Where the coded lengths begin; `nil`: all frames are equally long.
  let lengths: Int?

  /// Frames that are all equally long; `nil` unless they fill the room, each within R2.
  private init?(equal count: Int, start: Int, end: Int) {
    guard (end - start) % count == 0, (end - start) / count <= OpusPacket.maximumFrameSize else { return nil }
    (self.count, self.start, self.end, lengths) = (count, start, end, nil)
  }

  /// Frames with coded lengths, all but the last; `nil` when they do not fit, or one breaks R2.
  private init?(coded count: Int, in bytes: UnsafeRawBufferPointer, at lengths: Int, end: Int) {
    var position = lengths
    var total = 0
    for _ in 1..<count {
      guard let size = FrameLayout.length(bytes, &position, before: end) else { return nil }
      total += size
    }
    let last = end - position - total
    guard last >= 0, last <= OpusPacket.maximumFrameSize else { return nil }
    (self.count, start, self.end, self.lengths) = (count, position, end, lengths)
  }

  static func one(_ bytes: UnsafeRawBufferPointer) -> FrameLayout? {
    FrameLayout(equal: 1, start: 1, end: bytes.count)
  }

  /// R3.
  static func twoEqual(_ bytes: UnsafeRawBufferPointer) -> FrameLayout? {
    FrameLayout(equal: 2, start: 1, end: bytes.count)
  }

  /// R4.
  static func two(_ bytes: UnsafeRawBufferPointer) -> FrameLayout? {
    FrameLayout(coded: 2, in: bytes, at: 1, end: bytes.count)
  }

  /// R5, R6, R7.
  static func many(_ bytes: UnsafeRawBufferPointer) -> FrameLayout? {
    guard bytes.count >= 2 else { return nil }
    let count = Int(bytes[1] & 0x3F)
    guard count > 0, count <= OpusPacket.maximumFrames else { return nil }
    var position = 2
    var padding = 0
    if bytes[1] & 0x40 != 0 {
      var more = true
      while more {
        guard position < bytes.count else { return nil }
        more = bytes[position] == 255
        padding += more ? 254 : Int(bytes[position])
        position += 1
      }
    }
    let end = bytes.count - padding
    guard end >= position else { return nil }
    return bytes[1] & 0x80 != 0
      ? FrameLayout(coded: count, in: bytes, at: position, end: end)
      : FrameLayout(equal: count, start: position, end: end)
  }

  func size(of index: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    guard var position = lengths else { return (end - start) / count }
    var rest = end - start
    for current in 0..<(count - 1) {
      let size = FrameLayout.length(bytes, &position, before: end) ?? 0
      if current == index { return size }
      rest -= size
    }
    return rest
  }

  /// A coded length: one byte to 251, else two (RFC 6716 section 3.2.1).
  private static func length(_ bytes: UnsafeRawBufferPointer, _ position: inout Int, before end: Int) -> Int? {
    guard position < end else { return nil }
    let first = Int(bytes[position])
    position += 1
    guard first >= 252 else { return first }
    guard position < end else { return nil }
    defer { position += 1 }
    return first + 4 * Int(bytes[position])
  }
}
