import Foundation
import Synchronization

/// A callee over UDP that notes when each INVITE came and when it answered, by the number that was called. Its thread
/// does nothing else, so the times are those of the packets.
final class TimedCallee: Sendable {
  enum Manner: Sendable {
    /// 180, then at once 200.
    case answers
    /// 180 alone; CANCEL ends the call.
    case rings
  }

  /// Seconds of ``ProcessClock``.
  struct Marks: Sendable {
    var invited: Double
    var answered: Double
  }

  /// Numbers that are remembered at most.
  private static let maximumCalls = 1_000_000
  private static let waitMilliseconds = 50
  private static let maximumDatagram = 65_536

  private struct State {
    var marks: [String: Marks] = [:]
    var manner: Manner
    var isEnding = false
  }

  private let state: Mutex<State>
  private let socket: Int32
  private let port: UInt16

  /// - Throws: ``BenchProblem`` when the port is taken.
  init(port: UInt16, _ manner: Manner = .answers) throws(BenchProblem) {
    state = Mutex(State(manner: manner))
    self.port = port
    socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw BenchProblem("no socket can be made") }
    var bytes: Int32 = 4_194_304
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    LoopbackSockets.limit(socket, milliseconds: Self.waitMilliseconds)
    do {
      _ = try LoopbackSockets.bind(socket, port: port)
    } catch {
      close(socket)
      throw error
    }
    Thread { [self] in serve() }.start()
  }

  func become(_ manner: Manner) { state.withLock { $0.manner = manner } }

  /// What was noted since the last time, by called number with its `+`.
  func drainMarks() -> [String: Marks] {
    state.withLock { state in
      let marks = state.marks
      state.marks = [:]
      return marks
    }
  }

  /// Ends the thread; the port is free a moment later.
  func end() { state.withLock { $0.isEnding = true } }

  private func serve() {
    var buffer = [UInt8](repeating: 0, count: Self.maximumDatagram)
    while !state.withLock({ $0.isEnding }) {
      var source = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &source) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(socket, &buffer, buffer.count, 0, $0, &length)
        }
      }
      guard count > 0 else { continue }
      let now = ProcessClock.monotonicSeconds()
      answer(String(decoding: buffer[..<count], as: UTF8.self), from: source, at: now)
    }
    close(socket)
  }

  private func answer(_ text: String, from source: sockaddr_in, at now: Double) {
    let request = StubRequest(text)
    switch request.method {
    case "INVITE":
      let manner = state.withLock { $0.manner }
      send(request.response("180 Ringing", tag: true, port: port), to: source)
      guard manner == .answers else { return note(request.user, Marks(invited: now, answered: now)) }
      let description = """
        v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 7001 RTP/AVP 0\r\n\
        a=rtpmap:0 PCMU/8000\r\na=ptime:20\r\n
        """
      let response = request.response("200 OK", tag: true, port: port, body: description)
      let answered = ProcessClock.monotonicSeconds()
      send(response, to: source)
      note(request.user, Marks(invited: now, answered: answered))
    case "CANCEL":
      send(request.response("200 OK", tag: true, port: port), to: source)
      send(request.response("487 Request Terminated", tag: true, port: port, method: "INVITE"), to: source)
    case "ACK": break
    default: send(request.response("200 OK", tag: false, port: port), to: source)
    }
  }

  /// The first INVITE of a call counts, not those sent again.
  private func note(_ number: String, _ marks: Marks) {
    state.withLock { state in
      guard state.marks[number] == nil, state.marks.count < Self.maximumCalls else { return }
      state.marks[number] = marks
    }
  }

  private func send(_ text: String, to destination: sockaddr_in) {
    let bytes = Array(text.utf8)
    _ = withUnsafePointer(to: destination) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}

/// As much of a SIP request as an answer repeats (RFC 3261 section 8.2.6.2). Its sender is a gateway of this run.
package struct StubRequest {
  package let method: String
  /// The user of the request's target.
  package let user: String
  private let repeated: [Substring]
  private let to: Substring
  private let sequence: Substring

  package init(_ text: String) {
    var repeated: [Substring] = []
    var to: Substring = ""
    var sequence: Substring = ""
    // CR LF is one character.
    var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).makeIterator()
    let first = (lines.next() ?? "").split(separator: " ")
    while let line = lines.next(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { continue }
      switch line[..<colon].lowercased() {
      case "via", "v", "record-route", "from", "f", "call-id", "i": repeated.append(line)
      case "to", "t": to = line
      case "cseq": sequence = line[line.index(after: colon)...]
      default: break
      }
    }
    method = first.first.map(String.init) ?? ""
    let target = first.dropFirst().first ?? ""
    let user = target.drop { $0 != ":" }.dropFirst()
    self.user = user.contains("@") ? String(user.prefix { $0 != "@" && $0 != ";" }) : ""
    self.repeated = repeated
    self.to = to
    self.sequence = sequence
  }

  /// - Parameters:
  ///   - tag: Whether To gets a tag where it has none.
  ///   - port: Of the callee, for Contact.
  ///   - method: Stands in CSeq in place of the request's own.
  package func response(
    _ status: String, tag: Bool, port: UInt16, method: String? = nil, body: String = ""
  ) -> String {
    let number = sequence.split(separator: " ").first ?? "1"
    var lines = ["SIP/2.0 \(status)"] + repeated.map(String.init)
    lines.append(tag && !to.contains("tag=") ? "\(to);tag=callee" : String(to))
    lines.append("CSeq: \(number) \(method ?? self.method)")
    lines.append("Contact: <sip:callee@127.0.0.1:\(port)>")
    if !body.isEmpty { lines.append("Content-Type: application/sdp") }
    lines.append("Content-Length: \(body.utf8.count)")
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
  }
}
