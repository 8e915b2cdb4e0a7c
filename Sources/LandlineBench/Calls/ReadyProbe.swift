import Foundation

/// Asks a gateway that is starting, again and again, whether it is there: OPTIONS over SIP, `/readyz` over HTTP.
struct ReadyProbe {
  /// Milliseconds from the start of the process.
  struct Times: Sendable {
    /// OPTIONS was answered.
    var signalling: Double
    /// `/readyz` said 200.
    var web: Double
    var ready: Double { max(signalling, web) }
  }

  private static let pauseMicroseconds: UInt32 = 500
  private static let answerMilliseconds = 200
  private static let maximumAnswer = 4096

  private let web: UInt16
  private let signalling: UInt16
  private let options: [UInt8]

  /// - Throws: ``BenchProblem`` when no port for the asker can be had.
  init(web: UInt16, signalling: UInt16) throws(BenchProblem) {
    self.web = web
    self.signalling = signalling
    let own = try PeerProgram.freePort()
    let text = """
      OPTIONS sip:127.0.0.1:\(signalling) SIP/2.0\r
      Via: SIP/2.0/UDP 127.0.0.1:\(own);branch=z9hG4bK\(UUID().uuidString);rport\r
      Max-Forwards: 70\r
      From: <sip:probe@127.0.0.1>;tag=probe\r
      To: <sip:127.0.0.1:\(signalling)>\r
      Call-ID: \(UUID().uuidString)\r
      CSeq: 1 OPTIONS\r
      Content-Length: 0\r
      \r

      """
    options = Array(text.utf8)
  }

  /// - Parameters:
  ///   - began: When the process was started, on ``ProcessClock``.
  ///   - isRunning: Whether it is still there to be waited for.
  func wait(since began: Double, seconds: Double, isRunning: () -> Bool) throws(BenchProblem) -> Times {
    let socket = Glibc.socket(
      AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0, LoopbackSockets.connect(socket, port: signalling) else {
      throw BenchProblem("no socket can be made")
    }
    defer { close(socket) }
    var signallingAt: Double?
    var webAt: Double?
    while ProcessClock.monotonicSeconds() - began < seconds {
      if signallingAt == nil, answersOptions(socket) { signallingAt = ProcessClock.monotonicSeconds() }
      if webAt == nil, isReadyOverHTTP() { webAt = ProcessClock.monotonicSeconds() }
      if let signallingAt, let webAt {
        return Times(signalling: (signallingAt - began) * 1000, web: (webAt - began) * 1000)
      }
      guard isRunning() else { throw BenchProblem("it has ended") }
      usleep(Self.pauseMicroseconds)
    }
    throw BenchProblem(
      "after \(Int(seconds)) s \(signallingAt == nil ? "OPTIONS is not answered" : "/readyz does not say 200")")
  }

  /// Sends the request once more (RFC 3261 section 17.1.2.2), and looks for the answer to an earlier one.
  private func answersOptions(_ socket: Int32) -> Bool {
    // Refused while nobody has the port.
    _ = options.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, 0) }
    var buffer = [UInt8](repeating: 0, count: Self.maximumAnswer)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count > 0 && buffer[..<count].starts(with: Array("SIP/2.0 2".utf8))
  }

  private func isReadyOverHTTP() -> Bool {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    LoopbackSockets.limit(socket, milliseconds: Self.answerMilliseconds)
    guard LoopbackSockets.connect(socket, port: web) else { return false }
    let request = Array("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:\(web)\r\nConnection: close\r\n\r\n".utf8)
    let sent = request.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    guard sent == request.count else { return false }
    var buffer = [UInt8](repeating: 0, count: Self.maximumAnswer)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count > 0 && buffer[..<count].starts(with: Array("HTTP/1.1 200".utf8))
  }
}
