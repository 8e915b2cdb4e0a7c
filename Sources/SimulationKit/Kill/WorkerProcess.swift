import Foundation
import Glibc

/// A worker of ``KillTrial``: started, listened to, killed.
struct WorkerProcess {
  let executable: String
  let arguments: [String]
  /// Complete lines after which it is killed.
  let lines: Int
  /// Milliseconds after the first line at which it is killed, if the lines have not come by then.
  let milliseconds: Int64

  private static let readBytes = 65_536

  /// - Returns: the complete lines that it wrote before its end.
  func runUntilKilled() throws -> [String] {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    do { try process.run() } catch {
      throw KillTrial.Failure(description: "\(executable) cannot be started: \(error)")
    }
    // Our own copy of the writing end, or the end of the worker would not end the reading.
    try? pipe.fileHandleForWriting.close()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    var bytes: [UInt8] = []
    var count = 0
    var isKilled = false
    var deadline = ContinuousClock.now + .milliseconds(KillTrial.startMilliseconds)
    func kill() {
      isKilled = true
      Glibc.kill(process.processIdentifier, SIGKILL)
    }
    var buffer = [UInt8](repeating: 0, count: WorkerProcess.readBytes)
    while true {
      if !isKilled {
        let left = ContinuousClock.now.duration(to: deadline)
        let wait = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = wait > 0 ? poll(&readable, 1, Int32(wait)) : 0
        if ready == 0 {
          kill()
          if count == 0 {
            process.waitUntilExit()
            throw KillTrial.Failure(description: "the worker wrote nothing in \(KillTrial.startMilliseconds) ms")
          }
        }
        if ready < 0, errno == EINTR { continue }
      }
      // After the kill, what is still in the pipe was acknowledged too.
      let received = read(descriptor, &buffer, buffer.count)
      if received < 0, errno == EINTR { continue }
      guard received > 0 else { break }
      if count == 0 { deadline = ContinuousClock.now + .milliseconds(milliseconds) }
      bytes += buffer[0..<received]
      count += buffer[0..<received].count { $0 == UInt8(ascii: "\n") }
      if !isKilled, count >= lines { kill() }
    }
    process.waitUntilExit()
    try? pipe.fileHandleForReading.close()
    guard isKilled else {
      throw KillTrial.Failure(
        description: "the worker ended by itself with status \(process.terminationStatus) after \(count) lines")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    // What follows the last line feed was cut off by the kill.
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { String($0) }
  }
}
