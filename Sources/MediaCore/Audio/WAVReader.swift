/// A WAV file: RIFF, one or two channels, 16-bit PCM at a usual rate of 8 to 192 kHz. Two channels become one. Total on
/// any bytes.
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

    /// What was found, then what is wanted, for a message.
    public var description: String {
      switch self {
      case .size(let size): "\(size) bytes: at most \(WAVReader.maximumSize) are read"
      case .notRIFF: "no RIFF/WAVE file: a WAV file is wanted"
      case .cutOff(let name): "the chunk \"\(name)\" goes on behind the end of the file"
      case .noFormat: "no chunk \"fmt \" of at least 16 bytes before the sound"
      case .encoding(let tag): "encoding \(tag): PCM (1) is wanted"
      case .channels(let count): "\(count) channels: one or two are wanted"
      case .bits(let bits): "\(bits) bits a sample: 16 are wanted"
      case .samplingRate(let rate):
        "\(rate) Hz: one of \(WAVReader.rates.map(String.init).joined(separator: ", ")) is wanted"
      case .inconsistent: "the block size or byte rate does not fit to the samples: a plain PCM header is wanted"
      case .noSound: "no sound: a chunk \"data\" with at least one sample is wanted"
      }
    }
  }

  /// Bytes of a file: about six minutes at 48 kHz in two channels.
  public static let maximumSize = 64 << 20
  /// Hz that are read.
  public static let rates: [UInt32] = [
    8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
  ]
  /// Chunks looked at before the sound.
  static let maximumChunks = 64

  /// Hz, one of ``rates``.
  public let samplingRate: Int
  /// One channel; two of the file are averaged.
  public let samples: [Int16]

  /// Rounded down.
  public var milliseconds: Int { samples.count * 1_000 / samplingRate }

  /// Reads a whole file.
  /// - Throws: ``Failure`` for the first thing that is not as wanted.
  public init(_ bytes: [UInt8]) throws(Failure) {
    guard bytes.count <= WAVReader.maximumSize else { throw .size(bytes.count) }
    guard bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8) else {
      throw .notRIFF
    }
    var position = 12
    var form: (rate: Int, channels: Int)?
    for _ in 0..<WAVReader.maximumChunks where bytes.count - position >= 8 {
      let name = bytes[position..<(position + 4)]
      let size = Int(WAVReader.integer(bytes, position + 4, UInt32.self))
      let body = position + 8
      guard size <= bytes.count - body else { throw .cutOff(WAVReader.printable(name)) }
      if name.elementsEqual("fmt ".utf8) {
        form = try WAVReader.format(bytes, body, size)
      } else if name.elementsEqual("data".utf8) {
        guard let form else { throw .noFormat }
        guard size >= 2 * form.channels else { throw .noSound }
        samplingRate = form.rate
        samples =
          form.channels == 1
          ? (0..<(size / 2)).map { WAVReader.integer(bytes, body + 2 * $0, Int16.self) }
          : (0..<(size / 4)).map { frame in
            let left = Int(WAVReader.integer(bytes, body + 4 * frame, Int16.self))
            let right = Int(WAVReader.integer(bytes, body + 4 * frame + 2, Int16.self))
            return Int16((left + right) >> 1)
          }
        return
      }
      // Chunks begin at even places.
      position = min(body + size + size % 2, bytes.count)
    }
    throw form == nil ? .noFormat : .noSound
  }

  private static func format(_ bytes: [UInt8], _ start: Int, _ size: Int) throws(Failure) -> (rate: Int, channels: Int)
  {
    guard size >= 16 else { throw .noFormat }
    var tag = integer(bytes, start, UInt16.self)
    // Extensible (Microsoft, 2001): the format proper begins a GUID.
    if tag == 0xFFFE, size >= 26 { tag = integer(bytes, start + 24, UInt16.self) }
    guard tag == 1 else { throw .encoding(tag) }
    let channels = integer(bytes, start + 2, UInt16.self)
    guard channels == 1 || channels == 2 else { throw .channels(channels) }
    let bits = integer(bytes, start + 14, UInt16.self)
    guard bits == 16 else { throw .bits(bits) }
    let rate = integer(bytes, start + 4, UInt32.self)
    guard WAVReader.rates.contains(rate) else { throw .samplingRate(rate) }
    guard integer(bytes, start + 8, UInt32.self) == 2 * UInt32(channels) * rate,
      integer(bytes, start + 12, UInt16.self) == 2 * channels
    else { throw .inconsistent }
    return (Int(rate), Int(channels))
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
