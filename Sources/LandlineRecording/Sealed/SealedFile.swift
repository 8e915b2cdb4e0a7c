import CallModel

/// The form in which a recording lies on the disk: a head, then segments that are sealed one by one, each with AES-256-GCM.
///
/// ```
/// head, 32 bytes
///    0  4   "LLR1"
///    4  16  salt, drawn for this file
///   20  8   the first bytes of the SHA-256 of the environment's key
///   28  1   format: 1 WAV (its samples alone), 2 Opus in Ogg
///   29  1   channels, 1 to 8
///   30  2   zero
/// segment, from 21 bytes on
///    0  4   bytes of sound in it, little-endian; 1 to 1 MiB, or 0 in the last one
///    4  1   1 in the last one of a file that was closed, else 0
///    5  n   ciphertext, as long as the sound
///  5+n  16  tag
/// ```
///
/// The file's key is HMAC-SHA256 of "landline recording 1" and the salt, under the environment's key. Segments count from 0.
/// A segment's nonce is its number in 12 bytes, little-endian; authenticated with it are the head, its number in 8 bytes,
/// little-endian, and its byte that says whether it is the last one. So a segment that was changed, exchanged, doubled or left
/// out is refused, and so is whatever stands behind the last one.
///
/// The file of a process that was killed ends somewhere. It reads up to its last whole segment, and is not complete: what
/// somebody cut off at the end of a file looks the same, and only the record of the recording knows better.
public enum SealedFile {
  /// Bytes of the head.
  public static let headBytes = 32
  /// Bytes of a segment besides its sound.
  public static let segmentOverhead = 5 + 16
  /// Most bytes of sound in a segment.
  public static let maximumSegmentBytes = 1 << 20
  /// Most segments of a file: twelve days, one a second.
  public static let maximumSegments = 1 << 20
  /// Most bytes of sound in a file: a WAV file counts them in 32 bits.
  public static let maximumBytes: Int64 = (1 << 32) - (1 << 20)
  /// Most channels.
  public static let maximumChannels = 8

  static let segmentHeadBytes = 5
  static let tagBytes = 16
  static let saltBytes = 16
}

/// Why a sealed file is not read, or not all of it.
public enum SealedFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// It ends within its head: nothing was recorded yet.
  case noHead
  /// Its first bytes are no head of this version.
  case notSealed
  /// None of the environment's keys is the one that it was sealed under.
  case unknownKey
  /// The segment of this number, from 0 on, is not as it was written.
  case segment(Int)
  /// Something stands behind the last segment, which has this number.
  case behindLast(Int)
  /// More segments or more sound than a recording can have.
  case tooLarge
  /// The file could not be read: what the system says.
  case notRead(String)

  /// What is wrong, and what to do where something can be done.
  public var description: String {
    switch self {
    case .noHead: "the file of the recording ends within its head"
    case .notSealed: "the file is no sealed recording of this version"
    case .unknownKey: "the recording was sealed under a key that is not in the key file: add that key behind the newest"
    case .segment(let number): "segment \(number) of the recording is not as it was written"
    case .behindLast(let number): "something stands behind segment \(number), the last one of the recording"
    case .tooLarge: "the file is longer than a recording can be"
    case .notRead(let problem): "the file of the recording cannot be read: \(problem)"
    }
  }
}

/// The first bytes of a sealed file.
struct SealedHead: Hashable, Sendable {
  var salt: [UInt8]
  var mark: [UInt8]
  var format: RecordingFormat
  var channels: Int

  private static let magic = Array("LLR1".utf8)

  init(salt: [UInt8], mark: [UInt8], format: RecordingFormat, channels: Int) {
    self.salt = salt
    self.mark = mark
    self.format = format
    self.channels = channels
  }

  init(_ bytes: [UInt8]) throws(SealedFault) {
    guard bytes.count >= SealedFile.headBytes else { throw .noHead }
    guard bytes.starts(with: Self.magic), bytes[30] == 0, bytes[31] == 0,
      (1...SealedFile.maximumChannels).contains(Int(bytes[29]))
    else { throw .notSealed }
    switch bytes[28] {
    case 1: format = .wav
    case 2: format = .opus
    default: throw .notSealed
    }
    salt = Array(bytes[4..<20])
    mark = Array(bytes[20..<28])
    channels = Int(bytes[29])
  }

  var bytes: [UInt8] {
    Self.magic + salt + mark + [format == .wav ? 1 : 2, UInt8(clamping: channels), 0, 0]
  }

  /// Of one segment.
  static func nonce(_ number: Int) -> [UInt8] { littleEndian(number, count: 12) }

  /// Of one segment.
  func authenticated(_ number: Int, isLast: Bool) -> [UInt8] {
    bytes + Self.littleEndian(number, count: 8) + [isLast ? 1 : 0]
  }

  static func littleEndian(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> ($0 * 8)) : 0 }
  }
}
