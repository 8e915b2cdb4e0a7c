import Foundation

/// Our media loops as a process of their own: this program again, with a line of text for each command and each answer.
final class LandlineMediaGateway: MediaGatewayUnderTest, ConferenceMixer {
  private let program: PeerProgram
  private let commands: Int32
  private let answers: UnsafeMutablePointer<FILE>
  /// Commands and answers that do not come must not hold the benchmark.
  private static let answerSeconds = 60

  var processIdentifier: Int32 { program.identifier }
  private(set) var sendingKeys: (app: String?, trunk: String?) = (nil, nil)

  /// - Parameters:
  ///   - threads: Media threads that share the calls.
  ///   - environment: For it beside what this process has.
  ///   - niceness: As nice(1) takes it.
  init(threads: Int = 1, environment: [String: String] = [:], niceness: Int = 0) throws(BenchProblem) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw BenchProblem("no sockets can be made")
    }
    defer { close(ends[1]) }
    var wait = timeval(tv_sec: Self.answerSeconds, tv_usec: 0)
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    guard let stream = fdopen(ends[0], "r") else {
      close(ends[0])
      throw BenchProblem("no stream can be made")
    }
    (commands, answers) = (ends[0], stream)
    do {
      let own = [try ProcessFigures.ownExecutable(), "bench", "media-gateway", "--threads", "\(threads)"]
      let words = niceness == 0 ? own : ["nice", "-n", "\(niceness)"] + own
      // nice complains where it may not, and goes on: that is no answer.
      program = try PeerProgram(
        words[0], Array(words.dropFirst()), input: ends[1], output: ends[1], keepsDiagnostics: niceness == 0,
        environment: environment)
    } catch {
      fclose(stream)
      throw error
    }
    guard try line() == "ready" else { throw BenchProblem("our gateway does not start") }
  }

  deinit { fclose(answers) }

  func setUp(
    _ workload: MediaWorkload, calls: Int, app: UInt16, trunk: UInt16
  ) throws(BenchProblem) -> [CallPorts] {
    let answer = try ask("open \(workload.rawValue) \(calls) \(app) \(trunk)")
    guard let opened = try? JSONDecoder().decode(OpenedCalls.self, from: Data(answer.utf8)),
      opened.ports.count == 2 * calls
    else { throw BenchProblem("our gateway: \(answer)") }
    sendingKeys = (opened.appKey, opened.trunkKey)
    return (0..<calls).map { CallPorts(app: opened.ports[2 * $0], trunk: opened.ports[2 * $0 + 1]) }
  }

  func call(_ offer: String, trunk: UInt16) throws(BenchProblem) -> AnsweredCall {
    let answer = try ask("call \(trunk) \(Data(offer.utf8).base64EncodedString())")
    guard let call = try? JSONDecoder().decode(AnsweredCall.self, from: Data(answer.utf8)) else {
      throw BenchProblem("our gateway: \(answer)")
    }
    return call
  }

  func tearDown() throws(BenchProblem) {
    let answer = try ask("close")
    guard answer.hasPrefix("closed") else { throw BenchProblem("our gateway: \(answer)") }
  }

  func confer(_ workload: ConferenceWorkload, port: UInt16) throws(BenchProblem) -> [UInt16] {
    var ports: [UInt16] = []
    for _ in 0..<workload.rooms {
      let answer = try ask("room \(workload.people) \(port) \(workload.codec.rawValue)")
      guard let opened = try? JSONDecoder().decode(OpenedCalls.self, from: Data(answer.utf8)),
        opened.ports.count == workload.people
      else { throw BenchProblem("our gateway: \(answer)") }
      ports += opened.ports
    }
    return ports
  }

  private func ask(_ command: String) throws(BenchProblem) -> String {
    let bytes = Array((command + "\n").utf8)
    guard send(commands, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw BenchProblem("our gateway takes no commands")
    }
    return try line()
  }

  private func line() throws(BenchProblem) -> String {
    var buffer: UnsafeMutablePointer<CChar>?
    var size = 0
    defer { free(buffer) }
    let count = getline(&buffer, &size, answers)
    guard count > 0, let buffer else { throw BenchProblem("our gateway does not answer") }
    return String(cString: buffer).trimmingCharacters(in: .newlines)
  }
}
