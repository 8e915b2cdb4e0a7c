import Foundation

/// What recordings ask of the disk, in one place: tests have it fail.
package struct RecordingDisk: Sendable {
  /// As write(2): what of the bytes was written, or -1 with `errno`.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
  /// As fsync(2).
  package var flush: @Sendable (Int32) -> Int32
  /// Bytes that an ordinary user may still write on the disk of a folder; `nil` where nobody knows.
  package var freeBytes: @Sendable (String) -> Int64?

  /// The system's own.
  package init() {
    write = { Foundation.write($0, $1.baseAddress, $1.count) }
    flush = { fsync($0) }
    freeBytes = { path in
      var facts = statvfs()
      guard statvfs(path, &facts) == 0 else { return nil }
      let (bytes, overflow) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
      return overflow ? .max : Int64(clamping: bytes)
    }
  }

  /// Writes all of it.
  func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(DiskFailure) {
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes { write(descriptor, UnsafeRawBufferPointer(rebasing: $0[offset...])) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw DiskFailure("write", written < 0 ? errno : ENOSPC) }
      offset += written
    }
  }
}

/// What the system refused, and why.
struct DiskFailure: Error, CustomStringConvertible {
  let action: String
  let code: Int32

  init(_ action: String, _ code: Int32) {
    self.action = action
    self.code = code
  }

  var description: String { "\(action): \(String(cString: strerror(code)))" }

  /// For whoever runs the gateway.
  var advice: String {
    switch code {
    case ENOSPC, EDQUOT: "make room on the disk, or remove recordings"
    case EFBIG: "raise the limit of a file's size (ulimit -f, LimitFSIZE=)"
    case EMFILE, ENFILE: "raise the limit of open files (ulimit -n, LimitNOFILE=)"
    case EACCES, EPERM, EROFS: "let the gateway's user write to the folder of recordings"
    case EEXIST: "a recording of this id is there already; it is left alone"
    default: "look after the disk: dmesg and its S.M.A.R.T. data say more"
    }
  }
}

/// A file that is open for reading for as long as this object lives, also when it is removed meanwhile.
final class OpenFile: Sendable {
  private let descriptor: Int32

  init(path: String) throws(DiskFailure) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DiskFailure("open", errno) }
  }

  deinit { close(descriptor) }

  /// As it is now: a file that is being written grows.
  var size: Int64 {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 ? Int64(facts.st_size) : 0
  }

  /// The bits of its mode that say who may do what.
  var permissions: mode_t {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 ? facts.st_mode & 0o777 : 0o777
  }

  /// Whether a writer has it open, of whatever process: each holds a lock on its file, which ends with its process.
  var isBeingWritten: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// As many bytes as there are, up to `count`.
  func read(_ offset: Int64, _ count: Int) throws(SealedFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    var filled = 0
    while filled < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[filled...]).baseAddress, count - filled,
          off_t(offset + Int64(filled)))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .notRead(String(cString: strerror(errno))) }
      guard read > 0 else { break }
      filled += read
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }
}
