public import CallModel
import LandlineDigest

/// Makes the bytes of a sealed file, from its first to its last. Where they go is up to others.
public struct SealedWriter {
  private let sealedHead: SealedHead
  private let key: [UInt8]
  private var number = 0
  /// Of sound, so far.
  public private(set) var byteCount: Int64 = 0
  private var isClosed = false

  /// - Parameter salt: 16 bytes that no other file of the key has: drawn at random.
  /// - Returns: `nil` for a salt of another length, or a number of channels that is none.
  public init?(_ format: RecordingFormat, channels: Int, key: RecordingKey, salt: [UInt8]) {
    guard salt.count == SealedFile.saltBytes, (1...SealedFile.maximumChannels).contains(channels) else { return nil }
    sealedHead = SealedHead(salt: salt, mark: key.mark, format: format, channels: channels)
    self.key = key.fileKey(salt: salt)
  }

  /// What the file begins with.
  public var head: [UInt8] { sealedHead.bytes }

  /// Whether so many more bytes of sound would be more than a file can have.
  public func isFull(adding count: Int) -> Bool {
    byteCount + Int64(count) > SealedFile.maximumBytes
      || number + count / SealedFile.maximumSegmentBytes + 2 > SealedFile.maximumSegments
  }

  /// The next segments: one, unless there is more sound than fits.
  /// - Parameter isLast: closes the file. The segment that says so holds the rest of the sound, or nothing.
  /// - Returns: `nil` where the file has no room for them, is closed already, or libcrypto does not seal.
  public mutating func segments(_ sound: [UInt8], isLast: Bool = false) -> [UInt8]? {
    guard !isClosed, !isFull(adding: sound.count) else { return nil }
    var bytes: [UInt8] = []
    var rest = sound[...]
    while rest.count > SealedFile.maximumSegmentBytes {
      guard let sealed = segment(Array(rest.prefix(SealedFile.maximumSegmentBytes)), isLast: false) else { return nil }
      bytes += sealed
      rest = rest.dropFirst(SealedFile.maximumSegmentBytes)
    }
    guard !rest.isEmpty || isLast else { return bytes }
    guard let sealed = segment(Array(rest), isLast: isLast) else { return nil }
    return bytes + sealed
  }

  private mutating func segment(_ sound: [UInt8], isLast: Bool) -> [UInt8]? {
    guard
      let sealed = AES256GCM.seal(
        sound, key: key, nonce: SealedHead.nonce(number),
        authenticating: sealedHead.authenticated(number, isLast: isLast))
    else { return nil }
    number += 1
    byteCount += Int64(sound.count)
    isClosed = isLast
    return SealedHead.littleEndian(sound.count, count: 4) + [isLast ? 1 : 0] + sealed
  }
}
