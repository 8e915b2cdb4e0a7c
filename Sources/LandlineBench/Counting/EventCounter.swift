import Foundation

/// Counts what the kernel sees a process do, from outside, between ``init(program:process:events:)`` and ``finish()``.
final class EventCounter {
  private let program: PeerProgram
  /// Closed to end the count.
  private let input: FileHandle
  private let output: FileHandle

  /// Returns once all is counted.
  /// - Parameters:
  ///   - program: ``CountingPrograms/events``, built.
  ///   - events: as that program names them.
  init(program path: String, process: Int32, events: [String]) throws(BenchProblem) {
    let (words, answers) = (Pipe(), Pipe())
    for handle in [words.fileHandleForWriting, answers.fileHandleForReading] {
      _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    program = try PeerProgram(
      path, ["\(process)"] + events, input: words.fileHandleForReading.fileDescriptor,
      output: answers.fileHandleForWriting.fileDescriptor)
    try? words.fileHandleForReading.close()
    try? answers.fileHandleForWriting.close()
    input = words.fileHandleForWriting
    output = answers.fileHandleForReading
    guard let ready = try? output.read(upToCount: EventCounter.ready.count), ready == EventCounter.ready else {
      throw BenchProblem("the counter of events does not start")
    }
  }

  private static let ready = Data("ready\n".utf8)

  /// - Returns: how often each event happened, without those that the kernel does not count for this user.
  func finish() -> [String: Int] {
    try? input.close()
    let text = String(decoding: (try? output.readToEnd()) ?? Data(), as: UTF8.self)
    program.wait()
    var counts: [String: Int] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let count = Int(words[1]) { counts[String(words[0])] = count }
    }
    return counts
  }
}
