import CallEngine
import CallModel
import Foundation
import MediaCore

/// The file of a recording that runs. Used on the archive's thread alone.
final class RecordingFile {
  /// Room that stays for what may still wait when a recording ends for its length.
  private static let reserve = 2 * RecordingArchive.Limits.maximumWaitingBytes

  private let disk: RecordingDisk
  private let descriptor: Int32
  private let encoder: RecordingEncoder
  private var sealer: SealedWriter
  /// What is encoded and not written.
  private var sound: [UInt8]
  /// Bytes of sound that make a segment.
  private let segmentBytes: Int
  /// Of the file, all whole.
  private(set) var byteCount: Int64 = 0

  /// Makes the file with its head.
  init(
    _ recording: Recording, in folder: RecordingFolder, key: RecordingKey, disk: RecordingDisk
  ) throws(DiskFailure) {
    self.disk = disk
    var generator = SystemRandomNumberGenerator()
    let salt = (0..<SealedFile.saltBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    guard let path = folder.path(of: recording.id),
      let sealer = SealedWriter(recording.format, channels: recording.channels, key: key, salt: salt),
      let encoder = try? RecordingEncoder(
        recording.format, channels: recording.channels, serial: generator.next())
    else { throw DiskFailure("begin", EINVAL) }
    self.sealer = sealer
    self.encoder = encoder
    sound = encoder.head
    // Half a second; pages of Ogg come as long already.
    segmentBytes = recording.format == .wav ? recording.channels * RecordingEncoder.samplingRate : 1
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskFailure("open", errno) }
    // Whoever finds the file sees by it that somebody writes; who looks holds it for a moment at most.
    while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
    try write(sealer.head)
  }

  deinit { close(descriptor) }

  /// Encodes frames, and writes a segment once there is half a second of sound.
  func append(_ frames: [UInt8]) throws(DiskFailure) {
    sound += encoder.append(frames)
    if sound.count >= segmentBytes { try writeSegments(isLast: false) }
  }

  /// Whether a recording of this length must end.
  var isFull: Bool { sealer.isFull(adding: sound.count + Self.reserve) }

  /// Writes the rest and closes the form; all of it is on the disk then.
  func finish() throws(DiskFailure) {
    sound += encoder.finish()
    try writeSegments(isLast: true)
    try flush()
  }

  /// Brings to the disk what is whole: for a file that cannot be finished.
  func abandon() { try? flush() }

  private func flush() throws(DiskFailure) {
    guard disk.flush(descriptor) == 0 else { throw DiskFailure("flush", errno) }
  }

  private func writeSegments(isLast: Bool) throws(DiskFailure) {
    guard let bytes = sealer.segments(sound, isLast: isLast) else { throw DiskFailure("seal", EFBIG) }
    sound.removeAll(keepingCapacity: true)
    try write(bytes)
  }

  /// All or nothing: what a full disk took of it is taken away again.
  private func write(_ bytes: [UInt8]) throws(DiskFailure) {
    do throws(DiskFailure) {
      try disk.writeAll(bytes, to: descriptor)
      byteCount += Int64(bytes.count)
    } catch {
      _ = ftruncate(descriptor, off_t(byteCount))
      _ = lseek(descriptor, off_t(byteCount), SEEK_SET)
      throw error
    }
  }
}
