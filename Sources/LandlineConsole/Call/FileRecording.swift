import Foundation
import Synchronization

/// A file that grows by pieces and is mended at its head in the end. What cannot be written is given up.
final class FileRecording: Sendable {
  private struct State {
    var handle: FileHandle?
    var failure: String?
  }

  /// Of the file, as it was given.
  let path: String
  private let state: Mutex<State>

  /// Makes the file, in place of one that was there.
  init(path: String) throws {
    let handle = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard handle >= 0 else {
      throw ConsoleError(
        .notPermitted, code: "record.file", "the recording cannot be made: \(String(cString: strerror(errno)))",
        at: path)
    }
    self.path = path
    state = Mutex(State(handle: FileHandle(fileDescriptor: handle, closeOnDealloc: true)))
  }

  /// Why the file is not whole; `nil` while all is well.
  var failure: String? { state.withLock { $0.failure } }

  func append(_ bytes: [UInt8]) {
    write { handle in
      try handle.seekToEnd()
      try handle.write(contentsOf: bytes)
    }
  }

  func overwrite(_ bytes: [UInt8], at offset: Int) {
    write { handle in
      try handle.seek(toOffset: UInt64(clamping: offset))
      try handle.write(contentsOf: bytes)
    }
  }

  func close() {
    state.withLock { state in
      try? state.handle?.close()
      state.handle = nil
    }
  }

  private func write(_ body: (FileHandle) throws -> Void) {
    state.withLock { state in
      guard let handle = state.handle else { return }
      do { try body(handle) } catch {
        state.failure = "\(error.localizedDescription)"
        try? handle.close()
        state.handle = nil
      }
    }
  }
}
