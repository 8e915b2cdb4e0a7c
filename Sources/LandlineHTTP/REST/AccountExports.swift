import Foundation
import Synchronization

/// Histories that are written for download: to files without a name, few at a time, so that neither a long history nor a
/// slow reader takes memory.
package final class AccountExports: Sendable {
  /// Most files that exist, those that are being sent included.
  package static let maximumFiles = 16
  package static let maximumBytes = 1 << 30

  /// The file is larger than ``maximumBytes``, or cannot be written.
  package struct Failure: Error {
    var reason: String
  }

  private let open = Mutex(0)

  package init() {}

  /// - Returns: `nil` when there are too many.
  package func begin() throws(Failure) -> ExportFile? {
    let isFree = open.withLock { count in
      guard count < Self.maximumFiles else { return false }
      count += 1
      return true
    }
    guard isFree else { return nil }
    do {
      return try ExportFile { self.open.withLock { $0 -= 1 } }
    } catch {
      open.withLock { $0 -= 1 }
      throw error
    }
  }
}

/// A file that only this object knows, gone when it is.
package final class ExportFile: Sendable {
  private static let pieceBytes = 64 * 1024

  private struct State {
    var waiting: [UInt8] = []
    var written = 0
    var sent = 0
  }

  private let descriptor: Int32
  private let state = Mutex(State())
  private let onClose: @Sendable () -> Void

  fileprivate init(onClose: @escaping @Sendable () -> Void) throws(AccountExports.Failure) {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("landline-export-\(UUID().uuidString)")
      .path
    descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw AccountExports.Failure(reason: String(cString: strerror(errno))) }
    unlink(path)
    self.onClose = onClose
  }

  deinit {
    close(descriptor)
    onClose()
  }

  package func write(_ text: String) throws(AccountExports.Failure) {
    try state.withLock { state throws(AccountExports.Failure) in
      state.waiting += text.utf8
      if state.waiting.count >= Self.pieceBytes { try flush(&state) }
    }
  }

  /// Everything has been written.
  package func finish() throws(AccountExports.Failure) {
    try state.withLock { state throws(AccountExports.Failure) in try flush(&state) }
  }

  private func flush(_ state: inout State) throws(AccountExports.Failure) {
    guard state.written + state.waiting.count <= AccountExports.maximumBytes else {
      throw AccountExports.Failure(reason: "more than \(AccountExports.maximumBytes) bytes")
    }
    var rest = state.waiting[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw AccountExports.Failure(reason: String(cString: strerror(errno))) }
      rest.removeFirst(count)
    }
    state.written += state.waiting.count
    state.waiting.removeAll(keepingCapacity: true)
  }

  /// The pieces of the file, each read when it is asked for.
  package var pieces: AsyncStream<[UInt8]> { AsyncStream { self.next() } }

  private func next() -> [UInt8]? {
    state.withLock { state in
      let count = min(Self.pieceBytes, state.written - state.sent)
      guard count > 0 else { return nil }
      let piece = [UInt8](unsafeUninitializedCapacity: count) { bytes, read in
        read = max(0, pread(descriptor, bytes.baseAddress, count, off_t(state.sent)))
      }
      state.sent += piece.count
      return piece.isEmpty ? nil : piece
    }
  }
}
