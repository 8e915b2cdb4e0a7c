/// A WAV file of speech: RIFF, one channel, 16-bit PCM at 8, 16 or 32 kHz. Total on any bytes.
public struct WAVReader: Sendable {
  /// Why a file is refused: what was found, and by its text what is wanted.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes of the file.
    case size(Int)
    case notRIFF
    /// A chunk of this name says that it is longer than the file.
    case cutOff(String)
    case noFormat
    /// The format tag: 1 is PCM.
    case encoding(UInt16)
    case channels(UInt16)
    case bits(UInt16)
    case samplingRate(UInt32)
    /// The format chunk contradicts itself.
    case inconsistent
    case noSound

    public var description: String {
      switch self {
      case .size(let size): "\(size) bytes: at most \(WAVReader.maximumSize) are read"
      case .notRIFF: "no RIFF/WAVE file: a WAV file is wanted"
      case .cutOff(let name): "the chunk \"\(name)\" goes on behind the end of the file"
      case .noFormat: "no chunk \"fmt \" of at least 16 bytes before the sound"
      case .encoding(let tag): "encoding \(tag): PCM (1) is wanted"
      case .channels(let count): "\(count) channels: one is wanted"
      case .bits(let bits): "\(bits) bits a sample: 16 are wanted"
      case .samplingRate(let rate): "\(rate) Hz: 8000, 16000 or 32000 are wanted"
      case .inconsistent: "the block size or byte rate does not fit to the samples: a plain PCM header is wanted"
      case .noSound: "no sound: a chunk \"data\" with at least one sample is wanted"
      }
    }
  }

  /// Bytes of a file: ten minutes at 16 kHz, and its head.
  public static let maximumSize = 20 << 20
  /// Chunks looked at before the sound.
  static let maximumChunks = 64

  /// Hz: 8000, 16000 or 32000.
  public let samplingRate: Int
  public let samples: [Int16]

  public var milliseconds: Int { samples.count * 1_000 / samplingRate }

  public init(_ bytes: [UInt8]) throws(Failure) {
    guard bytes.count <= WAVReader.maximumSize else { throw .size(bytes.count) }
    guard bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8) else {
      throw .notRIFF
    }
    var position = 12
    var rate: Int?
    for _ in 0..<WAVReader.maximumChunks where bytes.count - position >= 8 {
      let name = bytes[position..<(position + 4)]
      let size = Int(WAVReader.integer(bytes, position + 4, UInt32.self))
      let body = position + 8
      guard size <= bytes.count - body else { throw .cutOff(WAVReader.printable(name)) }
      if name.elementsEqual("fmt ".utf8) {
        rate = try WAVReader.format(bytes, body, size)
      } else if name.elementsEqual("data".utf8) {
        guard let rate else { throw .noFormat }
        guard size >= 2 else { throw .noSound }
        samplingRate = rate
        samples = (0..<(size / 2)).map { WAVReader.integer(bytes, body + 2 * $0, Int16.self) }
        return
      }
      // Chunks begin at even places.
      position = min(body + size + size % 2, bytes.count)
    }
    throw rate == nil ? .noFormat : .noSound
  }

  private static func format(_ bytes: [UInt8], _ start: Int, _ size: Int) throws(Failure) -> Int {
    guard size >= 16 else { throw .noFormat }
    let tag = integer(bytes, start, UInt16.self)
    guard tag == 1 else { throw .encoding(tag) }
    let channels = integer(bytes, start + 2, UInt16.self)
    guard channels == 1 else { throw .channels(channels) }
    let bits = integer(bytes, start + 14, UInt16.self)
    guard bits == 16 else { throw .bits(bits) }
    let rate = integer(bytes, start + 4, UInt32.self)
    guard [8_000, 16_000, 32_000].contains(rate) else { throw .samplingRate(rate) }
    guard integer(bytes, start + 8, UInt32.self) == 2 * rate, integer(bytes, start + 12, UInt16.self) == 2 else {
      throw .inconsistent
    }
    return Int(rate)
  }

  private static func integer<Value: FixedWidthInteger>(_ bytes: [UInt8], _ offset: Int, _: Value.Type) -> Value {
    var value: Value = 0
    for index in stride(from: Value.bitWidth / 8 - 1, through: 0, by: -1) {
      value = value << 8 | Value(truncatingIfNeeded: bytes[offset + index])
    }
    return value
  }

  private static func printable(_ name: ArraySlice<UInt8>) -> String {
    String(decoding: name.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
  }
}
